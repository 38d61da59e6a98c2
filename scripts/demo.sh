#!/bin/bash
# demo.sh - the three demo programs on a virtual machine of four virtual hosts on this machine.
#
# Each checks its result against a sequential run and prints where its time went; mandel writes
# mandel.png here. Whatever happens, Ctrl-C included, the virtual machine is halted and nothing of it
# is left: its runtime files lie in a folder of their own, its processes carry COVEY_DEMO in their
# environment.
set -u
build=$(realpath "${BUILD:-build}")
export PATH=$build/apps:$build:$PATH COVEY_VM=demo COVEY_DEMO=$$
runtime=
unset COVEY_SOCKET COVEY_ROUTE COVEY_TASK

processes() { # what is left of the virtual machine, this script and its helpers aside
    grep -lsz "^COVEY_DEMO=$$\$" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
        case $(readlink "/proc/$pid/exe") in "$build"/*) echo "$pid" ;; esac
    done
}

clean_up() {
    trap '' INT TERM HUP # a second Ctrl-C does not stop the tidying
    local signal i
    [ -n "$(processes)" ] && covey halt >/dev/null 2>&1
    for signal in TERM KILL; do
        for i in 1 2 3 4 5 6 7 8 9 10; do
            [ -z "$(processes)" ] && break 2
            sleep 0.1
        done
        # shellcheck disable=SC2046
        kill -$signal $(processes) 2>/dev/null
    done
    rm -rf "$runtime"
}
# the signals first: what clean_up ignores could not end the script that it tidies for
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
trap clean_up EXIT
runtime=$(mktemp -d "${TMPDIR:-/tmp}/covey-demo.XXXXXX") || exit 1
export XDG_RUNTIME_DIR=$runtime

run() {
    echo
    echo "\$ $*"
    "$@"
}

failed=()
run covey start --local 4 || exit 1
run matmul --size 4608 --check || failed+=(matmul)
run sort --keys 32M --check || failed+=(sort)
run mandel --size 1600x1200 --check --output mandel.png || failed+=(mandel)
run covey halt || failed+=("covey halt")
echo
if [ ${#failed[@]} -gt 0 ]; then
    echo "Failed: ${failed[*]}" >&2
    exit 1
fi
echo "All three results are right. The picture is mandel.png; \`man tools/base/covey.1\` is the console's manual."
