#!/bin/bash
# doc_test.sh - whoever follows README.md and the guides in doc/ word for word gets what they say.
# timeout: 300
#
# Fenced blocks of a guide are taken in order, all in one folder:
#   ```c             a program whose first line is /* pi.c - ... */ is saved as pi.c; each is compiled by a later block
#   ```python        the same in Python: # pi.py - ...; run by a later block
#   ```cpp           the same in C++: /* pi.cpp - ... */
#   ```fortran       the same in Fortran: ! pi.f90 - ...
#   ```r             the same in R: # pi.R - ...; run by a later block
#   ```sh            commands, run by sh -e; each may go on where the last one was (variables, folder)
#   ```sh source     the same in the folder of the sources
#   ```sh copy       the same in a copy of the sources, with what is built of them
#   ```sh fails      the last command fails
#   ```sh lab        the same on the host anna of a lab of four, which reach each other by ssh, as root; else skipped
#   ```sh python     the same with the package for Python, where there is what it needs; else skipped
#   ```sh needs: X   the same where the program X is installed; else skipped
#   ```sh skip: WHY  cannot be run by a test
#   ```text          what the last commands print, compared by says.awk; `varies` and `any-order` behind it
# All other kinds are a mistake. What stands in `code` and begins with covey is looked up: the command and its
# options. Names of functions, of files and of manual pages must be there. Commands in literal blocks
# of manual pages and in indented lines of guides are run on virtual hosts, or tests/doc/elsewhere names the suite that runs them:
# an example that is neither is run here, and fails.
#
# doc_test.sh GUIDE... follows these alone (`manual`: the examples of manual pages); recipes_test.sh does so with doc/contributing.md, which takes longest.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
# shellcheck source=tests/ssh/servers.sh
. tests/ssh/servers.sh
source=$PWD
lab=$source/tests/lab/lab
export LAB=doc-$$ HOME=$dir/you LC_ALL=C.UTF-8
unset MAKEFLAGS MAKELEVEL COVEY_OUTPUT
mkdir "$HOME"
labs_up=
commands_run=0 programs_run=0 commands_elsewhere=0 lines_skipped=0
elsewhere=tests/doc/elsewhere # what stands in a page and is run by another suite

clean_up() {
    case $BASHPID in $$) ;; *) return ;; esac # see tests/local_vm.sh
    covey halt >/dev/null 2>&1
    if [ -n "$labs_up" ]; then
        servers_stop
        "$lab" down
    fi
    rm -rf "$dir"
}
trap clean_up EXIT

# ---- the lab that the tutorial's second half needs: anna, and three hosts with an ssh server each ----

# Each has a home folder of its own, at the same path. What stands for ~/.ssh of anna is $dir/ssh.
host_up() { # NAME
    local address
    address=$("$lab" addr "$1" 4)
    mkdir -p "$dir/hosts/$1"
    alias "$1" "$address" 22 host
    server_configure "$1" < <(
        printf '%s\n' 'ListenAddress 0.0.0.0:22' 'Match all' \
            "SetEnv XDG_RUNTIME_DIR=/run/covey-lab/$LAB/run/$1 COVEY_TEST_SUITE=${COVEY_TEST_SUITE:-}"
        # the user that runs this has another home: whatever comes begins in that of the lab's host
        printf 'ForceCommand exec env HOME=%s PATH=/usr/local/bin:/usr/bin:/bin sh -c "cd && $SSH_ORIGINAL_COMMAND"\n' "$HOME"
    )
    server_start "$1" "$lab" exec "$1" unshare --mount sh -c \
        "mount --bind $dir/hosts/$1 $HOME"' && cd / && exec "$0" "$@"'
}
lab_up() {
    [ -n "$labs_up" ] && return
    labs_up=yes
    printf '%s\n' 'switch floor' 'host anna floor' 'host berta floor' 'host carl floor' 'host dora floor' >"$dir/pool.topology"
    "$lab" up "$dir/pool.topology" --ipv4-only >/dev/null && servers_prepare || return 1
    local name
    for name in berta carl dora; do host_up "$name" || return 1; done
    mkdir "$dir/bin"
    printf '#!/bin/sh\nexec /usr/bin/ssh -F %s "$@"\n' "$dir/ssh/config" >"$dir/bin/ssh"
    chmod 755 "$dir/bin/ssh"
}
no_lab() { # why there can be none, if so
    if [ "$(id -u)" != 0 ]; then
        echo "needs root"
    elif ! unshare --net --uts --mount true 2>/dev/null; then
        echo "namespaces are not allowed here"
    fi
}

