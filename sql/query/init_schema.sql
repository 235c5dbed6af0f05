-- The schema, and from here on everything as its owner, so that all objects have one.
do $howdah$
begin
  if to_regnamespace('howdah') is null then
    create schema howdah;
    comment on schema howdah is 'Howdah: leadership, events, schedules and more. Made by howdah init.';
    perform set_config('howdah.init_did', current_setting('howdah.init_did') || 'schema;', true);
  end if;
  perform set_config('role', pg_get_userbyid(n.nspowner), true) from pg_namespace n where n.nspname = 'howdah';
end
$howdah$
