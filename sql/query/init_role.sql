-- Makes one role, where that is missing and allowed.
do $howdah$
declare
  wanted text := current_setting('howdah.init_role');
begin
  if octet_length(wanted) > 63 then
    raise exception 'the name of role "%" is longer than 63 bytes', wanted using errcode = 'HD010';
  end if;
  if exists (select from pg_roles r where r.rolname = wanted) then
    return;
  end if;
  if not exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) then
    raise warning 'role "%" is missing, and "%" may not create roles', wanted, current_user
      using hint = format('an administrator runs: create role %I nologin; then run this again', wanted);
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'missing;', true);
    return;
  end if;
  execute format('create role %I nologin', wanted);
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'role;', true);
exception when duplicate_object or unique_violation then
  null; -- made at the same moment from another database
end
$howdah$
