#!/bin/bash
# Who may do what: a worker everything it needs, a reader only reading, nobody else anything; and the
# rules that every object in the schema keeps. Once for a schema that a superuser owns, once for one of
# an ordinary owner of the database.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
start_server
sql postgres 'create role plain login' 'create role reads login' 'create role works login' 'create role app login'
fresh_db owned
sql postgres 'grant howdah_worker to works' 'grant howdah_reader to reads'
fresh_db ordinary app

# The life of a role, a statement a line; {T} is the token.
life=(
	"select registered from howdah.leader_look('r', 5)"
	"select howdah.leader_register('r', 5, 'advisory')"
	"select pg_try_advisory_lock(5)"
	"select howdah.leader_lock_holder(5) is not null"
	"select howdah.leader_close('r', 0, 0)"
	"select token from howdah.leader_take('r', 5, 'advisory', 0, 0, 'o', 'n', null, 9000)"
	"select howdah.leader_led('r', 5, 'o', {T}, 1000, true, 'direct')"
	"select held from howdah.leader_beat('r', 5, 'o', {T})"
	"select howdah.assert_leader('r', {T})"
	"select count(*) from howdah.leader_blockers('r')"
	"select count(*) from howdah.leader_unblock('r')"
	"select howdah.leader_resign('r', 'x')"
	"select howdah.leader_pause('r')"
	"select howdah.leader_resume('r')"
	"select howdah.leader_known('r')"
	"select howdah.leader_release('r', 'o', {T}, 'x')"
	"select howdah.leader_notice('r', 'o', {T}, 'x')"
	"select pg_advisory_unlock(5)"
	"select howdah.leader_forget('r')"
	"select seen_token from howdah.lease_attempt('l', 66, 'o', 'n', null, 9000, now())"
	"select held from howdah.lease_renew('l', 'o', {T}, now())"
	"select token from howdah.lease_take_over('l', 66, 1, 1, 1, 1, 1, 'o', 'n', null, 9000)"
	"select system is not null from howdah.server_incarnation()"
	"select howdah.leader_scrap('howdah-verify-00000000')"
	"select howdah.durable()"
)
tables='migration function_set leadership leadership_history'

# run_life SESSION: the answers that are errors.
run_life() {
	local token=$((1 << 40)) statement said
	for statement in "${life[@]}"; do
		said=$(ask "$1" "${statement//\{T\}/$token}")
		[[ ! $said =~ ERROR|FATAL ]] || echo "$statement: $said"
	done
}

# Every function of the schema is in the list above or named here.
covered() { # DB
	local name
	for name in $(sql "$1" "select proname from pg_proc where pronamespace = 'howdah'::regnamespace order by 1"); do
		case $name in
		grants_due | grant_roles | leader_record | leader_recall) ;; # init's, and internal ones
		*) [[ ${life[*]} == *"howdah.$name("* ]] || echo "$name" ;;
		esac
	done
}

