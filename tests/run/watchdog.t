#!/bin/bash
# howdah run --watchdog: a command that stops pinging hands over to another node.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../chaos/nodes.sh"

start_server
fresh_db app
DSN=$(dsn app)
stubborn=$build/tests/stubborn

# node NAME ROLE WATCHDOG WAY ARGUMENT [OPTION ...]: `howdah run` of a stubborn, which pings or not.
node() {
	local name=$1 role=$2 watchdog=$3 way=$4 argument=$5
	shift 5
	"$bin" run --db "$DSN" --role "$role" --heartbeat 1s --lease 5s --retry 300ms --grace 10s \
		--watchdog "$watchdog" "$@" -- \
		"$stubborn" "$tmp/$name.said" "$way" "$argument" 2>>"$tmp/$name.log" &
	pid[$name]=$!
}
connected() { log_has "$1" 'event=connected'; }
word() { awk -v w="$1" '$1 == w { n = $2 } END { print n }' "$tmp/$2.said"; }

# Both ping: nobody moves, for several intervals; then one is stopped.
node A stopped 1500ms ping ''
eventually leads A
node B stopped 1500ms ping ''
eventually connected B
beat() { sql app "select beat from howdah.leadership where role = '$1'"; }
seen=$(beat stopped)
beats() { [ "$(beat stopped)" -ge $((seen + 5)) ]; }
eventually beats
leads A
result $? "a command that pings is left alone"
command=$(command_of A)
token=$(sql app "select token from howdah.leadership where role = 'stopped'")
from=$(now_ms)
kill -STOP "$command"
eventually leads B
result $? "a stopped command: another node leads" "$(tail -n 5 "$tmp/A.log" "$tmp/B.log")"
note "$(($(now_ms) - from)) ms after it was stopped, with a watchdog of 1500 ms"
like "$(cat "$tmp/A.log")" 'reason="watchdog: no ping for 1500ms"' "the reason is in its log"
unlike "$(cat "$tmp/A.log")" 'state=lost' "it is a hand-over, not a loss"
unlike "$(cat "$tmp/B.log")" 'wait=[1-9]' "so nobody waits"
! alive "$command"
result $? "the stopped command is dead"
check "the token grew" [ "$(sql app "select token from howdah.leadership where role = 'stopped'")" -gt "$token" ]
like "$("$bin" leader history stopped --db "$DSN")" 'watchdog: no ping for 1500ms' "the reason is in the history"
state_is A standby
result $? "the node that was silent stands by again" "$(tail -n 3 "$tmp/A.log")"
kill -TERM "${pid[B]}"
eventually leads A
result $? "and leads again when it is its turn"
stop_nodes

# Silent from the start on, alone: killed, and after the rest it leads again, in a new term.
node C lonely 400ms ignore '' --lost-grace 200ms --restart
again() { [ "$(grep -c 'event="command started"' "$tmp/C.log")" -ge 2 ]; }
eventually again
result $? "alone, it leads again after a rest" "$(tail -n 8 "$tmp/C.log")"
check "in a new term, --restart or not" \
	[ "$(grep -o 'state=leading token=[0-9]*' "$tmp/C.log" | sort -u | wc -l)" -ge 2 ]
unlike "$(cat "$tmp/C.log")" 'restart=' "--restart does not start a silent command again by itself"
stop_nodes

# One shot: ends, and not with 0.
node D once 300ms polite '' --wait 10s
wait "${pid[D]}"
is $? 76 "with --wait: 76"
like "$(cat "$tmp/D.log")" 'state=stopping.*reason="watchdog: no ping for 300ms"' "and the log says why"
like "$(tail -n 1 "$tmp/D.log")" 'state=ended exit=76 source=howdah' "and that the code is not the command's own"
is "$(sql app "select owner is null and clear_token = token from howdah.leadership where role = 'once'")" t \
	"the role was released"
unset "pid[D]"

# The guard asks once; the elector does not ask again.
node T twice 300ms tell-signals '' --wait 10s --lost-grace 1s
wait "${pid[T]}"
unset "pid[T]"
is "$(grep -c '^got 15$' "$tmp/T.said")" 1 "TERM arrives once"

# A shell with systemd-notify, whose process is gone at once; it waits for its barrier as well.
if type systemd-notify >/dev/null 2>&1; then
	cat >"$tmp/shell" <<'EOF'
#!/bin/sh
while :; do
	systemd-notify WATCHDOG=1 || echo failed >>"$1"
	echo pinged >>"$1"
	sleep 0.2
done
EOF
	chmod 755 "$tmp/shell"
	"$bin" run --db "$DSN" --role shell --watchdog 4s -- "$tmp/shell" "$tmp/pings" 2>>"$tmp/E.log" &
	pid[E]=$!
	enough() { [ -e "$tmp/pings" ] && [ "$(grep -c pinged "$tmp/pings")" -ge 30 ]; }
	eventually enough
	result $? "systemd-notify pings from a shell" "$(tail -n 3 "$tmp/E.log"; tail -n 3 "$tmp/pings")"
	leads E
	result $? "and that counts" "$(tail -n 3 "$tmp/E.log")"
	is "$(grep -c failed "$tmp/pings")" 0 "none failed"
	stop_nodes
else
	skip "systemd-notify" "is not installed"
fi

# Refusals, and the file.
"$bin" run --db "$DSN" --role r --watchdog 99ms -- true 2>"$tmp/err"
is $? 64 "shorter than 100ms: refused"
like "$(cat "$tmp/err")" 'from 100ms' "with the bounds"
"$bin" run --db "$DSN" --role r --watchdog 1s 2>"$tmp/err"
is $? 64 "without a command: refused"
printf '[role.filed]\nwatchdog = 300ms\n' >"$tmp/conf"
"$bin" run --config "$tmp/conf" --db "$DSN" --role filed --wait 5s -- sleep 60 2>"$tmp/err"
is $? 76 "the option file sets it too"
like "$(cat "$tmp/err")" 'watchdog: no ping for 300ms' "with the same effect"

done_testing
