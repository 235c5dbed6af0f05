#!/bin/bash
# What `meson install` gives a C programmer: headers that C99 and C++ accept, a shared library that
# exports the public functions and nothing else and needs libpq only, a pkg-config file, and the
# examples compiled with it as their comments say.
# shellcheck source-path=SCRIPTDIR
build=${HOWDAH_BUILD:?the build folder under test}
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

ok 'it installs' meson install -C "$build" --no-rebuild --destdir "$tap_tmp/root"
pc=$(find "$tap_tmp/root" -name howdah.pc)
root=$tap_tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_PATH=$(dirname "$pc")
# The sysroot is put before libpq's folders too, where nothing is.
flags=$(pkg-config --cflags --libs howdah)
like "$flags" "-I$root/.*include .*-lhowdah" 'pkg-config finds it'
unlike "$flags" '-lpq' 'and does not drag libpq into programs that do not call it'
like "$(pkg-config --libs --static howdah)" '-lpq' 'but names it for static linking'
read -ra cflags <<<"$(pkg-config --cflags howdah)"
read -ra libs <<<"$(pkg-config --libs howdah)"
read -ra pq <<<"$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --cflags --libs libpq)"

is "$(cd include/howdah && ls)" "$(cd "$root"/usr/local/include/howdah 2>/dev/null && ls)" 'every public header is installed'

for header in include/howdah/*.h; do
	name=${header##*/}
	# Twice, so that the guard against a second inclusion is tried as well.
	printf '#include <howdah/%s>\n#include <howdah/%s>\nint main(void) { return 0; }\n' "$name" "$name" >"$tap_tmp/h.c"
	ok "$name alone is C99" cc -std=c99 -pedantic-errors -Wall -Wextra -Werror "${cflags[@]}" -o "$tap_tmp/h" "$tap_tmp/h.c"
	if command -v c++ >/dev/null; then
		ok "$name alone is C++" c++ -x c++ -std=c++11 -pedantic-errors -Wall -Wextra -Werror "${cflags[@]}" -o "$tap_tmp/h" "$tap_tmp/h.c"
	else
		ok "$name alone is C++" clang -x c++ -std=c++11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only "${cflags[@]}" "$tap_tmp/h.c"
	fi
done

so=$(find "$root" -name 'libhowdah.so.0')
declared() { # the functions of all public headers that carry HD_API
	cat include/howdah/*.h | cc -fpreprocessed -dD -E -P - 2>/dev/null | tr '\n' ' ' | sed 's/HD_API/\n&/g' |
		sed -n 's/^HD_API[^(]*[ *]\(hd_[a-z0-9_]*\) *(.*/\1/p' | sort -u
}
exported() { nm -D --defined-only "$so" | awk '$2 ~ /[A-Z]/ && $3 !~ /^(__asan|__ubsan|__odr_asan|_init|_fini)/ { print $3 }' | sort -u; }
like "$(declared)" 'hd_leader_held' 'the list of public functions is not empty'
is "$(exported)" "$(declared)" 'the library exports the functions with HD_API, all of them and nothing else'
needed=$(readelf -d "$so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libasan|libubsan|libtsan|libc|libm|ld-linux.*)\.so' | tr '\n' ' ')
is "$needed" 'libpq.so.5 ' 'and needs libpq only'
like "$(readelf -d "$so")" 'SONAME.*libhowdah\.so\.0' 'its name has the ABI in it'

# Every function of a public header has a comment of its own above it, or stands below one.
undocumented=$(awk '
	FNR == 1 { documented = 0 }
	/\*\/$/ { documented = 1 }
	/^$/ { documented = 0 }
	/^HD_API/ && !documented { print FILENAME ": " $0 }' include/howdah/*.h)
is "$undocumented" '' 'every public function is documented'

case $(readelf -d "$so") in
*libasan* | *libubsan*) sanitize=("-fsanitize=address,undefined") ;;
*) sanitize=() ;;
esac
for example in leader_process leader_loop; do
	ok "$example compiles as its comment says" cc -Wall -Wextra -Werror "${sanitize[@]}" "examples/$example.c" \
		"${cflags[@]}" "${libs[@]}" "${pq[@]}" -pthread -o "$tap_tmp/$example"
	run env LD_LIBRARY_PATH="$(dirname "$so")" "$tap_tmp/$example" 'no role' </dev/null
	is "$code" 1 "$example runs with the installed library"
	like "$err" 'the role "no role" has a character' 'and says what is wrong'
	is "$(wc -l <"examples/$example.c" | awk '{ print $1 <= 95 }')" 1 "$example is short"
done

gate='#include <howdah/gate.h>
int main(void) { return hd_gate_open("poller") ? 0 : 1; }'
echo "$gate" >"$tap_tmp/gate.c"
gated() { # WORKERS FLAG ...
	local workers=$1
	shift
	cc "$@" "${sanitize[@]}" "$tap_tmp/gate.c" "${cflags[@]}" "${libs[@]}" "${pq[@]}" -o "$tap_tmp/gate" &&
		env HOWDAH_WORKERS="$workers" LD_LIBRARY_PATH="$(dirname "$so")" "$tap_tmp/gate"
	code=$?
}
gated poller
is "$code" 1 'gate 1 is closed unless the build opens it'
gated 'nightly, poller' -DHOWDAH_WORKERS_BUILT
is "$code" 0 'both gates open'
gated all -DHOWDAH_WORKERS_BUILT
is "$code" 0 'all opens gate 2'
gated pollers -DHOWDAH_WORKERS_BUILT
is "$code" 1 'a longer name does not'
gated '' -DHOWDAH_WORKERS_BUILT
is "$code" 1 'an empty list does not'

done_testing
