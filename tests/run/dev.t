#!/bin/bash
# The embedded server of --db dev: made once, shared, recovered, removed; and each refusal in words.
set -u
bin=${HOWDAH_BIN:?the howdah of a test build}
n=0
failed=0
tmp=$(mktemp -d)
chmod 711 "$tmp"
cp "$bin" "$tmp/howdah" # where every user can run it
howdah=$tmp/howdah
unset HOWDAH_PGBIN HOWDAH_CRASH_AT

clean_up() {
	local pid
	unset HOWDAH_CRASH_AT HOWDAH_PGBIN
	for pid in "$tmp"/*/dev-server/data/postmaster.pid; do
		[ ! -e "$pid" ] || kill -QUIT "$(head -n 1 "$pid")" 2>/dev/null
	done
	for pid in $(jobs -p); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
	rm -rf "$tmp"
}
trap clean_up EXIT

check() { # NAME COMMAND...
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		[ ! -s "$tmp/err" ] || tail -n 10 "$tmp/err" | sed 's/^/# /'
		failed=1
	fi
}

skip() { # NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

state() { # a state folder of its own for what follows
	export HOWDAH_STATE=$tmp/$1
	folder=$HOWDAH_STATE/dev-server
}

dev() {
	"$howdah" dev "$@" 2>"$tmp/err"
}

pid() {
	dev | sed -n 's/^pid  *//p'
}

sql() {
	dev psql -- -XAtc "$1"
}

until_true() { # COMMAND...: polls, a minute at most
	local tries
	for ((tries = 0; tries < 1200; tries++)); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}

refused() { # CODE WORDS COMMAND...: ends with CODE and says WORDS
	local code=$1 words=$2 got
	shift 2
	"$@" >/dev/null 2>"$tmp/err"
	got=$?
	[ $got = "$code" ] || { echo "# exit code $got, not $code"; return 1; }
	grep -q -e "$words" "$tmp/err" || { echo "# does not say: $words"; return 1; }
}

ended_by_kill() { # POINT VERB: howdah is killed there
	( # a shell of its own, which keeps the message about the kill for itself
		HOWDAH_CRASH_AT=$1 "$howdah" dev "$2" >/dev/null 2>&1
		exit $?
	) 2>/dev/null
	[ $? = 137 ]
}

nothing_half_made() {
	[ -z "$(find "$folder" -maxdepth 1 -name 'new.*' 2>/dev/null)" ]
}

starts() {
	dev start >/dev/null && [ "$(sql 'select current_database()')" = howdah ]
}

# Made once, and shared.

state first
check 'says that there is none yet' grep -q '^state *not made yet' <(dev)
check 'to look makes nothing' test ! -e "$HOWDAH_STATE"
check 'dsn makes nothing' test "$(dev dsn)" = "host=$folder hostaddr='' port=5432 user=postgres dbname=howdah" -a ! -e "$HOWDAH_STATE"
exec 9>"$tmp/inherited"
out=$(dev start) # returns only when the server holds no copy of our pipe
check 'first use makes it and prints the dsn' test "$out" = "$(dev dsn)"
check 'it says in one line that it is private' test "$(grep -c 'private, for this machine only' "$tmp/err")" -le 1
first=$(pid)
check 'the server runs' kill -0 "$first"
check 'a second process shares it' test "$(dev start >/dev/null; pid)" = "$first"
check 'the server holds no descriptor of ours' \
	test -z "$(find "/proc/$first/fd" -lname "$tmp/inherited" -o -lname "$folder/lock")"
exec 9>&-
check 'psql reaches the database howdah' test "$(sql 'select current_database()')" = howdah
check 'an address of the environment leads nowhere else' \
	test "$(PGHOSTADDR=127.0.0.1 PGPORT=1 PGDATABASE=x sql 'select current_database()')" = howdah
check 'fsync is on' test "$(sql 'show fsync')" = on
check 'it listens on no network' test "$(sql 'show listen_addresses')" = ''
check 'no socket but the one in the folder' test "$(sql 'show unix_socket_directories')" = "\"$folder\""
check 'only its user enters the folder' test "$(stat -c %a "$folder")" = 700
if [ "$(id -u)" = 0 ]; then
	check 'root runs it as postgres' test "$(stat -c %U "/proc/$first")" = postgres
	check 'the folder belongs to postgres' test "$(stat -c %U "$folder")" = postgres
else
	skip 'root runs it as postgres' 'not root'
	skip 'the folder belongs to postgres' 'not root'
fi

# Stopped, crashed, and back.

