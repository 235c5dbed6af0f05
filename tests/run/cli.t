#!/bin/bash
# The command line: help, refusals, exit codes, the man page.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/lib/tap.sh"
howdah=${HOWDAH_BIN:?the howdah of a test build}
unset HOWDAH_DB HOWDAH_TIMEOUT HOWDAH_LOG_FORMAT HOWDAH_WORKERS HOWDAH_ADDRESS PGHOST PGHOSTADDR \
	PGSERVICE PGDATABASE PGPORT PGUSER PGSERVICEFILE
export HOWDAH_CONFIG=/dev/null
commands=$("$howdah" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
parts=$("$howdah" leader --help | sed -n '/^Commands:/,/^$/s/^  \(leader [a-z]*\) .*/\1/p')

# refused CODE PATTERN WORDS...: ends with CODE, says PATTERN on stderr and nothing on stdout.
refused() {
	local wanted=$1 pattern=$2
	shift 2
	run "$howdah" "$@"
	is "$code '$out'" "$wanted ''" "refused with $wanted: $*"
	like "$err" "$pattern" "and says: $pattern"
}

# --- help ---
for words in '--help' 'help' '-h'; do
	run "$howdah" $words
	is "$code" 0 "howdah $words ends with 0"
	like "$out" '^Usage: howdah' "howdah $words shows the usage"
	is "$err" '' "howdah $words says nothing on stderr"
done
run "$howdah"
is "$code" 64 'howdah alone is no success'
like "$out" '^Commands:' 'but shows the commands'
ok 'there are commands' grep -q version <<<"$commands"

while read -r name; do
	run "$howdah" $name --help
	is "$code" 0 "$name --help"
	like "$out" "^Usage: howdah $name" "$name --help shows its usage"
	first=$out
	is "$("$howdah" help $name)" "$first" "help $name shows the same"
	is "$("$howdah" --help $name)" "$first" "--help $name shows the same"
	is "$(awk 'length > 80' <<<"$out")" '' "$name --help fits into 80 columns"
done <<<"$commands${parts:+
$parts}"
is "$("$howdah" --help | awk 'length > 80')" '' 'howdah --help fits into 80 columns'
unlike "$("$howdah" --help)" '^  part ' 'parts are hidden'
HOWDAH_CONFIG=/nonexistent run "$howdah" dev --help
is "$code" 0 'help does not need the file of settings'
refused 64 'there is no command "versoin"' help versoin

# --- refusals ---
refused 64 'did you mean howdah version\?' versoin
refused 64 'there is no command "xyzzy"' xyzzy
refused 64 'did you mean --json\?' version --jsno
refused 64 'howdah version takes no option --role' version --role x
refused 64 'it is an option of: .*init' version --worker-role x
refused 64 'there is a word too many: "x"' version x
refused 64 'takes nothing behind --' version -- x
refused 64 'there is no command$' --db x
refused 64 'no option --pasword$' --pasword=hunter2 version
unlike "$err" hunter2 'an unknown option does not show its value'
refused 64 '^howdah: --config needs a value: FILE' version --config
refused 64 'exclude each other' version -q -v
refused 64 '"xml"' version --log-format xml
if grep -q '^leader' <<<"$commands"; then
	refused 64 'did you mean howdah leader pause\?' leader paus poller
	refused 64 'there is no command "leader xyzzy"' leader xyzzy
	refused 64 'howdah leader show needs ROLE' leader show
	refused 64 'it is an option of: .*leader pause' leader --reason x
	refused 64 '"a b"' leader show 'a b'
	refused 78 '^howdah: no database is configured' leader
	like "$err" '--db.*HOWDAH_DB.*PGHOST' 'and the ways to name one are named'
	PGDATABASE=app refused 78 'PGDATABASE alone names no server' leader
	PGHOST=$tap_tmp/none refused 69 '.' leader --timeout 5s
	HOWDAH_TIMEOUT=10 refused 78 'HOWDAH_TIMEOUT, in the environment: "10"' leader
	is "$("$howdah" --db x leader --help)" "$("$howdah" leader --db x --help)" \
		'options stand before or behind the command'
fi
if grep -q '^run' <<<"$commands"; then
	HOWDAH_WORKERS=all refused 64 'stands behind --: howdah run ... -- ./x' run --role r ./x
	HOWDAH_WORKERS=all refused 64 'there is no command behind --' run --role r --
	HOWDAH_WORKERS=all refused 64 '--role' run
	refused 77 'HOWDAH_WORKERS is not set' run --role poller --db x -- true
	HOWDAH_WORKERS=poler refused 77 'names "poler"' run --role poller --db x -- true
	HOWDAH_WORKERS=poller refused 78 'no database is configured' run --role poller -- true
fi

# --- the file of settings ---
conf=$tap_tmp/howdah.conf
printf '# a comment\ntimout = 1s\n' >"$conf"
refused 78 "$conf:2: there is no setting \"timout\"" dev dsn --config "$conf"
like "$err" 'did you mean timeout\?' 'and the nearest is named'
HOWDAH_CONFIG=$conf refused 78 "$conf:2:" dev dsn
refused 78 '/nonexistent: No such file' dev dsn --config /nonexistent
refused 78 'Is a directory' dev dsn --config "$tap_tmp"
HOWDAH_CONFIG=$conf run "$howdah" version
is "$code" 0 'version works with a broken file of settings'

# --- version ---
run "$howdah" version
like "$out" '^howdah [0-9]+\.[0-9]+' 'version'
like "$out" '^libpq +[0-9]+\.[0-9]+' 'version of libpq'
like "$out" '^schema +[0-9]+' 'version of the schema'
is "$("$howdah" --version)" "$out" '--version is the same'
run "$howdah" version --json
like "$out" '^\{"version":"[0-9.]+","schema":[0-9]+,"libpq":"[0-9.]+","workers":(true|false),"crash_points":(true|false)\}$' \
	'version --json'
run "$howdah" --json version
is "$code" 0 'and the option may come first'
run bash -c '"$1" version >/dev/full' - "$howdah"
is "$code" 70 'output that did not arrive is no success'
run bash -c '"$1" version 0<&- 2>&-' - "$howdah"
is "$code" 0 'closed standard descriptors do no harm'
run bash -c '"$1" xyzzy >&- 2>/dev/null' - "$howdah"
is "$code" 64 'nor do they hide an exit code'

# --- the man page ---
page=$tap_tmp/howdah.1
"$howdah" help --man >"$page"
ok 'docs/man/howdah.1 is current (tools/man writes it)' diff "$page" "$top/docs/man/howdah.1"
if command -v mandoc >/dev/null; then
	is "$(mandoc -T lint "$page" 2>&1 | grep -v 'mandoc.db')" '' 'mandoc has nothing to say about it'
	text=$(mandoc -T ascii "$page" | col -b)
	for section in NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES; do
		like "$text" "^$section\$" "man page: $section"
	done
	while read -r name; do
		like "$text" "^ +$name( |\$)" "man page: $name"
	done <<<"$commands${parts:+
$parts}"
	for option in $({ "$howdah" --help; for name in $commands; do "$howdah" "$name" --help; done; } |
		sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' | sort -u); do
		like "$text" "^ +(-[a-z], )?$option( |\$)" "man page: $option"
	done
else
	skip 'the man page as text' 'no mandoc'
fi

done_testing
