-- $1 role
select pid, prepared, user_name, application_name, extract(epoch from age)::bigint as age_s
  from howdah.leader_blockers($1::text)