sql 'create table kept (a int); insert into kept values (42)' >/dev/null
check 'stop says whom it stopped' test "$(dev stop)" = "stopped the server in $folder, process $first"
check 'it has ended' test -z "$(pid)"
check 'to stop it again is fine' test "$(dev stop)" = "no server runs in $folder"
check 'psql starts it, and the data is there' test "$(sql 'select a from kept')" = 42

crashed=$(pid)
(sql 'do $$ begin loop null; end loop; end $$' >/dev/null 2>&1) & # a backend that notices nothing
busy=$!
running() { [ "$(sql "select count(*) from pg_stat_activity where query like 'do %'")" = 1 ]; }
until_true running
kill -KILL "$crashed"
check 'a killed server recovers, though a backend of it is still busy' starts
check 'it is another process' test "$(pid)" != "$crashed"
check 'committed data survived' test "$(sql 'select a from kept')" = 42
wait $busy

sql 'drop database if exists other; ' >/dev/null
"$howdah" dev psql -- -Xqd "${out/dbname=howdah/dbname=postgres}" -c 'drop database howdah' 2>/dev/null
check 'a missing database is made again' starts

cp "$folder/data/postmaster.pid" "$tmp/stale"
dev stop >/dev/null
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid=postgres --regid=postgres --clear-groups sleep 600 &
else
	sleep 600 &
fi
other=$!
asleep() { [ "$(cat /proc/$other/comm)" = sleep ]; }
until_true asleep
sed "1s/.*/$other/" "$tmp/stale" >"$folder/data/postmaster.pid"
check 'a number in postmaster.pid that is another program now does not matter' starts
check 'and that program is left alone' kill -0 "$other"
kill "$other"

outlives() {
	local before
	dev stop >/dev/null
	# shellcheck disable=SC2016
	(setsid --wait bash -c '"$1" dev start >/dev/null 2>&1; kill -KILL 0' - "$howdah"; true) 2>/dev/null
	before=$(pid)
	[ -n "$before" ] && dev start >/dev/null && [ "$(pid)" = "$before" ]
}
check 'it outlives the group and session that started it' outlives

# Removed.

last=$(pid)
check 'destroy says what it removed' test "$(dev destroy)" = "removed $folder and all data in it"
gone() { ! kill -0 "$last" 2>/dev/null || grep -q '^State:.*Z' "/proc/$last/status"; }
check 'the server has ended' gone
check 'nothing is left' test -z "$(ls -A "$HOWDAH_STATE")"
check 'to destroy nothing is fine' test "$(dev destroy)" = "nothing to remove: $folder does not exist"

# Many at once, and killed in the middle.

state many
jobs=()
for i in 1 2 3 4 5 6 7 8; do
	"$howdah" dev start >"$tmp/out.$i" 2>"$tmp/err.$i" &
	jobs+=($!)
done
bad=0
for job in "${jobs[@]}"; do
	wait "$job" || bad=$((bad + 1))
done
check 'eight at once all succeed' test $bad = 0
check 'they made one cluster' test "$(grep -c 'running bootstrap script' "$folder/server.log")" = 1
check 'and started one server' test "$(grep -c 'starting PostgreSQL' "$folder/server.log")" = 1
check 'and all got the same dsn' test "$(cat "$tmp"/out.[1-8] | sort -u)" = "$(dev dsn)"
dev destroy >/dev/null

state killed
if ended_by_kill dev.folder start; then
	check 'killed before initdb: nothing looks whole' test ! -e "$folder/data"
	check 'the next one makes it' starts
	check 'and clears away' nothing_half_made
	dev destroy >/dev/null
	check 'killed behind initdb' ended_by_kill dev.initdb start
	check 'nothing looks whole' test ! -e "$folder/data"
	check 'the next one makes it anew' starts
	check 'and clears away again' nothing_half_made
	dev destroy >/dev/null
	check 'killed before the database is made' ended_by_kill dev.database start
	check 'the next one makes the database' starts
	check 'killed while it removes' ended_by_kill dev.destroy destroy
	check 'the next one makes a new one' starts
	check 'which is whole' nothing_half_made
	dev destroy >/dev/null

	HOWDAH_CRASH_AT=dev.initdb:stop "$howdah" dev start >/dev/null 2>&1 &
	frozen=$!
	stopped() { grep -q '^State:.*T' /proc/$frozen/status; }
	until_true stopped
	"$howdah" dev start >/dev/null 2>"$tmp/err" &
	waiting=$!
	blocked() { [ "$(find /proc/$waiting/fd -lname "$folder/lock" 2>/dev/null)" ]; }
	until_true blocked
	check 'who comes while it is made waits' kill -0 $waiting
	kill -KILL $frozen
	wait $frozen 2>/dev/null
	check 'and takes over when the maker is killed' wait $waiting
	dev destroy >/dev/null
