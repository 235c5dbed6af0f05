-- Is there a schema of ours, and may we look into it? Read from the catalog: naming the table would fail.
select c.oid is not null,
       coalesce(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'), false)
  from (select 1) one
  left join pg_namespace n on n.nspname = 'howdah'
  left join pg_class c on c.relnamespace = n.oid and c.relname = 'migration'
