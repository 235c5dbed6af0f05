#!/bin/bash
# The guarded writes of the documents, as they are, under `howdah run`: a leader's write arrives; one
# with the token of the past is refused, and nothing of it is left.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/pg.sh"
bin=${HOWDAH_BIN:?the howdah of a test build}
root=$(cd "$(dirname "$0")/../.." && pwd)
export HOWDAH_WORKERS=all
# A node that is stopped in the middle of the sanitizer's leak check never ends.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

start_server
fresh_db app
sql app 'create role writer login in role howdah_worker' \
	'create table report (token bigint not null, body text not null)' 'grant insert on report to writer' >/dev/null
export PGHOST=$server PGPORT PGUSER=writer PGDATABASE=app
PGPORT=$(cat "$server/port")

declare -A elector input
# start NAME ROLE PROGRAM ...: `say NAME LINE` writes to its standard input.
start() {
	local name=$1 role=$2 fd
	shift 2
	mkfifo "$tmp/$role.$name.in"
	"$bin" run --db "$(dsn app writer)" --role "$role" --heartbeat 1s --lease 4s --retry 300ms \
		-- "$@" <"$tmp/$role.$name.in" >"$tmp/$role.$name.out" 2>"$tmp/$role.$name.err" &
	elector[$name]=$!
	exec {fd}>"$tmp/$role.$name.in"
	input[$name]=$fd
}
say() { printf '%s\n' "$2" >&"${input[$1]}"; }
close_input() { eval "exec ${input[$1]}>&-"; }
leads() { grep -q 'event="command started"' "$tmp/$1.$2.err"; } # ROLE NAME
wrote() { grep -qx "wrote $3" "$tmp/$1.$2.out"; }
refused() { grep -q '^refused: ' "$tmp/$1.$2.err"; }
complaint() { tail -n 5 "$tmp/$1.$2.err"; }
guard() {
	local child
	for child in $(cat "/proc/$1/task/$1/children"); do
		! grep -qaz -x guard "/proc/$child/cmdline" || echo "$child"
	done
}

recipe() { # ROLE PROGRAM ...
	local role=$1 token stopped
	sql app 'truncate report'
	start A "$@"
	eventually leads "$role" A
	token=$(sql app "select token from howdah.leadership where role = '$role'")
	say A one
	eventually wrote "$role" A one
	result $? "$role: the leader writes" "$(complaint "$role" A)"
	is "$(sql app 'select * from report')" "$token|one" "$role: with its token"

	# Node A freezes, except for its command, and its session ends: the next one leads after the wait.
	stopped="${elector[A]} $(guard "${elector[A]}")"
	kill -STOP $stopped
	start B "$@"
	sql app "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'" >/dev/null
	eventually leads "$role" B
	say B two
	eventually wrote "$role" B two
	result $? "$role: the next leader writes" "$(complaint "$role" B)"
	say A three
	eventually refused "$role" A
	result $? "$role: the stale one is refused, and says so" "$(complaint "$role" A)"
	is "$(sql app 'select body from report order by token')" $'one\ntwo' "$role: nothing of it is left"
	kill -CONT $stopped
	close_input B
	wait "${elector[B]}"
	is $? 0 "$role: the end of the work ends the leader, with its 0"
	kill -TERM "${elector[A]}"
	wait "${elector[A]}"

	# What the exit code says, without a node around it.
	HOWDAH_ROLE=$role HOWDAH_TOKEN=$token run "${@:2}" <<<'four'
	is "$code" 75 "$role: refused is exit code 75"
	like "$err" "^refused: token $token no longer leads role \"$role\"" "$role: and why"
	is "$(sql app 'select count(*) from report')" 2 "$role: and writes nothing"
}
run() { # tap.sh's has no standard input
	code=0
	"$@" >"$tmp/.out" 2>"$tmp/.err" || code=$?
	err=$(cat "$tmp/.err")
}

if /usr/bin/python3 -c 'import psycopg' 2>/dev/null; then
	recipe python /usr/bin/python3 "$root/examples/guarded_write.py"
else
	skip python 'no psycopg for /usr/bin/python3: tools/setup test installs it'
fi

# The example lies where no package is: a copy of it stands beside them.
if modules=$("$root/tools/fetch" -n node-pg 2>&1); then
	cp "$root/examples/guarded_write.mjs" "$tmp/"
	ln -s "$modules" "$tmp/node_modules"
	recipe node node "$tmp/guarded_write.mjs"
else
	skip node "$modules"
fi

done_testing
