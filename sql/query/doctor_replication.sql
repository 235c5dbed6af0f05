-- Standbys, and whether commits wait for them. What kind each one is shows only to pg_read_all_stats.
select current_setting('synchronous_standby_names'),
       count(r.pid),
       count(*) filter (where r.sync_state in ('sync', 'quorum')),
       count(r.pid) filter (where r.sync_state is null),
       pg_is_in_recovery()
  from (select 1) one left join pg_stat_replication r on true