# ---- Python with the package as it was built ----

# A folder for PATH whose python3 has what the package needs.
python_up() {
    [ -d "$dir/python" ] && return
    mkdir "$dir/python"
    local candidate
    for candidate in python3 /usr/bin/python3; do
        "$candidate" -c 'import cffi, numpy' 2>/dev/null || continue
        printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$candidate")" >"$dir/python/python3"
        chmod 755 "$dir/python/python3"
        return
    done
}
no_python() { # why there can be none, if so
    python_up
    if [ ! -e "$dir/python/python3" ]; then
        echo "no python3 has cffi and numpy"
    elif [ ! -e "$BUILD/python/covey/_covey.abi3.so" ]; then
        echo "Covey was built without its package for Python"
    fi
}

# ---- a copy of the sources, for recipes that change them ----

# What make finds there is as old as here, so it builds what a recipe changes and no more, and that without optimization
# (compile_quickly). What was built under another name than build/ has dependencies of that name: then all is built.
copy_up() {
    [ -d "$dir/copy" ] && return
    mkdir -p "$dir/copy/build" && tar -cf - --exclude=./build --exclude=./.git . | tar -C "$dir/copy" -xf - || return
    [ "$BUILD" != "$source/build" ] || find "$BUILD" -maxdepth 1 \( ! -type d -o -name obj \) -exec cp -a -t "$dir/copy/build" {} +
}
# A header that many files include costs a recipe most of its time; what its check needs is the program, not a fast one.
compile_quickly="export CFLAGS='${CFLAGS:-} -O0'"

# ---- one block after the other ----

# Runs commands as the reader's shell would, which is told by a file what the last ones left.
cat >"$dir/follow" <<'END'
runtime=${XDG_RUNTIME_DIR:-}
. "$2"
[ -z "$runtime" ] || export XDG_RUNTIME_DIR="$runtime"
[ -z "${3:-}" ] || PATH=$3:$PATH
set -e
. "$1"
set +e
{ export -p; echo "cd '$PWD'"; } >"$2"
END
state_begin() { # FOLDER
    { export -p; echo "cd '$1'"; } | grep -vE '(declare -x|export) (BASH.*|SHLVL|_|OLDPWD|PWD)(=|$)' |
        sed 's/^declare -x /export /' >"$state"
}
follow() { # FILE HOW
    local where=()
    case $2 in *lab*) where=("$lab" exec anna) ;; esac
    timeout 900 "${where[@]}" sh "$dir/follow" "$1" "$state" "${where:+$dir/bin}" </dev/null >"$dir/printed" 2>&1
}

# Counts commands: lines that neither go on from the one before nor are text for a command.
count_commands() { # FILE
    awk '
        ends { if ($0 == ends) ends = ""; next }
        /^ *(#|$)/ { next }
        !goes_on && !/^ *(done|fi|do|then|\}|esac)$/ { n++ }
        { goes_on = /(\\|\||&&)$/ }
        match($0, /<<[A-Z]+/) { ends = substr($0, RSTART + 2, RLENGTH - 2) }
        END { print n + 0 }' "$1"
}

