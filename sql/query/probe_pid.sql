select pg_backend_pid()
