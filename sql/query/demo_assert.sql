-- The first statement of a guarded transaction. $1 role  $2 token
select howdah.assert_leader($1::text, $2::bigint)
