#!/bin/bash
# howdah leader watch and howdah status --watch: what they print as things change, what they miss (nothing),
# and what becomes of the command that runs at a change. The leaders are psql sessions that take the steps
# of an election.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
# shellcheck source=tests/lib/lead.sh
. "$(dirname "$0")/../lib/lead.sh"
bin=${HOWDAH_BIN:?the howdah of a test build}
start_server
fresh_db lead
for s in A B C; do connect $s lead; done
sql lead 'create role viewer login in role howdah_reader' 'create role stranger login' >/dev/null

declare -A watcher
begin() { # NAME ARGUMENT...: in the background; its output in $tmp/NAME.lines and $tmp/NAME.log
	local name=$1
	shift
	"$bin" "$@" >"$tmp/$name.lines" 2>"$tmp/$name.log" &
	watcher[$name]=$!
	session_pid[watch-$name]=$! # ended with the test, whatever happens
}
lines() { cat "$tmp/$1.lines"; }
has() { [ "$(wc -l <"$tmp/$1.lines")" -ge "$2" ]; } # NAME LINES
said() { grep -qE -e "$2" "$tmp/$1.log"; }
shape() { awk '{ print $2, $3, $4 }' "$tmp/$1.lines" | paste -sd,; } # state, node, token of each line
ends() { # NAME SIGNAL: with 0
	local code=0
	kill "-$2" "${watcher[$1]}"
	wait "${watcher[$1]}" || code=$?
	is "$1: $2: $code" "$1: $2: 0" "$2 ends the watcher '$1' with 0"
}
view=(--db "$(dsn lead viewer)" --retry 100ms)

# --- a role that is not there yet ------------------------------------------------------------------------
begin early leader watch poller "${view[@]}"
ok 'it waits for a role that nobody has run' eventually said early 'waits for the role.*no node has run the role'
is "$(lines early)" '' 'and prints nothing'
sql lead "select howdah.leader_register('poller', 7, 'advisory')" >/dev/null
ok 'a free one is the first line' eventually has early 1
like "$(lines early)" '^20[0-9-]+T[0-9:.]+Z  free  -  -  -$' 'with its time and nothing else'
one=$(lead A poller 7)
sql lead "update howdah.leadership set address = '10.0.0.1:80' where role = 'poller'" >/dev/null
ok 'then who leads' eventually has early 2
like "$(tail -n 1 "$tmp/early.lines")" "^20[0-9-]+T[0-9:.]+Z  led   node-A  $one  (-|10.0.0.1:80)$" 'with node and token'

# --- one that is led already -----------------------------------------------------------------------------
begin late leader watch poller --json "${view[@]}"
ok 'the present state comes first' eventually has late 1
is "$(sql lead "select j->>'state', j->>'node', j->>'token', j->>'address', j->>'role' from (select '$(lines late)'::jsonb) x (j)")" \
	"led|node-A|$one|10.0.0.1:80|poller" 'as an object, with the address'
since=$(sql lead "select to_char(led_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') from howdah.leadership")
is "$(sql lead "select '$(lines late)'::jsonb->>'time'")" "$since" 'and since when'
two=$(hand_over A B poller 7 "$one")
ok 'a hand-over is two changes' eventually has late 3
is "$(sql lead "select string_agg(l::jsonb->>'state' || ' ' || (l::jsonb->>'node') || ' ' || (l::jsonb->>'token'), ',' order by n)
	from regexp_split_to_table(\$\$$(lines late)\$\$, '\n') with ordinality x (l, n)")" \
	"led node-A $one,free node-A $one,led node-B $two" 'free, by whom it was led, and led again'
is "$(shape early)" "free - -,led node-A $one,free node-A $one,led node-B $two" 'the same as text'
is "$(cut -d' ' -f1 "$tmp/early.lines")" "$(cut -d' ' -f1 "$tmp/early.lines" | sort)" 'times only grow'

# --- nothing is missed, nothing is told twice ------------------------------------------------------------
kill -STOP "${watcher[early]}"
sql lead "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah:command'" >/dev/null
three=$(hand_over B C poller 7 "$two")
four=$(hand_over C A poller 7 "$three")
kill -CONT "${watcher[early]}"
ok 'a watcher that stood still and lost its session' eventually has early 8
is "$(shape early | cut -d, -f4-)" "led node-B $two,free node-B $two,led node-C $three,free node-C $three,led node-A $four" \
	'tells every change of hands'
