-- Leader election by one row: works through any pooler, since each call is one transaction. No clock
-- is compared: a stand-by takes over when it has itself seen the same value for a whole lease.

create or replace function howdah.lease_renew(
  role text, owner text, token bigint, expires_at timestamptz,
  out held boolean, out why text, out resign boolean, out paused boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A plain update that changes no key: it passes the transactions that assert the token.
  update howdah.leadership l set expires_at = lease_renew.expires_at
   where l.role = lease_renew.role and l.mode = 'lease'
     and l.owner = lease_renew.owner and l.token = lease_renew.token and not l.closing;
  select b.held, b.why, b.resign, b.paused into held, why, resign, paused
    from howdah.leader_beat(role, null, owner, token) b;
end
$$;
comment on function howdah.lease_renew(text, text, bigint, timestamptz) is
  'One heartbeat of a lease row: says whether it is still the caller''s, and what it is asked to do. expires_at is for people, by the clock of the application.';

create or replace function howdah.lease_attempt(
  role text, key bigint, owner text, node text, address text, lease_ms int, expires_at timestamptz,
  out token bigint, out led_token bigint, out clear_token bigint,
  out same_incarnation boolean, out same_start boolean,
  out led_mode text, out led_pinned boolean, out led_verdict text,
  out led_lease_ms int, out led_wait_ms int,
  out seen_token bigint, out seen_beat bigint, out seen_lease_ms int, out closing boolean,
  out system bigint, out timeline int, out started bigint,
  out in_recovery boolean, out paused boolean, out pause_reason text, out holder text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  live record;
  seen howdah.leadership;
begin
  select * into live from howdah.server_incarnation();
  system := coalesce(live.system, 0);
  timeline := coalesce(live.timeline, 0);
  started := (extract(epoch from live.started) * 1000000)::bigint;
  in_recovery := live.in_recovery;
  if in_recovery then
    return;
  end if;
  select * into seen from howdah.leadership l where l.role = lease_attempt.role;
  if seen.key is distinct from key or seen.mode is distinct from 'lease' then
    perform howdah.leader_register(role, key, 'lease');
    select * into seen from howdah.leadership l where l.role = lease_attempt.role;
  end if;
  seen_token := seen.token;
  seen_beat := seen.beat;
  seen_lease_ms := seen.lease_ms;
  closing := seen.closing;
  paused := seen.paused_at is not null;
  pause_reason := seen.pause_reason;
  holder := seen.node;
  -- A role that was given back is free at once; anybody else's needs a take-over.
  if seen.owner is null and seen.closing and not paused then
    select t.* into token, led_token, clear_token, same_incarnation, same_start,
           led_mode, led_pinned, led_verdict, led_lease_ms, led_wait_ms
      from howdah.leader_take(role, key, 'lease', seen.token, seen.beat, owner, node, address, lease_ms) t;
    update howdah.leadership l set expires_at = lease_attempt.expires_at
     where l.role = lease_attempt.role and l.owner = lease_attempt.owner;
  end if;
end
$$;
comment on function howdah.lease_attempt(text, bigint, text, text, text, int, timestamptz) is
  'Takes a free role, registers it at first use, or answers the value to watch: server, token and beat.';

create or replace function howdah.lease_take_over(
  role text, key bigint, seen_token bigint, seen_beat bigint,
  system bigint, timeline int, started bigint,
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
begin
  -- The row and what it stored replicate: only the server that answers can say which one it is.
  select * into live from howdah.server_incarnation();
  if live.in_recovery or coalesce(live.system, 0) is distinct from system
     or coalesce(live.timeline, 0) is distinct from timeline
     or (extract(epoch from live.started) * 1000000)::bigint is distinct from started then
    return;
  end if;
  select t.* into token, led_token, clear_token, same_incarnation, same_start,
         led_mode, led_pinned, led_verdict, led_lease_ms, led_wait_ms
    from howdah.leader_take(role, key, 'lease', seen_token, seen_beat, owner, node, address, lease_ms) t;
end
$$;
comment on function howdah.lease_take_over(text, bigint, bigint, bigint, bigint, int, bigint, text, text, text, int) is
  'Second half of a take-over from a holder that was silent for a whole lease, on the very server and value that were watched; leader_close is the first. Null token when anything moved.';
