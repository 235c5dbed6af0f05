-- What a node reads about a role, before it competes and while it leads.
-- $1 role  $2 key
select registered, key_known, mode, token, owner, node, closing, beat,
       coalesce(resign_token = token, false) as resign, paused, pause_reason, lock_pid, in_recovery, cleared
  from howdah.leader_look($1::text, $2::bigint)
