-- Is the lock still this backend's? A 64-bit key is stored as two halves, objsubid 1.
select exists (
  select from pg_locks
   where locktype = 'advisory' and granted and pid = pg_backend_pid() and objsubid = 1
     and database = (select oid from pg_database where datname = current_database())
     and classid = (($1::bigint >> 32) & 4294967295)::oid
     and objid = ($1::bigint & 4294967295)::oid)
