#!/bin/bash
# A node whose guard died once leads again later, also when it must wait longer than a heartbeat.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/pg.sh"

bin=${HOWDAH_BIN:?the howdah of a test build}
start_server
fresh_db app
DSN=$(dsn app)
export HOWDAH_WORKERS=all

leads() { # NODE TIMES
	[ "$(grep -c 'state=leading' "$tmp/$1")" -ge "$2" ]
}
node() { # NAME: its pid is in $pid
	"$bin" run --db "$DSN" --role r --heartbeat 300ms --lease 3s --retry 100ms -- sleep 1000 2>"$tmp/$1" &
	pid=$!
}

node A
a=$pid
check "A leads" eventually leads A 1
check "with a command" eventually grep -q 'command started' "$tmp/A"
node B
b=$pid
check "B stands by" eventually grep -q 'event=connected' "$tmp/B"

# B must be the next one, so A is stopped as long as that takes; its session ends with its lease.
kill -KILL "$(pgrep -P "$a" -f 'part guard')"
kill -STOP "$a"
check "A's guard is dead and A is stopped: B leads" eventually leads B 1
kill -CONT "$a"
check "A sees what happened" eventually grep -q 'state=standby.*tree\|state=standby.*dead' "$tmp/A"

kill -KILL "$b"
check "B is killed: A waits for it, heartbeats pass, and leads" eventually leads A 2
kill -TERM "$a"
wait "$a"

done_testing
