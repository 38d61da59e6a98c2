#!/bin/bash
# fuzz.sh SECONDS FUZZER... - lets each fuzzer search for so long, one after the other.
#
# It starts from the seeds in tests/fuzz/corpus/NAME; what it finds on the way is kept below $BUILD,
# and an input that breaks a parser is left there, named, for a test to be made of it.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
seconds=$1
shift
passed=0 failed=0
for fuzzer; do
    name=${fuzzer%_fuzz}
    found=$BUILD/libfuzzer/corpus/$name
    log=$BUILD/libfuzzer/$name.log
    mkdir -p "$found" "tests/fuzz/corpus/$name"
    if "$BUILD/libfuzzer/$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$BUILD/libfuzzer/$name-" "$found" "tests/fuzz/corpus/$name" \
        >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        echo "ok      $name: $(grep -E '^Done|^#.*DONE' "$log" | tail -n 1)"
    else
        failed=$((failed + 1))
        echo "FAILED  $name: the end of $log:"
        tail -n 30 "$log"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
