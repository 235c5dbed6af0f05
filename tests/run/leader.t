#!/bin/bash
# howdah leader: what an operator reads and does. The leaders are psql sessions that take the steps of
# an election.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
# shellcheck source=tests/lib/lead.sh
. "$(dirname "$0")/../lib/lead.sh"
start_server
fresh_db lead
for s in A B C; do connect $s lead; done
sql lead 'create role ops login in role howdah_worker' 'create role viewer login in role howdah_reader' \
	'create role stranger login' >/dev/null

howdah() { # as `as` says, default the superuser; the exit code is in the last line
	"$HOWDAH_BIN" "$@" --db "$(dsn lead "${as:-postgres}")" 2>&1
	echo "exit $?"
}
state() { # ROLE
	sql lead "select state from jsonb_to_recordset('$("$HOWDAH_BIN" leader --json --db "$(dsn lead viewer)")'::jsonb)
		as r (role text, state text) where role = '$1'"
}
is_state() { # ROLE STATE
	[ "$(state "$1")" = "$2" ]
}
of() { # JSON PATH: one value of it
	sql lead "select \$json\$$1\$json\$::jsonb #>> '{$2}'"
}
lock_is_free() { # KEY
	[ -z "$(sql lead "select howdah.leader_lock_holder($1)")" ]
}

# --- nothing yet ---------------------------------------------------------------------------------------
is "$(howdah leader)" 'No role has been run yet: howdah run --role NAME -- COMMAND
exit 0' 'an empty list says what to do'
is "$(howdah leader --json)" '[]
exit 0' 'and is an empty array for programs'
like "$(howdah leader show poller)" 'no node has ever run a role "poller".*howdah run --role poller.*exit 75' \
	'a role that nobody ever ran is not led'
like "$(howdah leader show 'pol ler')" 'exit 64' 'a name that no role can have is refused as usage'

# --- led -----------------------------------------------------------------------------------------------
sql lead "select howdah.leader_register('poller', 1840000001, 'advisory')" \
	"select howdah.leader_register('nightly', -7, 'advisory')" >/dev/null
is "$(state poller)" free 'registered and not held: free'
ask A "set application_name = 'howdah:elector:poller'" >/dev/null
ask C "set application_name = 'howdah:elector:poller'" >/dev/null
token=$(lead A poller 1840000001)
is "$(state poller)" leading 'held and led: leading'
like "$(as=viewer howdah leader)" "ROLE +STATE +NODE +TOKEN +SINCE +SEEN +NODES +MODE +ADDRESS
nightly +free .*
poller +leading +node-A +$token +[0-9a-z]+ +[0-9a-z]+ +2 +advisory +-
.*exit 0" 'a reader sees who leads, with token, mode, age, and how many nodes are connected'
like "$(howdah leader show poller)" "state +leading.*token +$token.*key +1840000001.*lease +45s.*exit 0" \
	'show tells all and ends with 0'
like "$(howdah leader show nightly)" 'state +free.*free: nobody holds it.*exit 75' 'show of a free role ends with 75'
json=$("$HOWDAH_BIN" leader show poller --json --db "$(dsn lead viewer)")
is "$(of "$json" led) $(of "$json" token) $(of "$json" key) $(of "$json" nodes)" "true $token 1840000001 2" \
	'as JSON it is one object with types'
like "$(howdah leader show poler)" 'did you mean "poller".*exit 75' 'a mistyped role names the nearest'
like "$(howdah leader show zzz)" 'known roles: nightly, poller.*exit 75' 'another unknown one names those that exist'
like "$(as=stranger howdah leader)" 'permission denied.*hint: .*howdah_reader.*exit 77' 'a stranger is told what to ask for'

# --- resign --------------------------------------------------------------------------------------------
like "$(howdah leader resign nightly)" 'no node holds role "nightly".*hint: it is free.*exit 75' \
	'nobody can be asked to resign a free role'
like "$(as=ops howdah leader resign poller --reason 'kernel update')" \
	"Node node-A, which holds poller with token $token, is asked.*exit 0" 'resign names node and token'
is "$(row 'resign_token' poller)" "$token" 'and the holder finds it in the row'
like "$(as=viewer howdah leader resign poller)" 'permission denied.*howdah_worker.*exit 77' 'a reader may not'
like "$(howdah leader resign unheard)" 'exit 75' 'nor can an unknown role be resigned'

# --- pause, resume -------------------------------------------------------------------------------------
like "$(as=ops howdah leader pause poller --reason $'3 a.m.\e[2J')" \
	'poller is paused: node node-A is told to stop.*Undo: howdah leader resume poller.*exit 0' \
	'pause says what it did and how to undo it'