else
	check 'crash points are built in' false
fi

"$howdah" dev start >/dev/null 2>&1 &
making=$!
in_initdb() { [ -n "$(find "$folder" -path '*/new.*/base/1/PG_VERSION' 2>/dev/null)" ]; }
until_true in_initdb
kill -KILL $making
wait $making 2>/dev/null
check 'killed in the middle of initdb: nothing looks whole' test ! -e "$folder/data"
check 'the next one makes a whole one' starts
dev destroy >/dev/null

# As other users.

state 'of nobody'
if [ "$(id -u)" = 0 ]; then
	mkdir "$HOWDAH_STATE"
	chown nobody: "$HOWDAH_STATE"
	as_nobody() { runuser -u nobody -- "$howdah" dev "$@" 2>"$tmp/err"; }
	check 'an ordinary user has one, in a path with a blank' test "$(as_nobody start)" = "$(as_nobody dsn)"
	check 'it runs as this user' test "$(stat -c %U "/proc/$(as_nobody | sed -n 's/^pid  *//p')")" = nobody
	check 'and works' test "$(as_nobody psql -- -XAtc 'select 1')" = 1
	check 'root does not take it for its own' refused 78 'only the user postgres can enter' "$howdah" dev start
	as_nobody destroy >/dev/null
	check 'its state folder stays' test -d "$HOWDAH_STATE"
	export XDG_STATE_HOME=$tmp/xdg
	check 'XDG_STATE_HOME names the place' grep -q "^host=$tmp/xdg/howdah/dev-server " \
		<(runuser -u nobody -- env -u HOWDAH_STATE "$howdah" dev dsn)
	unset XDG_STATE_HOME
	check 'root has it in /var/lib' grep -q '^host=/var/lib/howdah/dev-server ' <(env -u HOWDAH_STATE "$howdah" dev dsn)
	check 'no home is said' refused 78 'HOWDAH_STATE' runuser -u nobody -- env -u HOWDAH_STATE HOME=/nonexistent "$howdah" dev start
	mkdir -m 700 "$tmp/closed"
	export HOWDAH_STATE=$tmp/closed/state
	check 'a folder that postgres cannot pass is named' refused 78 "pass through $tmp/closed" "$howdah" dev start
else
	skip 'other users' 'not root'
fi

# What is refused.

state refused
export HOWDAH_STATE=$tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
check 'a path that no socket fits in' refused 78 'too deep.*unix socket' "$howdah" dev start
check 'with the way out' grep -q 'hint: .*HOWDAH_STATE' "$tmp/err"
check 'a relative path' refused 78 'not an absolute path' env HOWDAH_STATE=here "$howdah" dev start
check 'a path with a comma' refused 78 'can.t take' env "HOWDAH_STATE=$tmp/a,b" "$howdah" dev start
check 'a verb that is none' refused 64 'dev stop' "$howdah" dev stpo
state refused
check 'a folder without programs' refused 78 "HOWDAH_PGBIN is $tmp" env HOWDAH_PGBIN="$tmp" "$howdah" dev start
mkdir "$tmp/pg"
printf '#!/bin/sh\necho "postgres (PostgreSQL) 13.4"\n' >"$tmp/pg/postgres"
printf '#!/bin/sh\necho "no room on this disk" >&2; exit 3\n' >"$tmp/pg/initdb"
cp "$tmp/pg/initdb" "$tmp/pg/pg_ctl"
chmod 755 "$tmp/pg" "$tmp/pg"/*
check 'a server that is too old' refused 78 'PostgreSQL 13' env HOWDAH_PGBIN="$tmp/pg" "$howdah" dev start
sed -i 's/13.4/15.1/' "$tmp/pg/postgres"
check 'an initdb that fails, with its last words' refused 77 'no room on this disk' env HOWDAH_PGBIN="$tmp/pg" "$howdah" dev start
check 'leaves nothing' test ! -e "$folder/data" -a -z "$(find "$folder" -name 'new.*')"
check 'which a good one then makes' starts
dev stop >/dev/null
echo 12 >"$folder/data/PG_VERSION"
check 'data of a server that is not here any more' refused 78 'howdah dev destroy' "$howdah" dev start
rm "$folder/data/PG_VERSION"
check 'data that is none' refused 78 'is not the data' "$howdah" dev start
chmod 755 "$folder"
check 'a folder that others can enter' refused 78 'only the user' "$howdah" dev start
chmod 700 "$folder"
check 'destroy removes broken data too' test "$(dev destroy)" = "removed $folder and all data in it"

echo "1..$n"
exit $failed
