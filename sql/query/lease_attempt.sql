-- $1 role  $2 key  $3 owner  $4 node  $5 address  $6 lease, ms  $7 expiry, for people
select token, led_token, clear_token, same_incarnation, same_start, led_mode, led_pinned, led_verdict,
       led_lease_ms, led_wait_ms,
       seen_token, seen_beat, seen_lease_ms, closing, system, timeline, started,
       in_recovery, paused, pause_reason, holder
  from howdah.lease_attempt($1::text, $2::bigint, $3::text, $4::text, $5::text, $6::int, $7::timestamptz)
