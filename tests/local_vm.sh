# local_vm.sh - to be sourced by a suite in shell that has virtual machines on this machine: what
# tests/report.sh gives, $BUILD as an absolute path, a scratch folder $dir, and a runtime and a
# configuration directory and a name of the VM that are the suite's own. covey, coveyd and
# covey-bench are in PATH, and not the demos of $BUILD/apps, of which one is another sort. What runs
# when the suite ends is halted, and $dir removed.
#
#   socket_of HOST     what COVEY_SOCKET must be for a task that is to be that host's
#   daemons            the process ids of all daemons of the suite
#   daemon_pid HOST    that of one
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
suite=$(basename "$0" _test.sh)
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-$suite.XXXXXX")
export BUILD COVEY_VM=$suite-$$ XDG_RUNTIME_DIR=$dir/run XDG_CONFIG_HOME=$dir/config COVEY_SOLVERS=$dir/solvers PATH=$BUILD:$PATH
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_COLLECTIVES COVEY_TOPOLOGY COVEYD
mkdir -m 700 "$dir/run"
mkdir -p "$dir/config/covey"

# A child that is killed before it executes anything would tidy up, too. It is told apart by case: in
# such a child the status of [ is sometimes that of the command that the signal interrupted.
trap 'case $BASHPID in $$) covey halt >/dev/null 2>&1; rm -rf "$dir" ;; esac' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

socket_of() { echo "$dir/run/covey/$COVEY_VM/$1.sock"; } # host

daemons() { # the process ids of those that this suite started
    local pid
    for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        [ "$(readlink "/proc/$pid/exe")" = "$BUILD/coveyd" ] && echo "$pid"
    done
}

daemon_pid() { # host: the one that writes its log
    local pid
    for pid in $(daemons); do
        [ "$(readlink "/proc/$pid/fd/2")" = "$dir/run/covey/$COVEY_VM/$1.log" ] && echo "$pid"
    done
}

# A program that starts its members itself, each of which says "ok COUNT members ..." or "not ok". They end by
# themselves, but for one that kills itself: the status says nothing.
run_members() { # name, program, count, options of covey run
    local name=$1 program=$2 count=$3
    covey run -n 1 --host h0 "${@:4}" "$BUILD/tests/conformance/$program" "$count" >"$dir/out" 2>&1
    sed 's/^/    /' "$dir/out"
    if grep -q ": *ok $count members\|^ok $count members" "$dir/out" && ! grep -q 'not ok' "$dir/out"; then
        ok "$name: $(grep -o "ok $count members.*" "$dir/out")"
    else
        bad "$name"
    fi
}
