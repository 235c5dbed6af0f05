-- What refuses a migration, before anything is written. Each transaction of init begins with it, and so
-- does howdah.sql; what it must know is in settings of the transaction, since DO takes no parameters.
do $howdah$
declare
  latest int := current_setting('howdah.init_latest');
  sums text[] := current_setting('howdah.init_sums');
  program text := current_setting('howdah.init_program');
  caller name := current_user;
  owner name;
  m record;
begin
  if current_setting('server_version_num')::int < 140000 then
    raise exception 'PostgreSQL % is too old: howdah needs PostgreSQL 14 or newer', current_setting('server_version')
      using errcode = 'HD010', hint = 'upgrade the server';
  end if;
  if pg_is_in_recovery() then
    raise exception 'this server is a standby: nothing can be written here'
      using errcode = 'HD010', hint = 'name the primary, or several hosts with target_session_attrs=read-write';
  end if;
  if current_setting('transaction_read_only')::boolean then
    raise exception 'transactions of % are read-only here', caller
      using errcode = 'HD010', hint = 'default_transaction_read_only is on for this role, database or connection';
  end if;
  if not pg_try_advisory_xact_lock(current_setting('howdah.init_key')::bigint) then
    raise exception 'another howdah init is at work in database "%"', current_database()
      using errcode = '55P03', hint = 'run it again when that one has ended';
  end if;
  perform set_config('howdah.init_did', '', true), set_config('howdah.init_caller', caller, true);
  if current_setting('synchronous_commit') in ('off', 'local') then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  select r.rolname into owner
    from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'howdah';
  if not found then
    if not has_database_privilege(current_database(), 'create') then
      raise exception 'role "%" may not create schema howdah in database "%"', caller, current_database()
        using errcode = 'HD010',
              hint = format('an administrator runs: create schema howdah authorization %I', caller);
    end if;
    return;
  end if;
  if not pg_has_role(owner, 'member') then
    raise exception 'schema howdah belongs to role "%", and "%" is no member of it', owner, caller
      using errcode = 'HD010', hint = format('run init as %s, or an administrator runs: grant %I to %I', owner, owner, caller);
  end if;
  perform set_config('role', owner, true);
  if to_regclass('howdah.migration') is null then
    if exists (select from pg_class c where c.relnamespace = 'howdah'::regnamespace)
       or exists (select from pg_proc p where p.pronamespace = 'howdah'::regnamespace) then
      raise exception 'there is a schema howdah in database "%" that is not of this program', current_database()
        using errcode = 'HD010', hint = 'rename or drop it: it holds objects and has no table howdah.migration';
    end if;
  else
    select x.version, x.program into m from howdah.migration x order by x.version desc limit 1;
    if m.version > latest then
      raise exception 'schema howdah is at version %, put there by howdah %; this is howdah %, which knows version %',
          m.version, coalesce(m.program, '(unknown)'), program, latest
        using errcode = 'HD010', hint = format('use howdah %s or newer', coalesce(m.program, 'of that version'));
    end if;
    select x.name, x.sha256 into m from howdah.migration x
     where x.sha256 is distinct from sums[x.version] order by x.version limit 1;
    if found then
      raise exception 'migration % was applied here with checksum %, and howdah % has another one under that number',
          m.name, left(m.sha256, 12), program
        using errcode = 'HD010', hint = 'this database was made by another build: use that one, or make the schema anew';
    end if;
  end if;
  perform set_config('role', caller, true);
end
$howdah$
