-- $1 role  $2 owner  $3 token  $4 reason
select howdah.leader_notice($1::text, $2::text, $3::bigint, $4::text)
