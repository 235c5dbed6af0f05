#!/bin/bash
# The primary is cut off and lives on, its standby is promoted at once: whoever leads there waits until
# the old leader, whom nobody could tell anything, has ended its command by its own deadline.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"
. "$(dirname "$0")/netns.sh"
. "$(dirname "$0")/hosts.sh"

# Leads on the old primary, and knows no other: the holder of a lease row could renew it elsewhere.
first() { # NAME ROLE
	start_node "$1" "$2" "$(hosts "$net.2")"
	eventually leads "$1" && eventually has_terms "$2" 1
	result $? "$2: $1 leads" "$(tail -n 3 "$tmp/$1.log")"
}
beside() { # ROLE: a node that will be cut off together with the primary leads
	start_inside "near-$1" "$1" "$(hosts "$net.2")"
	eventually leads "near-$1" && eventually has_terms "$1" 1
	result $? "$1: a node beside the primary leads" "$(tail -n 3 "$tmp/near-$1.log")"
}
# The new nodes know the standby only and start when it is promoted, so that nothing but the take-over
# wait keeps them from leading while the old command runs.
declare -A old
promote() { # ROLE ...
	local role
	for role in "$@"; do
		old[$role]=$(largest "$role")
	done
	cut
	"$lib/pgserver" promote "$standby"
	for role in "$@"; do
		start_node "new-$role" "$role" "$(hosts "$standby")"
	done
}
is_lost() { ! leads "$1" && log_has "$1" state=lost; } # NODE: its command was ended
ends_itself() { # ROLE NODE
	eventually is_lost "$2"
	result $? "$1: $2 has ended its command" "$(tail -n 3 "$tmp/$2.log")"
}

# Asynchronous. The row of `freed` was released, in words that were true, when the standby last heard
# of it; `unheard` is not there at all.
start_hosts inside
first a-async async
first a-freed freed
beside limit
kill -TERM "${pid[a-freed]}"
wait "${pid[a-freed]}"
unset "pid[a-freed]"
lose_the_rest
is "$(on "$standby" "select clear_token >= led_token and owner is null from howdah.leadership where role = 'freed'")" t \
	"freed: the standby believes that nobody leads"
first b-freed freed
first a-unheard unheard
promote async freed unheard limit
is "$(on "$primary" "create table written (by text); insert into written values ('the old primary') returning by")" \
	'the old primary' "the old primary accepts writes"
for role in async freed unheard; do
	succession $role "${old[$role]}" new-$role
done
ends_itself async a-async
ends_itself freed b-freed
ends_itself unheard a-unheard
like "$(cat "$tmp/new-freed.log")" 'reason="the last leader led on another server or timeline"' "freed: its release is not believed on the new server"
like "$(cat "$tmp/new-unheard.log")" 'reason="first term on a server that may have lost an earlier one"' "unheard: no row is no proof"
succession limit "${old[limit]}" new-limit
leads near-limit
result $? "limit: the node that has the old primary to itself leads on"
finish
heal
history async least 2
history freed least 3
history unheard least 2
like "$(verdict limit)" 'overlap of' "limit: two writable primaries give two leaders, as stated; the checker sees it"
unlike "$(verdict limit)" 'came after|used by' "limit: but never one token twice, nor a smaller one later"

# Synchronous: the old primary lives on and can't commit, so even the node beside it loses the role,
# and nobody leads there when the network is back.
start_hosts inside
synchronous
first a-sync sync
beside near
promote sync near
hangs() { [ "$(on "$primary" "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'howdah:elector:$1'")" -ge 1 ]; }
eventually hangs near
result $? "near: its commits hang"
# A cancelled wait answers with success and a warning: committed, but on this server only.
cancelled() {
	on "$primary" "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'" >/dev/null
	is_lost near-near
}
eventually cancelled
result $? "near: to cancel them renews nothing" "$(tail -n 3 "$tmp/near-near.log")"
succession sync "${old[sync]}" new-sync
succession near "${old[near]}" new-near
ends_itself sync a-sync
ends_itself near near-near
heal
eventually hangs sync
result $? "sync: the old leader tries the old primary again" "$(tail -n 3 "$tmp/a-sync.log")"
on "$primary" "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'" >/dev/null
eventually hangs sync
result $? "sync: and once more"
for role in sync near; do
	leads new-$role
	result $? "$role: the new leader leads on" "$(tail -n 3 "$tmp/new-$role.log")"
done
finish
history sync least 2
history near least 2

[ "$ELECTION" = lease ] || done_testing

# A stand-by that was stopped while it watched: the promoted server shows the very value that it saw
# last, while the holder was renewed later, on the old one. Only the server that answers tells the two
# apart.
start_hosts inside
first holder watched
start_node watcher watched "$(hosts "$standby,$net.2")"
eventually log_has watcher event=connected
session="application_name = 'howdah:elector:watched' and client_port is not null and pid is distinct from
	(select pid from pg_stat_activity where application_name = 'howdah:elector:watched' order by backend_start limit 1)"
# Stops the watcher at a moment at which it has seen the count of renewals that stands.
catch() {
	kill -STOP "${pid[watcher]}"
	seen=$(on "$primary" "select l.beat from howdah.leadership l, pg_stat_activity a
		where l.role = 'watched' and $session and a.state = 'idle' and a.query_start > l.seen_at")
	[[ ! $seen =~ ^[0-9]+$ ]] || return 0
	kill -CONT "${pid[watcher]}"
	return 1
}
eventually catch
result $? "watched: the stand-by is stopped, having seen beat $seen"
caught=$(now_ms)
on "$primary" "select pg_terminate_backend(pid) from pg_stat_activity where $session" >/dev/null
old[watched]=$(largest watched)
slept() { [ "$(now_ms)" -gt $((caught + LEASE_MS)) ]; }
eventually slept
leads holder
result $? "watched: meanwhile the holder renews"
cut
"$lib/pgserver" promote "$standby"
on "$standby" "update howdah.leadership set beat = $seen where role = 'watched'" >/dev/null
kill -CONT "${pid[watcher]}"
succession watched "${old[watched]}" watcher
ends_itself watched holder
finish
heal
history watched least 2

done_testing
