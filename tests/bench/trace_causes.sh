#!/bin/bash
# trace_causes.sh - how often `covey trace --why` names first what was made to be wrong, in labs of four hosts (tests/lab; needs
# root): RUNS=20 runs of each of
#   host    a host that has half of its processor for others
#   link    a host whose link has a tenth of the rate of others
#   trunk   pairs of tasks that all talk over the link of two switches
#   task    a task that computes twenty times as long
#   lock    a lock that a task holds while it computes
#   bag     a bag with one worker
# or of CAUSES. What is named in its place is printed. Each host has a fifth of a core.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
export BUILD RUNS=${RUNS:-20}
unset COVEY_TRACE

# Inside, on the first host of the lab.
runs() { # FOLDER, CAUSE, PATTERN OF WHAT IS TO BE NAMED, OPTIONS OF COVEY RUN AND THE PROGRAM'S WORDS...
    local named=0 i
    for ((i = 0; i < RUNS; i++)); do
        covey run --trace "$1/trace" "${@:4}" >"$1/out" 2>&1 || { cat "$1/out"; continue; }
        covey trace --why "$1/trace" >"$1/why" 2>&1
        if grep -qE "^1\. .*($3)" "$1/why"; then
            named=$((named + 1))
        else
            sed -n '/^1\./s/^/  instead: /p' "$1/why" | cut -c1-150
        fi
    done
    echo "$2: named first in $named of $RUNS runs"
}

if [ "${1:-}" = --inside ]; then
    runs "${@:2}"
    exit
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench-causes.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cause() { # NAME, PATTERN, OPTIONS OF vm.sh..., --, WORDS OF THE PROGRAM...
    local lab=() name=$1 pattern=$2
    shift 2
    while [ "$1" != -- ]; do lab+=("$1") && shift; done
    shift
    case " ${CAUSES:-host link trunk task lock bag} " in *" $name "*) ;; *) return ;; esac
    tests/lab/vm.sh --cpu 0.2 "${lab[@]}" -- bash "$PWD/tests/bench/trace_causes.sh" --inside "$dir" "$name" "$pattern" "$@" | grep -v joined
}

cat >"$dir/link" <<'END'
switch s
host h1 s 100M
host h2 s 100M
host h3 s 10M
host h4 s 100M
END
cat >"$dir/trunk" <<'END'
switch s t
host h1 s 100M
host h2 s 100M
host h3 t 100M
host h4 t 100M
link s t 10M
END
traced=$BUILD/tests/tool/traced
cause host 'h3 is slow|on h3 kept the others waiting: it computed' --hosts 4 --hog h3 -- -n 4 "$traced" ring 8
cause link 'from h3 to|to h3 were' --topology "$dir/link" -- -n 4 "$traced" ring 200000
cause trunk 'from h[12] to h[34]|from h[34] to h[12]|turn' --topology "$dir/trunk" -- -n 4 "$traced" cross 100000
cause task 'kept the others waiting: it computed [1-9][0-9][0-9.]* times' --hosts 4 -- -n 4 "$traced" slow
cause lock "the lock 'gate'" --hosts 4 -- -n 4 "$traced" lock
cause bag 'results of a bag' --hosts 4 -- -n 2 "$traced" bag
