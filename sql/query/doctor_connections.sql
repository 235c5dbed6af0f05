-- How many sessions there may be, are, and are ours. Counted by database and user, which everybody sees of
-- all sessions; background processes have none of the two.
with s as (
  select a.*, split_part(a.application_name, ':', 2) as part from pg_stat_activity a
   where a.datid is not null and a.usesysid is not null
), parts as (
  select s.part, count(*) as n from s where s.application_name like 'howdah:%' and s.pid <> pg_backend_pid()
   group by s.part
)
select current_setting('max_connections')::int,
       current_setting('superuser_reserved_connections')::int
         + coalesce(current_setting('reserved_connections', true), '0')::int,
       (select count(*) from s),
       (select coalesce(sum(p.n), 0) from parts p),
       (select string_agg(p.part || ' ' || p.n, ', ' order by p.part) from parts p),
       nullif(u.rolconnlimit, -1),
       (select count(*) from s where s.usesysid = u.oid),
       nullif(d.datconnlimit, -1),
       (select count(*) from s where s.datid = d.oid)
  from pg_roles u, pg_database d
 where u.rolname = current_user and d.datname = current_database()
