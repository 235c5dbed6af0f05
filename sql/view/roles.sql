-- Who leads what. $1: one role, or null for all. Whether a role is held is read from its lock, not from
-- what a holder once wrote.
with fact as (
  select l.*, howdah.leader_lock_holder(l.key) as pid, clock_timestamp() as clock
    from howdah.leadership l
   where $1::text is null or l.role = $1
), held as (
  select f.*, a.application_name,
         case f.mode when 'advisory' then f.pid is not null
              when 'lease' then f.owner is not null
                and f.seen_at + make_interval(secs => f.lease_ms / 1000.0) > f.clock
              else false end as held,
         -- A session without our name in it, and nobody of ours who could be meant.
         f.mode = 'advisory' and a.application_name not like 'howdah:%'
           and (f.owner is null or f.closing
                or f.seen_at + make_interval(secs => f.lease_ms / 1000.0) < f.clock) as foreign_lock
    from fact f
    left join pg_stat_activity a on a.pid = f.pid
), judged as (
  select h.*,
         case when h.held and coalesce(h.foreign_lock, false) then 'foreign'
              when h.held and (h.closing or h.owner is null) then 'changing'
              when h.held and h.paused_at is not null then 'pausing'
              when h.held then h.state
              when h.paused_at is not null then 'paused'
              when h.owner is not null then 'lost'
              when h.key is null then 'forgotten'
              else 'free' end as shown
    from held h
)
select j.role,
       j.shown as state,
       case when j.shown in ('leading', 'waiting', 'pausing', 'lost') then j.node end as node,
       nullif(j.token, 0) as token,
       (extract(epoch from j.clock - s.since) * 1000)::bigint as since_ms,
       case when j.owner is not null
            then (extract(epoch from j.clock - j.seen_at) * 1000)::bigint end as seen_ms,
       (select count(*) from pg_stat_activity a
         where a.datname = current_database()
           and a.application_name = left('howdah:elector:' || j.role, 63)) as nodes,
       j.mode,
       case when j.shown in ('leading', 'waiting', 'pausing', 'lost') then j.address end as address,
       j.shown in ('leading', 'pausing') and j.state = 'leading' as led,
       j.key::text, -- too large for the numbers of JSON's readers
       j.lease_ms,
       to_char(s.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since,
       to_char(j.seen_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as seen,
       j.pid as lock_pid,
       j.application_name as lock_application,
       case when j.shown not in ('leading', 'waiting', 'pausing', 'lost') then j.node end as last_node,
       j.resign_token is not null and j.resign_token = j.token and j.owner is not null as resign_asked,
       to_char(j.paused_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as paused,
       (extract(epoch from j.clock - j.paused_at) * 1000)::bigint as paused_ms,
       j.paused_by,
       j.pause_reason,
       nullif(j.led_token, 0) as led_token,
       nullif(j.clear_token, 0) as clear_token,
       j.led_verdict
  from judged j
 cross join lateral (
   select case when j.shown in ('pausing', 'paused') then j.paused_at
               when j.shown = 'leading' and j.led_token = j.token then j.led_at
               when j.shown in ('leading', 'waiting') then j.acquired_at
               when j.shown = 'foreign' then null
               else j.seen_at end as since) s
 order by j.role
