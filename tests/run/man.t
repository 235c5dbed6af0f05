#!/bin/bash
# docs/man/howdah.1 is the page that the program makes from its tables, and mandoc has no complaint.
set -u
cd "$(dirname "$0")/../.." || exit 1
howdah=${HOWDAH_BIN:-build-asan/src/howdah}
page=$(mktemp)
trap 'rm -f "$page"' EXIT

echo 1..2
if "$howdah" help --man >"$page" && said=$(diff -u docs/man/howdah.1 "$page"); then
	echo "ok 1 - the stored page is current"
else
	echo "not ok 1 - the stored page is current"
	printf '%s\n' "${said:-the program does not print it}" | head -n 20 | sed 's/^/# /'
	echo "# make man writes it anew"
fi
if said=$(mandoc -T lint -W warning "$page"); then
	echo "ok 2 - mandoc has no warning"
else
	echo "not ok 2 - mandoc has no warning"
	printf '%s\n' "$said" | sed 's/^/# /'
fi
