-- The notice goes with the unlock: earlier, stand-bys would try too soon and wait a whole interval.
-- $1 key  $2 role
select pg_advisory_unlock($1::bigint), pg_notify('howdah_leader', $2::text)
