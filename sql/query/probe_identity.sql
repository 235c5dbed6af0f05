-- The cluster and, on a primary, its timeline (hexadecimal). Both need privileges that may be revoked.
select system_identifier,
       case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end
  from pg_control_system()
