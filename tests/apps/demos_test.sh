#!/bin/bash
# The demos on a virtual machine of three hosts here: right results over every route, of any number of
# tasks, files, figures as JSON; and clear ends when something is wrong.
# timeout: 180
set -u
cd "$(dirname "$0")/../.."
. tests/apps/app.sh

says() { grep -qe "$1" "$work/out" || { cat "$work/out" && false; }; }

# ---- without a virtual machine ----

expect "without a VM: what to do" fails_with 1 "covey start --local 4" "$BUILD/apps/matmul" --size 10
expect "a wrong number is refused" fails_with 2 "is not an integer" "$BUILD/apps/sort" --keys many
expect "a wrong route is refused" fails_with 2 "none of auto" "$BUILD/apps/mandel" --route pigeon
expect "a stray word is refused" fails_with 2 "is not an option" "$BUILD/apps/mandel" again
expect "a number of tasks that is no square is refused" fails_with 2 "no square" "$BUILD/apps/matmul" --tasks 3
expect "a grid wider than the matrix is refused" fails_with 2 "rows to share" "$BUILD/apps/matmul" -N 2 -q 3
for demo in matmul sort mandel; do
    expect "$demo --help" run "$BUILD/apps/$demo" --help
done

# ---- on one ----

covey start --local 3 >/dev/null || bad "a virtual machine starts"
small_mandel=(--size 150x100 --iterations 300)
for route in shm udp tcp auto; do
    expect "matmul over $route" run "$BUILD/apps/matmul" --size 301 -q 2 --route $route --check
    expect "sort over $route" run "$BUILD/apps/sort" --keys 100003 -n 4 --route $route --check
    expect "mandel over $route" run "$BUILD/apps/mandel" "${small_mandel[@]}" -n 4 --route $route --check
done
expect "matmul in two levels, uneven blocks" run "$BUILD/apps/matmul" --size 301 -q 6 --hierarchical --check
expect "matmul in two levels, four groups of four" run "$BUILD/apps/matmul" --size 128 --hierarchical --check
expect "a grid that has no groups is refused" fails_with 2 "prime" "$BUILD/apps/matmul" -q 3 --hierarchical
expect "matmul in phases, uneven blocks" run "$BUILD/apps/matmul" --size 301 -q 3 --phases --check
expect "two strategies at once are refused" fails_with 2 "only one" "$BUILD/apps/matmul" --phases --bag
expect "matmul out of a bag, uneven blocks" run "$BUILD/apps/matmul" --size 301 -q 4 -n 5 --bag --check
expect "matmul out of a bag, by Freivalds' method" run "$BUILD/apps/matmul" --size 200 --bag --check --freivalds
expect "sort out of a bag" run "$BUILD/apps/sort" --keys 100003 -n 5 --bag --check
expect "three keys out of a bag" run "$BUILD/apps/sort" --keys 3 -n 4 --bag --check
equal_keys=$work/equal_keys
awk 'BEGIN { for (i = 0; i < 5000; i++) print int(i * i / 7) % 3 - 1 }' >"$equal_keys"
expect "equal keys out of a bag" run "$BUILD/apps/sort" --input "$equal_keys" -n 5 --bag --check
expect "no keys out of a bag" run "$BUILD/apps/sort" --keys 0 --bag --check
for algorithm in auto local tree sample histogram hypercube; do
    expect "sort by the library, $algorithm" run "$BUILD/apps/sort" --keys 50021 -n 3 --algorithm $algorithm --check
done
expect "its algorithm is named" grep -q "50021 keys by hypercube in a team of 3 tasks" "$work/out"
expect "no keys by the library" run "$BUILD/apps/sort" --keys 0 -n 3 --algorithm sample --check
expect "equal keys by the library" run "$BUILD/apps/sort" --input "$equal_keys" -n 5 --algorithm auto --check
expect "what the library expected" run "$BUILD/apps/sort" --keys 1000 -n 2 --algorithm auto --explain --baseline 0
expect "is a table" grep -q "^histogram " "$work/err"
expect "two ways to sort are refused" fails_with 2 "only one" "$BUILD/apps/sort" --algorithm tree --bag
expect "an unknown algorithm is a failure" eval '! timeout 60 "$BUILD/apps/sort" --keys 10 -n 2 --baseline 0 -a bubbles >"$work/out" 2>"$work/err"'
expect "which is said" grep -q "has no 'bubbles'" "$work/err"
expect "mandel out of a bag" run "$BUILD/apps/mandel" "${small_mandel[@]}" -n 5 --bag --check
expect "matmul on 3 x 3 tasks, uneven blocks" run "$BUILD/apps/matmul" --size 1000 -q 3 --check
expect "matmul, more tasks than columns in a panel" run "$BUILD/apps/matmul" --size 5 -q 5 --check
expect "matmul by Freivalds' method" run "$BUILD/apps/matmul" --size 300 --check --freivalds
expect "its method is named" says "Freivalds"
for tasks in 1 3 7; do
    expect "sort on $tasks tasks" run "$BUILD/apps/sort" --keys 10007 -n $tasks --check
