#!/bin/bash
# timeout: 240
# Long messages between tasks of one host: copied once, as the environment says and where it forbids
# it, and whichever way is faster; also by the stream, which has no such way.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/long

run() { # what, COVEY_SINGLE_COPY, argument of the program, options of covey run
    export COVEY_SINGLE_COPY=$2
    local what=$1 argument=$3
    shift 3
    covey start --local 1 >/dev/null || bad "$what: a virtual machine starts"
    count_lines "$what" < <(timeout 100 covey run -n 2 "$@" "$program" ${argument:+"$argument"} 2>&1)
    covey halt >/dev/null
}
run "copied once" yes ""
run "forbidden" no ""
run "forbidden by the kernel" yes denied
run "the faster way" "" ""
run "by tcp" yes "" --route tcp

said=$(COVEY_SINGLE_COPY=twice "$program" 2>&1)
status=$?
expect "another word is refused" [ "$status" = 3 ]
expect "and the refusal says what it may be" grep -q "COVEY_SINGLE_COPY is 'twice', and not yes, no or auto" <<<"$said"
finish
