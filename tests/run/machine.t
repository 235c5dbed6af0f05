#!/bin/bash
# howdah leader machine: the table of the code, the one in the documentation, and the graph are the same.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/tap.sh"
howdah=${HOWDAH_BIN:?the howdah of a test build}
top=$(cd "$(dirname "$0")/../.." && pwd)

run "$howdah" leader machine
is "$code $err" '0 ' 'it needs no database'
table=$out
rows=$(sed 1d <<<"$table")
like "$(head -n 1 <<<"$table")" '^STATE +EVENT +NEXT +ACTION +WHY$' 'five columns'
is "$(wc -l <<<"$rows")" "$(grep -c '^	{ HD_ST_[A-Z_]*, HD_EV_.*"' "$top/src/core/election.c")" \
	'a row for each row of the source'
why=$(awk '{ print index($0, "WHY"); exit }' <<<"$table")
is "$(cut -c$((why - 1)) <<<"$rows" | sort -u)" ' ' 'the columns line up'
like "$rows" '^waiting +wait over +leading +start the command +nothing of an older leader can be running$' \
	'a row tells what starts a command'
like "$rows" '^waiting +resign asked +resting \(standby\) +give up ' 'a state has the word of the log behind it'
is "$(sort <<<"$rows" | cut -c1-42 | uniq -d)" '' 'an event leads from a state to one other'

documented=$(sed -n '/^<!-- the machine: /,/^<!-- end of the machine/p' "$top/docs/leader-election.md" | sed -n 's/^    //p')
is "$documented" "$table" 'docs/leader-election.md shows it (tools/man writes it)'

run "$howdah" leader machine --dot
is "$code $err" '0 ' 'as a graph'
like "$(head -n 1 <<<"$out")" '^digraph election \{$' 'for Graphviz'
is "$(tail -n 1 <<<"$out")" '}' 'to its end'
is "$(grep -c -- '->' <<<"$out")" "$(wc -l <<<"$rows")" 'an edge for each row'
nodes=$(sed -n 's/^\t\(s[0-9]*\) \[label=.*/\1/p' <<<"$out")
is "$(grep -oE '\bs[0-9]+\b' <<<"$out" | sort -u)" "$(sort -u <<<"$nodes")" 'each end of an edge is a node, and each node has an edge'
like "$out" 's[0-9]+ -> s[0-9]+ \[label="wait over / start the command", tooltip=' 'edges say event and action'
like "$out" 'label="resting\\nlog: standby"' 'nodes have the words of the log'
if command -v dot >/dev/null; then
	ok 'dot reads it' dot -Tsvg -o /dev/null <<<"$out"
else
	skip 'dot reads it' 'no Graphviz'
fi
run "$howdah" leader --dot
is "$code" 64 'other commands take no --dot'
done_testing
