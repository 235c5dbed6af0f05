#!/bin/bash
# The leadership row: registration, tokens, what a successor is told, the operator's functions, and that
# all of it survives a crash of the server.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
# shellcheck source=tests/lib/lead.sh
. "$(dirname "$0")/../lib/lead.sh"
# An asynchronous commit stays unflushed for ten seconds: long enough to see it.
start_server wal_writer_delay=10000 autovacuum=off
fresh_db lead
for s in A B C; do connect $s lead; done

register() { # ROLE KEY [MODE] [MOST]
	sql lead "select howdah.leader_register('$1', $2, '${3:-advisory}'${4:+, $4})"
}
unlock() { # SESSION KEY
	ask "$1" "select pg_advisory_unlock($2)" >/dev/null
}
beat() { # SESSION ROLE KEY TOKEN
	ask "$1" "select held, why, resign, paused from howdah.leader_beat('$2', $3, '$1', $4)"
}
led_columns='led_token, led_mode, led_timeline, led_lease_ms, led_wait_ms, led_pinned, led_verdict, led_at'

# --- registration --------------------------------------------------------------------------------------
is "$(register poller 1)" 1 'the first use registers, and counts the roles'
is "$(register poller 1)" 1 'the same again is fine'
is "$(register sweeper -9223372036854775808)" 2 'keys are 64 bits with a sign'
like "$(register poller 2)" 'HD002: role "poller" is registered with key 1 .*--key 1' 'another key is refused, with both'
like "$(register poller 1 lease)" 'HD002: .*mode advisory, not with key 1 and mode lease' 'another mode is refused'
like "$(register other 1)" 'HD002: key 1 of role "other" is registered for role "poller"' 'the key of another role is refused'
like "$(register third 3 advisory 2)" 'HD003: there are 2 roles already, 2 at most' 'more roles than allowed are refused'
like "$(register 'a b' 3)" '22023: .*1 to 63 letters' 'a name that is none is refused in words'
like "$(register x null)" 22023 'so is a null key'
like "$(register x 3 both)" 22023 'and an unknown mode'
is "$(sql lead 'select count(*) from howdah.leadership')" 2 'a refusal leaves nothing behind'

# Eight nodes that start together register the same roles.
cat >"$tmp/register.sql" <<'SQL'
\set k :k + 1
select howdah.leader_register('role' || :k, 1000 + :k, 'advisory');
SQL
said=$(pgbench -n -c 8 -j 2 -t 40 -D k=0 -f "$tmp/register.sql" "$(dsn lead)" 2>&1)
like "$said" 'number of transactions actually processed: 320/320' 'eight nodes that register the same at once all succeed'
is "$(sql lead "select count(*), count(distinct key) from howdah.leadership where role like 'role%'")" '40|40' 'each role once'
is "$(sql lead "select count(*) from howdah.leadership_history where role like 'role%'")" 40 'and once in the history'
cat >"$tmp/register.sql" <<'SQL'
\set k :k + 1
select howdah.leader_register('rival' || :client_id || '-' || :k, 2000 + :k, 'advisory');
SQL
pgbench -n -c 4 -j 2 -t 10 -D k=0 -f "$tmp/register.sql" "$(dsn lead)" >"$tmp/rivals" 2>&1
is "$(sql lead "select count(*) = count(distinct key) from howdah.leadership")" t 'rivals for one key: it has one owner'
like "$(cat "$tmp/rivals")" 'HD002|is registered for role' 'and the others are told'

# --- lock, take, led, beat -----------------------------------------------------------------------------
look='select registered, mode, token, owner, state, closing, paused, lock_pid, in_recovery, cleared'
is "$(sql lead "$look from howdah.leader_look('poller', 1)")" 't|advisory|0|||t|f||f|t' 'a role that nobody leads, as a node sees it'
is "$(sql lead "$look from howdah.leader_look('nobody', 1)")" 'f||||||f||f|f' 'an unknown one'
like "$(take A poller 1)" 'HD001: this session does not hold the advisory lock 1' 'without the lock nobody takes a role'
ask A 'select pg_try_advisory_lock(1)' >/dev/null
is "$(ask A "select token from howdah.leader_take('poller', 1, 'advisory', 0, 99, 'A', 'a', null, 1000)")" '' 'who saw another beat takes nothing'
first=$(take A poller 1)
is "$first" $((1 << 40)) 'the first token carries the timeline'
is "$(sql lead "$look from howdah.leader_look('poller', 1)")" "t|advisory|$first|A|waiting|f|f|${backend[A]}|f|t" \
	'taken: who, in which state, and the backend that holds the lock'
