#!/bin/bash
# timeout: 240
# aimk_test.sh - programs of PVM are built out of $PVM_ROOT as its users do it: by aimk, a Makefile.aimk
# and the definitions of the architecture; with the folder as it was built and as it was installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
if sanitized "$BUILD/pvm3/libpvm3.so"; then
    skip "aimk" "programs cannot load a library with a sanitizer"
    finish
fi
unset PVM_ROOT PVM_ARCH PVM_PATH PVM_WD PVM_VMID LD_LIBRARY_PATH LD_RUN_PATH
export HOME=$dir
arch=$("$BUILD/pvm3/pvmgetarch")

# A master that starts three of itself by name and adds up what they send.
project() { # folder
    mkdir "$1"
    cat >"$1/Makefile.aimk" <<'END'
LDIR = -L$(PVM_ROOT)/lib/$(PVM_ARCH)
LIBS = $(LDIR) -lgpvm3 -lpvm3 $(ARCHLIB)
XDIR = $(HOME)/pvm3/bin/$(PVM_ARCH)
CFLAGS = -g -Wall -Werror $(ARCHCFLAGS) -I$(PVM_ROOT)/include
sum: ../sum.c
	$(CC) $(CFLAGS) -o $@ ../sum.c $(LIBS)
	mkdir -p $(XDIR)
	cp $@ $(XDIR)
fsum: ../fsum.f
	gfortran -w $(ARCHFFLAGS) -I$(PVM_ROOT)/include -o $@ ../fsum.f $(LDIR) -lfpvm3 $(LIBS)
END
    cat >"$1/sum.c" <<'END'
#ifdef HASSTDLIB
#include <stdlib.h>
#endif
#include <pvm3.h>
#include <stdio.h>
int main(void)
{
    int tids[3], x = abs(-7), sum = 0;
    if (pvm_parent() > 0)
        return pvm_psend(pvm_parent(), 1, &x, 1, PVM_INT) < 0 || pvm_exit() < 0;
    pvm_spawn("sum", NULL, PvmTaskDefault, "", 3, tids);
    for (int i = 0; i < 3 && pvm_precv(-1, 1, &x, 1, PVM_INT, NULL, NULL, NULL) == PvmOk; i++)
        sum += x;
    printf("sum %d of %d\n", sum, pvm_joingroup("adders") + 3);
    return pvm_exit() < 0;
}
END
    cat >"$1/fsum.f" <<'END'
      program fsum
      include 'fpvm3.h'
      integer tid, info, i, k
      double precision d
      call pvmfmytid(tid)
      call pvmfinitsend(PVMDEFAULT, info)
      call pvmfpack(INTEGER4, 3, 1, 1, info)
      call pvmfpack(REAL8, 0.5d0, 1, 1, info)
      call pvmfsend(tid, 1, info)
      call pvmfrecv(tid, 1, info)
      call pvmfunpack(INTEGER4, i, 1, 1, info)
      call pvmfunpack(REAL8, d, 1, 1, info)
      k = 2 * (i + d)
      print *, 'sum', k
      call pvmfexit(info)
      end
END
}

# Without PVM_ROOT it is the folder that aimk lies in.
makes() { # project, aimk, word...
    (cd "$1" && shift && "$@") >"$dir/made" 2>&1 || { cat "$dir/made" && return 1; }
}
makes_c() { makes "$1" "$2" && grep -qx "making in $arch/ for $arch" "$dir/made" && [ -x "$1/$arch/sum" ]; }
runs() { # what it prints, program
    timeout 60 "$2" >"$dir/printed" 2>&1
    grep -qE "^ *$1\$" "$dir/printed" || { cat "$dir/printed" && return 1; }
}

# What configure scripts of PVM's users look for.
looked_for() { # root
    local file
    for file in include/pvm3.h include/fpvm3.h lib/pvmgetarch lib/aimk "lib/$arch/libpvm3.a" \
        "bin/$arch/pvmgs" "conf/$arch.def"; do
        [ -r "$1/$file" ] || { echo "no $file" && return 1; }
    done
    [ -z "$(sed -n '/^ARCHLIB/s/[^-]*//p' "$1/conf/$arch.def")" ]
}