ok 'and says that the database was away' said early 'event="database away"'
ok 'so does the other one' eventually has late 7
sql lead "select pg_terminate_backend(${backend[A]})" >/dev/null
ok 'a leader that is gone without a word' eventually has early 9
is "$(shape early | cut -d, -f9)" "free node-A $four" 'is told from the lock'
five=$(lead B poller 7)
ok 'and the next one' eventually has early 10
is "$(shape early | cut -d, -f10-)" "led node-B $five" 'once'
ask B "select howdah.leader_release('poller', 'B', $five, 'planned')" "select pg_advisory_unlock(7)" >/dev/null
ok 'a release is told' eventually has early 11
ask B "select pg_advisory_unlock(7)" >/dev/null
six=$(lead C poller 7)
ok 'and the next leader' eventually has early 12
"$lib/pgserver" stop "$server"
ok 'without a server' eventually eval '[ "$(grep -c "database away" "$tmp/late.log")" -ge 2 ]'
"$lib/pgserver" start "$server" >/dev/null
ok 'it comes back' eventually has early 13
is "$(shape early | cut -d, -f13-)" "free node-C $six" 'and has seen that the leader did not'
ends early TERM
ends late INT

# --- the notice, and a pooler ----------------------------------------------------------------------------
for s in D E F; do connect $s lead; done
begin heard leader watch poller --db "$(dsn lead viewer)" --retry 1h
ok 'with an hour between looks' eventually has heard 1
seven=$(lead D poller 7)
sql lead "select pg_notify('howdah_leader', 'other')" "select pg_notify('howdah_leader', 'poller')" >/dev/null
ok 'a notice of the role makes it look' eventually has heard 2
is "$(shape heard)" "free - $six,led node-D $seven" 'and it was no other'
"$lib/pgbouncer" start "$tmp/pool" "$server" pool_mode=transaction >/dev/null
tap_at_exit '"$lib/pgbouncer" stop "$tmp/pool" >/dev/null'
begin pooled leader watch poller --db "host=$tmp/pool port=$(cat "$tmp/pool/port") user=postgres dbname=lead" --retry 100ms
ok 'behind a multiplexing pooler' eventually has pooled 1
ok 'it only looks' said pooled 'event="polls only".*verdict=multiplexed'
eight=$(hand_over D E poller 7 "$seven")
ok 'and sees every change' eventually has pooled 3
is "$(shape pooled)" "led node-D $seven,free node-D $seven,led node-E $eight" 'of hands'
ends heard TERM
ends pooled TERM
"$lib/pgbouncer" stop "$tmp/pool" >/dev/null

# --- --exec ----------------------------------------------------------------------------------------------
begin hook leader watch poller "${view[@]}" --exec \
	'echo "begin $HOWDAH_ROLE $HOWDAH_STATE $HOWDAH_NODE $HOWDAH_TOKEN" >>'"$tmp/hook"'; sleep 0.3; echo end >>'"$tmp/hook"'; echo out; exit 3'
ok 'it runs at the beginning' eventually grep -q end "$tmp/hook"
nine=$(hand_over E F poller 7 "$eight")
ten=$(hand_over F D poller 7 "$nine")
ok 'and at each change' eventually eval '[ "$(grep -c end "$tmp/hook")" -ge 5 ]'
is "$(sed 's/begin //' "$tmp/hook" | paste -sd,)" "poller led node-E $eight,end,poller free node-E $eight,end,poller led node-F $nine,end,poller free node-F $nine,end,poller led node-D $ten,end" \
	'with role, state, node and token; one has ended before the next begins'
is "$(grep -c 'event="exec failed" role=poller ended="code 3"' "$tmp/hook.log")" 5 'a failure is logged, and it goes on'
is "$(shape hook | tr , '\n' | wc -l) $(grep -c '^out$' "$tmp/hook.lines")" '5 0' 'its output is not among the lines'
ends hook TERM

begin slow leader watch poller "${view[@]}" --exec-timeout 300ms -- sh -c 'trap "" TERM; echo $$ >'"$tmp/slow"'; sleep 300 & wait; wait'
ok 'one that takes too long is ended' eventually said slow 'event="exec took too long" role=poller ended="signal 9"'
ok 'with all of its group' eventually eval '! kill -0 "-$(cat "$tmp/slow")"'
eleven=$(hand_over D E poller 7 "$ten")
ok 'and the watcher goes on' eventually has slow 3
is "$(tail -n 1 "$tmp/slow.lines" | awk '{ print $4 }')" "$eleven" 'to the end'
ends slow TERM

begin told leader watch poller "${view[@]}" --exec 'echo $$ >'"$tmp/told"'; exec sleep 300'
ok 'while the command runs' eventually test -s "$tmp/told"
ends told TERM
ok 'and the command' eventually eval '! kill -0 "$(cat "$tmp/told")"'
begin shot leader watch poller "${view[@]}" -- no-such-command-here
ok 'a command that is not there is logged' eventually said shot 'event="exec failed".*no-such-command-here'
ok 'and the line is printed' has shot 1
ends shot TERM

