#!/bin/bash
# howdah run --contain: what is left when elector and guard are killed in the same instant.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../chaos/nodes.sh"

start_server
fresh_db app
DSN=$(dsn app)

contain_of() { grep -o 'event="command started".*contain=[a-z]*' "$tmp/$1.log" | tail -n 1 | sed 's/.*contain=//'; }
possible() { "$bin" run --db "$DSN" --role "try-$1" --contain "$1" -- true 2>"$tmp/try-$1"; }
# The command's processes on a node, by their environment: in a namespace they have other numbers for
# themselves.
family_of() { grep -laz -x "HOWDAH_NODE=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
# The family of a scribe: the command, a child of it, and one in a session of its own.
pair() { # ROLE OPTION ...
	local role=$1
	shift
	start_node A "$role" "$DSN" "$@"
	eventually leads A
	full() { [ "$(family_of "$(node_name A)" | wc -l)" -ge 2 ]; }
	eventually full
	result $? "$role: the command has a family" "$(family_of "$(node_name A)")"
	family=$(family_of "$(node_name A)")
	start_node B "$role" "$DSN" "$@"
	connected() { log_has B event=connected; }
	eventually connected
}
all_gone() { ! alive $family && [ -z "$(family_of "$A")" ]; }
end_pair() {
	stop_nodes
	rm -f "$tmp"/[AB].log
}

for mode in cgroup pidns; do
	if ! possible $mode; then
		is "$(grep -c 'state=refused.*hint=' "$tmp/try-$mode")" 1 "$mode: refused, with what to do"
		skip "$mode" "is not possible here"
		continue
	fi
	pair $mode --contain $mode
	A=$(node_name A)
	is "$(contain_of A)" $mode "$mode: the log says so"
	command=$(command_of A)
	kill -0 "$command"
	result $? "$mode: the pid in the log is the command's as everybody sees it"
	like "$(tr '\0' '\n' <"/proc/$command/environ")" "HOWDAH_ROLE=$mode" "$mode: namely this"
	kill -KILL "$(guard_of A)" "${pid[A]}"
	eventually all_gone
	result $? "$mode: elector and guard killed together: nothing of the command lives" "$(ps -o pid,ppid,pgid,args -p "$(paste -sd, <<<"$family")")"
	eventually leads B
	result $? "$mode: another node leads" "$(tail -n 5 "$tmp/B.log")"
	check "$mode: the commands never overlapped" verdict $mode
	end_pair

	# The usual ends, with a family to sweep.
	pair $mode-resign --contain $mode
	A=$(node_name A)
	"$bin" leader resign $mode-resign --db "$DSN" >/dev/null
	eventually leads B
	result $? "$mode: handed over"
	all_gone
	result $? "$mode: and the first family is dead"
	eventually has_terms "$mode-resign" 2 # before it is ready for TERM it would die of it
	kill -TERM "${pid[B]}"
	wait "${pid[B]}"
	is $? 0 "$mode: the command's own exit code comes back"
	like "$(tail -n 1 "$tmp/B.log")" 'source=command' "$mode: and the log says whose it is"
	unset "pid[B]"
	check "$mode: the commands never overlapped here either" verdict $mode-resign
	end_pair
done

# auto takes the control group where it may, never the namespace.
start_node A auto "$DSN"
eventually leads A
if possible cgroup; then
	is "$(contain_of A)" cgroup "auto: a control group, where one can be made"
	group=$(sed -n 's/^0:://p' "/proc/$(command_of A)/cgroup")
	like "$group" '/howdah-[0-9a-f]{32}$' "auto: the command is in it"
	unlike "$(sed -n 's/^0:://p' "/proc/${pid[A]}/cgroup")" "$group" "auto: the elector is not"
	mount=$(awk '$9 == "cgroup2" || $10 == "cgroup2" { print $5; exit }' /proc/self/mountinfo)
	stop_nodes
	check "auto: the group is gone after the term" [ ! -e "$mount$group" ]
	if [ "$(id -u)" = 0 ] && [ -n "$mount" ]; then
		# A view of the machine in which the mount can't be written: as in most containers.
		unshare --mount sh -c 'mount --bind -o ro "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"' \
			sh "$mount" "$bin" run --db "$DSN" --role ro --contain cgroup -- true 2>"$tmp/ro"
		is $? 77 "a group that can't be made: refused"
		like "$(cat "$tmp/ro")" 'Delegate=yes' "with what to do about it"
		is "$(sql app "select count(*) from howdah.leadership where role = 'ro'")" 0 "before anything was taken"
		unshare --mount sh -c 'mount --bind -o ro "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"' \
			sh "$mount" "$bin" run -v --db "$DSN" --role ro --contain auto -- true 2>"$tmp/ro"
		is $? 0 "auto runs there all the same"
		like "$(cat "$tmp/ro")" 'contain=none' "and says that nothing contains the command"
		like "$(cat "$tmp/ro")" 'event="no control group for the command" error=.*Read-only' "with -v also why"
	fi
else
	is "$(contain_of A)" none "auto: nothing, where no group can be made"
fi
stop_nodes

"$bin" run --db "$DSN" --role none --contain none -- true 2>"$tmp/none"
like "$(cat "$tmp/none")" 'event="command started" pid=[0-9]+ contain=none' "none is none"

done_testing
