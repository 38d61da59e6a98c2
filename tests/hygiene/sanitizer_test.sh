#!/bin/bash
# The unit suites and the fuzzers' seeds under the address and undefined-behaviour sanitizers, which
# take a moment; `make asan` and `make tsan` run all suites so. Their reports name lines, for which -g1 is
# enough: -g takes a third more time to compile.
# timeout: 400
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-build}
expect "the unit suites are clean" make --no-print-directory -j2 BUILD="$BUILD" asan ASAN_CFLAGS="-O0 -g1" \
    SUITES="$(echo $(find tests/unit -name "*_test.c") tests/fuzz/*_fuzz.c)"
finish
