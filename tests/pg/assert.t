#!/bin/bash
# Fencing: what assert_leader refuses, what a take-over waits for, and how long.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
# shellcheck source=tests/lib/lead.sh
. "$(dirname "$0")/../lib/lead.sh"
start_server
fresh_db lead
sql lead 'create table effect (role text, note text)'
for s in A B S T; do connect $s lead; done

register() { # ROLE KEY
	sql lead "select howdah.leader_register('$1', $2, 'advisory')" >/dev/null
}

# --- what is refused ----------------------------------------------------------------------------------
register plain 1
like "$(ask S "select howdah.assert_leader('nobody', 1)")" 'HD001: nobody has ever led role "nobody"' 'an unknown role is refused'
like "$(ask S "select howdah.assert_leader('plain', 0)")" 'HD001: .*changing hands' 'token 0 of a role that was never led is refused'
old=$(lead A plain 1)
is "$(ask S "select howdah.assert_leader('plain', $old)")" '' 'the token that leads is accepted'
like "$(ask S "select howdah.assert_leader('plain', null)")" "HD001: .*the token is $old" 'a null token is refused'

# A snapshot from before the take-over, in each level; a heartbeat in between must not disturb it.
for level in 'read committed' 'repeatable read' 'serializable'; do
	ask S "begin isolation level $level; select count(*) from howdah.migration" >/dev/null
	ask A "select held from howdah.leader_beat('plain', 1, 'A', $old)" >/dev/null
	is "$(ask S "select howdah.assert_leader('plain', $old)")" '' "$level: a heartbeat behind the snapshot does not disturb"
	ask S commit >/dev/null
done

ask S 'begin isolation level repeatable read; select count(*) from howdah.migration' >/dev/null
ask T 'begin isolation level serializable; select count(*) from howdah.migration' >/dev/null
new=$(hand_over A B plain 1 "$old")
check "the token grows" test "$new" -gt "$old"
like "$(ask S "select howdah.assert_leader('plain', $old)")" 40001 'repeatable read: a snapshot from before the take-over fails'
like "$(ask T "select howdah.assert_leader('plain', $old)")" 40001 'serializable: a snapshot from before the take-over fails'
ask S rollback >/dev/null
ask T rollback >/dev/null
for level in 'read committed' 'repeatable read' 'serializable'; do
	ask S "begin isolation level $level" >/dev/null
	ask S "insert into effect values ('plain', 'stale')" >/dev/null
	like "$(ask S "select howdah.assert_leader('plain', $old)")" "HD001: token $old no longer leads" "$level: a stale token fails"
	ask S commit >/dev/null
	is "$(ask S "begin isolation level $level; select howdah.assert_leader('plain', $new); commit")" '' "$level: the new token is accepted"
done
is "$(sql lead 'select count(*) from effect')" 0 'and nothing that a stale leader wrote is there'

# --- the take-over waits, and not for ever -------------------------------------------------------------
ask S "begin; select howdah.assert_leader('plain', $new)" >/dev/null
is "$(ask B "set lock_timeout = '200ms'; select held, why from howdah.leader_beat('plain', 1, 'B', $new); reset lock_timeout")" \
	't|' 'a renewal passes an asserting transaction'
ask B 'select pg_advisory_unlock(1)' >/dev/null # B is lost without a word
ask A 'select pg_try_advisory_lock(1)' >/dev/null
seen=$(row 'token, beat' plain)
is "$(ask A "set lock_timeout = '200ms'; select howdah.leader_close('plain', ${seen/|/, }); reset lock_timeout")" \
	t 'closing passes an asserting transaction'
like "$(ask T "select howdah.assert_leader('plain', $new)")" 'HD001: .*changing hands' 'a role that is closing refuses new assertions'
is "$(ask B "select held, why from howdah.leader_beat('plain', 1, 'B', $new)")" 'f|another node is taking over' \
	'a heartbeat behind the close is told why'
take_a="select token from howdah.leader_take('plain', 1, 'advisory', ${seen/|/, }, 'A', 'node-A', null, 2000)"
begun=$(now_ms)
like "$(ask A "set statement_timeout = '500ms'; $take_a; reset statement_timeout")" 57014 'a take-over gives up at its statement_timeout'
ask A 'reset statement_timeout' >/dev/null
check 'and soon after it' test $(($(now_ms) - begun)) -lt 10000
is "$(row 'token, closing' plain)" "$new|t" 'then the token is still the old one and the role stays closed'
is "$(sql lead "select pid, prepared, application_name from howdah.leader_blockers('plain')")" "${backend[S]}||session S" \
	'the session in the way is named'
tell A "$take_a"
check 'the next one waits' eventually waits_for_lock A
ask S "insert into effect values ('plain', 'in time'); commit" >/dev/null
taken=$(answer A)
check 'until the asserting transaction has ended' test "${taken:-0}" -gt "$new"
is "$(sql lead 'select note from effect')" 'in time' 'whose write counts'
is "$(sql lead "select count(*) from howdah.leader_blockers('plain')")" 0 'and nobody is named any more'

# --- several in the way --------------------------------------------------------------------------------
register many 2
register other 3
token=$(lead A many 2)
ask A "select howdah.leader_led('plain', 1, 'A', $taken, 1000, true, 'direct')" >/dev/null
foreign=$(lead A other 3)
ask S "begin; savepoint a; select howdah.assert_leader('many', $token)" >/dev/null
ask T "begin; select howdah.assert_leader('many', $token)" >/dev/null
connect U lead
ask U "begin; select howdah.assert_leader('other', $foreign)" >/dev/null
is "$(sql lead "select string_agg(pid::text, ' ' order by application_name) from howdah.leader_blockers('many')")" \
	"${backend[S]} ${backend[T]}" 'each of several is named, one in a savepoint too, and nobody who asserts another role'
