-- Schema howdah, version 1, by howdah 0.1.0; written by: howdah init --print
--
-- One transaction. It makes the schema or brings an older one up to date, and
-- does nothing where it is in place; it refuses a newer one. Run it as the
-- role that shall own the schema, in the database of the application.
begin isolation level read committed;
set local search_path = pg_catalog, pg_temp;
set local standard_conforming_strings = on;
set local check_function_bodies = on;
set local howdah.init_program = E'0.1.0';
set local howdah.init_key = '4677655567948057590';
set local howdah.init_latest = '1';
set local howdah.init_sums = '{d9d29503d57e85a62794f7c7ce82e51cb1a8e4ad96189620ee4c11f48bdab14c}';
set local howdah.init_worker = E'howdah_worker';
set local howdah.init_reader = E'howdah_reader';
set local lock_timeout = '10s';
do $howdah$
declare
  latest int := current_setting('howdah.init_latest');
  sums text[] := current_setting('howdah.init_sums');
  program text := current_setting('howdah.init_program');
  caller name := current_user;
  owner name;
  m record;
begin
  if current_setting('server_version_num')::int < 140000 then
    raise exception 'PostgreSQL % is too old: howdah needs PostgreSQL 14 or newer', current_setting('server_version')
      using errcode = 'HD010', hint = 'upgrade the server';
  end if;
  if pg_is_in_recovery() then
    raise exception 'this server is a standby: nothing can be written here'
      using errcode = 'HD010', hint = 'name the primary, or several hosts with target_session_attrs=read-write';
  end if;
  if current_setting('transaction_read_only')::boolean then
    raise exception 'transactions of % are read-only here', caller
      using errcode = 'HD010', hint = 'default_transaction_read_only is on for this role, database or connection';
  end if;
  if not pg_try_advisory_xact_lock(current_setting('howdah.init_key')::bigint) then
    raise exception 'another howdah init is at work in database "%"', current_database()
      using errcode = '55P03', hint = 'run it again when that one has ended';
  end if;
  perform set_config('howdah.init_did', '', true), set_config('howdah.init_caller', caller, true);
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  select r.rolname into owner
    from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'howdah';
  if not found then
    if not has_database_privilege(current_database(), 'create') then
      raise exception 'role "%" may not create schema howdah in database "%"', caller, current_database()
        using errcode = 'HD010',
              hint = format('an administrator runs: create schema howdah authorization %I', caller);
    end if;
    return;
  end if;
  if not pg_has_role(owner, 'member') then
    raise exception 'schema howdah belongs to role "%", and "%" is no member of it', owner, caller
      using errcode = 'HD010', hint = format('run init as %s, or an administrator runs: grant %I to %I', owner, owner, caller);
  end if;
  perform set_config('role', owner, true);
  if to_regclass('howdah.migration') is null then
    if exists (select from pg_class c where c.relnamespace = 'howdah'::regnamespace)
       or exists (select from pg_proc p where p.pronamespace = 'howdah'::regnamespace) then
      raise exception 'there is a schema howdah in database "%" that is not of this program', current_database()
        using errcode = 'HD010', hint = 'rename or drop it: it holds objects and has no table howdah.migration';
    end if;
  else
    select x.version, x.program into m from howdah.migration x order by x.version desc limit 1;
    if m.version > latest then
      raise exception 'schema howdah is at version %, put there by howdah %; this is howdah %, which knows version %',
          m.version, coalesce(m.program, '(unknown)'), program, latest
        using errcode = 'HD010', hint = format('use howdah %s or newer', coalesce(m.program, 'of that version'));
    end if;
    select x.name, x.sha256 into m from howdah.migration x
     where x.sha256 is distinct from sums[x.version] order by x.version limit 1;
    if found then
      raise exception 'migration % was applied here with checksum %, and howdah % has another one under that number',
          m.name, left(m.sha256, 12), program
        using errcode = 'HD010', hint = 'this database was made by another build: use that one, or make the schema anew';
    end if;
  end if;
  perform set_config('role', caller, true);
end
$howdah$
;
set local howdah.init_role = E'howdah_worker';
do $howdah$
declare
  wanted text := current_setting('howdah.init_role');