run_block() { # NAME FILE HOW: of kind sh
    local why status n
    n=$(count_commands "$2")
    case $3 in
    skip:*) why=${3#skip: } ;;
    needs:*) why=$(command -v "${3#needs: }" >/dev/null || echo "${3#needs: } is not installed") ;;
    *lab*) why=$(no_lab) ;;
    python) why=$(no_python) ;;
    *) why= ;;
    esac
    if [ -n "$why" ]; then
        skip "$1, $n commands" "$why"
        lines_skipped=$((lines_skipped + n))
        : >"$dir/skipped"
        return
    fi
    rm -f "$dir/skipped"
    case $3 in *lab*) lab_up || { bad "$1" "no lab" && return; } ;; esac
    case $3 in
    *source*) echo "cd '$source'" >>"$state" ;;
    python) echo "export PYTHONPATH='$BUILD/python' PATH='$dir/python':\$PATH" >>"$state" ;;
    *copy*) copy_up && echo "export BUILD=build; $compile_quickly; cd '$dir/copy'" >>"$state" ;;
    esac
    follow "$2" "$3"
    status=$?
    case $3 in *source*) { grep -v '^cd ' "$state" && echo "cd '$folder'"; } >"$state.new" && mv "$state.new" "$state" ;; esac
    case $3 in *fails*) [ $status -ne 0 ] && status=0 || status="0, and the guide says that it fails" ;; esac
    commands_run=$((commands_run + n))
    if [ "$status" = 0 ]; then
        ok "$1: $n commands"
    else
        cat "$2"
        sed 's/^/    | /' "$dir/printed"
        bad "$1" "it ended with $status"
    fi
}

compare() { # NAME FILE HOW
    if [ -e "$dir/skipped" ]; then
        return
    elif awk -v how="$3" -f tests/doc/says.awk "$2" "$dir/printed" >"$dir/differs"; then
        ok "$1 is what is printed"
    else
        cat "$dir/differs"
        sed 's/^/    | /' "$dir/printed"
        bad "$1" "other words were printed"
    fi
}

# A program counts when a later block of the guide names what it is compiled from.
save_program() { # NAME BASE KIND
    local file
    [ -e "$2.name" ] || { bad "$1" "a program does not say in its first line what it is called" && return; }
    read -r file <"$2.name"
    cp "$2.$3" "$(sed -n "s/^cd '\(.*\)'$/\1/p" "$state")/$file"
    if grep -lwF "$file" "$(dirname "$2")"/*.sh >/dev/null 2>&1; then
        programs_run=$((programs_run + 1))
        ok "$1: $file"
    else
        bad "$1" "$file is never compiled, or run"
    fi
}

follow_guide() { # GUIDE
    local guide=$1 base kind how name
    local blocks=$dir/blocks/${guide//\//-}
    folder=$dir/followed/${guide//\//-}
    state=$dir/state
    mkdir -p "$blocks" "$folder"
    awk -v to="$blocks" -f tests/doc/blocks.awk "$guide" || bad "$guide: its blocks end" || return
    state_begin "$folder"
    for how in "$blocks"/*.how; do
        [ -e "$how" ] || return
        base=${how%.how}
        kind=$(cd "$blocks" && ls "$(basename "$base")".* | sed 's/.*\.//' | grep -vE '^(how|line|name)$')
        name="$guide:$(cat "$base.line")"
        case $kind in
        c | python | cpp | fortran | r) save_program "$name" "$base" "$kind" ;;
        sh) run_block "$name" "$base.sh" "$(cat "$how")" ;;
        text) compare "$name" "$base.text" "$(cat "$how")" ;;
        *) bad "$name" "a block of kind '$kind'" ;;
        esac
    done
    covey halt >/dev/null 2>&1
    left=$(daemons)
    expect "$guide leaves no daemon behind" test -z "$left"
}

# ---- what is named is there ----

options_of() { # COMMAND: what `covey help COMMAND` says of it
    [ -e "$dir/help.$1" ] || covey help "$1" >"$dir/help.$1" 2>&1 || return 1
    cat "$dir/help.$1"
}
# `covey COMMAND --option ...`: both are known
known() { # WORDS...
    local command word
    shift # covey
    while [ "${1:-}" = --vm ]; do shift 2; done
    command=${1:-help}
    case $command in --help | --version | '<'* | ...) return ;; esac
    options_of "$command" >/dev/null || { echo "covey $command: there is no such command" && return 1; }
    shift
    for word; do
        case $word in
        --) return ;;
        --*) options_of "$command" | grep -qE -- "(^|[^a-z-])${word%%=*}([^a-z-]|\$)" ||
            { echo "covey $command: there is no ${word%%=*}" && return 1; } ;;
        -*) ;;
        *) [ "$command" = run ] && [[ $word == */* ]] && return ;; # what is behind a program is the program's
        esac
    done
    return 0
}
outside_blocks() { sed '/^```/,/^```$/d' "$1"; } # GUIDE

