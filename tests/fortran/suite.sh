# suite.sh - to be sourced by a suite of another language: runs programs of tests/LANGUAGE/ on a virtual machine of
# two hosts, and checks that they call all that covey.h has.
. tests/local_vm.sh

needs_programs() { # what is missing, program
    [ -x "$BUILD/$2" ] || { echo "skipped: $1" && exit 77; }
}

program() { # name, command...: each line `ok ...` or `not ok ...` is a test
    local name=$1
    shift
    "$@" >"$dir/out" 2>&1 </dev/null
    local status=$?
    sed 's/^\[*t[0-9a-f]*[^ ]* *//; s/^[^ ]*: *\(ok\|not ok\)/\1/' "$dir/out" >"$dir/lines"
    count_lines "$name" <"$dir/lines"
    [ $status = 0 ] || bad "$name" "ended with $status"
}

# The calls of covey.h that the programs reach, by the symbols that they need: functions that are inline, or of a
# module, are there only where they are called.
calls_are_all() { # names that are reached, one a line
    sort -u "$1" >"$dir/reached"
    sort -u "$BUILD/covey.names" | comm -23 - "$dir/reached" >"$dir/left"
    tr '\n' ' ' <"$dir/left"
    expect "the tests call all $(wc -l <"$BUILD/covey.names") calls of covey.h" [ ! -s "$dir/left" ]
}
