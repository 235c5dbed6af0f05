# shellcheck shell=bash
# The steps of an advisory election in SQL, as the elector sends them. Sourced after pg.sh; the database
# is `lead`; a session's name is also that of the owner: lead A poller 7.

row() { # COLUMNS ROLE
	sql lead "select $1 from howdah.leadership where role = '$2'"
}

# take SESSION ROLE KEY [LEASE_MS]: the lock is held; prints the new token, or nothing.
take() {
	local seen
	seen=$(row 'token, beat' "$2")
	ask "$1" "select howdah.leader_close('$2', ${seen/|/, })" >/dev/null
	ask "$1" "select token from howdah.leader_take('$2', $3, 'advisory', ${seen/|/, },
		'$1', 'node-$1', null, ${4:-45000})"
}

# lead SESSION ROLE KEY [LEASE_MS]: lock, take, and the wait ended; prints the token.
lead() {
	local token
	[ "$(ask "$1" "select pg_try_advisory_lock($3)")" = t ] || return 1
	token=$(take "$@")
	[ "$(ask "$1" "select howdah.leader_led('$2', $3, '$1', $token, 1000, true, 'direct')")" = t ] || return 1
	echo "$token"
}

# hand_over FROM TO ROLE KEY TOKEN [LEASE_MS]: a planned release, and TO leads; prints its token.
hand_over() {
	ask "$1" "select howdah.leader_release('$3', '$1', $5, 'planned')" >/dev/null
	ask "$1" "select pg_advisory_unlock($4)" >/dev/null
	lead "$2" "$3" "$4" "${6:-45000}"
}
