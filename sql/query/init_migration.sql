-- One migration, together with its record.
do $howdah$
declare
  number int := current_setting('howdah.init_version');
begin
  if to_regclass('howdah.migration') is not null then
    if exists (select from howdah.migration m where m.version = number) then
      return;
    end if;
  end if;
  execute current_setting('howdah.init_script');
  insert into howdah.migration (version, name, sha256, program)
  values (number, current_setting('howdah.init_name'), current_setting('howdah.init_sha256'),
          current_setting('howdah.init_program'));
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'migration;', true);
end
$howdah$
