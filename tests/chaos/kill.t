#!/bin/bash
# Real processes, killed and stopped: whatever happens to the three of a node, never two commands of
# one role, tokens only grow, nothing is left alive, and somebody leads again in time.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"

start_server
fresh_db app
DSN=$(dsn app)

# The checker must see what it is there for.
planted() { # NAME WANTED LINES
	printf '%s\n' "$3" >"$tmp/planted.scribe"
	like "$("$checker" "$tmp/planted.scribe" idle 50 2>&1)" "$2" "checker: $1"
}
planted "an overlap is seen" 'overlap of 5.0 ms' 'start 1 10000000 1 a
beat 1 30000000 1 a
start 2 25000000 2 b
beat 2 40000000 2 b'
planted "a long term over two short ones is seen" 'token 1 of a still ran when token 3' 'start 1 10000000 1 a
start 2 20000000 2 b
start 3 25000000 3 c
beat 1 90000000 1 a'
planted "a token that shrinks is seen" 'token 1 came after token 2' 'start 2 10000000 1 a
start 1 20000000 2 b'
planted "a token used twice is seen" 'was used by' 'start 2 10000000 1 a
start 2 20000000 2 b'
planted "an idle time is seen" 'idle for 90.0 ms' 'start 1 10000000 1 a
start 2 100000000 2 b'
planted "a clean take-over passes" '^2 terms, longest idle 1.0 ms$' 'start 1 10000000 1 a
start 2 11000000 2 b'

# pair ROLE: node A leads, B stands by.
pair() {
	role=$1
	shift
	rm -f "$tmp/A.log" "$tmp/B.log" # a role's nodes are always A and B
	start_node A "$role" "$DSN" "$@" && eventually leads A && start_node B "$role" "$DSN" "$@" &&
		eventually log_has B event=connected && eventually dozes "$role"
	result $? "$role: A leads, B stands by" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
}

# over ROLE [ARGUMENT ...]: B leads now, A's scribes are dead, the checker is content.
over() {
	local role=$1
	shift
	eventually leads B
	result $? "$role: B leads" "$(tail -n 5 "$tmp/B.log")"
	nothing_left() { ! alive $(scribes_of "$role" "$(node_name A)"); }
	eventually nothing_left
	result $? "$role: nothing of A's command lives"
	eventually has_terms "$role" 2
	stop_nodes
	local said
	said=$(verdict "$role" least 2 "$@")
	result $? "$role: no overlap, tokens grow, idle in bounds" "$said"
}

# Bounds are three times the budget: retry + the take-over wait (1 s), or the whole lease.
SEEN=$((3 * (RETRY_MS + 1100))) BLIND=$((3 * (LEASE_MS + RETRY_MS + 1100)))
# A holder of a lease row that is gone without a word is only known to be gone after a whole lease.
[ "$ELECTION" = advisory ] || SEEN=$BLIND

pair kill-elector
kill -KILL "${pid[A]}"
over kill-elector idle $SEEN

pair kill-guard
kill -KILL "$(guard_of A)"
over kill-guard idle $SEEN

pair kill-elector-and-command
kill -KILL "${pid[A]}" "$(command_of A)"
over kill-elector-and-command idle $SEEN

pair kill-guard-and-command
kill -KILL "$(guard_of A)" "$(command_of A)"
over kill-guard-and-command idle $SEEN

# A command that is killed ends the node as one that ends by itself: released, and its code.
pair kill-command
kill -KILL "$(command_of A)"
wait "${pid[A]}"
is $? 137 "kill-command: the exit code is the command's, 128 + 9"
unset "pid[A]"
like "$(tail -n 1 "$tmp/A.log")" 'source=command' "kill-command: the last line says whose code it is"
over kill-command idle $SEEN

# The guard's own death signal is SIGCONT, so a stopped one wakes when its elector dies.
pair stopped-guard-killed-elector
kill -STOP "$(guard_of A)"
kill -KILL "${pid[A]}"
over stopped-guard-killed-elector idle $SEEN

# Uncontained, elector and guard killed together leave what the command forked (tests/run/contain.t
# has the family); the command itself dies of its death signal.
SCRIBE_WAY=alone pair kill-elector-and-guard --contain none
kill -KILL "$(guard_of A)" "${pid[A]}"
over kill-elector-and-guard idle $SEEN

# Each of the three stopped alone, for longer than the lease.
pair stop-elector
kill -STOP "${pid[A]}"
eventually leads B
result $? "stop-elector: B leads while A's elector is stopped" "$(tail -n 5 "$tmp/B.log")"
kill -CONT "${pid[A]}"
over stop-elector idle $BLIND

pair stop-guard
kill -STOP "$(guard_of A)"
eventually log_has A state=lost
result $? "stop-guard: the elector ends a guard that does not answer" "$(tail -n 3 "$tmp/A.log")"
over stop-guard idle $BLIND

# A stopped command is still led: the lease is held. It goes on when it is continued.
pair stop-command
stopped=$(command_of A)
kill -STOP "$stopped"
seen=$(sql app "select beat from howdah.leadership where role = 'stop-command'")
beats() { [ "$(sql app "select beat from howdah.leadership where role = 'stop-command'")" -gt $((seen + LEASE_MS / HEARTBEAT_MS + 2)) ]; }
eventually beats
result $? "stop-command: the lease is kept for longer than a lease"
leads A
result $? "stop-command: A still leads"
kill -CONT "$stopped"
kill -TERM "${pid[A]}"
over stop-command

# All three stopped: nobody on that machine can act; the others see it, and the fence holds.
SCRIBE_WAY=alone pair stop-all
token=$(sql app "select token from howdah.leadership where role = 'stop-all'")
guard=$(guard_of A) command=$(command_of A)
kill -STOP "${pid[A]}" "$guard" "$command"
eventually leads B
result $? "stop-all: B leads" "$(tail -n 5 "$tmp/B.log")"
like "$(sql app "begin; select howdah.assert_leader('stop-all', $token); rollback")" HD001 \
	"stop-all: a write of the old token is refused"
kill -CONT "$command"
woken() { [ "$(awk -v t="$token" '$2 == t { n = $3 } END { print n }' "$tmp/stop-all.scribe")" -gt "$(awk -v t="$token" '$2 != t { print $3; exit }' "$tmp/stop-all.scribe")" ]; }
eventually woken
kill -CONT "$guard" "${pid[A]}"
gone() { ! alive "$command"; }
eventually gone
result $? "stop-all: the guard ends the command as soon as it runs again"
stop_nodes
like "$(verdict stop-all)" 'overlap of' "stop-all: a stated limit, and the checker reports it"

done_testing
