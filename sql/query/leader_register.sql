-- $1 role  $2 key  $3 mode; how many roles there are
select howdah.leader_register($1::text, $2::bigint, $3::text)
