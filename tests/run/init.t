#!/bin/bash
# howdah init and howdah.sql: made once by many, completed after a crash, refused in words, and nothing
# written where nothing is to do.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
howdah=${HOWDAH_BIN:?the howdah of a test build}
start_server

made='schema howdah: version 1, migrations applied: 1; functions updated'
init() { # DB [OPTION ...]: prints what it said on both streams, then its exit code
	local db=$1
	shift
	"$howdah" init --timeout 60s --db "$(dsn "$db")" "$@" 2>&1
	echo "exit $?"
}
init_as() { # USER DB [OPTION ...]
	local user=$1 db=$2
	shift 2
	"$howdah" init --timeout 60s --db "$(dsn "$db" "$user")" "$@" 2>&1
	echo "exit $?"
}
new_db() { # DB [OWNER]
	sql postgres "create database $1 owner ${2:-postgres}"
}
# The next transaction number, and every version of every row that init could write.
fingerprint() { # DB
	sql "$1" 'select pg_snapshot_xmax(pg_current_snapshot())' \
		"select md5(string_agg(r, ' ' order by r)) from (
			select concat('n', oid, xmin, nspacl) from pg_namespace where nspname = 'howdah' union all
			select concat('c', oid, xmin, relacl) from pg_class where relnamespace = to_regnamespace('howdah') union all
			select concat('p', oid, xmin, proacl) from pg_proc where pronamespace = to_regnamespace('howdah') union all
			select concat('r', oid, xmin) from pg_authid) x (r)"
}
there() { # DB: is there a schema?
	sql "$1" "select to_regnamespace('howdah') is not null"
}

# --- made, and made once -------------------------------------------------------------------------------
new_db first
is "$(init first)" "$made; role howdah_worker created; role howdah_reader created; grants updated
exit 0" 'an empty database: everything is made and said'
before=$(fingerprint first)
is "$(init first)" $'schema howdah: version 1; nothing to do\nexit 0' 'the second time there is nothing to do'
is "$(fingerprint first)" "$before" 'and nothing is written, not even a transaction number'
is "$(sql first "select count(*), min(m.sha256) ~ '^[0-9a-f]{64}\$', min(m.program) is not null from howdah.migration m")" '1|t|t' \
	'the migration is recorded with checksum and program'

