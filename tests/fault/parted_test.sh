#!/bin/bash
# timeout: 120
# parted_test.sh - a stream between two living tasks breaks between two messages: parted.c.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
runtime=$(mktemp -d "${TMPDIR:-/tmp}/covey-parted.XXXXXX")
export XDG_RUNTIME_DIR=$runtime XDG_CONFIG_HOME=$runtime COVEY_VM=parted-$$
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE

finish() {
    "$BUILD/covey" halt >/dev/null 2>&1
    rm -rf "$runtime"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$BUILD/covey" start --local 2 >/dev/null || exit 1
"$BUILD/covey" run --host h0 "$BUILD/tests/fault/parted" h1
