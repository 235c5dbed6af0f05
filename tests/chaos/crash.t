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

done_testing
