#!/bin/bash
# Ten thousand worlds of leader election, in two halves, one a core. HOWDAH_SEEDS=N takes another number,
# HOWDAH_SEED_FROM=N begins elsewhere; a failing world prints how to replay it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
sim=${HOWDAH_BUILD:?the build folder under test}/tests/sim
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # a process that is killed frees nothing
half=$((${HOWDAH_SEEDS:-10000} / 2))
from=${HOWDAH_SEED_FROM:-1}
declare -a code

"$sim" --seeds $half --from "$from" >"$tap_tmp/1" 2>&1 &
"$sim" --seeds $half --from $((from + half)) >"$tap_tmp/2" 2>&1
code[2]=$?
wait $!
code[1]=$?
for n in 1 2; do
	is "${code[n]}" 0 "the simulator ends well, half $n"
	like "$(cat "$tap_tmp/$n")" '^ok 1 ' "never two commands, tokens grow, the role is led, half $n"
	like "$(cat "$tap_tmp/$n")" '^ok 2 ' "the worlds were lived in, half $n"
	[ "${code[n]}" = 0 ] || while read -r line; do note "$line"; done <"$tap_tmp/$n"
done
done_testing
