#!/bin/bash
# timeout: 120
# R: parLapply() and its like on a virtual machine of four hosts, and workers that die.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
command -v Rscript >/dev/null || { echo "skipped: R is not installed" && exit 77; }
[ -e "$BUILD/r/covey/DESCRIPTION" ] || { echo "skipped: Covey was built without its package for R" && exit 77; }

covey start --local 4 >"$dir/started" || bad "a virtual machine of four hosts starts"
R_LIBS=$BUILD/r timeout 100 Rscript --vanilla tests/r/cluster.R >"$dir/out" 2>"$dir/errors" </dev/null
status=$?
count_lines "parallel on covey" <"$dir/out"
[ $status = 0 ] || { tail -n 5 "$dir/errors" && bad "the program" "ended with $status"; }
workers_left() { covey ps 2>/dev/null | grep -c 'coveyWorker'; }
expect "no worker is left" [ "$(workers_left)" = 0 ]
expect "the virtual machine ends" covey halt
finish
