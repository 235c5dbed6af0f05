-- The grants that are still missing, for those of the two roles that exist.
do $howdah$
declare
  worker name := (select r.rolname from pg_roles r where r.rolname = current_setting('howdah.init_worker'));
  reader name := (select r.rolname from pg_roles r where r.rolname = current_setting('howdah.init_reader'));
begin
  if exists (select from howdah.grants_due(worker, reader)) then
    perform howdah.grant_roles(worker, reader);
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'grants;', true);
  end if;
end
$howdah$
