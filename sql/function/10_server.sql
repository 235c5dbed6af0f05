-- Which server is this? Two answers that differ mean: not the same history, whatever the address says.

create or replace function howdah.server_incarnation(
  out system bigint, out timeline int, out started timestamptz, out in_recovery boolean)
language plpgsql stable -- not parallel: a block with EXCEPTION starts a subtransaction
set search_path = pg_catalog, pg_temp
as $$
begin
  started := pg_postmaster_start_time();
  in_recovery := pg_is_in_recovery();
  begin
    select s.system_identifier into system from pg_control_system() s;
  exception when insufficient_privilege then
    system := null;
  end;
  -- pg_control_checkpoint() still tells the old timeline for seconds after a promotion.
  begin
    if not in_recovery then
      timeline := ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int;
    end if;
  exception when insufficient_privilege then
    timeline := null;
  end;
end
$$;
comment on function howdah.server_incarnation() is
  'System identifier, timeline and start of this server; null where a provider does not let the caller read it.';

-- What must survive a crash of the server is committed durably whatever the role''s default.
create or replace function howdah.durable() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end
$$;
comment on function howdah.durable() is
  'Makes the commit of the current transaction synchronous when it would not be.';
