# real.sh - to be sourced by a suite that compares with PVM 3 itself: a PVM of its own on one host.
#
#   real_installed      whether it is there
#   real_start          starts it; ends with the suite by real_halt
#   real PROGRAM...     runs a program with PVM's own libraries, in that PVM
real_installed() { command -v pvmd >/dev/null && [ -e /usr/lib/pvm3/lib/pvmgetarch ]; }

real() { # program...
    env -u LD_LIBRARY_PATH -u PVMSOCK -u PVMEPID PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64 PVM_ALLOW_ROOT=1 \
        PVM_VMID="covey$$" PVM_TMP="$dir/real" HOME="$dir/real" "$@"
}

real_start() {
    mkdir -p "$dir/real"
    printf '* ep=/usr/bin wd=%s\n127.0.0.1\n' "$dir/real" >"$dir/real/hosts"
    (cd "$dir/real" && real setsid pvmd -n127.0.0.1 "$dir/real/hosts" </dev/null >"$dir/real/pvmd.out" 2>&1 &)
    within 10 test -f "$dir/real/pvmd.$(id -u).covey$$"
}

real_halt() { # the console is ended by a signal
    { real timeout 10 pvm <<<halt; } >/dev/null 2>&1
    within 10 test ! -f "$dir/real/pvmd.$(id -u).covey$$"
}
