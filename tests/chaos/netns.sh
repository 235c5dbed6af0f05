# shellcheck shell=bash
# netns.sh - a network namespace of this test's own, whose packets can be made to vanish. Sourced after
# nodes.sh; skips the test where there is none.
#
#   $net.1 is outside, $net.2 inside
#   cut | heal                                 between inside and outside everything is dropped, or passes again
#   inside COMMAND ...                         runs it there
#   start_inside NAME ROLE DSN [OPTION ...]    start_node, there

if [ "$(id -u)" != 0 ] || ! command -v ip >/dev/null || ! command -v iptables >/dev/null; then
	skip_all "network namespaces need root, ip and iptables"
fi

ns=hd$$ net=10.77.$((RANDOM % 250 + 1))
unplug() {
	ip netns del "$ns" 2>/dev/null
	ip link del "$ns" 2>/dev/null
}
tap_at_exit 'stop_nodes; unplug'
ip netns add "$ns" && ip link add "$ns" type veth peer name eth0 netns "$ns" &&
	ip addr add "$net.1/24" dev "$ns" && ip link set "$ns" up &&
	ip -n "$ns" addr add "$net.2/24" dev eth0 && ip -n "$ns" link set eth0 up && ip -n "$ns" link set lo up ||
	skip_all "no network namespaces here"

inside() { ip netns exec "$ns" "$@"; }
cut() { inside iptables -w -A INPUT -i eth0 -j DROP && inside iptables -w -A OUTPUT -o eth0 -j DROP; }
heal() { inside iptables -w -F; }

start_inside() {
	local bin=$tmp/inside real=$bin
	cat >"$bin" <<-END
		#!/bin/sh
		exec ip netns exec $ns "$real" "\$@"
	END
	chmod 755 "$bin"
	start_node "$@"
}
