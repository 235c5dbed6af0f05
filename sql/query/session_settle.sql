-- What a session of ours needs, in one round trip. $1 lease in ms (0: none, its time-outs are left alone),
-- $2 statement_timeout in ms (0: left alone). The last three columns: are keepalives pinned, or is there
-- no TCP that could lose its peer? set_config() answers with what the socket really has.
select set_config('search_path', 'pg_catalog', false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('jit', 'off', false),
       set_config('client_min_messages', 'warning', false),
       case when $2::bigint > 0 then set_config('statement_timeout', $2::bigint::text, false) end,
       case when $1::bigint > 0 then set_config('idle_session_timeout', $1::bigint::text, false) end,
       case when $1::bigint > 0 then set_config('idle_in_transaction_session_timeout', $1::bigint::text, false) end,
       inet_client_addr() is null,
       case when $1::bigint > 0 then
         set_config('tcp_keepalives_idle', ceil($1::bigint / 1000.0)::text, false)::bigint * 1000 >= $1::bigint end,
       case when $1::bigint > 0 then
         set_config('tcp_user_timeout', $1::bigint::text, false)::bigint = $1::bigint end
