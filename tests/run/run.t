#!/bin/bash
# howdah run as a user meets it: gates, exit codes, one shot, signals, restarts, what the command gets.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/pg.sh"

bin=${HOWDAH_BIN:?the howdah of a test build}
start_server
fresh_db app
DSN=$(dsn app)
export HOWDAH_WORKERS=all
err=$tmp/err

# run CODE NAME [OPTION ...] [-- COMMAND]: the exit code must be CODE; what it said is in $err.
run() {
	local want=$1 name=$2 got
	shift 2
	timeout -k 5 60 "$bin" run --db "$DSN" "$@" 2>"$err"
	got=$?
	is "$got" "$want" "$name"
	[ "$got" = "$want" ] || sed 's/^/# /' "$err"
}
last_line() { tail -n 1 "$err"; }
leads() { grep -q 'state=leading' "$1"; }

# Gates, configuration, usage.
HOWDAH_WORKERS='' run 77 "gate 2 unset: refused" --role r1 -- true
like "$(cat "$err")" 'HOWDAH_WORKERS' "and says which gate"
HOWDAH_WORKERS=other run 77 "gate 2 names another role: refused" --role r1 -- true
HOWDAH_WORKERS=r1 run 0 "gate 2 names it: runs" --role r1 -- true
if [ -x "${HOWDAH_DEFAULT:-}" ]; then
	"$HOWDAH_DEFAULT" run --db "$DSN" --role r1 -- true 2>"$err"
	is $? 77 "gate 1 closed (default build): refused"
	like "$(cat "$err")" '-Dworkers=true' "and says how to build it"
	is "$(nm "$HOWDAH_DEFAULT" | grep -c -e hd_elector -e hd_guard)" 0 "the default binary holds no worker symbol"
fi
like "$(nm "$bin" | grep -c -e hd_elector -e hd_guard)" '^[1-9]' "and a worker build holds them"
(unset PGHOST; "$bin" run --role r1 -- true 2>"$err")
is $? 78 "no database configured: 78"
like "$(cat "$err")" '--db' "and names the ways"
run 64 "no role" -- true
run 64 "a bad role name" --role 'a b' -- true
run 64 "a lease too short for its heartbeat" --role r1 --lease 5s -- true
like "$(cat "$err")" 'must fit into it' "and shows the sum"
run 64 "an unknown option names the nearest" --role r1 --heartbaet 1s -- true
like "$(cat "$err")" 'heartbeat' "namely this"

# Exit codes.
run 0 "the command's own 0" --role codes -- true
like "$(last_line)" 'source=command' "the last line says that it is the command's"
run 3 "the command's own 3" --role codes -- sh -c 'exit 3'
run 137 "128 + the signal that ended it" --role codes -- sh -c 'kill -KILL $$'
run 127 "no such command" --role codes -- ./no-such-command
like "$(last_line)" 'source=howdah' "the last line says that it is howdah's"
run 126 "not executable" --role codes -- /etc/passwd
timeout 30 "$bin" run --db "host=$tmp port=1 dbname=x user=y" --role codes --wait 1s -- true 2>"$err"
is $? 69 "database not reached within --wait: 69"
run 0 "one attempt on a free role" --role codes --wait 0 -- true

# Somebody else leads.
"$bin" run --db "$DSN" --role busy 2>"$tmp/holder" &
holder=$!
eventually leads "$tmp/holder"
result $? "without a command it only holds"
run 75 "--wait 0 while another leads: 75" --role busy --wait 0 -- true
run 75 "--wait 1s while another leads: 75" --role busy --wait 1s -- true
run 77 "another key for the role: refused" --role busy --key 5 -- true
like "$(cat "$err")" 'registered with key' "both keys are named"
run 77 "its key under another role: refused" --role thief --key "$(sql app "select key from howdah.leadership where role = 'busy'")" -- true
"$bin" run --db "$DSN" --role busy 2>"$tmp/standby" -- true &
standby=$!
stands_by() { grep -q 'event=connected' "$tmp/standby"; }
eventually stands_by
kill -TERM $standby
wait $standby
is $? 0 "TERM while standing by: 0"
like "$(tail -n 1 "$tmp/standby")" 'state=ended exit=0 source=howdah' "with a last line of its own"
kill -INT $holder
wait $holder
is $? 0 "INT while holding only: 0"
is "$(sql app "select owner is null and clear_token = token from howdah.leadership where role = 'busy'")" t \
	"and the role was released"

