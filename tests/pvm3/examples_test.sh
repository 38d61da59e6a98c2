#!/bin/bash
# timeout: 180
# Debian's programs of PVM, as they were built for PVM's own libraries, by library path alone: the
# examples, a timetable by tablix2, NetPIPE, and the module of S-Lang; on one host, and some on
# three. Where they are not installed there is nothing to run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
. tests/pvm3/examples.sh

# The sources of the examples, as they are. starter.c compiles with PVM's headers no more than with ours.
sources() {
    local archive=/usr/share/doc/pvm-examples source said
    [ -e $archive/examples.tar.gz ] || { skip "the examples' sources" "pvm-examples is not installed"; return; }
    tar -C "$dir" -xzf $archive/examples.tar.gz && tar -C "$dir" -xzf $archive/gexamples.tar.gz
    said=
    for source in "$dir"/examples/*.c "$dir"/gexamples/*.c; do
        case $source in */starter.c) continue ;; esac
        ${CC:-cc} -w -std=gnu89 -Ilib/pvm3/include -fsyntax-only "$source" 2>&1 || said=failed
    done
    expect "the examples in C compile unchanged" test -z "$said"
    command -v gfortran >/dev/null || return
    for source in "$dir"/examples/*.f "$dir"/gexamples/*.f; do
        gfortran -w -std=legacy -Ilib/pvm3/include -fsyntax-only "$source" 2>&1 || said=failed
    done
    expect "the examples in Fortran compile unchanged" test -z "$said"
}

loads_into_programs
sources
covey start --local 1 >/dev/null || bad "a virtual machine starts"
examples "one host"
together spmd 4 'token ring done' spmd
together fspmd 3 'token ring done' fspmd
for test in dbwtest ibwtest pbwtest rbwtest; do
    together $test 2 '100000 doubles received correctly' $test
done
mailboxes
handlers
timetable
netpipe h0
slang h0
covey halt >/dev/null

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
examples "three hosts"
together "spmd on three hosts" 6 'token ring done' spmd
finish
