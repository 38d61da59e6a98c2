#!/bin/bash
# libraries.sh - the solvers of libcovey_domain, measured. Each part is a script beside this one.
#
#   tests/bench/libraries.sh [PART...]      (default: all)
#
#   choice   what is chosen beside each algorithm that is forced, on three networks (root)
#   load     what is chosen while 2 of 8 hosts are loaded from outside, beside the ideal (root)
#   rivals   beside other programs for the same problems
set -u
here=$(cd "$(dirname "$0")" && pwd)
status=0
[ $# -gt 0 ] || set -- choice load rivals
for part; do
    script=$here/libraries_$part.sh
    case $part in
    choice | load | rivals) ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    [ -x "$script" ] || { echo "libraries.sh: there is no part $part yet" >&2; continue; }
    echo "== $part"
    "$script" || status=$?
done
exit $status