ask S rollback >/dev/null
is "$(sql lead "select pid from howdah.leader_blockers('many')")" "${backend[T]}" 'one that ended is not'
seen=$(row 'token, beat' many)
ask A "select howdah.leader_close('many', ${seen/|/, })" >/dev/null
is "$(sql lead "select pid, ended from howdah.leader_unblock('many')")" "${backend[T]}|t" 'who may, ends the sessions in the way'
check 'and then the role can be taken' test "$(take A many 2)" -gt "$token"
is "$(ask U 'commit; select 1')" 1 'the session that asserted another role lives'

# --- two-phase transactions ----------------------------------------------------------------------------
token=$(row token other)
ask S "begin; select howdah.assert_leader('other', $token); prepare transaction 'left behind'" >/dev/null
is "$(sql lead "select pid, prepared, user_name from howdah.leader_blockers('other')")" '|left behind|postgres' \
	'a prepared transaction in the way is named'
seen=$(row 'token, beat' other)
ask A "select howdah.leader_close('other', ${seen/|/, })" >/dev/null
like "$(ask A "set statement_timeout = '300ms'; select token from howdah.leader_take('other', 3, 'advisory', ${seen/|/, }, 'A', 'a', null, 2000)")" \
	57014 'it holds a take-over back'
ask A 'reset statement_timeout' >/dev/null
is "$(sql lead "select count(*) from howdah.leader_unblock('other')")" 0 'and is left to people'
sql lead "rollback prepared 'left behind'" >/dev/null
check 'when they ended it, the role can be taken' test "$(take A other 3)" -gt "$token"

# --- an orphan ----------------------------------------------------------------------------------------
register orphan 4
token=$(lead A orphan 4 2000)
setting='show idle_in_transaction_session_timeout'
is "$(ask S "begin; select howdah.assert_leader('orphan', $token); $setting; commit; $setting")" $'2s\n0' \
	'the lease bounds the asserting transaction, and that one only'
is "$(ask S "set idle_in_transaction_session_timeout = '1500ms'; begin; select howdah.assert_leader('orphan', $token); $setting; commit")" \
	1500ms 'a shorter bound of its own stays'
is "$(ask S "set idle_in_transaction_session_timeout = '1h'; begin; select howdah.assert_leader('orphan', $token); $setting; commit; $setting")" \
	$'2s\n1h' 'a longer one does not'
ask S "reset idle_in_transaction_session_timeout; begin; select howdah.assert_leader('orphan', $token)" >/dev/null
kill -STOP "${session_pid[S]}"
seen=$(row 'token, beat' orphan)
ask A "select howdah.leader_close('orphan', ${seen/|/, })" >/dev/null
begun=$(now_ms)
taken=$(ask A "select token from howdah.leader_take('orphan', 4, 'advisory', ${seen/|/, }, 'A', 'a', null, 2000)")
spent=$(($(now_ms) - begun))
check 'an orphaned transaction is ended by the server, and the role is taken' test "${taken:-0}" -gt "$token"
check "after about its lease of 2 s ($spent ms)" test $spent -lt 15000
kill -KILL "${session_pid[S]}"

# --- zombies that never all pause ----------------------------------------------------------------------
# Four clients assert in transactions that overlap. The take-over in one transaction starves, because the
# server waits for one member after the other while new ones come; so closing must commit on its own.
zombies() { # ROLE TOKEN
	cat >"$tmp/zombie.sql" <<-SQL
		\set ms random(200, 400)
		begin;
		select howdah.assert_leader('$1', $2);
		\sleep :ms ms
		commit;
	SQL
	pgbench -n -c 4 -j 1 -T 60 -f "$tmp/zombie.sql" "$(dsn lead)" >"$tmp/zombies.out" 2>&1 &
	zombie_pid=$!
	disown
}
several_zombies() {
	[ "$(sql lead "select count(*) from pg_stat_activity where application_name = 'pgbench' and state = 'idle in transaction'")" -ge 2 ]
}
zombies_gone() {
	! kill -0 $zombie_pid 2>/dev/null
}
register undead 5
token=$(lead A undead 5)
zombies undead "$token"
check 'zombies are at work' eventually several_zombies
seen=$(row 'token, beat' undead)
one="begin; select howdah.leader_close('undead', ${seen/|/, });
	select token from howdah.leader_take('undead', 5, 'advisory', ${seen/|/, }, 'A', 'a', null, 45000)"
starved=''
for _ in 1 2 3 4 5; do # once is enough: they may all pause at one moment by chance
	starved=$(ask A "set statement_timeout = '4s'; $one; rollback")
	ask A 'rollback; reset statement_timeout' >/dev/null
	[[ $starved =~ 57014 ]] && break
done
like "$starved" 57014 'guard of this test: close and take in one transaction starve'
check 'the zombies go on' several_zombies
begun=$(now_ms)
taken=$(take A undead 5)
spent=$(($(now_ms) - begun))
check 'in two transactions the take-over ends' test "${taken:-0}" -gt "$token"
check "and does not wait for them to give up after 60 s ($spent ms)" test $spent -lt 15000
check 'and the zombies are refused' eventually zombies_gone
like "$(cat "$tmp/zombies.out")" 'no longer leads role "undead"' 'in words'
kill -KILL $zombie_pid 2>/dev/null

done_testing
