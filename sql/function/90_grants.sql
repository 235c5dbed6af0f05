-- Who may do what. Nothing is granted to PUBLIC; docs/security.md says why each grant is there.

create or replace function howdah.grants_due(worker text, reader text) returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with item (kind, name, acl, worker_may, reader_may) as (
    select 'schema', format('%I', n.nspname), coalesce(n.nspacl, acldefault('n', n.nspowner)),
           'USAGE', 'USAGE'
      from pg_namespace n where n.nspname = 'howdah'
    union all
    select 'table', c.oid::regclass::text, coalesce(c.relacl, acldefault('r', c.relowner)), m.may, m.may
      from pg_class c
     cross join lateral (select case when c.relname in
             ('migration', 'function_set', 'leadership', 'leadership_history') then 'SELECT' end) m (may)
     where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'p', 'v')
    union all
    select 'routine', p.oid::regprocedure::text, coalesce(p.proacl, acldefault('f', p.proowner)),
           case when p.proname not in ('grants_due', 'grant_roles', 'leader_record', 'leader_recall')
                then 'EXECUTE' end,
           case when p.proname in ('server_incarnation', 'leader_lock_holder') then 'EXECUTE' end
      from pg_proc p where p.pronamespace = 'howdah'::regnamespace
  )
  select format('revoke all on %s %s from public', i.kind, i.name)
    from item i
   where exists (select from aclexplode(i.acl) a where a.grantee = 0)
  union all
  select format('grant %s on %s %s to %I', lower(g.may), i.kind, i.name, g.grantee)
    from item i
   cross join lateral (values ($1, i.worker_may), ($2, i.reader_may)) g (grantee, may)
   where g.grantee is not null and g.may is not null
     and not exists (select from aclexplode(i.acl) a join pg_roles r on r.oid = a.grantee
                      where r.rolname = g.grantee and a.privilege_type = g.may)
$$;
comment on function howdah.grants_due(text, text) is
  'The statements that are still missing for a worker role and a reader role; a null role is left out.';

create or replace function howdah.grant_roles(worker text, reader text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  statement text;
begin
  for statement in select d from howdah.grants_due($1, $2) d loop
    execute statement;
  end loop;
end
$$;
comment on function howdah.grant_roles(text, text) is
  'Takes everything from PUBLIC and grants what workers and readers need; a null role is left out, what is in place is not written again.';
