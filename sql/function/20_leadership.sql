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
