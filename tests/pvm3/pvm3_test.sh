#!/bin/bash
# timeout: 180
# Programs of PVM 3, each of which tries a part of its calls: what they print on Covey is what they
# print on PVM 3.4.6. Where PVM is installed the same program is run there, too, but for those named
# covey_..., which show what PVM does not.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
. tests/pvm3/real.sh

# Tids, and the order of what the two streams of a child carry, differ.
normal() { sed -E 's/\[t[0-9a-f]+\]/[t]/g'; }

on_covey() { # program
    LD_LIBRARY_PATH=$BUILD/pvm3:$BUILD PVM_WD=$dir timeout 300 "$BUILD/tests/pvm3/$1" 2>&1 </dev/null | normal
}

# What PVM prints depends on which of its processes a busy machine lets run first: it has three tries.
on_pvm() { # program
    local try
    for try in 1 2 3; do
        real timeout 300 "$BUILD/tests/pvm3/$1" 2>&1 </dev/null | normal >"$dir/$1.real"
        same "$1" "tests/pvm3/$1.expected" "$dir/$1.real" && return
    done
    return 1
}

same() { # name, expected, printed
    diff -u "$2" "$3" >"$3.diff" && return
    head -n 30 "$3.diff"
    false
}

printf '[launch]\nlauncher = exec\ntemplate = exec {command} --local\n' >"$XDG_CONFIG_HOME/covey/covey.conf"
covey start --local 1 >/dev/null || bad "a virtual machine starts"
for source in tests/pvm3/*.c; do
    name=$(basename "$source" .c)
    [ "$name" != survive ] || continue # see survive_test.sh
    on_covey "$name" >"$dir/$name"
    expect "$name prints the same on Covey as on PVM" same "$name" "tests/pvm3/$name.expected" "$dir/$name"
done

# Tasks that covey run started, of which the first has ended before the others ask.
family() {
    covey run -n 4 env LD_LIBRARY_PATH="$BUILD/pvm3:$BUILD" "$BUILD/tests/pvm3/covey_family" member >"$dir/family" 2>&1
    [ "$(sort "$dir/family" | uniq -c | tr -s ' ')" = ' 4 4 siblings, found itself 1 times, apart 6' ] || { cat "$dir/family" && false; }
}
expect "siblings of one covey run" family

if real_installed && ! sanitized "$BUILD/tests/pvm3/buffer"; then
    expect "a PVM starts" real_start
    for source in tests/pvm3/*.c; do
        name=$(basename "$source" .c)
        case $name in covey_* | survive) continue ;; esac
        expect "$name prints on PVM what is expected" on_pvm "$name"
    done
    expect "the PVM ends" real_halt
else
    skip "the comparison with PVM" "it is not installed, or cannot load a library with a sanitizer"
fi

# ---- Fortran ----

if command -v gfortran >/dev/null && ! sanitized "$BUILD/tests/pvm3/buffer"; then
    fortran() { # headers, program, options...
        gfortran -std=legacy -w -I"$1" -o "$2" tests/pvm3/fortran.f "${@:3}" -lfpvm3 -lgpvm3 -lpvm3
    }
    expect "fpvm3.h compiles" fortran lib/pvm3/include "$dir/fortran.covey" -L"$BUILD/pvm3" \
        -Wl,-rpath-link,"$BUILD"
    LD_LIBRARY_PATH=$BUILD/pvm3 timeout 300 "$dir/fortran.covey" >"$dir/fortran" 2>&1 </dev/null
    expect "Fortran prints the same on Covey as on PVM" same fortran tests/pvm3/fortran.expected "$dir/fortran"
    if real_installed && [ -e /usr/include/fpvm3.h ] && fortran /usr/include "$dir/fortran.pvm"; then
        real_start
        real timeout 300 "$dir/fortran.pvm" >"$dir/fortran.real" 2>/dev/null </dev/null # sometimes it says that there is no handler
        expect "Fortran prints on PVM what is expected" same fortran tests/pvm3/fortran.expected "$dir/fortran.real"
        real_halt
    fi
else
    skip "Fortran" "gfortran is not installed, or its program cannot load a library with a sanitizer"
fi

# ---- headers ----

if [ -e /usr/include/pvmtev.h ]; then
    ${CC:-cc} -w -o "$dir/constants.own" tests/pvm3/constants.c
    "$dir/constants.own" >"$dir/constants.pvm"
    expect "PVM's headers have these values" same constants tests/pvm3/constants.expected "$dir/constants.pvm"
else
    skip "PVM's headers" "they are not installed"
fi
finish