done
expect "sort of nothing" run "$BUILD/apps/sort" --keys 0 --check
expect "sort of fewer keys than tasks" run "$BUILD/apps/sort" --keys 2 -n 5 --check
expect "mandel with more workers than rows" run "$BUILD/apps/mandel" --size 30x3 -n 5 --check
expect "mandel with strips of 7 rows" run "$BUILD/apps/mandel" "${small_mandel[@]}" --strip 7 --check
expect "mandel on named hosts" run "$BUILD/apps/mandel" "${small_mandel[@]}" --hosts h1,h2
expect "an unknown host is refused" fails_with 1 "'h9' is not in the" "$BUILD/apps/mandel" --hosts h0,h9

# ---- files and figures ----

seq 5000 | shuf --random-source=<(yes) | sed 's/^/-/; 3s/-//' >"$work/keys"
/usr/bin/sort -n "$work/keys" >"$work/expected"
expect "sort of a text file" run "$BUILD/apps/sort" --input "$work/keys" --output "$work/sorted" --check
expect "its order is that of sort(1)" cmp "$work/sorted" "$work/expected"
echo "1 two 3" >"$work/broken"
expect "a broken file is refused" fails_with 1 "key 2, 'two'" "$BUILD/apps/sort" --input "$work/broken"
expect "a picture is written" run "$BUILD/apps/mandel" "${small_mandel[@]}" --output "$work/picture.png"
expect "it is a PNG" test "$(head -c 8 "$work/picture.png" | od -An -tx1)" = " 89 50 4e 47 0d 0a 1a 0a"
expect "a product is written" run "$BUILD/apps/matmul" --size 100 -q 3 --output "$work/product"
expect "it is 100 x 100 doubles" test "$(stat -c %s "$work/product")" = 80000
expect "a folder that is not there is refused" fails_with 1 "cannot write" \
    "$BUILD/apps/mandel" "${small_mandel[@]}" --baseline 0 --output "$work/none/picture.png"
expect "figures as JSON" run "$BUILD/apps/mandel" "${small_mandel[@]}" --json --baseline 3
for key in total_s computation_s communication_s idle_s speedup; do
    expect "JSON has $key" says "^  \"$key\": [0-9]"
done

# ---- what must not hang ----

worker_pid() { # demo, its pid: the pid of a spawned task of that demo, and not of the one before, which may be ending
    local pid
    until pid=$(covey ps | awk -v demo="$1" '$0 ~ demo " *--worker" { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) { print $i; exit } }') && [ -n "$pid" ]; do
        kill -0 "$2" 2>/dev/null || return
        sleep 0.05
    done
    echo "$pid"
}
kill_a_worker() { # COMMAND...
    timeout 300 "$@" >"$work/out" 2>"$work/err" &
    local demo=$! pid
    pid=$(worker_pid "$(basename "$1")" $demo)
    [ -n "$pid" ] && kill -KILL "$pid"
    wait $demo
    local status=$?
    [ $status = 1 ] && grep -q "killed by signal 9" "$work/err" && return
    echo "status $status: $(cat "$work/err")"
    return 1
}
expect "a worker of mandel is killed" kill_a_worker "$BUILD/apps/mandel" --size 4000x4000 -m 60000 -n 3 --baseline 0
expect "a task of matmul is killed" kill_a_worker "$BUILD/apps/matmul" --size 9000 -q 2 --baseline 0
# Its work lies in a bag: the others do it. What the demo leaves is that of an undisturbed run. One that was
# over before a worker could be killed is run again.
outlives_a_worker() { # DEMO ARGUMENT...
    local demo=$1 pid pid_of_demo _
    shift
    run "$BUILD/apps/$demo" "$@" --baseline 0 --output "$work/undisturbed" || return
    for _ in {1..20}; do
        timeout 300 "$BUILD/apps/$demo" "$@" --bag --baseline 0 --output "$work/bereaved" >"$work/out" 2>"$work/err" &
        pid_of_demo=$!
        pid=$(worker_pid "$demo" $pid_of_demo)
        [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null
        wait $pid_of_demo && cmp "$work/undisturbed" "$work/bereaved" || break
        grep -q "signal 9.*the others do its work" "$work/err" && return
    done
    cat "$work/err"
    return 1
}
expect "mandel out of a bag goes on without a worker" outlives_a_worker mandel --size 600x600 -n 4
expect "matmul out of a bag goes on without a task" outlives_a_worker matmul --size 1500 -n 4
expect "sort out of a bag goes on without a task" outlives_a_worker sort --keys 4M --format binary -n 4
no_tasks() { ! covey ps | grep -q -e --worker; }
expect "the other tasks are ended" within 10 no_tasks
expect "the virtual machine ends" covey halt
trap 'rm -rf "$work"' EXIT
finish
