-- Who may do what. Nothing is granted to PUBLIC; docs/security.md says why each grant is there.

create or replace function howdah.grant_roles(worker text, reader text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  f regprocedure;
begin
  for f in select p.oid::regprocedure from pg_proc p
            where p.pronamespace = 'howdah'::regnamespace loop
    execute format('revoke all on function %s from public', f);
  end loop;
  if reader is not null then
    execute format('grant usage on schema howdah to %I', reader);
    execute format('grant select on howdah.migration, howdah.function_set, howdah.leadership, howdah.leadership_history to %I', reader);
    execute format('grant execute on function howdah.server_incarnation(), howdah.leader_lock_holder(bigint) to %I', reader);
  end if;
  if worker is not null then
    execute format('grant usage on schema howdah to %I', worker);
    execute format('grant select on howdah.migration, howdah.function_set, howdah.leadership, howdah.leadership_history to %I', worker);
    for f in select p.oid::regprocedure from pg_proc p
              where p.pronamespace = 'howdah'::regnamespace
                and p.proname not in ('grant_roles', 'leader_record') loop
      execute format('grant execute on function %s to %I', f, worker);
    end loop;
  end if;
end
$$;
comment on function howdah.grant_roles(text, text) is
  'Takes every function from PUBLIC and grants what workers and readers need; a null role is left out.';
