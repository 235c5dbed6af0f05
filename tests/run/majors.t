#!/bin/bash
# Every supported server but the one that all other tests use, briefly: schema, upgrade, a fail-over in
# both ways of election, what an operator sees. `make matrix` runs more of the tests on each.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/pg.sh"
bin=${HOWDAH_BIN:?the howdah of a test build}
root=$(cd "$(dirname "$0")/../.." && pwd)
export HOWDAH_WORKERS=all
# A process that is killed in the middle of the sanitizer's leak check, which traces it, never ends.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

majors=()
for major in 14 16 17 18; do
	if why=$("$root/tools/fetch" -n pg$major 2>&1); then
		majors+=("$major")
	else
		skip "PostgreSQL $major" "$why"
	fi
done

# on MAJOR: what follows is about this server.
on() {
	major=$1 server=$tmp/pg$1
	HOWDAH_TEST_PGBIN=$("$root/tools/fetch" -n "pg$1")
	export HOWDAH_TEST_PGBIN
}

declare -A elector
# start NAME MODE: a node of role MODE; its command writes its token and stays.
start() {
	"$bin" run --db "$(dsn app writer)" --role "$2" --election "$2" --heartbeat 2s --lease 8s --margin 500ms \
		--retry 300ms -- sh -c 'echo "$HOWDAH_TOKEN"; exec sleep 600' \
		>"$tmp/$major.$2.$1.out" 2>"$tmp/$major.$2.$1.err" </dev/null &
	elector[$major.$2.$1]=$!
}
token() { cat "$tmp/$major.$2.$1.out"; }
runs() { [ -s "$tmp/$major.$2.$1.out" ]; }
stands_by() { grep -q event=connected "$tmp/$major.$2.$1.err"; }
log() { tail -n 5 "$tmp/$major.$2.$1.err"; }
signal() { kill "-$1" "${elector[$major.$3.$2]}"; }

# step NAME COMMAND ...: on every server; each waits for what the step before began on all of them.
step() {
	local name=$1
	shift
	for m in "${majors[@]}"; do
		on "$m"
		"$@" "PostgreSQL $m: $name"
	done
}

begin() {
	[ -d "$server/data" ] || exit 1
	is "$(($(sql postgres 'show server_version_num') / 10000))" "$major" "$1: it is one"
	fresh_db app
	sql app 'create role writer login in role howdah_worker' >/dev/null
	start A advisory
	start A lease
}
upgrade() {
	sql postgres 'create database old' >/dev/null
	said=$(psql -XqAt -v ON_ERROR_STOP=1 -d "$(dsn old)" -f "$root/tests/upgrade/0001.sql" 2>&1 && install_schema old)
	result $? "$1" "$said"
	said=$(diff <(schema_of app) <(schema_of old))
	result $? "$1, to a fresh schema" "$said"
	check "$1, which can be read" grep -q assert_leader <<<"$(schema_of old)"
}
lead() {
	for mode in advisory lease; do
		eventually runs A $mode
		result $? "$1, $mode" "$(log A $mode)"
		start B $mode
	done
}
look() {
	for mode in advisory lease; do
		eventually stands_by B $mode
		result $? "$1, $mode: the other one stands by" "$(log B $mode)"
		check "$1, $mode: leader show" "$bin" leader show $mode --db "$(dsn app)"
		like "$(psql -XAtq -d "$(dsn app writer)" -c "select howdah.assert_leader('$mode', $(token A $mode) + 1)" 2>&1)" \
			'HD001|no longer leads' "$1, $mode: assert_leader refuses another token"
		check "$1, $mode: and takes the leader's" \
			psql -XAtq -d "$(dsn app writer)" -c "select howdah.assert_leader('$mode', $(token A $mode))"
	done
	said=$("$bin" status --db "$(dsn app)" 2>&1)
	like "$said" "PostgreSQL $major.*advisory.*leading.*lease.*leading" "$1: status"
	said=$("$bin" doctor --db "$(dsn app)" 2>&1)
	result $? "$1: doctor" "$said"
	for mode in advisory lease; do
		disown "${elector[$major.$mode.A]}" # its end is no news
		signal KILL A $mode
	done
}
fail_over() {
	for mode in advisory lease; do
		eventually runs B $mode
		result $? "$1, $mode" "$(log B $mode)"
		check "$1, $mode: with a larger token" [ "$(token B $mode)" -gt "$(token A $mode)" ]
		signal TERM B $mode
	done
}
finish() {
	local free
	for mode in advisory lease; do
		wait "${elector[$major.$mode.B]}"
		is $? 143 "$1, $mode: TERM ends it"
	done
	free=$(sql app "select count(*) from howdah.leadership where owner is null and clear_token = token")
	is "$free" 2 "$1: both roles are released"
	unlike "$(grep -E 'ERROR|PANIC|FATAL' "$server/log" | grep -v 'no longer leads')" 'howdah' "$1: no error in the server's log"
	"$lib/pgserver" destroy "$server" &
}

for m in "${majors[@]}"; do
	on "$m"
	"$lib/pgserver" start "$server" >/dev/null &
done
wait
step 'the server' begin
step 'upgrade from schema 1' upgrade
step 'a leader' lead
step 'two nodes' look
step 'fail-over' fail_over
step 'the end' finish
wait
done_testing