is "$(ask B "select howdah.leader_led('poller', 1, 'A', $first, 1000, true, 'direct')")" f 'a session without the lock does not lead'
is "$(ask A "select howdah.leader_led('poller', 1, 'A', $first, 1000, true, 'direct')")" t 'the wait is ended by its holder'
is "$(row 'state, led_token, led_mode, led_timeline, led_lease_ms, led_wait_ms, led_pinned, led_verdict, led_system is not null, led_started is not null' poller)" \
	"leading|$first|advisory|1|45000|1000|t|direct|t|t" 'and the row keeps what a successor must know'
is "$(beat A poller 1 "$first")" 't||f|f' 'a heartbeat: held'
before=$(row beat poller)
beat A poller 1 "$first" >/dev/null
is "$(row beat poller)" $((before + 1)) 'each heartbeat writes'
is "$(beat B poller 1 "$first")" 'f|the token belongs to another process|f|f' 'not with the token of another'
is "$(beat A poller 1 5)" "f|token $first was given to another node|f|f" 'nor with an old token'
unlock A 1
is "$(beat A poller 1 "$first")" 'f|the advisory lock is no longer granted to this session|f|f' 'nor without the lock'
ask A 'select pg_try_advisory_lock(1)' >/dev/null

# --- release, notice, and what a waiting node may not hide ---------------------------------------------
is "$(ask A "select howdah.leader_release('poller', 'B', $first, 'x')")" f 'another process releases nothing'
is "$(ask A "select howdah.leader_release('poller', 'A', 7, 'x')")" f 'nor does an older term'
is "$(ask A "select howdah.leader_release('poller', 'A', $first, 'planned')")" t 'a leader gives up'
is "$(row 'owner is null, closing, clear_token, led_token' poller)" "t|t|$first|$first" 'which clears its term'
is "$(beat A poller 1 "$first")" 'f|the role was given up|f|f' 'and ends its beats'
unlock A 1
second=$(lead B poller 1 2000)
check 'the next token is larger' test "$second" -gt "$first"
led=$(row "$led_columns, clear_token" poller)
# B is cut off: its session ends without a word. C takes, waits, and dies; then A.
unlock B 1
ask C 'select pg_try_advisory_lock(1)' >/dev/null
third=$(take C poller 1)
is "$(row "$led_columns, clear_token" poller)" "$led" 'a take changes nothing of the term that led last'
kill -KILL "${session_pid[C]}"
lock_free() { [ -z "$(sql lead 'select howdah.leader_lock_holder(1)')" ]; }
check 'its lock is free when it died' eventually lock_free
ask A 'select pg_try_advisory_lock(1)' >/dev/null
seen=$(row 'token, beat' poller)
ask A "select howdah.leader_close('poller', ${seen/|/, })" >/dev/null
answer=$(ask A "select * from howdah.leader_take('poller', 1, 'advisory', ${seen/|/, }, 'A', 'a', null, 9000)")
fourth=${answer%%|*}
is "$answer" "$fourth|$second|$first|t|t|advisory|t|direct|2000|1000" \
	'the next taker is told of the term that led, not of the one that waited'
