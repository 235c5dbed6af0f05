-- The server functions, when the set differs. Those of a newer program stay: while a deployment rolls,
-- nodes with old and new programs run init in any order, and the newer set serves both.
do $howdah$
declare
  program text := current_setting('howdah.init_program');
  have record;
  verdict text := 'functions;';
begin
  select f.sha256, f.program into have from howdah.function_set f;
  if have.sha256 = current_setting('howdah.init_sha256') then
    return;
  end if;
  if string_to_array(substring(have.program from '^\d+(?:\.\d+)*'), '.')::int[]
     > string_to_array(substring(program from '^\d+(?:\.\d+)*'), '.')::int[] then
    verdict := 'newer;';
  else
    execute current_setting('howdah.init_script');
    insert into howdah.function_set (sha256, program)
    values (current_setting('howdah.init_sha256'), program)
    on conflict (only_row) do update
       set sha256 = excluded.sha256, program = excluded.program, applied_at = excluded.applied_at;
  end if;
  perform set_config('howdah.init_did', current_setting('howdah.init_did') || verdict, true);
end
$howdah$