commands_are_known() { # GUIDE
    local line status=0
    while read -r line; do
        # shellcheck disable=SC2086
        known ${line//[\"\'\`]/} || status=1
    done < <(outside_blocks "$1" | grep -oE '`covey( [^`]*)?`' | tr -d '`' | sort -u)
    return $status
}
find lib/covey.h lib/covey lib/domain/covey_domain -name '*.h' 2>/dev/null | xargs scripts/public-names.sh >"$dir/names"
find lib daemon tools apps conf -name '*.[1-8]' -printf '%f\n' >"$dir/pages"
names_are_known() { # GUIDE: functions of covey.h, pages of the manual
    local name status=0
    for name in $(grep -oE '\bcovey_[a-z_0-9]+\(\)' "$1" | tr -d '()' | sort -u); do
        # those that pack a type are made by a macro
        grep -qx "$name" "$dir/names" || grep -qrhE "COVEY_PACK_TYPED\(${name#covey_*pack_}," lib/covey* ||
            { echo "$name() is in no public header" && status=1; }
    done
    for name in $(outside_blocks "$1" | grep -oE '\bcovey[a-z_.-]*\([1-8]\)' | sort -u); do
        grep -qx "$(echo "$name" | sed 's/(\(.\))/.\1/')" "$dir/pages" || grep -qx "${name%(3)}" "$dir/names" ||
            { echo "there is no page $name" && status=1; }
    done
    return $status
}
files_are_there() { # GUIDE: what is in `code` and looks like a file of the sources
    local file status=0
    for file in $(outside_blocks "$1" | grep -oE '`(proto|lib|daemon|tools|apps|conf|doc|share|scripts|tests)/[A-Za-z0-9_./*-]*`' | tr -d '`' | sort -u); do
        compgen -G "$file" >/dev/null || { echo "$file is not there" && status=1; }
    done
    return $status
}

# ---- the manual's examples in shell ----

# Commands of the page that are to be run, in $dir/example; each of the others has a row in the list. $dir/rows counts those.
examples_of() { # PAGE or GUIDE
    awk -v page="$(basename "$1")" -v list=$elsewhere -v rows="$dir/rows.new" -f tests/doc/examples.awk $elsewhere "$1" |
        sed -e "s|/usr/local|$HOME/covey|g; s|^build/||" >"$dir/example"
    cat "$dir/rows.new" >>"$dir/rows" 2>/dev/null
    rm -f "$dir/rows.new"
}
# What hosts and messages take, and a network, are in files that examples read; the first is the example of its own page.
surroundings() {
    local calibration=$HOME/.local/state/covey/calibration.$COVEY_VM
    mkdir -p "$(dirname "$calibration")"
    sed -n '/^\.nf/,/^\.fi/p' lib/model/covey_calibration.5 | sed '/^\./d; s/\\-/-/g' >"$calibration"
    printf '%s\n' 'switch s' 'host h0 s' 'host h1 s' >"$folder/network"
    ln -sfn "$source/conf" "$folder/conf"
}
# Without gnuplot or jq the same, as far as it goes.
without_missing() {
    if ! command -v gnuplot >/dev/null && grep -qE -- '--(plot|map) ' "$dir/example"; then
        skip "the pictures of $1" "gnuplot is not installed"
        sed -i -E 's/ --(plot|map) [^ ]+//' "$dir/example"
    fi
    if ! command -v jq >/dev/null && grep -q 'jq ' "$dir/example"; then
        skip "what jq does in $1" "jq is not installed"
        sed -i -E 's/\|( jq .*)?$/>json/; /^ *jq /d' "$dir/example"
    fi
}
run_examples() { # PAGE or GUIDE
    local name
    name=$(basename "$1")
    examples_of "$1"
    [ -s "$dir/example" ] || return
    state=$dir/state
    folder=$dir/followed/$name
    mkdir -p "$folder"
    state_begin "$folder"
    surroundings
    without_missing "$name"
    echo "export PATH=\$PATH:$HOME/covey/libexec/covey" >>"$state"
    grep -qE 'covey start|start --local' "$dir/example" || covey start --local 2 >/dev/null
    run_block "the examples of $name" "$dir/example" ""
    covey halt >/dev/null 2>&1
}

# ---- what is run elsewhere ----

# A suite that there is, which has the words in it.
suite_says() { # SUITE WORDS
    local file
    file=$(scripts/suites.sh "$1") && grep -qF -- "${2:-}" "$file"
}
takes_hours() { # GUIDE BEGINNING: the files and options of its lines are there
    local file status=0
    grep -F "    $2" "$1" | grep '^    ' | sed 's/.* -- //; s/#.*//' | grep -E '^covey ' >"$dir/hours"
    while read -r file; do
        # shellcheck disable=SC2086
        known $file || status=1
    done <"$dir/hours"
    for file in $(grep -F "    $2" "$1" | grep -oE '(tests|scripts|conf)/[a-z0-9/._-]+[a-z0-9]'); do
        [ -e "$file" ] || { echo "$file is not there" && status=1; }
    done
    return $status
}
# The list names what there is, and every row is needed.
elsewhere_is_right() {
    local number=0 page beginning who rest
    while read -r page beginning; do
        case $page in '#'* | '') continue ;; esac
        number=$((number + 1))
        who=${beginning##* | } beginning=${beginning#| }
        beginning=$(sed 's/ *| .*//' <<<"$beginning")
        grep -qx "$number" "$dir/rows" || bad "tests/doc/elsewhere" "$page has no '$beginning'"
        case $who in
        text) continue ;;
        hours) expect "$page: $beginning: takes hours; its files and options are there" takes_hours "doc/$page" "$beginning" ;;
        *) rest=${who#*: } && expect "$page: $beginning: is run by ${who%%: *}" suite_says "${who%%: *}" "$rest" ;;
        esac
        commands_elsewhere=$((commands_elsewhere + 1))
    done <"$elsewhere"
}
manual_examples() {
    local page
    for page in $(find lib daemon tools apps conf -name '*.[1-8]' | sort); do run_examples "$page"; done
}

