#!/bin/bash
# howdah status: schema, server, roles, nodes, and what it says when one of them is not there.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
start_server
fresh_db app
sql app 'create role viewer login in role howdah_reader' 'create role stranger login' >/dev/null

howdah() {
	"$HOWDAH_BIN" "$@" --db "$(dsn "${db:-app}" "${as:-viewer}")" 2>&1
	echo "exit $?"
}
of() { # JSON PATH
	sql app "select \$json\$$1\$json\$::jsonb #>> '{$2}'"
}
json() {
	"$HOWDAH_BIN" status --json --db "$(dsn "${db:-app}" "${as:-viewer}")"
}

like "$(howdah status)" "howdah +[0-9.]+
server +PostgreSQL [0-9.]+.*primary, up .*
database +app at local, as user viewer
schema +version [0-9]+, as this howdah knows it

No role has been run yet.*

No process of Howdah is connected.*
exit 0" 'a fresh schema'
report=$(json)
is "$(of "$report" server,in_recovery) $(of "$report" schema,state) $(of "$report" roles) $(of "$report" nodes)" \
	'false current [] []' 'as one JSON object'

# --- nodes -----------------------------------------------------------------------------------------------
connect A app viewer
connect B app
connect C app
ask A "set application_name = 'howdah:elector:poller'" >/dev/null
ask B "set application_name = 'howdah:elector:poller'" >/dev/null
ask C "set application_name = 'howdah:http:'" >/dev/null
like "$(howdah status)" "PART +NAME +SESSIONS +STATES +OLDEST +ADDRESSES
elector +poller +2 +idle +[0-9a-z]+ +local
http +- +1 +- +- +-
exit 0" 'sessions are counted by name, also those of which nothing else can be seen'
report=$(json)
is "$(of "$report" nodes,0,part) $(of "$report" nodes,0,sessions)" 'elector 2' 'and so for programs'

# --- roles -----------------------------------------------------------------------------------------------
sql app "select howdah.leader_register('poller', 7, 'advisory')" >/dev/null
like "$(howdah status)" 'ROLE .*poller +free .*free +nobody holds it.*PART' 'the roles as howdah leader lists them'

# --- schema: missing, hidden, newer, older ---------------------------------------------------------------
like "$(db=postgres howdah status)" 'schema +missing in this database; create it: howdah init.*exit 78' 'no schema is 78'
is "$(of "$(db=postgres json)" schema,state)" missing 'and named in JSON'
like "$(as=stranger howdah status)" 'schema +there, but not for this user; grant it howdah_reader.*exit 77' \
	'a stranger is told what to ask for'
is "$(of "$(as=stranger json)" roles)" '' 'and gets null for the roles'
sql app "insert into howdah.migration (version, name, sha256, program) values (9000, '9000_x', 'x', '9.9')" >/dev/null
like "$(howdah status)" 'version 9000, made by howdah 9\.9 and newer than the [0-9]+ that this howdah.*ROLE .*exit 0' \
	'a newer schema is said, and the rest is shown'
sql app 'delete from howdah.migration where version > 0' >/dev/null
like "$(howdah status)" 'version none, older than the [0-9]+ of this howdah: howdah init' 'an older schema names howdah init'
sql app "insert into howdah.migration (version, name, sha256)
	select v, v::text, 'x' from generate_series(1, $(of "$report" schema,known)) v" \
	"update howdah.function_set set sha256 = 'other'" >/dev/null
like "$(howdah status)" 'the server functions are those of another howdah' 'foreign functions are said'
sql app 'drop table howdah.leadership cascade' >/dev/null
like "$(howdah status)" 'howdah: schema howdah is missing in this database, or older.*The roles can.t be read.*PART.*exit 78' \
	'what can not be read does not hide the rest'

# --- no server -------------------------------------------------------------------------------------------
"$lib/pgserver" stop "$server"
like "$(howdah status)" 'exit 69' 'a server that is down is 69'

done_testing
