# shellcheck shell=bash
# nodes.sh - nodes of `howdah run` for chaos tests, on top of tests/lib/pg.sh.
#
# A node is one `howdah run` with a scribe as its command. Times are short, so that a lease passes in
# seconds; what is measured is only ever compared with generous bounds.

bin=${HOWDAH_BIN:?the program under test} build=${HOWDAH_BUILD:?its build folder}
scribe=$build/tests/scribe
checker=$build/tests/checker
. "$(dirname "${BASH_SOURCE[0]}")/../lib/pg.sh"
export HOWDAH_WORKERS=all
# A process that is stopped or killed in the middle of the sanitizer's leak check, which traces it,
# never ends; leaks are the other tests' business.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

HEARTBEAT_MS=1000 LEASE_MS=5000 RETRY_MS=400
ELECTION=${ELECTION:-advisory}

# start_node NAME ROLE DSN [OPTION ...]: the elector's pid is in ${pid[NAME]}, its log in $tmp/NAME.log.
declare -A pid
start_node() {
	local name=$1 role=$2 dsn=$3
	shift 3
	"$bin" run --db "$dsn" --role "$role" --election "$ELECTION" --margin 500ms --heartbeat ${HEARTBEAT_MS}ms --lease ${LEASE_MS}ms \
		--retry ${RETRY_MS}ms --grace 2s "$@" -- \
		"$scribe" "$tmp/$role.scribe" "${SCRIBE_WAY:-family}" 2>>"$tmp/$name.log" &
	pid[$name]=$!
}

log_has() { grep -q -- "$2" "$tmp/$1.log"; }
# Not that of "sqlstate=".
state_is() { [ "$(grep -o ' state=[a-z]*' "$tmp/$1.log" | tail -n 1)" = " state=$2" ]; }
leads() { state_is "$1" leading && log_has "$1" 'event="command started"'; }

# B's session rests after a look: it listens by then, so that A, which lets go, can't be first again.
dozes() { # ROLE
	[ "$(sql app "select count(*) > 0 from pg_stat_activity where application_name = 'howdah:elector:$1'
		and state = 'idle' and state_change < clock_timestamp() - interval '50 ms'
		and (query ilike 'listen%' or query like '%howdah.leader_look%' or query like '%howdah.lease_attempt%')
		and pid is distinct from (select howdah.leader_lock_holder(l.key) from howdah.leadership l where l.role = '$1')")" = t ]
}

# The processes of a node: its elector, the guard (a child of it; the keeper is another one), the
# command (the guard's).
children() { cat "/proc/$1/task/"*/children 2>/dev/null; }
guard_of() {
	local child
	for child in $(children "${pid[$1]}"); do
		! grep -qaz -x guard "/proc/$child/cmdline" 2>/dev/null || echo "$child"
	done | head -n 1
}
command_of() { grep -o 'event="command started" pid=[0-9]*' "$tmp/$1.log" | tail -n 1 | sed 's/.*pid=//'; }

# Everything that a node's scribes ever were; nothing of it may live when its node is gone.
scribes_of() { awk -v n="$2" '$5 == n { print $4 }' "$tmp/$1.scribe" | sort -u; }
node_name() { grep -o 'node=[^ ]*' "$tmp/$1.log" | head -n 1 | sed 's/node=//'; }
alive() { local p; for p in "$@"; do kill -0 "$p" 2>/dev/null && [ "$(sed 's/.*) //' "/proc/$p/stat" 2>/dev/null | cut -c1)" != Z ] && return 0; done; return 1; }

# Whether commands of at least so many terms have written.
has_terms() { [ "$(awk '{ print $2 }' "$tmp/$1.scribe" 2>/dev/null | sort -u | wc -l)" -ge "$2" ]; }

# verdict ROLE [ARGUMENT ...]: the checker's verdict on what the role's scribes wrote.
verdict() {
	local role=$1
	shift
	"$checker" "$tmp/$role.scribe" "$@"
}

stop_nodes() {
	local name
	for name in "${!pid[@]}"; do
		kill -CONT "${pid[$name]}" 2>/dev/null
		kill -TERM "${pid[$name]}" 2>/dev/null
	done
	for name in "${!pid[@]}"; do
		wait "${pid[$name]}" 2>/dev/null
		unset "pid[$name]"
	done
}
