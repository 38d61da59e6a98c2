# language_vm.sh - to be sourced by a suite of another language, in place of local_vm.sh: runs its programs on virtual
# machines of two hosts, and checks that they call all that covey.h has.
. tests/local_vm.sh
export XDG_STATE_HOME=$dir/state COVEY_TEST_DIR=$dir
mkdir -p "$XDG_STATE_HOME"

needs() { # program, what is missing where it was not built
    [ -x "$BUILD/$1" ] || { echo "skipped: $2" && exit 77; }
}

# Each line `ok ...` or `not ok ...` is a test. covey run puts the task's name before it.
program() { # name, command...
    local name=$1 status
    shift
    "$@" >"$dir/out" 2>&1 </dev/null
    status=$?
    count_lines "$name" < <(sed 's/^[^ ]*[]:] *\(ok\|not ok\) /\1 /' "$dir/out")
    [ $status = 0 ] || bad "$name" "ended with $status"
}

# A function of a module, or one that is inline, is a symbol of a program's object only where it is called.
calls_all() { # the names that are reached, from the standard input
    sort -u >"$dir/reached"
    sort -u "$BUILD/covey.names" | comm -23 - "$dir/reached" | tr '\n' ' ' >"$dir/left"
    [ -s "$dir/left" ] && echo "not called: $(cat "$dir/left")"
    expect "the programs call all $(wc -l <"$BUILD/covey.names") calls of covey.h" [ ! -s "$dir/left" ]
}

# A call of which nobody has said what its arguments are for.
refuses_the_unknown() { # script and what it takes besides the declarations
    jq '.functions.covey_novelty = {returns: "int", arguments: [{name: "what", type: "void *"}]}' "$BUILD/covey.json" \
        >"$dir/novelty.json"
    local python
    for python in python3 /usr/bin/python3; do "$python" -c '' 2>/dev/null && break; done
    ! "$python" -B "$1" "$dir/novelty.json" "${@:2}" 2>"$dir/error" && grep -q "covey_novelty()" "$dir/error"
}
