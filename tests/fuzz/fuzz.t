#!/bin/bash
# Every fuzzer for a short while (HOWDAH_FUZZ_SECONDS, 10), from what it is known to have met before.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seconds=${HOWDAH_FUZZ_SECONDS:-10}
n=0

for fuzzer in "${HOWDAH_FUZZ:-build-fuzz}"/tests/fuzz-*; do
	[ -f "$fuzzer" ] && [ -x "$fuzzer" ] || continue
	name=$(basename "$fuzzer")
	n=$((n + 1))
	inputs=("$work/$name")
	mkdir "$work/$name"
	[ ! -d "tests/fuzz/${name#fuzz-}" ] || inputs+=("tests/fuzz/${name#fuzz-}")
	if "$fuzzer" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 \
		-artifact_prefix="$work/" "${inputs[@]}" >"$work/log" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		tail -n 30 "$work/log" | sed 's/^/# /'
		for input in "$work"/crash-* "$work"/timeout-* "$work"/oom-*; do
			[ -f "$input" ] && echo "# $(basename "$input") in base64: $(base64 -w 0 "$input")"
		done
	fi
done
if [ $n = 0 ]; then
	echo "1..0 # SKIP no fuzzers in ${HOWDAH_FUZZ:-build-fuzz}"
else
	echo "1..$n"
fi
