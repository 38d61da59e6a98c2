#!/bin/sh
# demo.sh [BUILD] - the three demo programs on a virtual machine of four local virtual hosts.
#
# BUILD (build/) holds covey, coveyd and the demos. Each result is compared with that of a sequential run;
# the status is 0 only if all of them agree. mandel.png is written to the current folder.
# Nothing is left behind, neither at the end nor when interrupted: the virtual machine is started
# and halted out of the terminal's reach, so that Ctrl-C meets only the demo that runs, and
# whatever happens the way out leads through halt.
set -u

build=$(cd "${1:-build}" 2>/dev/null && pwd) || { echo "demo.sh: nothing is built yet: make" >&2; exit 1; }
here=$(pwd)
COVEY_VM=demo-$$
export COVEY_VM PATH="$build:$PATH"
work=

apart() { # in a session of its own: no signal of the terminal gets there
    setsid --wait "$@"
}

halt() {
    trap '' INT TERM HUP
    said=$(apart covey halt 2>&1 >/dev/null) && return 0
    case $started in
    1) echo "demo.sh: covey halt: $said" >&2 && return 1 ;;
    *) return 0 ;; # it never came up
    esac
}

finish() {
    status=$?
    trap - EXIT
    halt || status=1
    [ -z "$work" ] || rm -rf "$work"
    exit "$status"
}

demo() {
    echo
    "$@" || { echo "demo.sh: $1 failed" >&2; failed=1; }
}

started=0
failed=0
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

work=$(mktemp -d "${TMPDIR:-/tmp}/covey-demo.XXXXXX") || exit 1
echo "Starting a virtual machine of 4 virtual hosts on this machine ..."
apart covey start --local 4 --name "$COVEY_VM" || { echo "demo.sh: the virtual machine did not start" >&2; exit 1; }
started=1

demo "$build/matmul" --tasks 4 --size 3000 --check
demo "$build/sort" --tasks 4 --keys 16M --check
demo "$build/mandel" --tasks 4 --size 1200x900 --check --output "$work/mandel.png"

halt || failed=1
started=0
[ "$failed" = 0 ] && mv "$work/mandel.png" "$here/mandel.png" && echo && echo "The picture is in mandel.png."
exit "$failed"
