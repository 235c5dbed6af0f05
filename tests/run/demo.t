#!/bin/bash
# howdah demo: shows what it promises, checks what it shows, and leaves nothing behind, however it ends.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
# A guard whose elector is killed while the sanitizer's leak check traces it never ends.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
howdah=$tap_tmp/howdah # a copy where every user can run it, and nobody else does
cp "${HOWDAH_BIN:?the howdah of a test build}" "$howdah"

# A folder for temporary files that is all the demo's own.
place=$tap_tmp/t
mkdir "$place"
chmod 1777 "$place"
export TMPDIR=$place

# Every process of a demo runs this copy or works in its folder.
ours() {
	local p
	for p in /proc/[0-9]*; do
		case $(readlink "$p/exe" "$p/cwd" 2>/dev/null) in
		*"$tap_tmp"*) echo "${p#/proc/}" ;;
		esac
	done
}

end_ours() {
	local p
	for p in $(ours); do
		kill -KILL "$p" 2>/dev/null
	done
	wait
}
tap_at_exit end_ours

nothing_left() {
	[ -z "$(ours)" ] && [ -z "$(ls -A "$place")" ] ||
		{ echo "left: $(ours) $(ls -A "$place")"; return 1; }
}

begin() { # in the background; $demo is its process
	"$howdah" demo >"$tap_tmp/out" 2>"$tap_tmp/err" &
	demo=$!
}

finish() { # waits for its end
	code=0
	wait $demo || code=$?
	out=$(cat "$tap_tmp/out")
	err=$(cat "$tap_tmp/err")
}

shown() { # REGEX: waits until the demo has said it
	wait_for "grep -qE '$1' '$tap_tmp/out'" 60
}

command_pid() {
	shown 'Node [ABC] leads'
	sed -n 's/.*its command is process \([0-9]*\),.*/\1/p' "$tap_tmp/out"
}

parent() { sed 's/.*) . //' "/proc/$1/stat" | cut -d' ' -f1; }

# All of it. What the environment says about databases must not matter.
run env PGHOST=/nowhere PGOPTIONS='-c nonsense=1' PGSERVICE=none HOWDAH_DB=host=nowhere \
	HOWDAH_CONFIG="$tap_tmp/none" HOWDAH_STATE="$tap_tmp/elsewhere" "$howdah" demo
is "$code" 0 'it ends well'
is "$err" '' 'nothing on stderr'
like "$out" '^  Node [ABC] leads: its command is process [0-9]+, its token [0-9]+\.$' 'somebody leads'
like "$out" '^3\. Node [ABC] is killed \(SIGKILL\)$' 'the leader is killed'
like "$out" '^  [0-9.]+ s later its command was dead too' 'its command dies with it'
like "$out" '^  [0-9.]+ s later the command of [ABC] ran, with token [0-9]+\.$' 'another node takes over'
like "$out" '^  [ABC] waited [0-9]+ms in between: the last leader is ending its command\.$' 'and says why it waited'
like "$out" 'No wait this time: the last leader is known to be dead\.$' 'a graceful hand-over needs no wait'
like "$out" '^  refused: token [0-9]+ no longer leads role "demo"' 'a stale write is refused'
like "$out" 'never were two alive at once' 'it says what it checked'
like "$out" '^  howdah run --role poller -- ' 'and what to try next'
is "$(tr -d '\n' <<<"$out" | tr -cd '\000-\037\177' | wc -c)" 0 'no colour in a file'
ok 'nothing is left' nothing_left
ok 'the state folder of the user is not touched' test ! -e "$tap_tmp/elsewhere"

table=$(sed -n '/^  SECONDS/,/^$/p' <<<"$out" | sed '/^$/d')
rows=$(sed 1d <<<"$table")
is "$(grep -c 'its command starts' <<<"$rows")" 3 'the timeline has three commands'
is "$(awk '{ print match($0, /[^ ]+$/) }' <<<"$table" | sort -u | wc -l)" 1 'its columns line up'
is "$(awk '{ print $1 }' <<<"$rows")" "$(awk '{ print $1 }' <<<"$rows" | sort -n)" 'its times only grow'
tokens=$(awk '/command starts/ { print $NF }' <<<"$rows")
is "$tokens" "$(sort -nu <<<"$tokens")" 'its tokens only grow'

# Told to stop, while the server is made and in the middle.
stopped() { # SIGNAL CODE WHEN
	begin
	shown "$3"
	kill "-$1" $demo
	finish
	is "$code" "$2" "$1: the exit code says so"
	like "$out" 'everything is removed again' "$1: a line about it"
	ok "$1: nothing is left" nothing_left
}
stopped TERM 143 'is made'
stopped INT 130 'is killed'

"$howdah" demo 2>"$tap_tmp/err" | head -n 4 >"$tap_tmp/out"
like "$(cat "$tap_tmp/err")" "can't write the output" 'a reader that goes away is said'
ok 'and nothing is left' nothing_left

# What must not be is seen.
begin
kill -KILL "$(command_pid)"
finish
is "$code" 70 'a command that dies by itself fails the demo'
like "$err" 'node [ABC] (ended by itself|lost the role)' 'with the reason'
ok 'and nothing is left' nothing_left

begin
leader=$(parent "$(parent "$(command_pid)")")
for p in $(ours); do # one that stands by
	if [ "$p" != "$leader" ] && [ "$(tr '\0' ' ' <"/proc/$p/cmdline" | cut -c1-20)" = 'howdah run --role de' ]; then
		kill -KILL "$p"
		break
	fi
done
finish
is "$code" 70 'a stand-by that dies by itself fails the demo'
like "$err" 'node [ABC] ended by itself, with signal 9' 'with its end'
ok 'and nothing is left' nothing_left

second() { # on one pipe, the second of two commands ends with 70
	{
		HOWDAH_TOKEN=5 "$howdah" part demo-worker &
		first=$!
		wait_for "grep -qE 'POSIX .* $first ' /proc/locks" 60
		HOWDAH_TOKEN=6 timeout 20 "$howdah" part demo-worker
		echo $? >"$tap_tmp/second"
		kill $first
	} | cat >/dev/null
	[ "$(cat "$tap_tmp/second")" = 70 ]
}
ok 'a second command at the same time is noticed' second
run "$howdah" part demo-worker
is "$code" 77 'the command is nothing to be started by hand'

# The gate, and an ordinary user.
if [ -n "${HOWDAH_DEFAULT:-}" ]; then
	run "$HOWDAH_DEFAULT" demo
	is "$code" 77 'a build without workers refuses'
	like "$err" 'hint: .*-Dworkers=true' 'with the way out'
else
	skip 'a build without workers refuses' 'HOWDAH_DEFAULT names none'
	skip 'with the way out' 'HOWDAH_DEFAULT names none'
fi
if [ "$(id -u)" = 0 ]; then
	run runuser -u nobody -- env TMPDIR="$place" "$howdah" demo
	is "$code" 0 'an ordinary user sees it too'
	like "$out" 'never were two alive at once' 'all of it'
	ok 'and nothing is left of that' nothing_left
else
	skip 'an ordinary user sees it too' 'not root'
	skip 'all of it' 'not root'
	skip 'and nothing is left of that' 'not root'
fi
done_testing