begin
  if octet_length(wanted) > 63 then
    raise exception 'the name of role "%" is longer than 63 bytes', wanted using errcode = 'HD010';
  end if;
  if exists (select from pg_roles r where r.rolname = wanted) then
    return;
  end if;
  if not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
    raise warning 'role "%" is missing, and "%" may not create roles', wanted, current_user
      using hint = format('an administrator runs: create role %I nologin; then run this again', wanted);
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'missing;', true);
    return;
  end if;
  execute format('create role %I nologin', wanted);
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'role;', true);
exception when duplicate_object or unique_violation then
  null; -- made at the same moment from another database
end
$howdah$
;
set local howdah.init_role = E'howdah_reader';
do $howdah$
declare
  wanted text := current_setting('howdah.init_role');
begin
  if octet_length(wanted) > 63 then
    raise exception 'the name of role "%" is longer than 63 bytes', wanted using errcode = 'HD010';
  end if;
  if exists (select from pg_roles r where r.rolname = wanted) then
    return;
  end if;
  if not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
    raise warning 'role "%" is missing, and "%" may not create roles', wanted, current_user
      using hint = format('an administrator runs: create role %I nologin; then run this again', wanted);
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'missing;', true);
    return;
  end if;
  execute format('create role %I nologin', wanted);
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'role;', true);
exception when duplicate_object or unique_violation then
  null; -- made at the same moment from another database
end
$howdah$
;
do $howdah$
begin
  if to_regnamespace('howdah') is null then
    create schema howdah;
    comment on schema howdah is 'Howdah: leadership, events, schedules and more. Made by howdah init.';
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'schema;', true);
  end if;
  perform set_config('role', pg_get_userbyid(n.nspowner), true) from pg_namespace n where n.nspname = 'howdah';
end
$howdah$
;
set local howdah.init_version = '1';
set local howdah.init_name = E'0001_leadership';
set local howdah.init_sha256 = E'd9d29503d57e85a62794f7c7ce82e51cb1a8e4ad96189620ee4c11f48bdab14c';
set local howdah.init_script = $howdah_script$
-- The schema itself, its record of migrations, and leadership.

create table howdah.migration (
  version     int primary key,
  name        text not null,
  sha256      text not null,
  applied_at  timestamptz not null default clock_timestamp(),
  applied_by  text not null default session_user,
  program     text
);
comment on table howdah.migration is 'Migrations applied by howdah init, in order; never edited.';

-- One row: which set of server functions is in place.
create table howdah.function_set (
  only_row    boolean primary key default true check (only_row),
  sha256      text not null,
  applied_at  timestamptz not null default clock_timestamp(),
  program     text
);
comment on table howdah.function_set is 'Checksum of the server functions that howdah init put in place.';

create table howdah.leadership (
  role          text primary key
                check (role ~ '^[A-Za-z0-9_.-]{1,63}$'),

  -- The registration: a deployment API. Null after "leader forget".
  key           bigint unique,
  mode          text check (mode in ('advisory', 'lease')),

  -- The present holder, or the last one. Null owner: nobody claims the role.
  token         bigint not null default 0,
  owner         text,
  node          text,
  address       text,
  state         text check (state in ('waiting', 'leading')),
  lease_ms      int,
  beat          bigint not null default 0,
  seen_at       timestamptz,
  acquired_at   timestamptz,
  expires_at    timestamptz,
  closing       boolean not null default true,

  -- The last term whose command may have run. Written only by the statement that ends a wait, so that a
  -- node that waits and dies can't hide how dangerous its predecessor is.
  led_token     bigint not null default 0,
  led_mode      text,
  led_system    bigint,
  led_timeline  int,
  led_started   timestamptz,
  led_lease_ms  int,
  led_wait_ms   int,
  led_pinned    boolean,
  led_verdict   text,
  led_at        timestamptz,

  -- Every holder up to this token is known to be dead. It only grows.
  clear_token   bigint not null default 0,

  resign_token  bigint,
  paused_at     timestamptz,
  paused_by     text,
  pause_reason  text,

  check ((key is null) = (mode is null)),
  -- A change of the token must be a key update: then it waits for the transactions that hold FOR KEY
  -- SHARE on the row (assert_leader), while renewals, which change no key, pass them.
  unique (role, token)
) with (fillfactor = 50);
comment on table howdah.leadership is 'One row a role: who leads it, and what a successor must know. Rows are never deleted: tokens only grow.';
comment on column howdah.leadership.token is 'Fencing token of the present or last holder; below 2^53.';
comment on column howdah.leadership.beat is 'Grows with each heartbeat and each change of hands.';
comment on column howdah.leadership.closing is 'A take-over is under way or the role is free: assert_leader refuses.';
comment on column howdah.leadership.expires_at is 'For people, by the clock of the application; nothing compares it.';
comment on column howdah.leadership.led_wait_ms is 'How long after a loss that is known to both sides its command may still run.';
comment on column howdah.leadership.led_pinned is 'The keepalives of that session could not free the lock before its lease ended.';
comment on column howdah.leadership.resign_token is 'The holder with this token is asked to hand over.';

