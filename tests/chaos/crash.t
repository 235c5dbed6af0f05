#!/bin/bash
# A node dies between two steps that belong together: whoever comes next finds a row that tells the truth.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"

"$bin" version | grep -q 'crash points' || skip_all "the program under test has no crash points"
start_server
fresh_db app
DSN=$(dsn app)

# crash POINT REASON: A dies at POINT, on its way in or, told to stop, on its way out; B then leads, after
# a wait for the REASON that its log gives.
crash() {
	local point=$1 reason=$2 role=crash-$1 said
	rm -f "$tmp/A.log" "$tmp/B.log"
	HOWDAH_CRASH_AT=$point start_node A "$role" "$DSN"
	case $point in
	*release*) eventually leads A && eventually has_terms "$role" 1 && kill -TERM "${pid[A]}" ;;
	esac
	wait "${pid[A]}"
	is $? 137 "$point: A died there"
	unset "pid[A]"
	start_node B "$role" "$DSN"
	eventually leads B
	result $? "$point: B leads" "$(tail -n 3 "$tmp/B.log")"
	like "$(grep state=waiting "$tmp/B.log" | tail -n 1)" "reason=\"$reason\"" "$point: $reason"
	eventually has_terms "$role" 1
	stop_nodes
	said=$(verdict "$role")
	result $? "$point: no overlap, tokens grow" "$said"
}

# It had the role and never led: nobody before it did either.
crash elector-before-led 'nobody led before'
# It may have led from here on, whether or not its command came to run.
crash elector-after-led 'the last leader is ending its command'
# Its command is dead, and nobody knows.
crash elector-before-release 'the last leader is ending its command'
# It said so before the lock was free.
crash leader-released-before-unlock 'the last leader is known to be dead'

# B looks, and stands still before it listens; meanwhile A lets go. B must find out by itself, and not by
# its next look, which is far.
RETRY_MS=30000 LEASE_MS=90000 # a session that is silent for a lease would end, and be opened anew
stands_still() { [ "$(sed 's/.*) //' "/proc/${pid[$1]}/stat" | cut -c1)" = T ]; }
deaf() {
	local role=deaf-$ELECTION began
	rm -f "$tmp/A.log" "$tmp/B.log"
	start_node A "$role" "$DSN"
	eventually leads A && eventually has_terms "$role" 1
	HOWDAH_CRASH_AT=leader-looked-before-listen:stop start_node B "$role" "$DSN"
	eventually stands_still B
	result $? "deaf, $ELECTION: B stands still before it listens" "$(tail -n 3 "$tmp/B.log")"
	kill -TERM "${pid[A]}"
	wait "${pid[A]}"
	unset "pid[A]"
	began=$(now_ms)
	kill -CONT "${pid[B]}"
	eventually leads B
	check "deaf, $ELECTION: B leads long before its next look" [ $(($(now_ms) - began)) -lt $((RETRY_MS / 3)) ]
	stop_nodes
}
ELECTION=advisory deaf
ELECTION=lease deaf

done_testing
