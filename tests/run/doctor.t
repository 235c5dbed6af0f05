#!/bin/bash
# howdah doctor: verdict and exit code for each kind of connection, and the findings, each provoked.
set -u
# shellcheck source=tests/lib/pg.sh
. "$(dirname "$0")/../lib/pg.sh"
start_server -p $((20000 + RANDOM % 10000))
fresh_db app
sql app 'create role worker login in role howdah_worker' 'create role viewer login in role howdah_reader' \
	'create role stranger login' >/dev/null

stop_pools() {
	local pool
	for pool in "$tmp"/*/pgbouncer.ini; do
		[ ! -e "$pool" ] || "$lib/pgbouncer" stop "$(dirname "$pool")"
	done
}
trap 'stop_pools; clean_up' EXIT

doctor() { # DSN [OPTION ...]
	local at=$1
	shift
	"$HOWDAH_BIN" doctor --db "$at" "$@" 2>&1
	echo "exit $?"
}
at() { # USER
	doctor "$(dsn app "$1")"
}
of() { # JSON PATH
	sql app "select \$json\$$1\$json\$::jsonb #>> '{$2}'"
}
# A finding and the line below it, when it has advice.
finding() { # SUBJECT, from stdin
	grep -A1 -E "^(ok  |warn|FAIL)  $1: "
}

# --- direct ----------------------------------------------------------------------------------------------
report=$(at worker)
like "$report" '^ok    session: direct: .*direct: a leader can work over this connection.*exit 0$' 'a direct connection is fine'
is "$(grep -c '^FAIL' <<<"$report")" 0 'nothing has failed'
is "$(grep -v -e '^ok  ' -e '^$' -e '^direct: ' -e '^exit' <<<"$report")" \
	"warn  fsync: off: a crash of the server's machine can destroy the database, leadership included
      -> set fsync = on, except on a server made for tests" 'and this test server is warned of, with what to do'
like "$(finding 'round trip' <<<"$report")" '[0-9.]+ ms' 'the round trip is measured'
like "$(finding clock <<<"$report")" "the server's is [0-9.]+ ms (ahead|behind) .*give or take [0-9.]+ ms" \
	'and the clock, with its doubt'
like "$(finding schema <<<"$report")" 'ok    schema: version [0-9]+ by howdah .*functions: current' 'the schema'
like "$(finding access <<<"$report")" 'user worker may lead and act, by howdah_worker' 'the privileges of a worker'
like "$(finding 'tcp keepalives' <<<"$report")" 'none: this connection is a unix socket' 'a socket has no keepalives'
json=$("$HOWDAH_BIN" doctor --json --db "$(dsn app worker)")
is "$(of "$json" verdict) $(of "$json" usable) $(of "$json" warnings) $(of "$json" failures) $(of "$json" findings,0,level)" \
	'direct true 1 0 ok' 'as JSON: verdict, counts, findings'
like "$(doctor "host=127.0.0.1 port=$(cat "$server/port") user=worker dbname=app")" \
	'session: direct.*tcp keepalives: a peer that vanished is noticed after [0-9hms]+ .*exit 0' 'over TCP it counts the keepalives'

# --- who looks -------------------------------------------------------------------------------------------
like "$(at viewer)" 'access: user viewer may look, not lead, by howdah_reader.*exit 0' 'a reader'
like "$(at postgres)" 'access: user postgres is a superuser; .*exit 0' 'a superuser'
report=$(at stranger)
like "$(finding access <<<"$report")" '^warn.*may not use.*-> .*grant howdah_worker' 'a stranger is told what to ask for'
like "$(finding schema <<<"$report")" '^warn.*may not look into it.*-> grant' 'and why the schema can not be read'
like "$(doctor "$(dsn postgres worker)")" 'warn  schema: there is none in this database
      -> create it: howdah init' 'no schema names howdah init'
sql app 'revoke temporary on database app from public' >/dev/null
like "$(at viewer | finding 'temporary table')" '^warn.*not possible: .*-> grant temporary' 'no right to TEMP'
sql app 'revoke execute on function pg_control_system() from public' >/dev/null
like "$(at viewer | finding identity)" '^warn.*not readable.*-> grant execute on pg_control_system' 'no right to the identity'
like "$(at viewer | finding blockers)" "only this user's own" 'without pg_signal_backend'
sql app 'grant pg_signal_backend to worker' >/dev/null
like "$(at worker | finding blockers)" 'can be ended' 'and with it'

# --- settings of the role ----------------------------------------------------------------------------------
sql app "alter role worker set default_transaction_isolation = serializable" \
	"alter role worker set statement_timeout = '500ms'" "alter role worker set synchronous_commit = local" >/dev/null
report=$(at worker)
like "$(finding default_transaction_isolation <<<"$report")" '^ok .*serializable; .*own sessions use read committed' 'isolation'
like "$(finding statement_timeout <<<"$report")" '^warn.*500ms for this user: too short.*-> ' 'a statement_timeout that is too short'
like "$(finding synchronous_commit <<<"$report")" '^ok .*local; leadership is committed synchronously' 'synchronous_commit'
sql app 'alter role worker reset statement_timeout' >/dev/null

# --- connections -------------------------------------------------------------------------------------------
connect A app
ask A "set application_name = 'howdah:elector:poller'" >/dev/null
like "$(at viewer | finding connections)" '^ok .* of 100 in use, 3 kept .*Howdah has 1 \(elector 1\)' 'what Howdah has of max_connections'
sql app 'alter role viewer connection limit 5' >/dev/null
like "$(at viewer | finding connections)" '^warn.* 4 left for this user.*-> raise' 'a limit of the role counts'

# --- vacuum --------------------------------------------------------------------------------------------------
sql app 'create table public.t (i int)' 'create unlogged table public.burnt (i int)' 'insert into public.t values (1)' >/dev/null
ask A 'begin isolation level repeatable read; select * from public.t' >/dev/null
like "$(at viewer)" 'ok    vacuum: nobody holds it back.*ok    vacuum: sessions of other users: [0-9]+; since when .*hidden from this user' \
	'what can not be seen is said'
sql app "begin; insert into public.t values (2); prepare transaction 'left behind'" >/dev/null
# Each subtransaction is a transaction number.
sql app 'do $$ begin for i in 1..1000010 loop begin
		insert into public.burnt values (i);
	exception when division_by_zero then null; end; end loop; end $$' >/dev/null
report=$(at viewer)
like "$report" "warn  vacuum: held back by session ${backend[A]} \\(howdah:elector:poller, user postgres, state hidden\\); its snapshot is [0-9]{7} .*
      -> end its transaction: select pg_terminate_backend\\(${backend[A]}\\)" 'a session, though its time is hidden'
like "$report" "held back by prepared transaction 'left behind' \\(user postgres, database app\\) for [0-9a-z]+; .*
      -> finish it: commit prepared \\(or rollback prepared\\) 'left behind'" 'a prepared transaction, with its age'
sql app "rollback prepared 'left behind'" >/dev/null
ask A commit >/dev/null
like "$(at viewer | finding vacuum)" '^ok .*nobody holds it back' 'and when they are gone, nobody'

# --- standbys, and a standby -----------------------------------------------------------------------------------
"$lib/pgserver" standby "$tmp/b" "$server" >/dev/null 2>&1 || echo '# no standby'
like "$(at postgres | finding replication)" '1 standbys, asynchronous: .*tokens grow all the same' 'an asynchronous standby'
report=$(doctor "host=$tmp/b port=$(cat "$tmp/b/port") user=viewer dbname=app")
like "$report" 'FAIL  session: standby: .*
      -> name the primary.*standby: nobody can lead over this connection.*exit 77' 'a standby is refused'
like "$report" 'replication: this server is a standby itself' 'and examined all the same'
"$lib/pgserver" destroy "$tmp/b"
no_standby() { [ "$(sql app 'select count(*) from pg_stat_replication')" = 0 ]; }
eventually no_standby
sql app "alter system set synchronous_standby_names = 'gone'" 'select pg_reload_conf()' >/dev/null
names_set() { [ "$(sql app 'show synchronous_standby_names')" = gone ]; }
eventually names_set
like "$(at worker | finding replication)" '^warn.*commits wait for gone, and no such standby.*-> ' 'commits that wait for nobody'
sql app 'alter system reset synchronous_standby_names' 'select pg_reload_conf()' >/dev/null
names_reset() { [ -z "$(sql app 'show synchronous_standby_names')" ]; }
eventually names_reset

# --- poolers ---------------------------------------------------------------------------------------------------
pool() { # NAME SETTING ...
	local name=$1
	shift
	"$lib/pgbouncer" start "$tmp/$name" "$server" "$@" >/dev/null || return 1
	pooled="host=$tmp/$name port=$(cat "$tmp/$name/port") user=postgres dbname=app"
}
if [ -x /usr/sbin/pgbouncer ]; then
	pool transactions pool_mode=transaction default_pool_size=5 ignore_startup_parameters=options
	report=$(doctor "$pooled")
	like "$report" 'FAIL  session: multiplexed: .*
      -> name the server.s own address.*exit 77' 'a transaction pool is refused'
	like "$(finding vacuum <<<"$report")" '^(ok|warn)' 'and what is behind it is examined all the same'
	like "$(doctor "$pooled" --trust-session)" 'exit 77' 'whoever trusts it'
	pool sessions pool_mode=session default_pool_size=5 ignore_startup_parameters=options
	like "$(doctor "$pooled")" 'session: session-pooled: .*exit 0' 'a session pool is stable'
	pool single pool_mode=session default_pool_size=1 query_wait_timeout=2 ignore_startup_parameters=options
	like "$(doctor "$pooled")" 'FAIL  session: inconclusive: .*-> .*--trust-session.*exit 77' 'a pool of one can not be told'
	like "$(doctor "$pooled" --trust-session)" 'warn  session: inconclusive: .*trusted, since.*exit 0' 'unless it is trusted'
else
	skip 'poolers' 'no pgbouncer'
fi

# --- no connection -----------------------------------------------------------------------------------------------
like "$(doctor "$(dsn nowhere worker)")" 'nowhere.*exit 77' 'a database that is not there is refused by the server'
"$lib/pgserver" stop "$server"
like "$(at worker)" '^howdah: .*exit 69' 'a server that is down is 69'
json=$("$HOWDAH_BIN" doctor --json --db "$(dsn app worker)" 2>/dev/null)
is "$?" 69 'also with --json'
"$lib/pgserver" start "$server" >/dev/null
is "$(of "$json" verdict) $(of "$json" usable) $(of "$json" findings,0,level)" 'unreachable false fail' 'which says so as an object'
like "$("$HOWDAH_BIN" doctor 2>&1; echo "exit $?")" 'exit 78' 'no database at all is 78'

done_testing
