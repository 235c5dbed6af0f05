#!/bin/bash
# Each bug that can be planted is caught; docs/proof.md says what each of them is.
# shellcheck source-path=SCRIPTDIR
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # a process that is killed frees nothing
exec "${HOWDAH_BUILD:?the build folder under test}/tests/sim" --plants --seeds 10000
