# suite.sh - to be sourced by a suite of the package for Python: runs tests/python/NAME.py of NAME_test.sh on a
# virtual machine of some hosts, with the first python3 that has what the package needs.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh

python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import cffi, numpy' 2>/dev/null && python=$candidate && break
done

# What the extension is built with must be in the process from its beginning.
sanitizer_of() { # program
    case $(nm -D "$1" 2>/dev/null) in
    *__asan_init*) echo libasan.so ;;
    *__tsan_init*) echo libtsan.so ;;
    esac
}

python_suite() { # name, hosts
    [ -n "$python" ] || { echo "skipped: $1: no python3 has cffi and numpy" && exit 77; }
    local extension=$BUILD/python/covey/_covey.abi3.so library
    [ -e "$extension" ] || { echo "skipped: $1: Covey was built without its package for Python" && exit 77; }
    library=$(sanitizer_of "$extension")
    [ "$library" != libtsan.so ] || { echo "skipped: $1: Python itself knows nothing of the thread sanitizer" && exit 77; }
    covey start --local "$2" >"$dir/started" || bad "a virtual machine of $2 hosts starts"
    export PYTHONPATH=$BUILD/python:$PWD/tests/python PYTHONDONTWRITEBYTECODE=1 COVEY_TEST_DIR=$dir
    # Python keeps what it allocated until its end
    ${library:+env LD_PRELOAD=$(${CC:-cc} -print-file-name=$library) ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"} \
        "$python" tests/python/runner.py "$1" >"$dir/out" 2>&1
    local status=$?
    sed '$d' "$dir/out"
    add_sum "$dir/out"
    skipped=$((skipped + $(grep -c '^skipped: ' "$dir/out")))
    grep -qE '^[0-9]+ passed, ' "$dir/out" || { tail -n 1 "$dir/out" && bad "$1" "ended with $status"; }
    expect "the virtual machine ends" covey halt
    finish
}
