-- $1 role  $2 key  $3 token seen  $4 beat seen  $5 system  $6 timeline  $7 start of the server
-- $8 owner  $9 node  $10 address  $11 lease, ms
select token, led_token, clear_token, same_incarnation, same_start, led_mode, led_pinned, led_verdict,
       led_lease_ms, led_wait_ms
  from howdah.lease_take_over($1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::int, $7::bigint,
                              $8::text, $9::text, $10::text, $11::int)
