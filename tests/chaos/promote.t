#!/bin/bash
# The primary dies and its standby is promoted, with and without the last commits: one node leads
# again, with a token larger than any before, wherever the nodes' connection strings point.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"
. "$(dirname "$0")/hosts.sh"

# join NAME ROLE DSN: stands by.
join() {
	start_node "$@"
	eventually log_has "$1" event=connected
}
first() { # NAME ROLE DSN: leads
	start_node "$@"
	eventually leads "$1" && eventually has_terms "$2" 1
	result $? "$2: $1 leads" "$(tail -n 3 "$tmp/$1.log")"
}

# Nothing is lost. Four ways of naming the database; the first two are what the documents advise.
start_hosts
synchronous
first explicit kept "$(hosts "$primary,$standby" target_session_attrs=read-write)"
join list kept "$(hosts "$primary,$standby")"
start_node standby-only kept "$(hosts "$standby")"
start_node primary-only kept "$(hosts "$primary")"
eventually log_has primary-only event=connected
eventually log_has standby-only state=refused
result $? "kept: a node that only knows the standby may not lead there" "$(tail -n 3 "$tmp/standby-only.log")"
old=$(largest kept)
"$lib/pgserver" kill "$primary"
eventually dead kept
result $? "kept: nobody acts while there is no primary"
check "kept: the standby has the row of the last term" [ "$(on "$standby" "select led_token from howdah.leadership where role = 'kept'")" = "$old" ]
"$lib/pgserver" promote "$standby"
succession kept "$old" explicit list standby-only
like "$(cat "$tmp/$(leading explicit list standby-only).log")" \
	'reason="(the last leader led on another server or timeline|the last leader was silent for a whole lease)"' \
	"kept: what the old server knew is not taken for the new one's knowledge"
if leads primary-only; then false; else log_has primary-only 'state=standby'; fi
result $? "kept: a node that only knows the dead primary waits for it"
finish
history kept least 2 idle $((3 * (2 * LEASE_MS + 10000)))

# The last commits are lost: all of the row, its last changes of hands, or only beats. `lost` is
# reached by a plain address that moves.
start_hosts
ln -sfn "$primary" "$tmp/address"
moving=$(hosts "$tmp/address")
both=$(hosts "$standby,$primary")
first a-beats beats "$both"
first a-lost lost "$moving"
join b-beats beats "$both"
lose_the_rest
join b-lost lost "$moving"
kill -TERM "${pid[a-lost]}"
eventually leads b-lost && eventually has_terms lost 2
result $? "lost: a hand-over that the standby never hears of"
first a-whole whole "$both"
join b-whole whole "$both"
declare -A last
for role in beats lost whole; do
	last[$role]=$(largest $role)
done
check "lost: the standby's row is older" [ "$(on "$standby" "select token from howdah.leadership where role = 'lost'")" -lt "${last[lost]}" ]
is "$(on "$standby" "select count(*) from howdah.leadership where role = 'whole'")" 0 "whole: the standby has no row at all"
beat=$(on "$standby" "select beat from howdah.leadership where role = 'beats'")
"$lib/pgserver" kill "$primary"
"$lib/pgserver" promote "$standby"
ln -sfn "$standby" "$tmp/address"
# A lease row outlives its server: a holder that finds it on the new one in time goes on.
goes_on() { [ "$(on "$standby" "select token from howdah.leadership where role = 'beats' and beat > $beat")" = "${last[beats]}" ] && leads a-beats; }
moved_on() { goes_on || { leads b-beats || [ "$(grep -c 'state=leading' "$tmp/a-beats.log")" -gt 1 ]; }; }
eventually moved_on
if [ "$ELECTION" = lease ] && goes_on; then
	note "a-beats goes on under token ${last[beats]}"
	{ kill -KILL "${pid[a-beats]}" && wait "${pid[a-beats]}"; } 2>/dev/null
	unset "pid[a-beats]"
	succession beats "${last[beats]}" b-beats
else
	succession beats "${last[beats]}" a-beats b-beats
fi
succession lost "${last[lost]}" b-lost
succession whole "${last[whole]}" a-whole b-whole
finish
history beats least 2
history lost least 3
history whole least 2

done_testing
