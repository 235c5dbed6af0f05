# shellcheck shell=bash
# hosts.sh - a primary, its streaming standby, and a promotion. Sourced after nodes.sh.
#
#   start_hosts [inside]      $primary and $standby are their folders, both have database `app`;
#                             inside: the primary lives in the namespace of netns.sh, at $net.2
#   synchronous               from here on a commit waits for the standby
#   hosts LIST [SETTING]      a DSN of database `app`
#   on HOST STATEMENT ...     `sql app`, there
#   replicated                waits until the standby has all that the primary has
#   lose_the_rest             the standby gets nothing of what is committed from here on
#   succession ROLE OLD_TOKEN NODE ...   on the promoted standby: one of the nodes leads, and the fence holds
#   finish                    ends all nodes
#   history ROLE [ARGUMENT ...]          the checker is content

on() {
	local server=$1
	shift
	sql app "$@"
}

hosts() { echo "host=$1 port=5432 user=postgres dbname=app${2:+ $2}"; }

streams() { [ "$(on "$primary" "select count(*) from pg_stat_replication where state = 'streaming' and (sync_state = 'sync' or not $1)")" = 1 ]; }

pairs=0
start_hosts() {
	[ $pairs = 0 ] || "$lib/pgserver" destroy "$primary"
	[ $pairs = 0 ] || "$lib/pgserver" destroy "$standby"
	pairs=$((pairs + 1))
	primary=$tmp/p$pairs standby=$tmp/q$pairs server=$primary
	if [ "${1:-}" = inside ]; then
		inside "$lib/pgserver" start "$primary" "listen_addresses=$net.2" >/dev/null || exit 1
		printf 'host %s all %s.0/24 trust\n' all "$net" replication "$net" >>"$primary/data/pg_hba.conf"
	else
		"$lib/pgserver" start "$primary" >/dev/null || exit 1
	fi
	fresh_db app
	"$lib/pgserver" standby "$standby" "$primary" >/dev/null || exit 1
	if [ "${1:-}" = inside ]; then
		on "$primary" "select pg_reload_conf()" >/dev/null
		follow "host=$net.2 port=5432 user=postgres"
		inside_only() { [ "$(on "$primary" "select count(*) from pg_stat_replication where client_addr is not null")" = 1 ]; }
		eventually inside_only
	fi
	eventually streams false
	result $? "a standby follows its primary" "$(tail -n 5 "$standby/log")"
}

synchronous() {
	on "$primary" "alter system set synchronous_standby_names = '*'" "select pg_reload_conf()" >/dev/null
	eventually streams true
	result $? "and every commit waits for it"
}

follow() { on "$standby" "alter system set primary_conninfo = '$1'" "select pg_reload_conf()" >/dev/null; }

replicated() {
	local at
	at=$(on "$primary" "select pg_current_wal_flush_lsn()")
	has_it() { [ "$(on "$standby" "select pg_last_wal_replay_lsn() >= '$at'")" = t ]; }
	eventually has_it
}

lose_the_rest() {
	replicated
	follow ''
	alone() { [ "$(on "$standby" "select count(*) from pg_stat_wal_receiver")" = 0 ]; }
	eventually alone
}

# The largest token that anything ran under so far.
largest() { awk '{ print $2 }' "$tmp/$1.scribe" | sort -n | tail -n 1; }

leading() {
	local name
	for name in "$@"; do
		! leads "$name" || echo "$name"
	done
}
one_leads() { [ "$(leading "$@" | wc -l)" = 1 ]; }

succession() {
	local role=$1 old=$2 new
	shift 2
	eventually one_leads "$@"
	result $? "$role: exactly one leads after the promotion" "$(for name in "$@"; do tail -n 4 "$tmp/$name.log"; done)"
	new=$(on "$standby" "select token from howdah.leadership where role = '$role' and state = 'leading'")
	check "$role: token $new of the new timeline is larger than $old" [ "${new:-0}" -gt "$old" -a "${new:-0}" -ge $((2 << 40)) ]
	like "$(on "$standby" "begin; select howdah.assert_leader('$role', $old); commit")" HD001 \
		"$role: a write of the old token is refused"
	is "$(on "$standby" "begin; select howdah.assert_leader('$role', ${new:-0}); commit")" '' "$role: one of the new token is not"
	has_new() { [ "$(largest "$role")" = "$new" ]; }
	eventually has_new
	result $? "$role: the command runs under it"
}

finish() {
	stop_nodes
	rm -f "$tmp"/*.log
}

history() {
	local said
	said=$(verdict "$@")
	result $? "$1: no overlap, tokens grow" "$said"
}

dead() { ! alive $(awk '{ print $4 }' "$tmp/$1.scribe" | sort -u); } # ROLE: nothing that wrote lives
