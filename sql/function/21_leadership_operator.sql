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
