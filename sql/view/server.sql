-- The server behind the connection.
select current_setting('server_version') as version,
       current_setting('server_version_num')::int as version_num,
       pg_is_in_recovery() as in_recovery,
       current_database()::text as database,
       current_user::text as "user",
       coalesce(host(inet_server_addr()), 'local') as address,
       to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as started,
       (extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint as up_ms
