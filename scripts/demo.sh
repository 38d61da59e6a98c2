#!/bin/bash
# demo.sh - the three demo programs on a virtual machine of four virtual hosts on this machine.
#
# Each checks its result against a sequential run and prints where its time went; mandel writes
# mandel.png here. Whatever happens, Ctrl-C included, the virtual machine is halted and nothing of it
# is left: its runtime files lie in a folder of their own, its processes carry COVEY_DEMO in their
# environment.
# -m, first of all: without it bash puts a handler of its own in the place of the trap while it waits, and
# with a Ctrl-C in the midst of that it sends itself the signal again and again, for ever. Without a trap,
# it forgets a Ctrl-C that comes while a command ends by itself.
set -um
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
build=$(realpath "${BUILD:-build}")
export PATH=$build/apps:$build:$PATH COVEY_VM=demo COVEY_DEMO=$$
runtime=
unset COVEY_SOCKET COVEY_ROUTE COVEY_TASK

processes() { # what is left of the virtual machine, this script and its helpers aside
    jobs -pr # which may just be about to become a program
    grep -lsz "^COVEY_DEMO=$$\$" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
        case $(readlink "/proc/$pid/exe") in "$build"/*) echo "$pid" ;; esac
    done
}

clean_up() {
    trap '' INT TERM HUP # a second Ctrl-C does not stop the tidying
    local signal i
    for signal in TERM KILL; do
        # shellcheck disable=SC2046
        kill -$signal $(processes) 2>/dev/null
        for i in 1 2 3 4 5 6 7 8 9 10; do
            [ -z "$(processes)" ] && break 2
            sleep 0.1
        done
    done
    rm -rf "$runtime"
}
trap clean_up EXIT
# named here and not by mktemp, which a Ctrl-C can end after it has made the folder and before it has said so
runtime=${TMPDIR:-/tmp}/covey-demo.$SRANDOM
mkdir -m 700 "$runtime" || { runtime=; exit 1; }
export XDG_RUNTIME_DIR=$runtime

# In the background, and so in a process group of its own: a Ctrl-C is this script's alone and acts at once.
# Bash puts off the trap until a command in the foreground ends.
run() {
    echo
    echo "\$ $*"
    "$@" &
    wait $!
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
