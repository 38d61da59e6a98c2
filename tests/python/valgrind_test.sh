#!/bin/bash
# timeout: 120
# Python: valgrind finds no access and no memory of the extension, or of the library by it, that is wrong or lost.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
suppressions=/usr/lib/valgrind/python3.supp # Debian's valgrind has CPython's own
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed" && exit 77; }
[ -e $suppressions ] || { echo "skipped: valgrind has no suppressions for python3" && exit 77; }
/usr/bin/python3 -c 'import cffi, numpy' 2>/dev/null || { echo "skipped: /usr/bin/python3 has no cffi and numpy" && exit 77; }
[ -e "$BUILD/python/covey/_covey.abi3.so" ] || { echo "skipped: Covey was built without its package for Python" && exit 77; }
[ -z "$(sanitizer_of "$BUILD/python/covey/_covey.abi3.so")" ] || { echo "skipped: valgrind runs no program of a sanitizer" && exit 77; }

# Of the log, what names the extension or the library: an error, or memory that is lost for certain. What cffi itself
# keeps of a module from its import on is none of ours.
ours() {
    sed 's/^==[0-9]*== \{0,1\}//' "$dir/log" | awk -v RS= '
        /^ *(Invalid|Conditional|Use of|Syscall param|Mismatched|Jump|Source and)/ || /definitely lost in loss record/ {
            if (/[ (\/_]covey|_cffi_/ && !/_cffi_init/) { print; print ""; found = 1 } }
        END { exit !found }'
}

covey start --local 2 >"$dir/started" || bad "a virtual machine of two hosts starts"
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc
timeout 110 valgrind --suppressions=$suppressions --leak-check=full --show-leak-kinds=definite --num-callers=30 \
    --log-file="$dir/log" /usr/bin/python3 -B tests/python/valgrind.py >"$dir/out" 2>&1 </dev/null
expect "a program in Python comes to its end under valgrind" grep -qx done "$dir/out" || tail -n 20 "$dir/out"
expect "valgrind looked for lost memory" grep -q 'LEAK SUMMARY\|no leaks are possible' "$dir/log"
nothing_of_ours() { ! ours; }
expect "none of what it found is of the extension or the library" nothing_of_ours
expect "the virtual machine ends" covey halt
finish
