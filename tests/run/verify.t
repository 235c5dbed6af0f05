#!/bin/bash
# howdah verify: on a real server and behind real poolers; its verdict, its exit code, what it leaves.
# An overlap is planted by an address that leads to two servers.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
bin=$tmp/howdah # a copy, so that its processes are told from those of others
cp "${HOWDAH_BIN:?the howdah of a test build}" "$bin"
start_server
fresh_db app
sql app 'create role works login in role howdah_worker' 'create role reads login in role howdah_reader' >/dev/null
connect watch app

pools=()
tap_at_exit 'for p in "${pools[@]}"; do "$lib/pgbouncer" stop "$p" >/dev/null; done'
pooler() { # NAME SETTING...: leaves its folder in $pool
	pool=$tmp/$1
	shift
	"$lib/pgbouncer" start "$pool" "$server" "$@" >/dev/null || exit 1
	pools+=("$pool")
}
through() { echo "host=$1 port=$(cat "$1/port") user=${3:-postgres} dbname=$2"; }

verify() { # leaves $out $err $code
	run "$bin" verify "$@"
}
# Rows and processes of scratch roles.
left() {
	sql app "select role from howdah.leadership union all select role from howdah.leadership_history"
	nodes
}
nodes() {
	local p
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/exe")" != "$bin" ] || echo "${p#/proc/}"
	done 2>/dev/null
}
no_nodes() { [ -z "$(nodes)" ]; }
of() { # JSON PATH
	sql app "select \$json\$$1\$json\$::jsonb #>> '{$2}'"
}

# --- all is well ----------------------------------------------------------------------------------------
verify --db "$(dsn app works)"
is "$code" 0 'a member of howdah_worker, direct: 0'
is "$(grep -cE '^ok    ' <<<"$out")" 8 'eight verdicts'
is "$(grep -cE '^(FAIL|skip)' <<<"$out")" 0 'and all are good'
like "$out" 'one of three nodes leads: [ABC] had the role after [0-9.]+ s.*\(direct\)' 'one leader'
like "$out" 'SIGKILL of leader [ABC]: its command was dead after [0-9.]+ s; node [ABC] had the role after [0-9.]+ s, its command ran after [0-9.]+ s' 'SIGKILL, with its times'
like "$out" 'SIGSTOP of node [ABC], all of it: woken afterwards, its command was dead after [0-9.]+ s' 'a whole node stopped and woken'
like "$out" 'session of leader [ABC] terminated' 'a terminated session'
like "$out" 'SIGTERM to leader [ABC].*waited 0ms' 'a hand-over, without a wait'
like "$out" 'never two commands at once: 5 ran' 'the sum'
is "$err" '' 'nothing on stderr'
table=$(sed -n '/^  SECONDS/,/^$/p' <<<"$out" | sed '/^$/d')
is "$(awk '{ print match($0, /[^ ]+$/) }' <<<"$table" | sort -u | wc -l)" 1 'the timeline lines up'
# The lease had to pass while the node stood still: from SIGSTOP to the next one who has the role.
like "$(awk '$4 " " $3 ~ /SIGSTOP/ || /SIGSTOP/ { from = $1; n = 1 } n && /has the role/ { print ($1 - from > 2.5) ? "long" : "short"; exit }' <<<"$table")" \
	long 'a stopped node kept the role until its lease was over'
is "$(left)" '' 'nothing is left'

# --- with a command, as JSON, and a pooler ---------------------------------------------------------------
pooler transaction pool_mode=transaction
verify --json --db "$(dsn app)" --pooler "$(through "$pool" app)" -- sh -c 'echo noise; sleep 300 & wait'
is "$code $(of "$out" ok) $(of "$out" election)" '0 true advisory' 'a command of the user, as JSON'
is "$(wc -l <<<"$out")" 1 'one object in one line, whatever the command prints'
is "$(sql app "select string_agg(c->>'name' || '=' || (c->>'result'), ' ') from jsonb_array_elements(\$json\$$out\$json\$::jsonb->'checks') c")" \
	'one-leader=ok kill=ok stop-whole-node=ok session=ok hand-over=ok pooler=ok overlap=ok tokens=ok nothing-left=ok' 'its checks'