check 'and has a larger token than that' test "$fourth" -gt "$third"
is "$(ask A "select howdah.leader_release('poller', 'A', $fourth, 'gave up')")" t 'it gives up while it waits'
is "$(row "$led_columns, clear_token" poller)" "$led" 'which clears nothing: it knows nothing of its predecessor'
is "$(sql lead "select cleared from howdah.leader_look('poller', 1)")" f 'whose command may still run'
is "$(sql lead "select howdah.leader_notice('poller', 'C', $third, 'x')")" f 'no death notice for a term that never led'
connect L lead
ask L 'listen howdah_leader' >/dev/null
is "$(sql lead "select howdah.leader_notice('poller', 'B', $second, 'killed')")" t 'the death notice of the one that led'
like "$(ask L 'select 1')" 'notification "howdah_leader" with payload "poller"' 'is told to whoever listens'
is "$(row 'clear_token, token' poller)" "$second|$fourth" 'and clears it'
is "$(sql lead "select howdah.leader_notice('poller', 'B', $second, 'again')")" f 'once'
is "$(sql lead "select cleared from howdah.leader_look('poller', 1)")" t 'so nobody needs to wait'
fifth=$(take A poller 1)
ask A "select howdah.leader_led('poller', 1, 'A', $fifth, 1000, true, 'direct')" >/dev/null
is "$(sql lead "select howdah.leader_notice('poller', 'B', $second, 'late')")" f 'a notice after a successor led changes nothing'
is "$(sql lead "select howdah.leader_notice('poller', 'A', $fifth, 'crashed')")" t 'a notice for the present holder'
is "$(row 'owner is null, closing, clear_token' poller)" "t|t|$fifth" 'frees the role as well'

# --- the operator's functions --------------------------------------------------------------------------
for f in "leader_resign('none')" "leader_pause('none')" "leader_resume('none')" "leader_forget('none')"; do
	like "$(sql lead "select howdah.$f")" 'HD005: no role "none".*known roles: poller' "$f: an unknown role, and the known ones"
done
is "$(sql lead "select howdah.leader_resign('poller')")" '' 'nobody to ask to resign'
token=$(take A poller 1)
ask A "select howdah.leader_led('poller', 1, 'A', $token, 1000, true, 'direct')" >/dev/null
is "$(sql lead "select howdah.leader_resign('poller', 'deploy')")" "$token" 'the holder is asked to resign'
is "$(beat A poller 1 "$token")" 't||t|f' 'and hears it with its next beat'
is "$(sql lead "select howdah.leader_pause('poller', 'night')")" t 'pause'
is "$(sql lead "select howdah.leader_pause('poller', 'twice')")" f 'twice is once'
is "$(row 'pause_reason, paused_by' poller)" 'night|postgres' 'with who and why'
is "$(beat A poller 1 "$token")" 't||t|t' 'the holder hears that too'
like "$(sql lead "select howdah.leader_forget('poller')")" 'HD006: role "poller" is led by node node-A' 'a role that is led is not forgotten'
ask A "select howdah.leader_release('poller', 'A', $token, 'paused')" >/dev/null
is "$(take A poller 1)" '' 'nobody takes a paused role'
ask L 'select 1' >/dev/null
is "$(sql lead "select howdah.leader_resume('poller')")" t 'resume'
like "$(ask L 'select 1')" 'payload "poller"' 'is told to whoever waits'
is "$(sql lead "select howdah.leader_resume('poller')")" f 'twice is once'
next=$(take A poller 1)
check 'and the role can be taken again' test "$next" -gt "$token"
is "$(ask A "select howdah.leader_beat('poller', 1, 'A', $next)")" '(t,,f,f)' 'what was asked of the term before is over'
sql lead "select howdah.leader_pause('poller')" >/dev/null
is "$(ask A "select howdah.leader_led('poller', 1, 'A', $next, 1000, true, 'direct')")" f 'a pause while it waits: it does not lead'
sql lead "select howdah.leader_resume('poller')" >/dev/null
unlock A 1
is "$(sql lead "select howdah.leader_forget('poller')")" '' 'a role that nobody leads is forgotten'
is "$(row 'key, mode, token' poller)" "||$next" 'its token is not'
is "$(sql lead "select howdah.leader_forget('poller')")" '' 'twice is once'
like "$(register poller 11)" '^[0-9]+$' 'it may have another key then'
last=$(lead A poller 11)
check 'and goes on from its token' test "$last" -gt "$next"