# --- howdah.sql ----------------------------------------------------------------------------------------
env -i "$howdah" init --print >"$tmp/howdah.sql"
is "$?" 0 'the file is written without a database'
new_db printed
is "$(sql printed "\\i $tmp/howdah.sql")" '' 'psql runs it without a word'
like "$(schema_of first)" 'assert_leader' 'the schema can be read'
is "$(diff <(schema_of first) <(schema_of printed))" '' 'it makes the very schema that init makes'
is "$(init printed)" $'schema howdah: version 1; nothing to do\nexit 0' 'and init finds nothing to do'
before=$(fingerprint printed)
is "$(sql printed "\\i $tmp/howdah.sql")" '' 'it may run again'
is "$(fingerprint printed)" "$before" 'and writes nothing then'
sql postgres 'create role app login'
new_db denied
like "$(psql -X -d "$(dsn denied app)" -f "$tmp/howdah.sql" 2>&1)" 'may not create schema howdah' 'who may not is told'
is "$(there denied)" f 'and nothing is half done'
installed=${HOWDAH_BIN%/*}/howdah.sql
if [ -e "$installed" ]; then
	is "$(diff "$installed" "$tmp/howdah.sql")" '' 'the file that is installed is the same'
fi

# --- many at once --------------------------------------------------------------------------------------
for round in 1 2; do
	new_db "many$round"
	pids=''
	for i in 1 2 3 4 5 6 7 8; do
		init "many$round" >"$tmp/many.$i" &
		pids="$pids $!"
	done
	wait $pids
	is "$(cat "$tmp"/many.? | grep -c '^exit 0')" 8 "round $round: eight at once on an empty database all succeed"
	is "$(cat "$tmp"/many.? | grep -c 'migrations applied: 1')" 1 'one of them applied the migration'
	is "$(diff <(schema_of first) <(schema_of "many$round"))" '' 'and the schema is whole'
done
pids=''
for i in 1 2 3 4; do
	new_db "roles$i"
done
for i in 1 2 3 4; do
	init "roles$i" --worker-role 'shared worker' --reader-role 'shared reader' >"$tmp/roles.$i" &
	pids="$pids $!"
done
wait $pids
is "$(cat "$tmp"/roles.? | grep -c '^exit 0')" 4 'four databases at once that make the same roles'

# --- killed in the middle ------------------------------------------------------------------------------
if "$howdah" version | grep -q '^crash points'; then
	for point in role migration functions; do
		for place in before after; do
			db=crash_${point}_$place
			new_db "$db"
			like "$(HOWDAH_CRASH_AT=init-$point-$place-commit init "$db" --worker-role "$db")" 'exit 137' "killed $place the commit of: $point"
			case $point-$place in
			role-* | migration-before) is "$(there "$db")" f 'there is no schema yet' ;;
			migration-after | functions-before)
				is "$(sql "$db" 'select count(*) from howdah.migration')|$(sql "$db" 'select count(*) from howdah.function_set')" '1|0' \
					'the migration is whole, the functions are not begun'
				;;
			esac
			like "$(init "$db" --worker-role "$db")" 'exit 0' 'the next init completes it'
			is "$(diff <(schema_of "$db" | sed "s/$db/howdah_worker/" | sort) <(schema_of first | sort))" '' 'to the same schema'
		done
	done
	new_db stopped
	HOWDAH_CRASH_AT=init-migration-before-commit:stop "$howdah" init --db "$(dsn stopped)" >"$tmp/stopped" 2>&1 &
	stopped=$!
	is_stopped() { grep -q '^State:.*T' "/proc/$stopped/status"; }
	eventually is_stopped
	said=$(init stopped --timeout 2s)
	like "$said" "not possible within 2s: another howdah init is at work .*in the way: pid [0-9]+ .user postgres, howdah:" \
		'an init that stands still is named by the next one'
	like "$said" 'exit 69' 'which gives up in time'
	kill -CONT $stopped
	wait $stopped
	is "$?" 0 'woken up, it ends well'
	like "$(init stopped)" 'nothing to do' 'and is complete'
else
	skip 'killed in the middle' 'this build has no crash points'
fi

# --- locks of others -----------------------------------------------------------------------------------
new_db blocked
connect other blocked
ask other 'begin; create schema howdah' >/dev/null
said=$(init blocked --timeout 3s)
like "$said" "not possible within 3s: .*lock timeout.*in the way: pid ${backend[other]} .user postgres, session other" \
	'who holds the lock in the way is named'
like "$said" 'exit 69' 'and init gives up in time'
init blocked >"$tmp/blocked" &
waiting=$!
init_waits() {
	[ "$(sql blocked "select count(*) from pg_stat_activity where application_name like 'howdah:%' and wait_event_type = 'Lock'")" = 1 ]
}
check 'another one waits' eventually init_waits
ask other rollback >/dev/null
wait $waiting
like "$(cat "$tmp/blocked")" 'migrations applied: 1.*exit 0' 'and goes on when the lock is gone'

# --- other versions ------------------------------------------------------------------------------------
# A planted row of another program, a look at what init says, and the row as it was.
set_of() { # PROGRAM
	sql first "update howdah.function_set set sha256 = 'planted', program = $1"
	sql first 'drop function howdah.leader_known(text)'
}
for older in "'0.0.9'" "'0.0.10'" "'$("$howdah" version | sed -n 's/^howdah //p')'" null; do
	set_of "$older"
	like "$(init first)" 'version 1; functions updated; grants updated' "functions of program $older are replaced"
	is "$(sql first "select count(*) from pg_proc where proname = 'leader_known'")" 1 'and are all there'
done
for newer in "'0.10.0'" "'99.0.0'"; do
	set_of "$newer"
	before=$(fingerprint first)
	is "$(init first)" $'schema howdah: version 1; nothing to do; functions of a newer howdah are in place and stay\nexit 0' \
		"functions of program $newer stay"
	is "$(fingerprint first)" "$before" 'and nothing is written'
	is "$(sql first "\\i $tmp/howdah.sql" "select program from howdah.function_set")" "${newer//\'/}" 'howdah.sql leaves them too'
	sql first "update howdah.function_set set program = null"
	init first >/dev/null
done
sql first "insert into howdah.migration (version, name, sha256, program) values (7, '0007_later', 'x', '9.8.7')"
before=$(fingerprint first)
said=$(init first --worker-role 'never made')
like "$said" 'schema howdah is at version 7, put there by howdah 9.8.7; this is howdah .*, which knows version 1' \
	'a newer schema is refused with both versions named'
like "$said" 'exit 77' 'as a refusal'
like "$(sql first "\\i $tmp/howdah.sql")" 'HD010: schema howdah is at version 7' 'by howdah.sql too'
is "$(fingerprint first)" "$before" 'and nothing is written, no role either'
sql first 'delete from howdah.migration where version = 7'
sum=$(sql first "update howdah.migration set sha256 = 'abc' where version = 1 returning (select m.sha256 from howdah.migration m)")
said=$(init first)
like "$said" 'migration 0001_leadership was applied here with checksum abc.*exit 77' 'a migration with another checksum is refused by name'
sql first "update howdah.migration set sha256 = '$sum' where version = 1"
like "$(init first)" 'nothing to do' 'and all is well again'

# --- roles and rights ----------------------------------------------------------------------------------
sql postgres 'create role owner login' 'create role maker login createrole' 'create role stranger login' \
	'create role member login in role owner' 'create role apart login noinherit in role owner'
new_db rights owner
name=$'Or\'der "Worker" \\x'
said=$(init_as owner rights --worker-role "$name" --reader-role howdah_reader)
like "$said" "^$made; grants updated" 'an ordinary owner of the database makes the schema'
like "$said" 'an administrator runs in this database:.*create role.*exit 0' 'and is told what is left'
sed -n '/^create role\|^select/p' <<<"$said" >"$tmp/admin.sql"
is "$(wc -l <"$tmp/admin.sql")" 2 'in two statements'
sql rights "\\i $tmp/admin.sql" >/dev/null
is "$(sql rights "select has_function_privilege(r.oid, 'howdah.assert_leader(text,bigint)', 'execute') from pg_roles r where rolname = E'Or\\'der \"Worker\" \\\\x'")" \
	t 'which an administrator can run as they are, whatever the name'
is "$(init_as owner rights --worker-role "$name" --reader-role howdah_reader)" $'schema howdah: version 1; nothing to do\nexit 0' 'then nothing is left'
like "$(init_as stranger rights)" 'belongs to role "owner", and "stranger" is no member of it.*exit 77' 'a stranger is refused'
for who in member apart postgres; do
	sql rights 'drop function howdah.leader_known(text)' "update howdah.function_set set sha256 = 'old'"
	like "$(init_as $who rights)" 'functions updated.*exit 0' "$who may upgrade"
	is "$(sql rights "select string_agg(distinct proowner::regrole::text, ' ') from pg_proc where pronamespace = 'howdah'::regnamespace")" \
		owner 'and everything still belongs to the owner of the schema'
done

new_db made_for
said=$(init_as owner made_for)
like "$said" 'role "owner" may not create schema howdah in database "made_for".*an administrator runs: create schema howdah authorization owner.*exit 77' \
	'who may not create a schema is told what an administrator must run'
sql made_for 'create schema howdah authorization owner'
like "$(init_as owner made_for)" "^$made.*exit 0" 'and goes on from there'

new_db maker maker
like "$(init_as maker maker --worker-role 'Made by maker')" 'role Made by maker created.*exit 0' 'CREATEROLE is enough for the roles'
new_db names
like "$(init names --worker-role public)" 'reserved.*exit 77' 'PUBLIC can be no worker'
like "$(init names --reader-role "$(printf 'x%.0s' {1..64})")" 'longer than 63 bytes.*exit 77' 'nor can a name that the server would cut'
is "$(there names)" f 'and nothing else is made then'

new_db foreign_schema
sql foreign_schema 'create schema howdah' 'create table howdah.elephants (name text)'
like "$(init foreign_schema)" 'not of this program.*exit 77' 'a schema of that name with other things in it is refused'
is "$(sql foreign_schema "select count(*) from pg_class where relnamespace = 'howdah'::regnamespace and relkind = 'r'")" 1 'and not touched'

# --- servers that won't do -----------------------------------------------------------------------------
new_db reading
sql postgres 'alter database reading set default_transaction_read_only = on'
like "$(init reading)" 'read-only here.*default_transaction_read_only.*exit 77' 'a read-only default is named'
"$lib/pgserver" standby "$tmp/standby" "$server" >/dev/null
said=$("$howdah" init --db "host=$tmp/standby user=postgres dbname=first" 2>&1)
is "$?" 77 'a standby is refused'
like "$said" 'this server is a standby' 'in words'
if [ -x "${HOWDAH_TEST_OLD_PGBIN:-}/initdb" ]; then
	old=$(HOWDAH_TEST_PGBIN=$HOWDAH_TEST_OLD_PGBIN "$lib/pgserver" start "$tmp/old")
	said=$("$howdah" init --db "$old" 2>&1)
	is "$?" 77 'a server older than PostgreSQL 14 is refused'
	like "$said" 'PostgreSQL 1[0-3]\.[0-9]+.* is too old: howdah needs PostgreSQL 14' 'by name'
else
	skip 'a server older than PostgreSQL 14' 'HOWDAH_TEST_OLD_PGBIN names none'
fi

# --- a pooler that multiplexes -------------------------------------------------------------------------
if [ -x /usr/sbin/pgbouncer ]; then
	new_db pooled
	pooler=$("$lib/pgbouncer" start "$tmp/b" "$server" pool_mode=transaction default_pool_size=2)
	pooler=${pooler/dbname=postgres/dbname=pooled}
	pids=''
	for i in 1 2 3 4; do
		{
			"$howdah" init --timeout 60s --db "$pooler" 2>&1
			echo "exit $?"
		} >"$tmp/pooled.$i" &
		pids="$pids $!"
	done
	wait $pids
	is "$(cat "$tmp"/pooled.? | grep -c '^exit 0')" 4 'four at once through a pooler in transaction mode all succeed'
	is "$(diff <(schema_of first) <(schema_of pooled))" '' 'and the schema is whole'
	is "$(sql postgres "select count(*) from pg_locks where locktype = 'advisory'")" 0 'no lock is left on its connections'
	"$lib/pgbouncer" stop "$tmp/b"
else
	skip 'through a pooler' 'PgBouncer is not here'
fi

done_testing