is "$(sql app "select bool_and((c->>'lock_ms')::int >= 0 and (c->>'command_ms')::int >= (c->>'lock_ms')::int)
	from jsonb_array_elements(\$json\$$out\$json\$::jsonb->'checks') c where c->>'name' in ('kill', 'session', 'hand-over')")" t \
	'with measured times'
like "$(of "$out" checks,5,text)" 'multiplexed: a node there is refused' 'a multiplexing address is refused'
ok 'and the timeline is in it' test "$(sql app "select jsonb_array_length(\$json\$$out\$json\$::jsonb->'timeline')")" -gt 15
is "$(left)" '' 'nothing is left'

verify --db "$(through "$pool" app)"
is "$code" 77 'the multiplexing address itself can not be verified'
like "$err" 'lock would not stay.*hint: .*--election' 'with the ways out'
verify --db "$(dsn app)" --pooler "host=$tmp/nowhere dbname=app"
is "$code" 1 'a pooler that can not be reached is no success'
like "$out" 'FAIL  the address of --pooler: .*nowhere' 'and it is named'
like "$out" 'skip  never two commands' 'what was not tried is not claimed'
is "$(left)" '' 'nothing is left'

if "$bin" help run | grep -q 'advisory|lease'; then
	verify --election lease --db "$(through "$pool" app)" --pooler "$(through "$pool" app)"
	is "$code" 0 'a lease row, all of it through the pooler'
	like "$out" 'sessions terminated: node [ABC] leads on' 'needs no session'
	like "$out" 'a lease row works through it' 'and a multiplexing address is fine for it'
	is "$(left)" '' 'nothing is left'
else
	for i in 1 2 3 4; do skip "lease row $i" 'this howdah has none'; done
fi
pooler session pool_mode=session
verify --db "$(dsn app)" --pooler "$(through "$pool" app)"
like "$code $out" '^0 .*the address of --pooler is session-pooled: a session stays with its client' 'a session pool is told from it'

# --- a planted overlap -----------------------------------------------------------------------------------
# A pool over two servers: a lease row on each, so two nodes lead. Which nodes meet which server is the
# pool's affair, so a run may be spared.
first=$server
"$lib/pgserver" start "$tmp/t" >/dev/null || exit 1
server=$tmp/t install_schema postgres >/dev/null
server=$first install_schema postgres >/dev/null
if "$bin" help run | grep -q 'advisory|lease'; then
	pooler split pool_mode=session
	sed -i "s|^\* = .*|* = host=$first,$tmp/t port=$(cat "$first/port") user=postgres|" "$pool/pgbouncer.ini"
	kill -HUP "$(cat "$pool/pgbouncer.pid")"
	for _ in 1 2 3 4; do
		verify --election lease --db "$(through "$pool" postgres)"
		[ "$code" = 1 ] && grep -q 'two commands at once' <<<"$out" && break
	done
	is "$code" 1 'two leaders are seen: 1'
	like "$out" 'FAIL  .*two commands at once: the one with token [0-9]+ (started|acted)' 'and said'
	like "$out" 'NOT as promised: ' 'in the last line as well'
	is "$(nodes)" '' 'no process is left'
else
	for i in 1 2 3 4; do skip "overlap $i" 'no lease row'; done
fi

# What the command leaves behind counts as well, for as long as it holds what it inherited.
counts() { # WANTED FIRST...: the exit code of a second command while the first one is as FIRST makes it
	local wanted=$1 said
	shift
	said=$({
		HOWDAH_TOKEN=5 "$bin" part drill-worker -- sh -c "$1" &
		echo $! >"$tmp/first"
		wait_for "test -e $tmp/up" 30
		[ -z "${2:-}" ] || { kill "-$2" $!; wait_for "grep -q '^State:.T' /proc/$!/status" 30; }
		HOWDAH_TOKEN=6 "$bin" part drill-worker -- true
		echo $? >"$tmp/second"
		kill -KILL "$(cat "$tmp/up")" $! 2>/dev/null
		rm "$tmp/up"
	} | wc -c)
	[ "$(cat "$tmp/second")" = "$wanted" ] && [ "$said" -gt 0 ]
}
ok 'a command that runs' counts 70 "echo \$\$ >$tmp/up.; mv $tmp/up. $tmp/up; exec sleep 300"
ok 'one that has left a process behind' counts 70 "sleep 300 & echo \$! >$tmp/up.; mv $tmp/up. $tmp/up"
ok 'one that stands still acts no more' counts 0 "echo \$\$ >$tmp/up.; mv $tmp/up. $tmp/up; exec sleep 300" STOP