create table howdah.leadership_history (
  id      bigint generated always as identity,
  role    text not null,
  at      timestamptz not null default clock_timestamp(),
  event   text not null,
  token   bigint,
  node    text,
  reason  text,
  by_user text not null default session_user,
  primary key (role, id)
);
comment on table howdah.leadership_history is 'Every change of a role with its reason; the last 1000 of each.';
$howdah_script$;
do $howdah$
declare
  number int := current_setting('howdah.init_version');
begin
  if to_regclass('howdah.migration') is not null then
    if exists (select from howdah.migration m where m.version = number) then
      return;
    end if;
  end if;
  execute current_setting('howdah.init_script');
  insert into howdah.migration (version, name, sha256, program)
  values (number, current_setting('howdah.init_name'), current_setting('howdah.init_sha256'),
          current_setting('howdah.init_program'));
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'migration;', true);
end
$howdah$
;
set local howdah.init_sha256 = E'b60b0fd211350da5ff42585fd60e1f3d364deee8192b9b59bdb311cb1beb706b';
set local howdah.init_script = $howdah_script$
-- Which server is this? Two answers that differ mean: not the same history, whatever the address says.

create or replace function howdah.server_incarnation(
  out system bigint, out timeline int, out started timestamptz, out in_recovery boolean)
language plpgsql stable -- not parallel: a block with EXCEPTION starts a subtransaction
set search_path = pg_catalog, pg_temp
as $$
begin
  started := pg_postmaster_start_time();
  in_recovery := pg_is_in_recovery();
  begin
    select s.system_identifier into system from pg_control_system() s;
  exception when insufficient_privilege then
    system := null;
  end;
  -- pg_control_checkpoint() still tells the old timeline for seconds after a promotion.
  begin
    if not in_recovery then
      timeline := ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int;
    end if;
  exception when insufficient_privilege then
    timeline := null;
  end;
end
$$;
comment on function howdah.server_incarnation() is
  'System identifier, timeline and start of this server; null where a provider does not let the caller read it.';

-- What must survive a crash of the server is committed durably whatever the role''s default.
create or replace function howdah.durable() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end
$$;
comment on function howdah.durable() is
  'Makes the commit of the current transaction synchronous when it would not be.';
-- Leader election. The caller holds (or is about to hold) the session advisory lock of the role's key;
-- these functions keep the row that fences it. SQLSTATEs: HD001 not the leader, HD002 registration
-- conflict, HD003 too many roles, HD004 paused, HD005 unknown role, HD006 still led.

