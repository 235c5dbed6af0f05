-- What an administrator must run for roles that init could not make. $1 worker  $2 reader
with missing as (
  select r.name, r.n
    from unnest(array[$1::text, $2::text]) with ordinality r (name, n)
   where not exists (select from pg_roles p where p.rolname = r.name)
)
select format('create role %I nologin;', m.name) from missing m group by m.name
union all
select format('select howdah.grant_roles(%L, %L);',
              max(m.name) filter (where m.n = 1), max(m.name) filter (where m.n = 2))
  from missing m
having count(*) > 0
