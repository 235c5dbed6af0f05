-- What this user may do with Howdah. Judged by the privileges themselves, since init lets people name the
-- two roles as they like.
select current_user,
       u.rolsuper,
       n.oid is not null and has_schema_privilege(n.oid, 'usage'),
       coalesce(has_table_privilege(c.oid, 'select'), false),
       coalesce((select bool_and(has_function_privilege(p.oid, 'execute'))
                   from pg_proc p
                  where p.pronamespace = n.oid
                    and p.proname in ('leader_take', 'leader_led', 'leader_beat', 'leader_release')), false),
       pg_has_role('pg_signal_backend', 'usage'),
       (select string_agg(quote_ident(r.rolname), ', ' order by r.rolname) from pg_roles r
         where r.rolname like 'howdah%' and pg_has_role(r.oid, 'usage') and not u.rolsuper)
  from pg_roles u
  left join pg_namespace n on n.nspname = 'howdah'
  left join pg_class c on c.relnamespace = n.oid and c.relname = 'leadership'
 where u.rolname = current_user
