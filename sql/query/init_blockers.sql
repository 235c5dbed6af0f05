-- Whose open transactions may be in the way of a migration: who migrates, who holds locks on our tables,
-- else whoever has written something. $1 key of the lock
select string_agg(b.who, '; ')
  from (select format('%s (%s%s%s)',
                      coalesce('pid ' || l.pid, 'prepared transaction ' || quote_literal(p.gid), 'a prepared transaction'),
                      coalesce('user ' || a.usename, 'owner ' || p.owner, 'another user'),
                      ', ' || nullif(a.application_name, ''),
                      ', open for ' || extract(epoch from clock_timestamp() - coalesce(a.xact_start, p.prepared))::bigint || ' s') as who
          from pg_locks l
          left join pg_stat_activity a on a.pid = l.pid
          left join pg_locks x on x.virtualtransaction = l.virtualtransaction and x.locktype = 'transactionid'
                              and x.mode = 'ExclusiveLock' and x.granted
          left join pg_prepared_xacts p on p.transaction = x.transactionid
         where l.granted and l.pid is distinct from pg_backend_pid()
           and (l.database is null or l.database = (select d.oid from pg_database d where d.datname = current_database()))
           and (coalesce(a.datname, p.database) = current_database())
           and (l.locktype = 'advisory' and l.objsubid = 1
                  and l.classid::bigint = (($1::bigint >> 32) & 4294967295)
                  and l.objid::bigint = ($1::bigint & 4294967295)
                or l.locktype = 'relation'
                  and l.relation in (select c.oid from pg_class c where c.relnamespace = to_regnamespace('howdah'))
                or l.locktype = 'transactionid' and l.mode = 'ExclusiveLock')
         group by 1
         order by min(case l.locktype when 'advisory' then 1 when 'relation' then 2 else 3 end)
         limit 5) b
