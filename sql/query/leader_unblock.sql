-- $1 role
select pid, ended from howdah.leader_unblock($1::text)
