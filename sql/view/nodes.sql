-- Which processes of Howdah are connected to this database, by the name that each gives its session:
-- howdah:PART:NAME. Of another user's sessions a role sees the name, and the rest is null.
select split_part(a.application_name, ':', 2) as part,
       nullif(split_part(a.application_name, ':', 3), '') as name,
       count(*) as sessions,
       string_agg(distinct a.state, ', ') as states,
       (extract(epoch from clock_timestamp() - min(a.backend_start)) * 1000)::bigint as oldest_ms,
       string_agg(distinct coalesce(host(a.client_addr), case when a.client_port = -1 then 'local' end),
                  ', ') as addresses
  from pg_stat_activity a
 where a.datname = current_database()
   and a.application_name like 'howdah:%:%'
   and a.pid <> pg_backend_pid()
 group by 1, 2
 order by 1, 2
