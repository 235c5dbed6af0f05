#!/bin/bash
# The house rules hold, and each of them can fail: a planted violation must be found.
set -u
cd "$(dirname "$0")/../.." || exit 1
n=0
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

report() { # STATUS NAME [DETAILS]
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ -z "${3:-}" ] || printf '%s\n' "$3" | head -n 20 | sed 's/^/# /'
	fi
}

for check in $(tools/lint -l); do
	found=$(tools/lint "$check" 2>&1)
	report $? "$check" "$found"
done

# planted CHECK FILE EXPECTED: the text of stdin, added to FILE in a copy, is found by CHECK.
planted() {
	local check=$1 file=$copy/$2 expected=$3 found
	mkdir -p "$(dirname "$file")"
	cat >>"$file"
	found=$(tools/lint -C "$copy" "$check" 2>&1)
	grep -q -e "$expected" <<<"$found"
	report $? "planted: $check finds $expected" "$found"
	rm -rf "$copy"
	cp_tree
}

cp_tree() {
	mkdir -p "$copy"
	tar -c include src sql tests tools docs Makefile meson.build .ci .clang-format | tar -x -C "$copy"
}
cp_tree

planted layers src/core/planted.c 'core must not include pg' <<<'#include "pg/exec.h"'
planted layers src/base/planted.c 'base must not include app' <<<'#include "app/log.h"'
planted layers src/view/planted.c 'view must not know a backend' <<<'#include "backend/redis.h"'
planted layers src/base/planted.c 'base must not know PostgreSQL' <<<'#include <libpq-fe.h>'
planted layers src/core/planted.c 'core must not include <howdah/session.h>' <<<'#include <howdah/session.h>'
planted layers src/core/planted.c 'core is pure' <<<'int64_t f(void) { return hd_now().ns; }'
planted layers src/feature/planted.c 'the library never logs' <<<'void f(void) { printf("x"); }'
planted layers include/howdah/planted.h 'public header' <<<'#include <libpq-fe.h>'
planted format src/base/planted.c planted.c <<<'int   f ( void ){return 1 ;}'
planted banned src/base/planted.c planted.c:1 <<<'void f(char *a) { strcpy(a, "x"); }'
planted cloexec src/base/planted.c planted.c:1 <<<'int f(void) { return open("x", O_RDONLY); }'
planted sql src/feature/planted.c planted.c:1 <<<'const char *f = "SELECT 1";'
planted skip-locked sql/query/planted.sql planted.sql <<<'select 1 for update skip locked'
planted advisory sql/query/planted.sql planted.sql <<<'select pg_try_advisory_lock(1)'
planted dead-sql sql/query/planted.sql HD_SQL_PLANTED <<<'select 1'
planted words src/base/planted.c planted.c:1 <<<"/* TO""DO: later */"
planted scripts tests/run/planted.t 'not executable' <<<'#!/bin/sh'
planted length src/base/planted.c 'f has 73 lines' < <(
	echo 'int f(void)'
	echo '{'
	printf '\tg();\n%.0s' {1..70}
	echo '}'
)
planted length src/base/planted.c '501 lines' < <(printf '\n%.0s' {1..501})

echo "1..$n"