# --- refusals --------------------------------------------------------------------------------------------
run "$bin" leader watch poller --exec true --db "$(dsn lead)" -- true
like "$code $err" '^64 .*exclude each other' 'not two commands'
run "$bin" leader watch 'pol ler' --db "$(dsn lead)"
is "$code" 64 'no name for a role'
run "$bin" leader watch poller
is "$code" 78 'no database'
run "$bin" leader watch poller --db "$(dsn postgres)"
like "$code $err" '^78 .*howdah init' 'no schema'
run "$bin" leader watch poller --db "$(dsn lead stranger)"
like "$code $err" '^77 .*howdah_reader' 'no right to look'
run "$bin" leader watch poller --db "$(dsn lead nobody-knows)"
is "$code" 77 'no such user'

# --- status --watch --------------------------------------------------------------------------------------
blocks() { grep -c '^time ' "$tmp/$1.lines"; }
begin status status --watch --interval 200ms --db "$(dsn lead viewer)"
ok 'status again and again' eventually eval '[ "$(blocks status)" -ge 3 ]'
like "$(sed '/^$/d;/^time/,$!d' "$tmp/status.lines" | head -n 8)" '^time +20.*howdah .*server +PostgreSQL.*ROLE.*poller +leading +node-E' 'each is the whole of it'
is "$(awk '/^time/ && NR > 1 { print prev } { prev = $0 }' "$tmp/status.lines" | sort -u)" '' 'a blank line between two'
is "$(head -c 4 "$tmp/status.lines")$(tr -d '\n' <"$tmp/status.lines" | tr -cd '\000-\037' | wc -c)" time0 'nothing for a terminal in it'
begin object status --watch --interval 200ms --json --db "$(dsn lead viewer)"
ok 'as JSON' eventually has object 2
is "$(sql lead "select count(*) filter (where l::jsonb->'roles'->0->>'role' = 'poller' and l::jsonb ? 'time') >= 2 from regexp_split_to_table(\$\$$(head -n 2 "$tmp/object.lines")\$\$, '\n') l")" \
	t 'an object a line'
is "$(sql lead "select count(*) from pg_stat_activity where application_name = 'howdah:command'")" 2 'one session each'
"$lib/pgserver" stop "$server"
ok 'without a server it says so' eventually grep -q 'The database is away; it is tried again in' "$tmp/status.lines"
ok 'also as JSON' eventually grep -q '"trouble":".*is away' "$tmp/object.lines"
"$lib/pgserver" start "$server" >/dev/null
before=$(blocks status)
ok 'and goes on' eventually eval 'sed -n "/is away/,\$p" "$tmp/status.lines" | grep -q "^server"'
ok 'from then on' test "$(blocks status)" -ge "$before"
ends status TERM
ends object INT
is "$(cat "$tmp/status.log")" '' 'nothing on stderr'
run "$bin" status --watch --db 'nonsense conninfo'
is "$code" 78 'what can not be read is no reason to go on'
run "$bin" status --watch --db "$(dsn lead nobody-knows)"
is "$code" 77 'nor is a user that does not exist'
if command -v script >/dev/null; then
	TERM=xterm timeout 20 script -qec "stty rows 6 cols 60; exec $bin status --watch --interval 200ms --db '$(dsn lead viewer)'" "$tmp/tty" >/dev/null 2>&1 </dev/null &
	session_pid[tty]=$!
	ok 'on a terminal' eventually eval '[ "$(grep -c "time  " "$tmp/tty")" -ge 3 ]'
	end_tree() { local p; for p in $(pgrep -P "$1"); do end_tree "$p"; kill -TERM "$p"; done; }
	end_tree "${session_pid[tty]}" 2>/dev/null
	wait "${session_pid[tty]}" 2>/dev/null
	esc=$'\e'
	like "$(head -n 2 "$tmp/tty" | tail -n 1)" "^$esc\[H$esc\[Jtime " 'each picture takes the place of the last one'
	is "$(tr -d '\r' <"$tmp/tty" | sed 1d | awk -v RS="$esc\\\\[H$esc\\\\[J" 'NR > 1 && NR < 4 { print gsub(/\n/, "") }' | sort -u)" 5 'and is cut at its foot'
	is "$(tr -d '\r' <"$tmp/tty" | sed "1d;s/$esc\[[HJ]//g" | awk 'length > 60' | grep -v '^Script')" '' 'and fits into its width'
else
	for i in 1 2 3 4; do skip "terminal $i" 'no script(1)'; done
fi
done_testing
