-- Who keeps vacuum from removing dead rows: kind, name, details, for how long (ms; null: not known), how many
-- transactions old its snapshot is; then one row that counts the sessions whose times are hidden from us.
with holder as (
  select 'session' as kind,
         a.pid::text as name,
         format('%s, user %s, %s', coalesce(nullif(a.application_name, ''), 'no name'),
                a.usename, coalesce(a.state, 'state hidden')) as details,
         a.xact_start as since,
         greatest(age(a.backend_xmin), age(a.backend_xid)) as xids
    from pg_stat_activity a
   where (a.backend_xmin is not null or a.backend_xid is not null)
     and a.pid <> pg_backend_pid() and a.usesysid is not null and a.datid is not null
  union all
  select 'prepared transaction', quote_literal(p.gid), format('user %s, database %s', p.owner, p.database), p.prepared,
         age(p.transaction)
    from pg_prepared_xacts p
  union all
  select case when s.active then 'slot' else 'unused slot' end, quote_literal(s.slot_name), coalesce(s.plugin, s.slot_type), null,
         greatest(age(s.xmin), age(s.catalog_xmin))
    from pg_replication_slots s
   where s.xmin is not null or s.catalog_xmin is not null
  union all
  select 'standby', coalesce(nullif(r.application_name, ''), r.pid::text), 'hot_standby_feedback', null,
         age(r.backend_xmin)
    from pg_stat_replication r
   where r.backend_xmin is not null
)
(select h.kind, h.name, h.details, (extract(epoch from clock_timestamp() - h.since) * 1000)::bigint, h.xids::bigint
   from holder h
  order by h.xids desc, h.since
  limit 5)
union all
select 'hidden', null, null, null, count(*)
  from pg_stat_activity a
 where a.datid is not null and a.usesysid is not null and a.backend_start is null
