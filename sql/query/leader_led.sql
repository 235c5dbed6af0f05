-- $1 role  $2 key  $3 owner  $4 token  $5 wait after a known loss, ms  $6 pinned  $7 verdict
select howdah.leader_led($1::text, $2::bigint, $3::text, $4::bigint, $5::int, $6::boolean, $7::text)
