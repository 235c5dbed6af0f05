-- The role is free: stand-bys that listen need not wait for their next look.
-- $1 role
select pg_notify('howdah_leader', $1::text)