for db in owned ordinary; do
	is "$(covered $db)" '' "$db: each function is called by this test"
	for user in works reads plain; do
		connect "${user}_$db" $db $user
	done
	is "$(run_life works_$db)" '' "$db: a member of howdah_worker can do all that a node does"
	is "$(run_life plain_$db | grep -c 'ERROR:  42501')" $((${#life[@]} - 2)) "$db: who is nobody can call nothing"
	is "$(run_life reads_$db | grep -c 'ERROR:  42501')" $((${#life[@]} - 4)) "$db: a reader calls only what reading needs"
	for t in $tables; do
		is "$(ask reads_$db "select count(*) >= 0 from howdah.$t")$(ask works_$db "select count(*) >= 0 from howdah.$t")" tt \
			"$db: readers and workers see $t"
		like "$(ask plain_$db "select count(*) from howdah.$t")" 42501 "$db: nobody else sees $t"
		for user in works reads; do
			for change in "delete from howdah.$t" "truncate howdah.$t" "insert into howdah.$t default values"; do
				like "$(ask ${user}_$db "$change")" 42501 "$db: $user may not $change"
			done
		done
	done
	for f in "grant_roles('plain', 'plain')" "grants_due('plain', null)" "leader_record('r', 'x', 1, 'n', 'x')" "leader_recall('r')"; do
		like "$(ask works_$db "select howdah.$f")" 42501 "$db: a worker may not call $f"
	done
	like "$(ask works_$db 'create table howdah.mine (i int)')" 42501 "$db: a worker makes nothing in the schema"

	is "$(sql $db "select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p,
			aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		where p.pronamespace = 'howdah'::regnamespace and a.grantee = 0")" '' "$db: PUBLIC may execute nothing"
	is "$(sql $db "select string_agg(c.oid::regclass::text, ', ') from pg_class c, aclexplode(c.relacl) a
		where c.relnamespace = 'howdah'::regnamespace and a.grantee = 0")" '' "$db: PUBLIC may read nothing"
	is "$(sql $db "select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p
		where p.pronamespace = 'howdah'::regnamespace and obj_description(p.oid, 'pg_proc') is null")" '' \
		"$db: every function has a comment"
	is "$(sql $db "select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p
		where p.pronamespace = 'howdah'::regnamespace
		  and not coalesce(p.proconfig @> array['search_path=pg_catalog, pg_temp'], false)")" '' \
		"$db: every function pins its search_path"
	is "$(sql $db "select string_agg(c.oid::regclass::text, ', ') from pg_class c
		where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'p', 'v')
		  and obj_description(c.oid, 'pg_class') is null")" '' "$db: every table has a comment"
	is "$(sql $db "select count(distinct o) from (
		select nspowner from pg_namespace where nspname = 'howdah' union
		select relowner from pg_class where relnamespace = 'howdah'::regnamespace union
		select proowner from pg_proc where pronamespace = 'howdah'::regnamespace) x (o)")" 1 "$db: all objects have one owner"
	# A function that runs as its owner, and one that a parallel worker may run, must be fit for it.
	is "$(sql $db "select set_config(name, 'on', false) from pg_settings where name in ('force_parallel_mode', 'debug_parallel_query')" \
		'select in_recovery from howdah.server_incarnation()')" $'on\nf' \
		"$db: the server's incarnation can be read in a plan that wants to be parallel"
done
is "$(sql ordinary "select distinct proowner::regrole from pg_proc where pronamespace = 'howdah'::regnamespace")" app \
	'which is the ordinary owner'

# An operator of the schema is not a superuser: he names blockers, and ends them when he may.
sql ordinary "select howdah.leader_register('b', 6, 'advisory')" "update howdah.leadership set closing = false where role = 'b'" >/dev/null
ask works_ordinary "begin; select howdah.assert_leader('b', 0)" >/dev/null
is "$(ask works_owned "select 1" >/dev/null; psql -XAtq -d "$(dsn ordinary app)" -c "select pid, application_name from howdah.leader_blockers('b')")" \
	"${backend[works_ordinary]}|session works_ordinary" 'an ordinary owner sees who is in the way'
is "$(psql -XAtq -d "$(dsn ordinary app)" -c "select ended from howdah.leader_unblock('b')")" f 'and may not end a foreign session'
sql postgres 'grant pg_signal_backend to app'
is "$(psql -XAtq -d "$(dsn ordinary app)" -c "select ended from howdah.leader_unblock('b')")" t 'but may with pg_signal_backend'

# Grants: only what is missing is written.
is "$(sql owned "select count(*) from howdah.grants_due('howdah_worker', 'howdah_reader')")" 0 'after init no grant is due'
sql owned 'revoke execute on function howdah.leader_pause(text, text) from howdah_worker' \
	'grant execute on function howdah.leader_pause(text, text) to public' 'grant select on howdah.leadership to public'
is "$(sql owned "select * from howdah.grants_due('howdah_worker', 'howdah_reader') order by 1")" \
	'grant execute on routine howdah.leader_pause(text,text) to howdah_worker
revoke all on routine howdah.leader_pause(text,text) from public
revoke all on table howdah.leadership from public' 'what was taken away or given too widely is'
is "$(sql owned "select howdah.grant_roles('howdah_worker', 'howdah_reader')" "select count(*) from howdah.grants_due('howdah_worker', 'howdah_reader')")" \
	$'\n0' 'and grant_roles mends it'

found=$(grep -rniE 'skip[[:space:]]+locked' "$lib/../../sql")
is "$found" '' 'no SKIP LOCKED in sql/'
done_testing
