-- The first statement of a session: nothing in it changes anything.
select pg_backend_pid(),
       inet_client_port(),
       current_setting('server_version_num'),
       pg_is_in_recovery(),
       current_setting('transaction_read_only')::boolean,
       current_setting('howdah.probe', true),
       current_setting('server_version')
