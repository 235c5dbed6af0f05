#!/bin/bash
# Twenty nodes compete for five roles while their processes are killed and stopped at random
# (HOWDAH_STORM_SECONDS, 120). The seed is printed; HOWDAH_STORM_SEED gives the same choices again.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"

seconds=${HOWDAH_STORM_SECONDS:-120}
RANDOM=${HOWDAH_STORM_SEED:-$$}
echo "# seed ${HOWDAH_STORM_SEED:-$$}, $seconds s"
HEARTBEAT_MS=1000 LEASE_MS=6000 RETRY_MS=500
start_server max_connections=300
fresh_db app
DSN=$(dsn app)
roles=(red green blue white black)

declare -A role_of
launched=0
launch() { # NUMBER
	[ ! -e "$tmp/n$1.log" ] || mv "$tmp/n$1.log" "$tmp/n$1.$((launched += 1)).old.log"
	role_of[n$1]=${roles[$1 % 5]}
	start_node "n$1" "${role_of[n$1]}" "$DSN" --restart
	disown "${pid[n$1]}"
}
for i in $(seq 0 19); do
	launch "$i"
done
all_led() { [ "$(sql app "select count(*) from howdah.leadership where state = 'leading'")" = 5 ]; }
eventually all_led
result $? "five roles are led"

leader_of() { # ROLE: the name of the node that leads it
	local name
	for name in "${!role_of[@]}"; do
		[ "${role_of[$name]}" = "$1" ] && leads "$name" && kill -0 "${pid[$name]}" 2>/dev/null && {
			echo "$name"
			return
		}
	done
}

# One fault; nearly always at a leader, since stand-bys have little to lose. A node of which something
# is stopped is left alone: a stopped elector with a killed guard is a stated limit.
hits=0
fault() {
	local name victim kind=$((RANDOM % 9))
	name=$(leader_of "${roles[RANDOM % 5]}")
	[ -n "$name" ] || name=n$((RANDOM % 20))
	victim=${pid[$name]}
	[ -z "${frozen[$victim]:-}" ] || return
	echo "$(date +%T.%3N) fault $kind at $(node_name "$name"), elector $victim" >>"$tmp/faults"
	case $kind in
	0 | 1) kill -KILL "$victim" 2>/dev/null ;;
	2) kill -KILL "$(guard_of "$name")" 2>/dev/null ;;
	3) kill -KILL "$(command_of "$name")" 2>/dev/null ;;
	4) kill -KILL "$victim" "$(command_of "$name")" 2>/dev/null ;;
	5) kill -STOP "$victim" 2>/dev/null && freeze "$victim" "$victim" ;;
	6) kill -STOP "$(guard_of "$name")" 2>/dev/null && freeze "$(guard_of "$name")" "$victim" ;;
	7) kill -TERM "$victim" 2>/dev/null ;;
	8) sql app "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
		order by random() limit 1" >/dev/null ;;
	esac
	hits=$((hits + 1))
}

# Ends stops after a while, some of them after the lease, and replaces what has died.
stopped=()
declare -A frozen
freeze() { # PID ELECTOR
	stopped+=("$1 $2")
	frozen[$2]=1
}
mend() {
	local i process elector
	if [ ${#stopped[@]} -gt 3 ]; then
		read -r process elector <<<"${stopped[0]}"
		kill -CONT "$process" 2>/dev/null
		unset "frozen[$elector]"
		stopped=("${stopped[@]:1}")
	fi
	for i in $(seq 0 19); do
		kill -0 "${pid[n$i]}" 2>/dev/null || launch "$i"
	done
}

end=$(($(now_ms) + seconds * 1000))
while [ "$(now_ms)" -lt $end ]; do
	fault
	mend
	sleep 0.$((RANDOM % 9 + 1))
done
echo "# $hits faults"
for p in "${stopped[@]}"; do
	kill -CONT "${p% *}" 2>/dev/null
done
eventually all_led
result $? "five roles are led after the storm"
for p in "${pid[@]}"; do
	kill -TERM "$p" 2>/dev/null
done
all_gone() { ! alive "${pid[@]}"; }
eventually all_gone
result $? "every node ends"
unset pid
for role in "${roles[@]}"; do
	nobody() { ! alive $(awk '{ print $4 }' "$tmp/$role.scribe" | sort -u); }
	eventually nobody
	result $? "$role: nothing is left alive"
	said=$(verdict "$role" least 3 idle $((3 * (2 * LEASE_MS + RETRY_MS + 1100))))
	result $? "$role: no overlap, tokens grow, idle in bounds" "$said"
	echo "# $role: $(tail -n 1 <<<"$said")"
	for node in $(grep -o ' of [^ ]*-[0-9a-f]*' <<<"$said" | sed 's/ of //'); do
		grep -h "$node" "$tmp/faults" "$tmp"/n*.log | sed 's/^/# /'
	done
done
done_testing