# A key of hand-written code excludes it.
connect old app
ask old "select pg_try_advisory_lock(1840000001)" >/dev/null
run 75 "a hand-written lock on the same key holds it off" --role legacy --key 1840000001 --wait 0 -- true
ask old "select pg_advisory_unlock_all()" >/dev/null
run 0 "and no longer when it is gone" --role legacy --key 1840000001 --wait 5s -- true

# What the command gets.
cat >"$tmp/show" <<'EOF'
#!/bin/sh
echo "$HOWDAH_ROLE|$HOWDAH_TOKEN|$HOWDAH_NODE"
ls -l /proc/self/fd | grep -c socket:
"$1" held; echo "held=$?"
cat
EOF
chmod 755 "$tmp/show"
out=$(echo "from stdin" | timeout 60 "$bin" run --db "$DSN" --role given -- "$tmp/show" "$bin" 2>"$err")
like "$out" '^given\|[0-9]+\|[^|]+-[0-9a-f]{8}' "role, token and node are in its environment"
like "$out" $'\n0\nheld=0\nfrom stdin$' "no socket, a held descriptor that says 0, its own standard input"
"$bin" held 2>"$err"
is $? 78 "howdah held outside of a command: 78, never 0"

# Signals are forwarded; a stop is planned; the grace is a bound.
cat >"$tmp/signals" <<'EOF'
#!/bin/bash
for s in HUP USR1 USR2 WINCH; do trap "echo $s" $s; done
trap 'echo TERM; exit 7' TERM
echo ready
while :; do sleep 0.05; done
EOF
chmod 755 "$tmp/signals"
"$bin" run --db "$DSN" --role signals -- "$tmp/signals" >"$tmp/signals.out" 2>"$err" &
node=$!
said() { grep -qx "$1" "$tmp/${2:-signals}.out"; } # each has a file of its own, which nobody has filled before
eventually said ready
for s in HUP USR1 USR2 WINCH TERM; do
	kill -$s $node
	eventually said $s
	result $? "$s is forwarded"
done
wait $node
is $? 7 "the command's own code after TERM"
is "$(grep -c TERM "$tmp/signals.out")" 1 "TERM arrives once, not twice"
"$bin" run --db "$DSN" --role stubborn --grace 300ms -- sh -c 'trap "" TERM; echo up; while :; do sleep 1; done' >"$tmp/stubborn.out" 2>"$err" &
node=$!
eventually said up stubborn
kill -TERM $node
wait $node
is $? 137 "a command that ignores TERM is killed after the grace"

# Restarts, in the same term.
cat >"$tmp/thrice" <<'EOF'
#!/bin/sh
echo "$HOWDAH_TOKEN" >>"$1"
[ "$(wc -l <"$1")" -lt 3 ] || exec sleep 60
EOF
chmod 755 "$tmp/thrice"
"$bin" run --db "$DSN" --role again --restart -- "$tmp/thrice" "$tmp/tokens" 2>"$err" &
node=$!
thrice() { [ "$(cat "$tmp/tokens" 2>/dev/null | wc -l)" -ge 3 ]; }
eventually thrice
result $? "--restart starts it again"
is "$(sort -u "$tmp/tokens" | wc -l)" 1 "while leading: with the same token"
kill $node 2>/dev/null
wait $node 2>/dev/null

