# app.sh - to be sourced by a suite of the programs in apps/: what tests/report.sh gives, $BUILD as an
# absolute path, which is in PATH with the demos of $BUILD/apps (sort is the demo then), a scratch folder $work, and a name of the VM that is the suite's own. What
# runs when the suite ends is halted, and $work removed.
#
#   run COMMAND...                      what it prints and says stays in $work/out and $work/err
#   fails_with STATUS TEXT COMMAND...   it says one line with TEXT (a pattern) and ends so
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
BUILD=$(realpath "$BUILD")
work=$(mktemp -d)
export COVEY_VM=apps.$$ PATH=$BUILD/apps:$BUILD:$PATH
unset COVEY_ROUTE COVEY_SOCKET

finish_vm() {
    covey halt >/dev/null 2>&1
    rm -rf "$work"
}
trap finish_vm EXIT

run() {
    timeout 60 "$@" >"$work/out" 2>"$work/err"
    local status=$?
    [ $status = 0 ] || cat "$work/out" "$work/err"
    return $status
}
fails_with() {
    local expected=$1 text=$2
    shift 2
    timeout 60 "$@" >"$work/out" 2>"$work/err"
    local status=$?
    [ $status = "$expected" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qe "$text" "$work/err" && return
    echo "status $status: $(cat "$work/err")"
    return 1
}
