#!/bin/bash
# check.sh adds up what suites report, and nothing that goes wrong in a suite is lost.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/scripts" "$tree/tests/shell"
cp scripts/check.sh scripts/suites.sh "$tree/scripts/"

suite() { # name, what it does
    echo "$2" >"$tree/tests/shell/$1_test.sh"
}
check() { # suites -> what check.sh prints
    (cd "$tree" && BUILD=$tree/build scripts/check.sh "${@/#/tests/shell/}" 2>&1)
}
last_line_is() { # line, suites
    local line=$1 said
    shift
    said=$(check "$@")
    [ "$(tail -n 1 <<<"$said")" = "$line" ] || { echo "$said" && false; }
}
says() { # text, suites
    local text=$1
    shift
    check "$@" | grep -qF "$text"
}
# The checkout's own suites, by name.
file_of() { [ "$(scripts/suites.sh "$1")" = "$2" ]; } # name, file
refuses() { # name, one near it
    ! env -u SUITES make -n suites SUITE="$1" >"$tree/refused" 2>&1 && grep -q "no suite $1; near it:.* $2" "$tree/refused"
}
names_are_unique() {
    local file names
    names=$(for file in $(scripts/suites.sh '*'); do scripts/suites.sh --name "$file"; done | sort)
    [ "$(wc -l <<<"$names")" -gt 100 ] && [ -z "$(uniq -d <<<"$names")" ]
}
one_is_run() { # name, file without its ending
    local would
    would=$(env -u SUITES make -n suites SUITE="$1") && grep -q "scripts/check.sh $2[.]c\$" <<<"$would"
}
fails() { ! check "$@" >/dev/null; }

suite good 'echo "3 passed, 0 failed, 2 skipped"'
suite silent 'true'
suite bad 'echo "the reason"; echo "1 passed, 2 failed, 0 skipped"; exit 1'
for how in shell:'FAILED: a name: a reason' lab:'a name ... FAILED
    a reason' c:'a name ... FAILED: a name
    x_test.c:7: a == b' task:'[t40001] not ok a name' python:'FAILED: a name
Traceback (most recent call last):
AssertionError: 1 != 2'; do
    suite "early_${how%%:*}" "cat <<'END'
${how#*:}
END
seq 100; echo '1 passed, 1 failed, 0 skipped'; exit 1"
done
suite crash 'echo "5 passed, 0 failed, 0 skipped"; kill -SEGV $$'
suite liar 'echo "5 passed, 0 failed, 0 skipped"; exit 1'
suite unable 'exit 77'
suite hang '# timeout: 1
sleep 60'
suite orphan 'setsid sleep 60 >/dev/null 2>&1 & exit 0'
suite litter 'echo x >"$XDG_RUNTIME_DIR/litter"'

expect "suites are added up" last_line_is "4 passed, 0 failed, 2 skipped" good_test.sh silent_test.sh
expect "failures are counted" last_line_is "4 passed, 2 failed, 2 skipped" good_test.sh bad_test.sh
expect "a failure is the exit status" fails good_test.sh bad_test.sh
expect "a failing suite's words are shown" says "the reason" bad_test.sh
expect "what failed is shown though much follows it" says "| FAILED: a name: a reason" early_shell_test.sh
expect "what is said behind it" says "|     a reason" early_lab_test.sh
expect "a condition of CUnit" says "|     x_test.c:7: a == b" early_c_test.sh
expect "a task's line" says "| [t40001] not ok a name" early_task_test.sh
expect "an exception of Python" says "| AssertionError: 1 != 2" early_python_test.sh
expect "and the end" says "| 100" early_shell_test.sh
expect "a crash after the last line is a failure" last_line_is "5 passed, 1 failed, 0 skipped" crash_test.sh
expect "an exit status beats the line" last_line_is "5 passed, 1 failed, 0 skipped" liar_test.sh
expect "status 77 is a skip" last_line_is "1 passed, 0 failed, 1 skipped" silent_test.sh unable_test.sh
expect "a hang is a failure" last_line_is "0 passed, 1 failed, 0 skipped" hang_test.sh
expect "a hang is called one" says "ran out of time" hang_test.sh
expect "a process left behind is named" says "sleep 60" orphan_test.sh
expect "a file left behind is a failure" last_line_is "1 passed, 1 failed, 0 skipped" litter_test.sh
expect "no suite at all is a failure" fails
expect "a suite is found by the name that is printed" file_of unit.window tests/unit/proto/window/window_test.c
expect "one in shell is" file_of hygiene.check tests/hygiene/check_test.sh
expect "no two suites have one name" names_are_unique
expect "make runs the one that SUITE names" one_is_run sim.window tests/sim/window_test
expect "an unknown name is refused with those near it" refuses unit.windo unit.window
expect "one in another folder is near" refuses tool.windows sim.window
finish
