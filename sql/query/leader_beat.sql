-- One heartbeat. Backend pid and start are read beside it, since only the session itself may see them.
-- $1 role  $2 key  $3 owner  $4 token
select b.held, b.why, b.resign, b.paused, pg_backend_pid(),
       (select extract(epoch from a.backend_start)::text
          from pg_stat_activity a where a.pid = pg_backend_pid()) as backend_start,
       pg_is_in_recovery()
  from howdah.leader_beat($1::text, $2::bigint, $3::text, $4::bigint) b
