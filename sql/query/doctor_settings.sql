-- What this user's sessions begin with: the value in its base unit, and as people write it.
select s.name, s.setting, current_setting(s.name), s.source
  from pg_settings s
 where s.name in ('idle_session_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout',
                  'lock_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval',
                  'tcp_keepalives_count', 'tcp_user_timeout', 'default_transaction_isolation',
                  'synchronous_commit', 'fsync', 'full_page_writes')