is "$(state poller)" pausing 'while its holder still runs it is pausing'
like "$(howdah leader show poller)" 'led +yes.*exit 0' 'which is led, for as long as it is'
like "$(howdah leader pause poller)" 'paused already, since 20[0-9T:.-]+Z by ops: 3 a\.m\.\\x1b\[2J.*exit 0' \
	'a second pause says since when, by whom and why, with nothing for the terminal to obey'
ask A "select howdah.leader_release('poller', 'A', $token, 'paused')" >/dev/null
ask A 'select pg_advisory_unlock(1840000001)' >/dev/null
is "$(state poller)" paused 'once the holder is gone it is paused'
like "$(howdah leader)" 'paused +stopped on all nodes; undo: howdah leader resume' 'the list explains the state'
like "$(howdah leader resign poller)" 'it is paused.*exit 75' 'nobody holds a paused role'
json=$("$HOWDAH_BIN" leader resume poller --json --db "$(dsn lead ops)")
is "$(of "$json" action) $(of "$json" changed) $(of "$json" role,state)" 'resume true free' \
	'resume as JSON: what was done, and the role as it is now'
like "$(howdah leader resume poller)" 'was not paused.*exit 0' 'a second resume changes nothing'

# --- waiting, changing, lost, foreign ---------------------------------------------------------------------
ask B 'select pg_try_advisory_lock(1840000001)' >/dev/null
take B poller 1840000001 >/dev/null
is "$(state poller)" waiting 'taken and not led yet: waiting'
like "$(howdah leader show poller)" 'led +no.*exit 75' 'which is not led'
seen=$(row 'token, beat' poller)
ask B "select howdah.leader_close('poller', ${seen/|/, })" >/dev/null
ask B "set application_name = 'howdah:elector:poller'" >/dev/null
is "$(state poller)" changing 'closed and the lock held: changing hands'
ask B 'select pg_advisory_unlock(1840000001)' >/dev/null
token=$(lead A poller 1840000001)
sql lead "select pg_terminate_backend(${backend[A]})" >/dev/null
eventually lock_is_free 1840000001
is "$(state poller)" lost 'owned in the row and the lock is free: lost'
like "$(howdah leader show poller)" 'lost: its holder is gone.*exit 75' 'which nobody leads, whatever the row says'
like "$(howdah leader resign poller)" 'it is lost.*exit 75' 'and nobody can be asked'
ask C "set application_name = 'a hand-written poller'" >/dev/null
ask C 'select pg_try_advisory_lock(-7)' >/dev/null
is "$(state nightly)" foreign 'a lock held by somebody unknown: foreign'
like "$(howdah leader show nightly)" 'lock application +a hand-written poller.*foreign: its lock is held by a session outside' \
	'and the session is named'
like "$(howdah leader forget nightly)" 'role "nightly" is led.*exit 77' 'a held key is not forgotten'

# --- lease mode ------------------------------------------------------------------------------------------
sql lead "select howdah.leader_register('leased', 99, 'lease')" \
	"update howdah.leadership set owner = 'X', node = 'node-X', state = 'leading', token = 5, led_token = 5,
	        lease_ms = 60000, seen_at = clock_timestamp(), acquired_at = clock_timestamp(), closing = false
	  where role = 'leased'" >/dev/null
is "$(state leased)" leading 'a lease that was renewed in time is held'
sql lead "update howdah.leadership set seen_at = seen_at - interval '61 seconds' where role = 'leased'" >/dev/null
is "$(state leased)" lost 'one that was not is lost'

# --- forget, history -------------------------------------------------------------------------------------
like "$(howdah leader forget poller)" "key 1840000001 and mode advisory are free again.*goes on from $token.*exit 0" \
	'forget frees key and mode'
is "$(state poller)" forgotten 'and the role stays, with its token'
like "$(howdah leader forget poller)" 'forgotten already.*exit 0' 'twice is once'
like "$(as=viewer howdah leader history poller --limit 1000)" \
	"AT +EVENT +TOKEN +NODE +BY +REASON
20[0-9T:.-]+Z +registered .*taken .*leading +[0-9]+ +node-A.*resign asked +[0-9]+ .*ops +kernel update.*paused .*ops +3 a\\.m\\.\\\\x1b.*resumed.*forgotten.*exit 0" \
	'history is the record, oldest first, in the time format of the logs'
is "$(howdah leader history poller -n 1 | wc -l)" 3 'the newest only, as asked'
json=$("$HOWDAH_BIN" leader history poller -n 1 --json --db "$(dsn lead viewer)")
is "$(of "$json" 0,event)" forgotten 'the newest is the last change'

# --- no schema, no database -----------------------------------------------------------------------------
like "$("$HOWDAH_BIN" leader --db "$(dsn postgres)" 2>&1; echo "exit $?")" 'schema howdah is missing.*howdah init.*exit 78' \
	'without a schema it names howdah init'
like "$("$HOWDAH_BIN" leader pause poller 2>&1; echo "exit $?")" 'exit 78' 'without a database it is 78'

done_testing
