# shellcheck shell=bash
# For tests in bash: tap.sh, a private server, and psql sessions that stay open. Sourced.
#
#   start_server [SETTING=VALUE ...]   one server; $server is its folder, $super the superuser's DSN
#   fresh_db NAME [OWNER]              a database with schema howdah, made as OWNER (default postgres)
#   sql DB STATEMENT ...               one answer, as the superuser; errors are in it
#   schema_of DB                       all that schema howdah is, to be compared with another one
#   connect SESSION DB [USER]          a session that stays open
#   ask SESSION STATEMENTS             sends and prints the answer
#   tell SESSION STATEMENTS            only sends; `answer SESSION` waits for the end and prints it
#   eventually COMMAND ...             true as soon as COMMAND is, false after 30 s
#
# ${session_pid[SESSION]} is the client's process, ${backend[SESSION]} the server's.

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/tap.sh
. "$lib/tap.sh"
tmp=$tap_tmp
declare -A session_pid session_in backend
unset HOWDAH_DB HOWDAH_CONFIG HOWDAH_CRASH_AT PGOPTIONS PGUSER PGDATABASE PGSERVICE

clean_up() {
	local pid folder
	for pid in "${session_pid[@]}" $(jobs -p); do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	for folder in "$tmp"/*/data; do
		[ ! -d "$folder" ] || "$lib/pgserver" destroy "${folder%/data}"
	done
	rm -rf "$tmp"
}
tap_at_exit clean_up

result() { # STATUS NAME [DETAIL]
	tap_result "$1" "$2" || [ -z "${3:-}" ] || note "$(head -n 20 <<<"$3")"
}

# As in tap.sh, but over all lines at once: an error of the server and its hint are two.
like() { # GOT EXTENDED_REGEX NAME
	[[ $1 =~ $2 ]]
	result $? "$3" "got:  $1
like: $2"
}

check() { # NAME COMMAND ...
	ok "$@"
}

now_ms() {
	date +%s%3N
}

eventually() {
	local end=$(($(now_ms) + 30000))
	until "$@"; do
		[ "$(now_ms)" -lt $end ] || return 1
		sleep 0.02
	done
}

dsn() { # DB [USER]
	echo "host=$server port=$(cat "$server/port") user=${2:-postgres} dbname=$1"
}

start_server() {
	server=$tmp/s
	super=$("$lib/pgserver" start "$server" "$@") || exit 1
	export super
}

install_schema() { # DB [USER] [OPTION ...]
	local db=$1 user=${2:-postgres}
	shift $(($# < 2 ? $# : 2))
	"${HOWDAH_BIN:?the howdah of a test build}" init --timeout 60s --db "$(dsn "$db" "$user")" "$@"
}

sql() {
	local db=$1 statement arguments=()
	shift
	for statement in "$@"; do
		arguments+=(-c "$statement")
	done
	psql -XAtq -v VERBOSITY=verbose -d "$(dsn "$db")" "${arguments[@]}" 2>&1
}

fresh_db() {
	sql postgres "create database $1 owner ${2:-postgres}"
	install_schema "$1" "${2:-postgres}" >"$tmp/init.out" 2>&1 || {
		sed 's/^/# /' "$tmp/init.out"
		echo "Bail out! howdah init failed"
		exit 1
	}
}

# Without what says when and by which program things were applied. No pg_dump reads a newer server.
schema_of() {
	local mine
	mine=$(pg_dump --version | sed 's/.*) \([0-9]*\).*/\1/')
	if [ "$mine" -ge $(($(sql "$1" 'show server_version_num') / 10000)) ]; then
		pg_dump --schema-only --schema=howdah -d "$(dsn "$1")" | grep -v -e '^--' -e '^\\' -e '^$'
	else
		psql -XAtq -v ON_ERROR_STOP=1 -d "$(dsn "$1")" -f "$lib/schema.sql"
	fi
}

connect() {
	local name=$1 fd
	mkfifo "$tmp/$name.in"
	stdbuf -oL psql -XAtq -v VERBOSITY=verbose -d "$(dsn "$2" "${3:-postgres}")" \
		<"$tmp/$name.in" >"$tmp/$name.out" 2>&1 &
	session_pid[$name]=$!
	disown
	# Held open by us for as long as we live.
	exec {fd}>"$tmp/$name.in"
	session_in[$name]=$fd
	echo 0 >"$tmp/$name.asked"
	printf '\\echo -- end 0\n' >&"$fd"
	ask "$name" "set application_name = 'session $name'" >/dev/null
	backend[$name]=$(ask "$name" 'select pg_backend_pid()')
}

tell() {
	local asked
	asked=$(($(cat "$tmp/$1.asked") + 1))
	echo "$asked" >"$tmp/$1.asked" # a file, since `ask` mostly runs in a subshell
	printf '%s\n;\n\\echo -- end %s\n' "$2" "$asked" >&"${session_in[$1]}"
}

has_answered() {
	grep -qxs -e "-- end $(cat "$tmp/$1.asked")" "$tmp/$1.out" || ! kill -0 "${session_pid[$1]}" 2>/dev/null
}

# What came between the last two ends, without blank lines and psql's places in its source.
answer() {
	eventually has_answered "$1" || echo "no answer"
	sed -n "/^-- end $(($(cat "$tmp/$1.asked") - 1))\$/,\$p" "$tmp/$1.out" |
		grep -v -e '^-- end ' -e '^LOCATION: ' -e '^CONTEXT: ' -e '^$' || true
}

ask() {
	tell "$1" "$2"
	answer "$1"
}

waits_for_lock() { # SESSION
	[ "$(sql postgres "select wait_event_type from pg_stat_activity where pid = ${backend[$1]}")" = Lock ]
}
