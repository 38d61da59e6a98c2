#!/bin/bash
# covey bench collectives: every algorithm of every call is measured, and the table that it writes
# is one that the library reads and goes by.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tool/bench.sh

expect "a table that cannot be written is told before anything is measured" \
    refuses 1 "--write $dir/none/table: No such file" collectives --write "$dir/none/table"
expect "two virtual hosts" covey start --local 2 >/dev/null
expect "a table is of collectives alone" refuses 2 '--write' barrier --write "$dir/table"
expect "one task is no team" refuses 2 'at least 2' collectives -n 1
expect "what is no call is named" refuses 2 '--call bcast,none' collectives --call bcast,none
expect "calls are of collectives alone" refuses 2 '--call' barrier --call bcast
expect "two calls alone are measured" bench collectives -n 2 --sizes 8 --rounds 1 --batch 1 --call allgather,barrier --json
expect "which are those" test "$(grep -o '"operation": *"[a-z_]*"' "$dir/out" | sort | tr -d ' \n')" = '"operation":"allgather""operation":"barrier"'
expect "all is measured" bench collectives -n 3 --sizes 8,2K --rounds 2 --batch 100 --json --write "$dir/table"
operations='barrier bcast scatter gather allgather reduce allreduce reduce_scatter scan alltoall'
for operation in $operations; do
    expect "$operation is measured, and has a row" eval \
        "tr -d ' \n' <'$dir/out' | grep -q '\"operation\":\"$operation\",\"members\":3' && grep -q '^$operation .* \* ' '$dir/table'"
done

# ---- the library goes by it ----

covey halt >/dev/null
printf 'bcast * * linear # all of them\nbarrier * * tree\n' | cat - "$dir/table" >"$dir/mine"
export COVEY_COLLECTIVES=$dir/mine
expect "a virtual machine whose tasks have the table" covey start --local 1 >/dev/null
expect "it is measured again" bench collectives -n 2 --sizes 8 --rounds 1 --batch 1 --json
tr -d ' \n' <"$dir/out" >"$dir/flat"
expect "the file says linear" grep -q '"operation":"bcast"[^{]*"chosen":"linear"' "$dir/flat"
expect "the file says tree" grep -q '"operation":"barrier"[^{]*"chosen":"tree"' "$dir/flat"
covey halt >/dev/null
echo 'bcast * * fastest' >"$dir/mine"
expect "a virtual machine whose table has a mistake" covey start --local 1 >/dev/null
expect "the mistake is named" refuses 1 'mine:1: the operation has no such algorithm' collectives -n 2 --sizes 8
finish
