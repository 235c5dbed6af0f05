-- $1 role  $2 owner  $3 token  $4 expiry, for people
select held, why, resign, paused
  from howdah.lease_renew($1::text, $2::text, $3::bigint, $4::timestamptz)
