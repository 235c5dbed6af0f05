select pg_backend_pid(), exists (select from pg_temp.howdah_probe where canary = $1)
