#!/bin/bash
# timeout: 120
# parted_test.sh - a stream between two living tasks breaks between two messages: parted.c.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 2 >/dev/null || exit 1
covey run --host h0 "$BUILD/tests/fault/parted" h1
