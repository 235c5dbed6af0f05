-- $1 role  $2 key  $3 mode  $4 token seen  $5 beat seen  $6 owner  $7 node  $8 address  $9 lease, ms
select token, led_token, clear_token, same_incarnation, same_start, led_mode, led_pinned, led_verdict,
       led_lease_ms, led_wait_ms
  from howdah.leader_take($1::text, $2::bigint, $3::text, $4::bigint, $5::bigint,
                          $6::text, $7::text, $8::text, $9::int)