from_c() { # root
    printf '%s\n' "FUNCTION(pvmfspawn) ARGS(\`STRING_ARG(task), flag, STRING_ARG(where), count')" \
        'STRING_ARG_DECL(task); len(STRING_PTR(task), STRING_LEN(task))' \
        "FUNCTION(pvmfkill) ARGS(\`tid')" | m4 "$1/conf/$arch.m4" - >"$dir/expanded"
    diff - "$dir/expanded" <<'END'
pvmfspawn_ (task_ptr, flag, where_ptr, count, task_len, where_len)
char *task_ptr; long task_len; len(task_ptr, task_len)
pvmfkill_ (tid)
END
}

tree() { # what, root
    local place=$dir/$1
    project "$place"
    expect "$1: what configure looks for" looked_for "$2"
    expect "$1: aimk makes in a folder of the architecture" makes_c "$place" "$2/lib/aimk"
    expect "$1: the program finds its libraries, and the others by name" runs 'sum 21 of 3' "$place/$arch/sum"
    rm -f "$dir/pvm3/bin/$arch/sum"
    if command -v gfortran >/dev/null; then
        expect "$1: aimk makes a program in Fortran" makes "$place" env PVM_ROOT="$2" "$2/lib/aimk" fsum
        expect "$1: which runs" runs 'sum +7' "$place/$arch/fsum"
    else
        skip "$1: Fortran" "gfortran is not installed"
    fi
    if command -v m4 >/dev/null; then
        expect "$1: how Fortran calls a function" from_c "$2"
    else
        skip "$1: how Fortran calls a function" "m4 is not installed"
    fi
}

covey start --local 1 >/dev/null || bad "a virtual machine starts"
tree built "$BUILD/pvm3"
prefix=$dir/usr
expect "make install" make --no-print-directory install BUILD="$BUILD" PREFIX="$prefix" >"$dir/log" 2>&1 || cat "$dir/log"
tree installed "$prefix/lib/covey/pvm3" # tests/install removes it again

# ---- the lines of covey-pvm(7) ----

manual() { # compiler
    command -v "$1" >/dev/null || { skip "the line of the manual for $1" "it is not installed"; return; }
    cp "$dir/built/sum.c" "$dir"
    cp "$dir/built/fsum.f" "$dir/sum.f"
    grep "^$1 .*sum" lib/pvm3/covey-pvm.7 >"$dir/line"
    compiles() { (cd "$dir" && PVM_ROOT=$BUILD/pvm3 sh -e ./line >said 2>&1 || { cat said && return 1; }); }
    expect "the line of the manual for $1" compiles
}
manual cc
manual gfortran

# ---- which makefile it takes ----

aimk=$BUILD/pvm3/aimk
mkdir -p "$dir/which/$arch"
cd "$dir/which" || exit 1
said() { # status, line, word...
    local status=$1 line=$2
    shift 2
    "$@" >"$dir/made" 2>&1
    [ $? = "$status" ] && grep -qE "$line" "$dir/made" || { cat "$dir/made" && return 1; }
}
printf 'all:\n\t@echo "plain $(PVM_ARCH) $(WORD)"\n' >Makefile
expect "where there is no Makefile.aimk make runs here" said 0 "^plain $arch x\$" "$aimk" WORD=x
printf 'all:\n\t@echo "shared $(HASRANLIB)"\nfail:\n\t@exit 3\n' >Makefile.aimk
expect "Makefile.aimk goes before Makefile" said 0 '^shared t$' "$aimk" all
expect "but not with -here" said 0 "^plain $arch\b" "$aimk" -here all
expect "the status is that of make" said 2 'Error 3' "$aimk" fail
expect "PVM_ARCH may be set, and is refused that has no definitions" \
    said 1 '/conf/NONE.def: cannot be read' env PVM_ARCH=NONE "$aimk"
printf 'all:\n\t@echo "of the folder, $(PVM_ARCH)"\n' >"$arch/Makefile"
expect "a Makefile in the folder goes first" said 0 "^of the folder, $arch\$" "$aimk"
finish
