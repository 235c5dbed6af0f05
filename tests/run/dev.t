#!/bin/bash
# The embedded server of --db dev: made once, shared, recovered, removed; and each refusal in words.
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/lib/tap.sh
. "$top/tests/lib/tap.sh"
tmp=$tap_tmp
cp "${HOWDAH_BIN:?the howdah of a test build}" "$tmp/howdah" # where every user can run it
howdah=$tmp/howdah
unset HOWDAH_PGBIN HOWDAH_CRASH_AT

end_all() {
	local pid
	for pid in "$tmp"/*/dev-server/data/postmaster.pid; do
		[ ! -e "$pid" ] || kill -QUIT "$(head -n 1 "$pid")" 2>/dev/null
	done
	for pid in $(jobs -p); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
}
tap_at_exit end_all

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

refused() { # CODE WORDS COMMAND...: ends with CODE and says WORDS
	local code=$1 words=$2 got
	shift 2
	"$@" >/dev/null 2>"$tmp/err"
	got=$?
	[ $got = "$code" ] || { echo "exit code $got, not $code"; return 1; }
	grep -q -e "$words" "$tmp/err" || { echo "does not say $words:"; cat "$tmp/err"; return 1; }
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
ok 'says that there is none yet' grep -q '^state *not made yet' <(dev)
ok 'to look makes nothing' test ! -e "$HOWDAH_STATE"
ok 'dsn makes nothing' test "$(dev dsn)" = "host=$folder hostaddr='' port=5432 user=postgres dbname=howdah" -a ! -e "$HOWDAH_STATE"
exec 9>"$tmp/inherited"
out=$(dev start) # returns only when the server holds no copy of our pipe
ok 'first use makes it and prints the dsn' test "$out" = "$(dev dsn)"
ok 'it says in one line that it is private' test "$(grep -c 'private, for this machine only' "$tmp/err")" -le 1
first=$(pid)
ok 'the server runs' kill -0 "$first"
ok 'a second process shares it' test "$(dev start >/dev/null; pid)" = "$first"
ok 'the server holds no descriptor of ours' \
	test -z "$(find "/proc/$first/fd" -lname "$tmp/inherited" -o -lname "$folder/lock")"
exec 9>&-
ok 'psql reaches the database howdah' test "$(sql 'select current_database()')" = howdah
ok 'an address of the environment leads nowhere else' \
	test "$(PGHOSTADDR=127.0.0.1 PGPORT=1 PGDATABASE=x sql 'select current_database()')" = howdah
ok 'fsync is on' test "$(sql 'show fsync')" = on
ok 'it listens on no network' test "$(sql 'show listen_addresses')" = ''
ok 'no socket but the one in the folder' test "$(sql 'show unix_socket_directories')" = "\"$folder\""
ok 'only its user enters the folder' test "$(stat -c %a "$folder")" = 700
if [ "$(id -u)" = 0 ]; then
	ok 'root runs it as postgres' test "$(stat -c %U "/proc/$first")" = postgres
	ok 'the folder belongs to postgres' test "$(stat -c %U "$folder")" = postgres
else
	skip 'root runs it as postgres' 'not root'
	skip 'the folder belongs to postgres' 'not root'
fi

# Stopped, crashed, and back.

sql 'create table kept (a int); insert into kept values (42)' >/dev/null
ok 'stop says whom it stopped' test "$(dev stop)" = "stopped the server in $folder, process $first"
ok 'it has ended' test -z "$(pid)"
ok 'to stop it again is fine' test "$(dev stop)" = "no server runs in $folder"
ok 'psql starts it, and the data is there' test "$(sql 'select a from kept')" = 42

crashed=$(pid)
(sql 'do $$ begin loop null; end loop; end $$' >/dev/null 2>&1) & # a backend that notices nothing
busy=$!
running() { [ "$(sql "select count(*) from pg_stat_activity where query like 'do %'")" = 1 ]; }
wait_for running 60
kill -KILL "$crashed"
ok 'a killed server recovers, though a backend of it is still busy' starts
ok 'it is another process' test "$(pid)" != "$crashed"
ok 'committed data survived' test "$(sql 'select a from kept')" = 42
wait $busy

sql 'drop database if exists other; ' >/dev/null
"$howdah" dev psql -- -Xqd "${out/dbname=howdah/dbname=postgres}" -c 'drop database howdah' 2>/dev/null
ok 'a missing database is made again' starts

cp "$folder/data/postmaster.pid" "$tmp/stale"
dev stop >/dev/null
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid=postgres --regid=postgres --clear-groups sleep 600 &
else
	sleep 600 &
fi
other=$!
asleep() { [ "$(cat /proc/$other/comm)" = sleep ]; }
wait_for asleep 60
sed "1s/.*/$other/" "$tmp/stale" >"$folder/data/postmaster.pid"
ok 'a number in postmaster.pid that is another program now does not matter' starts
ok 'and that program is left alone' kill -0 "$other"
kill "$other"

outlives() {
	local before
	dev stop >/dev/null
	# shellcheck disable=SC2016
	(setsid --wait bash -c '"$1" dev start >/dev/null 2>&1; kill -KILL 0' - "$howdah"; true) 2>/dev/null
	before=$(pid)
	[ -n "$before" ] && dev start >/dev/null && [ "$(pid)" = "$before" ]
}
ok 'it outlives the group and session that started it' outlives

# Removed.

last=$(pid)
ok 'destroy says what it removed' test "$(dev destroy)" = "removed $folder and all data in it"
gone() { ! kill -0 "$last" 2>/dev/null || grep -q '^State:.*Z' "/proc/$last/status"; }
ok 'the server has ended' gone
ok 'nothing is left' test -z "$(ls -A "$HOWDAH_STATE")"
ok 'to destroy nothing is fine' test "$(dev destroy)" = "nothing to remove: $folder does not exist"

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
ok 'eight at once all succeed' test $bad = 0
ok 'they made one cluster' test "$(grep -c 'running bootstrap script' "$folder/server.log")" = 1
ok 'and started one server' test "$(grep -c 'starting PostgreSQL' "$folder/server.log")" = 1
ok 'and all got the same dsn' test "$(cat "$tmp"/out.[1-8] | sort -u)" = "$(dev dsn)"
dev destroy >/dev/null

state killed
if ended_by_kill dev.folder start; then
	ok 'killed before initdb: nothing looks whole' test ! -e "$folder/data"
	ok 'the next one makes it' starts
	ok 'and clears away' nothing_half_made
	dev destroy >/dev/null
	ok 'killed behind initdb' ended_by_kill dev.initdb start
	ok 'nothing looks whole' test ! -e "$folder/data"
	ok 'the next one makes it anew' starts
	ok 'and clears away again' nothing_half_made
	dev destroy >/dev/null
	ok 'killed before the database is made' ended_by_kill dev.database start
	ok 'the next one makes the database' starts
	ok 'killed while it removes' ended_by_kill dev.destroy destroy
	ok 'the next one makes a new one' starts
	ok 'which is whole' nothing_half_made
	dev destroy >/dev/null

	HOWDAH_CRASH_AT=dev.initdb:stop "$howdah" dev start >/dev/null 2>&1 &
	frozen=$!
	stopped() { grep -q '^State:.*T' /proc/$frozen/status; }
	wait_for stopped 60
	"$howdah" dev start >/dev/null 2>"$tmp/err" &
	waiting=$!
	blocked() { [ "$(find /proc/$waiting/fd -lname "$folder/lock" 2>/dev/null)" ]; }
	wait_for blocked 60
	ok 'who comes while it is made waits' kill -0 $waiting
	kill -KILL $frozen
	wait $frozen 2>/dev/null
	wait $waiting
	is $? 0 'and takes over when the maker is killed'
	dev destroy >/dev/null
else
	ok 'crash points are built in' false
fi

"$howdah" dev start >/dev/null 2>&1 &
making=$!
in_initdb() { [ -n "$(find "$folder" -path '*/new.*/base/1/PG_VERSION' 2>/dev/null)" ]; }
wait_for in_initdb 60
{ kill -KILL $making && wait $making; } 2>/dev/null
ok 'killed in the middle of initdb: nothing looks whole' test ! -e "$folder/data"
ok 'the next one makes a whole one' starts
dev destroy >/dev/null

# As other users.

state 'of nobody'
if [ "$(id -u)" = 0 ]; then
	mkdir "$HOWDAH_STATE"
	chown nobody: "$HOWDAH_STATE"
	as_nobody() { runuser -u nobody -- "$howdah" dev "$@" 2>"$tmp/err"; }
	ok 'an ordinary user has one, in a path with a blank' test "$(as_nobody start)" = "$(as_nobody dsn)"
	ok 'it runs as this user' test "$(stat -c %U "/proc/$(as_nobody | sed -n 's/^pid  *//p')")" = nobody
	ok 'and works' test "$(as_nobody psql -- -XAtc 'select 1')" = 1
	ok 'root does not take it for its own' refused 78 'only the user postgres can enter' "$howdah" dev start
	as_nobody destroy >/dev/null
	ok 'its state folder stays' test -d "$HOWDAH_STATE"
	export XDG_STATE_HOME=$tmp/xdg
	ok 'XDG_STATE_HOME names the place' grep -q "^host=$tmp/xdg/howdah/dev-server " \
		<(runuser -u nobody -- env -u HOWDAH_STATE "$howdah" dev dsn)
	unset XDG_STATE_HOME
	ok 'root has it in /var/lib' grep -q '^host=/var/lib/howdah/dev-server ' <(env -u HOWDAH_STATE "$howdah" dev dsn)
	ok 'no home is said' refused 78 'HOWDAH_STATE' runuser -u nobody -- env -u HOWDAH_STATE HOME=/nonexistent "$howdah" dev start
	mkdir -m 700 "$tmp/closed"
	export HOWDAH_STATE=$tmp/closed/state
	ok 'a folder that postgres cannot pass is named' refused 78 "pass through $tmp/closed" "$howdah" dev start
else
	skip 'other users' 'not root'
fi

# What is refused.

state refused
export HOWDAH_STATE=$tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
ok 'a path that no socket fits in' refused 78 'too deep.*unix socket' "$howdah" dev start
ok 'with the way out' grep -q 'hint: .*HOWDAH_STATE' "$tmp/err"
ok 'a relative path' refused 78 'not an absolute path' env HOWDAH_STATE=here "$howdah" dev start
ok 'a path with a comma' refused 78 'can.t take' env "HOWDAH_STATE=$tmp/a,b" "$howdah" dev start
ok 'a verb that is none' refused 64 'dev stop' "$howdah" dev stpo
state refused
ok 'a folder without programs' refused 78 "HOWDAH_PGBIN is $tmp" env HOWDAH_PGBIN="$tmp" "$howdah" dev start
mkdir "$tmp/pg"
printf '#!/bin/sh\necho "postgres (PostgreSQL) 13.4"\n' >"$tmp/pg/postgres"
printf '#!/bin/sh\necho "no room on this disk" >&2; exit 3\n' >"$tmp/pg/initdb"
cp "$tmp/pg/initdb" "$tmp/pg/pg_ctl"
chmod 755 "$tmp/pg" "$tmp/pg"/*
ok 'a server that is too old' refused 78 'PostgreSQL 13' env HOWDAH_PGBIN="$tmp/pg" "$howdah" dev start
sed -i 's/13.4/15.1/' "$tmp/pg/postgres"
ok 'an initdb that fails, with its last words' refused 77 'no room on this disk' env HOWDAH_PGBIN="$tmp/pg" "$howdah" dev start
ok 'leaves nothing' test ! -e "$folder/data" -a -z "$(find "$folder" -name 'new.*')"
ok 'which a good one then makes' starts
dev stop >/dev/null
echo 12 >"$folder/data/PG_VERSION"
ok 'data of a server that is not here any more' refused 78 'howdah dev destroy' "$howdah" dev start
rm "$folder/data/PG_VERSION"
ok 'data that is none' refused 78 'is not the data' "$howdah" dev start
chmod 755 "$folder"
ok 'a folder that others can enter' refused 78 'only the user' "$howdah" dev start
chmod 700 "$folder"
ok 'destroy removes broken data too' test "$(dev destroy)" = "removed $folder and all data in it"

done_testing
