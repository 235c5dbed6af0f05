# TAP for tests in bash; to be sourced.
#
#   . "$(dirname "$0")/../lib/tap.sh"
#   run howdah version            # leaves $out, $err and $code
#   is "$code" 0 'version ends with 0'
#   like "$out" '^howdah [0-9]' 'and says which'
#   ok 'the folder is there' test -d "$tap_tmp"
#   wait_for 'test -e "$tap_tmp/ready"' 30 || ...
#   done_testing
#
# $tap_tmp is a folder of this test, removed at its end together with what `tap_at_exit COMMAND`
# was told. A test that ends before done_testing has failed.

set -u
tap_n=0
tap_failed=0
tap_done=0
tap_exits=()
tap_tmp=$(mktemp -d "${TMPDIR:-/tmp}/tap.XXXXXX")
chmod 711 "$tap_tmp" # servers of other users find their folders in it

tap_clean_up() {
	local code=$? i
	trap '' INT TERM HUP
	for ((i = ${#tap_exits[@]} - 1; i >= 0; i--)); do
		eval "${tap_exits[i]}"
	done
	rm -rf "$tap_tmp"
	if [ $tap_done = 0 ]; then
		echo "# ended before done_testing, with $code"
		exit $((code == 0 ? 1 : code))
	fi
	exit $tap_failed
}
trap tap_clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# tap_at_exit COMMAND: evaluated at the end, the last one first.
tap_at_exit() { tap_exits+=("$1"); }

note() { printf '%s\n' "$@" | sed 's/^/# /'; }

tap_result() { # STATUS NAME
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		tap_failed=1
	fi
	return "$1"
}

# ok NAME COMMAND...: the command ends with 0.
ok() {
	local name=$1 said status=0
	shift
	said=$("$@" 2>&1) || status=$?
	tap_result $((status != 0)) "$name" || note "$* ended with $status" "$said"
}

# is GOT WANTED NAME
is() {
	[ "$1" = "$2" ]
	tap_result $? "$3" || note "got:    $1" "wanted: $2"
}

# like GOT PATTERN NAME: an extended regular expression, found somewhere in GOT.
like() {
	grep -qE -e "$2" <<<"$1"
	tap_result $(($? != 0)) "$3" || note "got:    $1" "wanted: $2"
}

unlike() {
	! grep -qE -e "$2" <<<"$1"
	tap_result $? "$3" || note "got:      $1" "unwanted: $2"
}

skip() { # NAME REASON
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

skip_all() { # REASON: nothing of this test can run here
	echo "1..0 # SKIP $1"
	tap_done=1
	exit 0
}

# run COMMAND...: leaves its output in $out and $err and its exit code in $code.
run() {
	code=0
	"$@" >"$tap_tmp/.out" 2>"$tap_tmp/.err" </dev/null || code=$?
	out=$(cat "$tap_tmp/.out")
	err=$(cat "$tap_tmp/.err")
}

# wait_for CONDITION SECONDS: until CONDITION, which is evaluated, holds; 1 when it never did.
wait_for() {
	local end=$((SECONDS + $2 + 1))
	until eval "$1" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

done_testing() {
	echo "1..$tap_n"
	tap_done=1
	exit $tap_failed
}