# As process 1 of a container: signals work, orphans are reaped.
if [ "$(id -u)" = 0 ] && unshare --pid --fork --mount-proc true 2>/dev/null; then
	cat >"$tmp/one" <<'EOF'
#!/bin/bash
trap 'exit 9' TERM
(sh -c 'sleep 0.2 & ' &) # an orphan
echo "$PPID"
while :; do sleep 0.05; done
EOF
	chmod 755 "$tmp/one"
	unshare --pid --fork --mount-proc --kill-child "$bin" run --db "$DSN" --role one -- "$tmp/one" >"$tmp/one.out" 2>"$err" &
	outside=$!
	started() { [ -s "$tmp/one.out" ]; }
	eventually started
	inside=$(cat /proc/$outside/task/$outside/children)
	zombies() { ps -o stat= --ppid "${inside% }" | grep -c '^Z'; }
	none() { [ "$(zombies)" = 0 ]; }
	eventually none
	result $? "as process 1: no zombie stays"
	kill -TERM ${inside% }
	wait $outside
	is $? 9 "as process 1: TERM reaches the command, its code comes back"
else
	skip "as process 1" "needs root and a pid namespace"
fi

# Idle costs: a stand-by and a leader send at most 40 statements a minute each.
sql app "alter system set log_statement = 'all'" "select pg_reload_conf()" >/dev/null
"$bin" run --db "$DSN" --role cheap 2>"$tmp/leader" &
one=$!
eventually leads "$tmp/leader"
"$bin" run --db "$DSN" --role cheap 2>"$tmp/other" &
two=$!
connected() { grep -q event=connected "$tmp/other"; }
eventually connected
statements() { grep -c ' howdah:elector:cheap .*\(execute\|statement\)' "$server/log"; }
from=$(statements) began=$(now_ms)
beats_twice() { [ "$(sql app "select count(*) from howdah.leadership where role = 'cheap' and beat >= 3")" = 1 ]; }
eventually beats_twice
spent=$(($(now_ms) - began)) sent=$(($(statements) - from))
check "two idle nodes send $sent statements in $spent ms: 40 a minute each at most" \
	[ $((sent * 60000)) -le $((2 * 40 * spent + 2 * 60000)) ]
check "and more than none" [ "$sent" -gt 5 ]
kill -TERM $one $two
wait $one $two
sql app "alter system reset log_statement" "select pg_reload_conf()" >/dev/null

# A standby is never led on; after its promotion the same address list is.
"$lib/pgserver" standby "$tmp/r" "$server" >/dev/null
FAR="host=$server,$tmp/r port=$(cat "$server/port"),$(cat "$tmp/r/port") user=postgres dbname=app"
run 77 "a standby alone: refused" --db "host=$tmp/r port=$(cat "$tmp/r/port") user=postgres dbname=app" --role far --wait 1s -- true
like "$(cat "$err")" 'standby' "and says why"
"$bin" run --db "$FAR" --role far --heartbeat 1s --lease 4s --retry 300ms 2>"$tmp/far" &
node=$!
eventually leads "$tmp/far"
old=$(sql app "select token from howdah.leadership where role = 'far'")
caught_up() { [ "$(psql -XAtq -h "$tmp/r" -p "$(cat "$tmp/r/port")" -U postgres app -c "select token from howdah.leadership where role = 'far' and led_token = token")" = "$old" ]; }
eventually caught_up
"$lib/pgserver" immediate "$server"
"$lib/pgserver" promote "$tmp/r"
again() { [ "$(grep -c state=leading "$tmp/far")" = 2 ]; }
eventually again
result $? "after a fail-over it leads on the promoted server" "$(tail -n 5 "$tmp/far")"
new=$(psql -XAtq -h "$tmp/r" -p "$(cat "$tmp/r/port")" -U postgres app -c "select token from howdah.leadership where role = 'far'")
check "with a larger token" [ "$new" -gt "$old" ]
kill -TERM $node
wait $node

done_testing
