-- The one try at the role: never the blocking form, whose waiter can become a ghost owner.
-- $1 key
select pg_try_advisory_lock($1::bigint)