create or replace function howdah.leader_record(
  role text, event text, token bigint, node text, reason text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into howdah.leadership_history (role, event, token, node, reason)
  values ($1, $2, $3, $4, left($5, 1000));
  delete from howdah.leadership_history h
   where h.role = $1
     and h.id <= (select o.id from howdah.leadership_history o
                   where o.role = $1 order by o.id desc offset 1000 limit 1);
$$;
comment on function howdah.leader_record(text, text, bigint, text, text) is
  'Writes one line of history and keeps the last 1000 of the role. Internal.';

create or replace function howdah.leader_lock_holder(key bigint) returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select l.pid
    from pg_locks l
   where l.locktype = 'advisory'
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and l.classid::bigint = (($1 >> 32) & 4294967295)
     and l.objid::bigint = ($1 & 4294967295)
     and l.objsubid = 1
     and l.granted
   limit 1
$$;
comment on function howdah.leader_lock_holder(bigint) is
  'Backend pid of the session that holds the advisory lock of a key, or null.';

create or replace function howdah.leader_look(
  role text, key bigint,
  out registered boolean, out key_known bigint, out mode text,
  out token bigint, out owner text, out node text, out address text, out state text,
  out closing boolean, out beat bigint, out resign_token bigint,
  out paused boolean, out pause_reason text, out lock_pid int, out in_recovery boolean,
  out cleared boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select l.key is not null, l.key, l.mode, l.token, l.owner, l.node, l.address, l.state,
         l.closing, l.beat, l.resign_token, l.paused_at is not null, l.pause_reason,
         l.clear_token >= l.led_token
    into registered, key_known, mode, token, owner, node, address, state,
         closing, beat, resign_token, paused, pause_reason, cleared
    from howdah.leadership l
   where l.role = leader_look.role;
  registered := coalesce(registered, false);
  paused := coalesce(paused, false);
  -- The word "clear" holds for the history in which it was written, and no other.
  cleared := coalesce(cleared and exists (
      select from howdah.leadership l join howdah.server_incarnation() i
          on l.led_system = i.system and l.led_timeline = i.timeline
       where l.role = leader_look.role), false);
  lock_pid := howdah.leader_lock_holder(coalesce(key_known, leader_look.key));
  in_recovery := pg_is_in_recovery();
end
$$;
comment on function howdah.leader_look(text, bigint) is
  'Everything a node reads about a role before it competes, and while it leads. Always one row; writes nothing.';

create or replace function howdah.leader_recall(role text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update howdah.leadership l
     set token = past.token, led_token = past.token
    from (select max(h.token) as token from howdah.leadership_history h where h.role = $1) past
   where l.role = $1 and past.token > l.token;
$$;
comment on function howdah.leader_recall(text) is
  'A new row of a role whose old one was deleted by hand goes on from the tokens in its history, and treats the last of them as one that led. Internal.';

create or replace function howdah.leader_register(
  role text, key bigint, mode text, most int default 256) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  have howdah.leadership;
  other text;
  roles int;
begin
  if not coalesce($1 ~ '^[A-Za-z0-9_.-]{1,63}$' and $2 is not null and $3 in ('advisory', 'lease'), false) then
    raise exception 'role "%" with key % and mode % can''t be registered', $1, $2, $3
      using errcode = '22023',
            hint = 'a role is named by 1 to 63 letters, digits, dots, dashes and underscores; its mode is advisory or lease';
  end if;
  for attempt in 1..10 loop -- another node may be first: then compare again
    select * into have from howdah.leadership l where l.role = $1;
    select count(*) into roles from howdah.leadership l where l.key is not null;
    if have.key = $2 and have.mode = $3 then
      return roles;
    end if;
    if have.key is not null then
      raise exception 'role "%" is registered with key % and mode %, not with key % and mode %',
          $1, have.key, have.mode, $2, $3
        using errcode = 'HD002',
              hint = format('run it with --key %s --election %s, or clear the registration while nobody leads: howdah leader forget %s',
                            have.key, have.mode, $1);
    end if;
    select l.role into other from howdah.leadership l where l.key = $2 and l.role <> $1;
    if found then
      raise exception 'key % of role "%" is registered for role "%"', $2, $1, other
        using errcode = 'HD002',
              hint = format('give each role a key of its own, or clear the old one: howdah leader forget %s', other);
    end if;
    if roles >= most then
      raise exception 'there are % roles already, % at most', roles, most
        using errcode = 'HD003',
              hint = 'leadership is no lock service: a role is a handful per application, never one per tenant, record or work item';
    end if;
    perform howdah.durable();
    -- Without a conflict target, since a node that registers the same at the same moment may be met
    -- in any of the unique indexes.
    -- On a server that was never promoted nobody can have led before the row existed. Elsewhere a lost
    -- row may be the reason that there is none: led_system stays null and the first taker waits.
    insert into howdah.leadership (role, key, mode, led_system, led_timeline)
    select $1, $2, $3, i.system, i.timeline
      from (select 1) one left join howdah.server_incarnation() i on i.timeline = 1
    on conflict do nothing;
    if found then
      perform howdah.leader_recall($1);
    else
      begin
        update howdah.leadership l set key = $2, mode = $3 where l.role = $1 and l.key is null;
      exception when unique_violation then
        continue;
      end;
      continue when not found;
    end if;
    perform howdah.leader_record($1, 'registered', null, null, format('key %s, mode %s', $2, $3));
    return roles + 1;
  end loop;
  raise exception 'role "%" is being registered by others at this moment', $1
    using errcode = '40001', hint = 'try again';
end
$$;
comment on function howdah.leader_register(text, bigint, text, int) is
  'Registers (role, key, mode) at first use; raises HD002 when the role or the key is known otherwise. Answers how many roles there are.';

create or replace function howdah.leader_close(role text, token bigint, beat bigint) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform howdah.durable();
  update howdah.leadership l
     set closing = true
   where l.role = $1 and l.token = $2 and l.beat = $3;
  return found;
end
$$;
comment on function howdah.leader_close(text, bigint, bigint) is
  'First half of a take-over, in a transaction of its own: new assertions of the old token are refused from its commit on. False when the row moved.';

create or replace function howdah.leader_take(
  role text, key bigint, mode text, seen_token bigint, seen_beat bigint,
  owner text, node text, address text, lease_ms int,
  out token bigint, out led_token bigint, out clear_token bigint,
  out same_incarnation boolean, out same_start boolean,
  out led_mode text, out led_pinned boolean, out led_verdict text,
  out led_lease_ms int, out led_wait_ms int)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  live record;
  before record;
begin
  if mode = 'advisory' and howdah.leader_lock_holder(key) is distinct from pg_backend_pid() then
    raise exception 'this session does not hold the advisory lock % of role "%"', key, role
      using errcode = 'HD001';
  end if;
  select * into live from howdah.server_incarnation();
  select l.owner, l.node, l.led_token > l.clear_token as unclear into before
    from howdah.leadership l where l.role = leader_take.role;
  perform howdah.durable();
  update howdah.leadership l
     set token = greatest(l.token + 1, least(coalesce(live.timeline, 0), 8191)::bigint << 40),
         owner = leader_take.owner, node = leader_take.node, address = leader_take.address,
         lease_ms = leader_take.lease_ms, state = 'waiting', beat = l.beat + 1,
         seen_at = clock_timestamp(), acquired_at = clock_timestamp(),
         resign_token = null, closing = false
   where l.role = leader_take.role and l.key = leader_take.key and l.mode = leader_take.mode
     and l.token = seen_token and l.beat = seen_beat and l.closing and l.paused_at is null
  returning l.token, l.led_token, l.clear_token,
            coalesce(l.led_system = live.system and l.led_timeline = live.timeline, false),
            coalesce(l.led_started = live.started, false),
            l.led_mode, coalesce(l.led_pinned, false), l.led_verdict,
            l.led_lease_ms, l.led_wait_ms
       into leader_take.token, leader_take.led_token, leader_take.clear_token,
            same_incarnation, same_start,
            leader_take.led_mode, leader_take.led_pinned, leader_take.led_verdict,
            leader_take.led_lease_ms, leader_take.led_wait_ms;
  if leader_take.token is not null then
    perform howdah.leader_record(role, 'taken', leader_take.token, node,
        case when before.owner is not null then format('%s is gone without a word', before.node)
             when before.unclear then 'free, but the last leader is not known to be dead'
             else 'the role was free' end);
  end if;
end
$$;
comment on function howdah.leader_take(text, bigint, text, bigint, bigint, text, text, text, int) is
  'Second half of a take-over: a new token, once every transaction that asserted the old one has ended. Null token when the row moved. Answers what the taker needs to know how long it must wait.';

create or replace function howdah.leader_led(
  role text, key bigint, owner text, token bigint, wait_ms int, pinned boolean, verdict text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  live record;
begin
  select * into live from howdah.server_incarnation();
  perform howdah.durable();
  update howdah.leadership l
     set state = 'leading', led_token = l.token, led_mode = l.mode,
         led_system = live.system, led_timeline = live.timeline, led_started = live.started,
         led_lease_ms = l.lease_ms, led_wait_ms = leader_led.wait_ms,
         led_pinned = leader_led.pinned, led_verdict = leader_led.verdict,
         led_at = clock_timestamp(), beat = l.beat + 1, seen_at = clock_timestamp()
   where l.role = leader_led.role and l.owner = leader_led.owner and l.token = leader_led.token
     and not l.closing and l.paused_at is null
     and (l.mode <> 'advisory' or howdah.leader_lock_holder(leader_led.key) = pg_backend_pid());
  if not found then
    return false;
  end if;
  perform howdah.leader_record($1, 'leading', $4,
      (select l.node from howdah.leadership l where l.role = $1), null);
  return true;
end
$$;
comment on function howdah.leader_led(text, bigint, text, bigint, int, boolean, text) is
  'Ends the take-over wait: from its commit on the command may run. False when the role is no longer the caller''s.';

create or replace function howdah.leader_beat(
  role text, key bigint, owner text, token bigint,
  out held boolean, out why text, out resign boolean, out paused boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform howdah.durable();
  -- It writes, since a reading heartbeat is content on an isolated old primary.
  update howdah.leadership l
     set beat = l.beat + 1, seen_at = clock_timestamp()
   where l.role = leader_beat.role and l.owner = leader_beat.owner and l.token = leader_beat.token
     and not l.closing
     and (l.mode <> 'advisory' or howdah.leader_lock_holder(leader_beat.key) = pg_backend_pid())
  returning true, coalesce(l.resign_token = l.token, false), l.paused_at is not null
       into held, resign, paused;
  if held then
    return;
  end if;
  held := false;
  resign := false;
  paused := false;
  select case when l.token <> leader_beat.token
                then format('token %s was given to another node', l.token)
              when l.owner is null then 'the role was given up'
              when l.owner <> leader_beat.owner then 'the token belongs to another process'
              when l.closing then 'another node is taking over'
              else 'the advisory lock is no longer granted to this session' end
    into why
    from howdah.leadership l where l.role = leader_beat.role;
  why := coalesce(why, 'the row of the role is gone');
end
$$;
comment on function howdah.leader_beat(text, bigint, text, bigint) is
  'One heartbeat: writes, and says whether role, token and lock are still the caller''s, and what it is asked to do.';

create or replace function howdah.leader_release(
  role text, owner text, token bigint, reason text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  was_node text;
begin
  perform howdah.durable();
  -- Only a term that led may clear: one that gave up while it waited knows nothing of its predecessor.
  update howdah.leadership l
     set clear_token = case when l.led_token = l.token then greatest(l.clear_token, l.token)
                            else l.clear_token end,
         owner = null, state = null, closing = true, beat = l.beat + 1,
         seen_at = clock_timestamp(), expires_at = clock_timestamp()
   where l.role = $1 and l.owner = $2 and l.token = $3
  returning l.node into was_node;
  if not found then
    return false;
  end if;
  perform howdah.leader_record($1, 'released', $3, was_node, $4);
  return true;
end
$$;
comment on function howdah.leader_release(text, text, bigint, text) is
  'Gives the role up, after the command is dead. Commit it before the unlock and its notice.';

create or replace function howdah.leader_notice(
  role text, owner text, token bigint, reason text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  was howdah.leadership;
begin
  perform howdah.durable();
  select * into was from howdah.leadership l where l.role = $1;
  if was.led_token is distinct from $3 or was.clear_token >= $3 then
    return false;
  end if;
  update howdah.leadership l
     set clear_token = greatest(l.clear_token, $3),
         owner = case when l.owner = $2 and l.token = $3 then null else l.owner end,
         state = case when l.owner = $2 and l.token = $3 then null else l.state end,
         closing = l.closing or (l.owner = $2 and l.token = $3)
   where l.role = $1 and l.led_token = $3;
  if not found then
    return false;
  end if;
  perform howdah.leader_record($1, 'ended', $3, null, $4);
  perform pg_notify('howdah_leader', $1);
  return true;
end
$$;
comment on function howdah.leader_notice(text, text, bigint, text) is
  'The death notice of a holder that lost the role: its command is known to be dead, so nobody needs to wait for it.';

create or replace function howdah.assert_leader(role text, token bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  now_row record;
  own_ms bigint;
begin
  select l.token, l.closing, l.node, l.lease_ms into now_row
    from howdah.leadership l
   where l.role = $1
     for key share;
  if not found then
    raise exception 'nobody has ever led role "%"', $1
      using errcode = 'HD001', hint = 'howdah leader lists the roles';
  end if;
  if now_row.token is distinct from $2 or now_row.closing then
    raise exception 'token % no longer leads role "%": %', $2, $1,
        case when now_row.token is distinct from $2 then format('the token is %s', now_row.token)
             else 'the role is changing hands' end
      using errcode = 'HD001',
            hint = 'this process is a stale leader: roll back and stop';
  end if;
  -- A take-over waits for this transaction, so a frozen client must not hold it open for long.
  own_ms := extract(epoch from current_setting('idle_in_transaction_session_timeout')::interval) * 1000;
  if now_row.lease_ms is not null and (own_ms = 0 or own_ms > now_row.lease_ms) then
    perform set_config('idle_in_transaction_session_timeout', now_row.lease_ms::text, true);
  end if;
end
$$;
comment on function howdah.assert_leader(text, bigint) is
  'Call it once in the transaction of a guarded write, with HOWDAH_ROLE and HOWDAH_TOKEN: raises HD001 unless that token leads, and makes a take-over wait until the transaction ends. Sets idle_in_transaction_session_timeout for the transaction to the lease unless it is shorter.';
-- Leadership, for the operator: who stands in the way, resign, pause, resume, forget.

create or replace function howdah.leader_blockers(
  role text,
  out pid int, out prepared text, out xid text, out user_name text,
  out application_name text, out age interval) returns setof record
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  locker xid;
  members xid[];
begin
  select l.xmax into locker from howdah.leadership l where l.role = $1;
  if locker is null or locker = '0' then
    return;
  end if;
  -- xmax is one transaction or, by the same kind of number, a MultiXact of several: that one of the
  -- two readings is right which names live transactions.
  members := array[locker];
  if not exists (select from pg_locks t where t.transactionid = locker and t.granted) then
    begin
      members := array(select m.xid from pg_get_multixact_members(locker) m);
    exception when others then
      return; -- not a MultiXact: the locker has ended
    end;
  end if;
  return query
    select t.pid, p.gid, t.transactionid::text, coalesce(a.usename, p.owner)::text,
           a.application_name, clock_timestamp() - coalesce(a.xact_start, p.prepared)
      from pg_locks t
      join pg_locks r on r.virtualtransaction = t.virtualtransaction
                     and r.locktype = 'relation' and r.relation = 'howdah.leadership'::regclass
                     and r.granted
      left join pg_stat_activity a on a.pid = t.pid
      left join pg_prepared_xacts p on p.transaction = t.transactionid
     where t.locktype = 'transactionid' and t.granted and t.mode = 'ExclusiveLock'
       and t.transactionid = any (members)
       and t.pid is distinct from pg_backend_pid();
end
$$;
comment on function howdah.leader_blockers(text) is
  'Transactions, prepared ones included, that hold the row of a role and so a take-over back.';

create or replace function howdah.leader_unblock(
  role text, out pid int, out ended boolean) returns setof record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  for pid in select b.pid from howdah.leader_blockers($1) b where b.pid is not null loop
    begin
      ended := pg_terminate_backend(pid);
    exception when insufficient_privilege then
      ended := false;
    end;
    return next;
  end loop;
end
$$;
comment on function howdah.leader_unblock(text) is
  'Ends the sessions that hold a take-over back, as far as the caller may (pg_signal_backend); prepared transactions are left to people.';

create or replace function howdah.leader_known(role text) returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from howdah.leadership l where l.role = $1) then
    raise exception 'no role "%"', $1
      using errcode = 'HD005',
            hint = coalesce((select 'known roles: ' || string_agg(l.role, ', ' order by l.role)
                               from (select k.role from howdah.leadership k order by k.role limit 20) l),
                            'no node has ever run a role here');
  end if;
end
$$;
comment on function howdah.leader_known(text) is 'Raises HD005, naming the known roles, unless the role exists.';

create or replace function howdah.leader_resign(role text, reason text default null) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  asked bigint;
begin
  perform howdah.leader_known($1);
  perform howdah.durable();
  update howdah.leadership l set resign_token = l.token
   where l.role = $1 and l.owner is not null
  returning l.token into asked;
  if asked is not null then
    perform howdah.leader_record($1, 'resign asked', asked, null, $2);
  end if;
  return asked;
end
$$;
comment on function howdah.leader_resign(text, text) is
  'Asks the holder to hand over; answers its token, or null when nobody holds the role.';

create or replace function howdah.leader_pause(role text, reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform howdah.leader_known($1);
  perform howdah.durable();
  update howdah.leadership l
     set paused_at = clock_timestamp(), paused_by = session_user, pause_reason = left($2, 1000)
   where l.role = $1 and l.paused_at is null;
  if found then
    perform howdah.leader_record($1, 'paused', null, null, $2);
    return true;
  end if;
  return false;
end
$$;
comment on function howdah.leader_pause(text, text) is
  'Stops a role everywhere until leader_resume; false when it was paused already.';

create or replace function howdah.leader_resume(role text, reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform howdah.leader_known($1);
  perform howdah.durable();
  update howdah.leadership l
     set paused_at = null, paused_by = null, pause_reason = null
   where l.role = $1 and l.paused_at is not null;
  if found then
    perform howdah.leader_record($1, 'resumed', null, null, $2);
    perform pg_notify('howdah_leader', $1);
    return true;
  end if;
  return false;
end
$$;
comment on function howdah.leader_resume(text, text) is 'Lets a paused role be led again; false when it was not paused.';

create or replace function howdah.leader_forget(role text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  was howdah.leadership;
begin
  perform howdah.leader_known($1);
  perform howdah.durable();
  select * into was from howdah.leadership l where l.role = $1 for update;
  if was.key is null then
    return;
  end if;
  if howdah.leader_lock_holder(was.key) is not null
     or (was.mode = 'lease' and was.owner is not null) then
    raise exception 'role "%" is led by node %', $1, coalesce(was.node, '?')
      using errcode = 'HD006',
            hint = format('stop its nodes, or: howdah leader pause %s', $1);
  end if;
  -- The row stays: its token must go on growing for whoever registers the name again.
  update howdah.leadership l set key = null, mode = null, owner = null, state = null, closing = true
   where l.role = $1;
  perform howdah.leader_record($1, 'forgotten', null, null,
      format('key %s, mode %s', was.key, was.mode));
end
$$;
comment on function howdah.leader_forget(text) is
  'Clears the registration of key and mode while nobody leads; the token goes on growing.';
-- Who may do what. Nothing is granted to PUBLIC; docs/security.md says why each grant is there.

create or replace function howdah.grants_due(worker text, reader text) returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with item (kind, name, acl, worker_may, reader_may) as (
    select 'schema', format('%I', n.nspname), coalesce(n.nspacl, acldefault('n', n.nspowner)),
           'USAGE', 'USAGE'
      from pg_namespace n where n.nspname = 'howdah'
    union all
    select 'table', c.oid::regclass::text, coalesce(c.relacl, acldefault('r', c.relowner)), m.may, m.may
      from pg_class c
     cross join lateral (select case when c.relname in
             ('migration', 'function_set', 'leadership', 'leadership_history') then 'SELECT' end) m (may)
     where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'p', 'v')
    union all
    select 'routine', p.oid::regprocedure::text, coalesce(p.proacl, acldefault('f', p.proowner)),
           case when p.proname not in ('grants_due', 'grant_roles', 'leader_record', 'leader_recall')
                then 'EXECUTE' end,
           case when p.proname in ('server_incarnation', 'leader_lock_holder') then 'EXECUTE' end
      from pg_proc p where p.pronamespace = 'howdah'::regnamespace
  )
  select format('revoke all on %s %s from public', i.kind, i.name)
    from item i
   where exists (select from aclexplode(i.acl) a where a.grantee = 0)
  union all
  select format('grant %s on %s %s to %I', lower(g.may), i.kind, i.name, g.grantee)
    from item i
   cross join lateral (values ($1, i.worker_may), ($2, i.reader_may)) g (grantee, may)
   where g.grantee is not null and g.may is not null
     and not exists (select from aclexplode(i.acl) a join pg_roles r on r.oid = a.grantee
                      where r.rolname = g.grantee and a.privilege_type = g.may)
$$;
comment on function howdah.grants_due(text, text) is
  'The statements that are still missing for a worker role and a reader role; a null role is left out.';

create or replace function howdah.grant_roles(worker text, reader text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  statement text;
begin
  for statement in select d from howdah.grants_due($1, $2) d loop
    execute statement;
  end loop;
end
$$;
comment on function howdah.grant_roles(text, text) is
  'Takes everything from PUBLIC and grants what workers and readers need; a null role is left out, what is in place is not written again.';
$howdah_script$;
do $howdah$
declare
  program text := current_setting('howdah.init_program');
  have record;
  verdict text := 'functions;';
begin
  select f.sha256, f.program into have from howdah.function_set f;
  if have.sha256 = current_setting('howdah.init_sha256') then
    return;
  end if;
  if string_to_array(substring(have.program from '^\d+(?:\.\d+)*'), '.')::int[]
     > string_to_array(substring(program from '^\d+(?:\.\d+)*'), '.')::int[] then
    verdict := 'newer;';
  else
    execute current_setting('howdah.init_script');
    insert into howdah.function_set (sha256, program)
    values (current_setting('howdah.init_sha256'), program)
    on conflict (only_row) do update
       set sha256 = excluded.sha256, program = excluded.program, applied_at = excluded.applied_at;
  end if;
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || verdict, true);
end
$howdah$
;
do $howdah$
declare
  worker name := (select r.rolname from pg_roles r where r.rolname = current_setting('howdah.init_worker'));
  reader name := (select r.rolname from pg_roles r where r.rolname = current_setting('howdah.init_reader'));
begin
  if exists (select from howdah.grants_due(worker, reader)) then
    perform howdah.grant_roles(worker, reader);
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'grants;', true);
  end if;
end
$howdah$
;
commit;
