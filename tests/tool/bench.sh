# bench.sh - to be sourced by the suites of covey bench: a scratch folder and virtual machines of this
# one (tests/local_vm.sh), and how a benchmark is run. What one prints is in $dir/out and $dir/err.
. tests/local_vm.sh

bench() { timeout 60 covey bench "$@" >"$dir/out" 2>"$dir/err" </dev/null; }

# One line that says why; wrong usage is told before anything is measured.
refuses() { # status, pattern, arguments
    local status
    bench "${@:3}"
    status=$?
    [ $status -eq "$1" ] && { [ "$1" = 1 ] || [ ! -s "$dir/out" ]; } && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
        grep -qE -- "$2" "$dir/err" && return
    echo "covey bench ${*:3}: status $status, said:" && cat "$dir/out" "$dir/err" && false
}
