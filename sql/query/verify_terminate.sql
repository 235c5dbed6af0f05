-- Ends the session of whoever holds the role; of a lease row nobody can tell which one it is, so all of
-- the role's. $1 role
select a.pid, pg_terminate_backend(a.pid)
  from howdah.leadership l
  join pg_stat_activity a on a.datname = current_database()
                         and a.application_name = 'howdah:elector:' || l.role
 where l.role = $1
   and (l.mode = 'lease' or a.pid = howdah.leader_lock_holder(l.key))