# --- it can not begin, and it is interrupted -------------------------------------------------------------
verify
is "$code" 78 'no database: 78'
verify --db "$(dsn template1)"
is "$code" 78 'no schema: 78'
verify --db "$(dsn app reads)"
is "$code" 77 'a reader may not: 77'
verify --db "host=$tmp/nowhere dbname=app" --timeout 2s
is "$code" 69 'no server: 69'
verify --db "$(dsn app)" -- "$tmp/no-such-command"
is "$code" 1 'a command that is not there: 1'
like "$out" 'code 127 \(its last complaint: .*no-such-command' 'with its complaint'
verify --db "$(dsn app)" -- sh -c 'echo the disk is full >&2; exit 3'
like "$code $out" '^1 .*with code 3 \(its last complaint: the disk is full\)' 'as that of one that fails'
is "$(left)" '' 'nothing is left of those'
if [ -x "${HOWDAH_DEFAULT:-}" ]; then
	run "$HOWDAH_DEFAULT" verify --db "$(dsn app)"
	like "$code $err" '^77 .*-Dworkers=true' 'a build without workers refuses'
else
	skip 'a build without workers refuses' 'HOWDAH_DEFAULT names none'
fi

interrupted() { # SIGNAL WHEN
	rm -f "$tmp/v.out"
	"$bin" verify --db "$(dsn app)" >"$tmp/v.out" 2>&1 &
	local v=$!
	wait_for "grep -q '$2' $tmp/v.out" 60 || return 1
	kill "-$1" $v
	code=0
	wait $v || code=$?
}
interrupted TERM 'one of three'
is "$code" 143 'TERM: 143'
is "$(left)" '' 'and nothing is left'
interrupted INT 'SIGKILL of'
is "$code" 130 'INT: 130'
is "$(left)" '' 'and nothing is left'

# Killed itself, it leaves a row, which a later one removes when it is old. (A keeper that ends just then
# may never finish the sanitizer's leak check.)
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 interrupted KILL 'SIGKILL of'
ok 'its nodes and commands die with it' eventually no_nodes
like "$(left)" '^howdah-verify-' 'a killed one leaves its row'
sql app "update howdah.leadership set seen_at = seen_at - interval '2 hours', led_at = led_at - interval '2 hours'" >/dev/null
verify --db "$(dsn app)" -- false
is "$(left)" '' 'the next one takes it away'

# --- leader_scrap ----------------------------------------------------------------------------------------
role=howdah-verify-0a1b2c3d
like "$(sql app "select howdah.leader_scrap('poller')")" '22023.*no scratch role' 'other roles are never deleted'
like "$(sql app "select howdah.leader_scrap('howdah-verify-0a1b2c3d.x')")" 22023 'whatever they begin with'
sql app "select howdah.leader_register('$role', 5, 'advisory')" >/dev/null
ask watch "select pg_try_advisory_lock(5)" >/dev/null
is "$(sql app "select howdah.leader_scrap('$role')")" f 'nor one that is held'
ask watch "select pg_advisory_unlock(5)" >/dev/null
sql app "update howdah.leadership set token = 9, led_token = 9, led_at = now()" >/dev/null
is "$(sql app "select howdah.leader_scrap('$role')")" f 'nor one whose last command may live'
sql app "update howdah.leadership set clear_token = 9" >/dev/null
is "$(sql app "select howdah.leader_scrap('$role')" "select count(*) from howdah.leadership_history")" $'t\n0' 'it goes with its history'
is "$(sql app "select howdah.leader_scrap('$role')")" t 'and may be gone already'
sql app "select howdah.leader_register('$role', 5, 'lease')" \
	"update howdah.leadership set owner = 'o', seen_at = clock_timestamp(), lease_ms = 4000" >/dev/null
is "$(sql app "select howdah.leader_scrap('$role')")" f 'a lease row that was renewed just now is held'
sql app "update howdah.leadership set seen_at = clock_timestamp() - interval '5 s'" >/dev/null
is "$(sql app "select howdah.leader_scrap('$role')")" t 'one that was not is not'
done_testing