# ---- all of it ----

guides=("$@")
[ $# -gt 0 ] || guides=(README.md $(ls doc/*.md | grep -v contributing) manual) # recipes_test.sh follows that one
begun=$SECONDS
expect "make install" make --no-print-directory install PREFIX="$HOME/covey" >"$dir/log" 2>&1 || cat "$dir/log"
export PATH=$HOME/covey/bin:$PATH PKG_CONFIG_PATH=$HOME/covey/lib/pkgconfig
case ${guides[0]} in
doc/lessons/*) # one VM runs a lesson in C and then in Python: its daemons must know where that is
    python_up
    export PYTHONPATH=$BUILD/python PATH=$dir/python:$PATH
    ;;
esac
for guide in "${guides[@]}"; do
    if [ "$guide" = manual ]; then
        manual_examples
        continue
    fi
    expect "$guide names commands that there are" commands_are_known "$guide"
    expect "$guide names functions and pages that there are" names_are_known "$guide"
    expect "$guide names files that there are" files_are_there "$guide"
    follow_guide "$guide"
    run_examples "$guide"
done
[ $# -gt 0 ] || elsewhere_is_right
[ $# -gt 0 ] || expect "README.md has at most 150 lines" test "$(wc -l <README.md)" -le 150
echo "$commands_run commands and $programs_run programs were run, $commands_elsewhere kinds of them are run by other suites," \
    "$lines_skipped skipped, in $((SECONDS - begun)) s"
finish
