#!/bin/bash
# From every schema that was ever released to today's: the same objects as a fresh one, no data lost.
# tests/upgrade/NNNN.sql is what `howdah init --print` wrote when schema version NNNN was tagged.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/pg.sh"

start_server
fresh_db fresh
here=$(cd "$(dirname "$0")/.." && pwd)
schema_of fresh >"$tmp/fresh"
check "a fresh schema can be read" grep -q assert_leader "$tmp/fresh"

for old in "$here"/upgrade/*.sql; do
	version=$(basename "$old" .sql)
	db=from_$version
	sql postgres "create database $db" >/dev/null
	check "$version: the stored schema loads" psql -XqAt -v ON_ERROR_STOP=1 -d "$(dsn "$db")" -f "$old"
	sql "$db" "insert into howdah.leadership (role, key, mode, token, led_token, clear_token)
		values ('kept', 7, 'advisory', 41, 41, 40)" >/dev/null
	check "$version: init upgrades it" install_schema "$db"
	is "$(sql "$db" "select token, led_token, clear_token, key from howdah.leadership where role = 'kept'")" '41|41|40|7' \
		"$version: rows are kept"
	schema_of "$db" >"$tmp/$db"
	said=$(diff "$tmp/fresh" "$tmp/$db")
	result $? "$version: the result is a fresh schema" "$said"
	like "$(install_schema "$db")" 'nothing to do' "$version: and a second init finds nothing to do"
done
done_testing
