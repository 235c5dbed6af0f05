-- $1 role  $2 token  $3 beat
select howdah.leader_close($1::text, $2::bigint, $3::bigint)