# --- by hand, what nobody should do --------------------------------------------------------------------
sql lead "delete from howdah.leadership where role = 'poller'"
is "$(beat A poller 11 "$last")" 'f|the row of the role is gone|f|f' 'a deleted row ends the term'
like "$(ask A "select howdah.assert_leader('poller', $last)")" 'HD001: nobody has ever led' 'and no write is accepted'
unlock A 11
register poller 11 >/dev/null
is "$(row 'token, led_token, clear_token' poller)" "$last|$last|0" 'a new row goes on from the history, and its last term may still run'
again=$(lead A poller 11)
check 'so tokens still grow' test "$again" -gt "$last"
sql lead 'truncate howdah.leadership'
is "$(beat A poller 11 "$again")" 'f|the row of the role is gone|f|f' 'so does a truncated table'
unlock A 11
sql lead "select howdah.leader_record('long', 'event', i, 'n', repeat('x', 5000)) from generate_series(1, 1100) i" >/dev/null
sql lead "select howdah.leader_record('short', 'event', 1, 'n', null)" >/dev/null
is "$(sql lead "select role, count(*), max(token), max(length(reason)) from howdah.leadership_history
	where role in ('long', 'short') group by 1 order by 1")" $'long|1000|1100|1000\nshort|1|1|' 'the history keeps the last 1000 of each role, and reasons within bounds'

# --- durable, whatever the role's default --------------------------------------------------------------
# A statement that only reads could flush by accident; the control shows that nothing else does.
sql postgres 'alter role postgres set synchronous_commit = off'
connect D lead
sql lead 'create table noise (i int)' >/dev/null
unflushed='select pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()'
flushed() { # NAME STATEMENT: the noise before it is only flushed when the statement commits durably
	ask D "insert into noise values (1); $2" >/dev/null
	is "$(ask D "$unflushed")" f "durable: $1"
}
ask D 'insert into noise values (1)' >/dev/null
is "$(ask D "$unflushed")" t 'guard of this test: an asynchronous commit is seen'
flushed register "select howdah.leader_register('d', 77, 'advisory')"
ask D 'select pg_try_advisory_lock(77)' >/dev/null
seen=$(row 'token, beat' d)
flushed close "select howdah.leader_close('d', ${seen/|/, })"
flushed take "select howdah.leader_take('d', 77, 'advisory', ${seen/|/, }, 'D', 'd', null, 1000)"
d=$(row token d)
flushed led "select howdah.leader_led('d', 77, 'D', $d, 1000, true, 'direct')"
flushed beat "select howdah.leader_beat('d', 77, 'D', $d)"
flushed resign "select howdah.leader_resign('d')"
flushed pause "select howdah.leader_pause('d')"
flushed resume "select howdah.leader_resume('d')"
flushed release "select howdah.leader_release('d', 'D', $d, 'x')"
d=$(take D d 77)
ask D "select howdah.leader_led('d', 77, 'D', $d, 1000, true, 'direct')" >/dev/null
flushed notice "select howdah.leader_notice('d', 'D', $d, 'x')"
is "$(ask D 'show synchronous_commit')" off 'and the session keeps its own setting'
is "$(ask D "begin; set local synchronous_commit = remote_apply; select howdah.leader_pause('d'); show synchronous_commit; rollback")" \
	$'t\nremote_apply' 'a stronger one is not weakened'
ask D 'select pg_advisory_unlock(77)' >/dev/null
flushed forget "select howdah.leader_forget('d')"

register crash 78 >/dev/null
token=$(lead A crash 78)
ask A 'insert into noise values (2)' >/dev/null
token=$(hand_over A D crash 78 "$token")
"$lib/pgserver" kill "$server"
"$lib/pgserver" start "$server" >/dev/null
is "$(row 'token, led_token' crash)" "$token|$token" 'a server killed right after a take-over comes back with its token'
connect E lead
is "$(ask E 'select pg_try_advisory_lock(78)')" t 'its lock is free then'
seen=$(row 'token, beat' crash)
ask E "select howdah.leader_close('crash', ${seen/|/, })" >/dev/null
answer=$(ask E "select token > $token, same_incarnation, same_start
	from howdah.leader_take('crash', 78, 'advisory', ${seen/|/, }, 'E', 'e', null, 1000)")
is "$answer" 't|t|f' 'and the next taker is told that the server was restarted'

done_testing
