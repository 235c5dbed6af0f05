-- Everything that schema howdah is, a line each: for servers that are newer than the pg_dump at hand.
with o as (
  select 'column' as kind, c.relname || '.' || a.attname as name,
         concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
                   nullif(a.attidentity, ''), nullif(a.attgenerated, ''),
                   pg_get_expr(d.adbin, d.adrelid)) as what,
         a.attacl as acl, c.relowner as owner, col_description(c.oid, a.attnum) as remark
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
  union all
  select 'relation ' || c.relkind::text, c.relname,
         concat_ws(' ', array_to_string(c.reloptions, ','),
                   case when c.relkind = 'v' then pg_get_viewdef(c.oid)
                        when c.relkind = 'i' then pg_get_indexdef(c.oid) end),
         c.relacl, c.relowner, obj_description(c.oid, 'pg_class')
    from pg_class c where c.relnamespace = 'howdah'::regnamespace
  union all
  select 'constraint', c.conrelid::regclass || '.' || c.conname, pg_get_constraintdef(c.oid), null, null,
         obj_description(c.oid, 'pg_constraint')
    from pg_constraint c where c.connamespace = 'howdah'::regnamespace
  union all
  select 'trigger', t.tgrelid::regclass || '.' || t.tgname, pg_get_triggerdef(t.oid), null, null,
         obj_description(t.oid, 'pg_trigger')
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
   where c.relnamespace = 'howdah'::regnamespace and not t.tgisinternal
  union all
  select 'routine', p.oid::regprocedure::text,
         case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) else p.prosrc end,
         p.proacl, p.proowner, obj_description(p.oid, 'pg_proc')
    from pg_proc p where p.pronamespace = 'howdah'::regnamespace
  union all
  select 'type', t.typname, t.typtype::text, t.typacl, t.typowner, obj_description(t.oid, 'pg_type')
    from pg_type t
   where t.typnamespace = 'howdah'::regnamespace and t.typtype in ('d', 'e')
  union all
  select 'schema', n.nspname, null, n.nspacl, n.nspowner, obj_description(n.oid, 'pg_namespace')
    from pg_namespace n where n.nspname = 'howdah'
)
select concat_ws(' | ', o.kind, o.name, o.what, 'owner ' || o.owner::regrole, o.remark) as line from o
union all
select concat_ws(' | ', 'grant', o.kind, o.name, x.grantee::regrole, x.privilege_type, x.is_grantable)
  from o, aclexplode(o.acl) x
 order by line;
