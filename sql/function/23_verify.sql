-- The scratch roles of `howdah verify`: the only rows of leadership that are ever deleted.

create or replace function howdah.leader_scrap(role text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  was howdah.leadership;
begin
  if not coalesce($1 ~ '^howdah-verify-[0-9a-f]{8}$', false) then
    raise exception 'role "%" is no scratch role of howdah verify', $1
      using errcode = '22023',
            hint = 'other roles keep their row, so that tokens only grow; howdah leader forget clears key and mode';
  end if;
  select * into was from howdah.leadership l where l.role = $1 for update;
  if found then
    if howdah.leader_lock_holder(was.key) is not null
       or (was.mode = 'lease' and was.owner is not null
           and was.seen_at + make_interval(secs => was.lease_ms / 1000.0) > clock_timestamp()) then
      return false;
    end if;
    -- The lease of a scratch role is seconds: an hour later nothing of it can be alive.
    if was.led_token > was.clear_token and was.led_at > clock_timestamp() - interval '1 hour' then
      return false;
    end if;
  end if;
  delete from howdah.leadership l where l.role = $1;
  delete from howdah.leadership_history h where h.role = $1;
  return true;
end
$$;
comment on function howdah.leader_scrap(text) is
  'Deletes a scratch role of howdah verify, with its history; false while somebody holds it or its last command is not known to be dead. Raises 22023 for any other role.';
