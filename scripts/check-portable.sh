#!/bin/bash
# check-portable.sh [ARCH...] - tests Covey on processors that this machine does not have: s390x
# (big-endian, 64 bits), arm64 (little-endian, 64 bits) and armhf (little-endian, 32 bits).
#
# For each: cross-compiles the library, coveyd and the test programs below $BUILD/portable/ARCH, runs the
# unit and simulator suites and the fuzzers' seeds under qemu-user, and then tests/portable: a virtual
# machine of native and foreign daemons whose native and foreign tasks exchange every type.
# An architecture whose packages cannot be had here is skipped with the reason. The last line is
# `N passed, N failed, N skipped`.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
[ $# -eq 0 ] && set -- s390x arm64 armhf
passed=0 failed=0 skipped=0

describe() { # arch -> triplet and emulator
    case $1 in
    s390x) triplet=s390x-linux-gnu emulator=qemu-s390x ;;
    arm64) triplet=aarch64-linux-gnu emulator=qemu-aarch64 ;;
    armhf) triplet=arm-linux-gnueabihf emulator=qemu-arm ;;
    *)
        echo "check-portable.sh: there is no architecture '$1' (s390x, arm64 or armhf)" >&2
        exit 2
        ;;
    esac
    [ "$(dpkg --print-architecture 2>/dev/null)" != "$1" ]
}

cross_make() { # targets
    make --no-print-directory -j"$(nproc)" DECLARING= BUILD="$out" CC="$triplet-gcc" AR="$triplet-ar" \
        OBJCOPY="$triplet-objcopy" CFLAGS="-O2 -isystem $root/usr/include" \
        LDFLAGS="-L$root/usr/lib/$triplet -Wl,--disable-new-dtags,-rpath,$root/usr/lib/$triplet" "$@"
}

cross_build() {
    mkdir -p "$out"
    touch "$out/deps.ok" "$out/test-deps.ok" # its libraries lie in the sysroot, not where deps.sh looks
    cross_make lib daemon tests
}

# A foreign program as one that this machine can execute, as a binfmt entry would make it.
wrap() { # program, wrapper
    mkdir -p "$(dirname "$2")"
    printf '#!/bin/sh\nexec %s -L /usr/%s %s "$@"\n' "$emulator" "$triplet" "$1" >"$2"
    chmod +x "$2"
}

add_up() { # log
    local p=0 f=1 s=0
    read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$1" | tail -n 1)
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
}

skip() { # reason
    echo "        skipped: $arch: $*"
    skipped=$((skipped + 1))
}

check_arch() {
    local suites native=$BUILD
    wrap "$out/coveyd" "$out/run/coveyd"
    wrap "$out/tests/portable/exchange" "$out/run/exchange"
    suites=$(cross_make print-portable-suites)
    # shellcheck disable=SC2086
    BUILD=$out CHECK_RUNNER="$emulator -L /usr/$triplet" CHECK_TIMEOUT_FACTOR=5 \
        COVEY_NATIVE=$native COVEY_FOREIGN=$out/run COVEY_FOREIGN_ARCH=$arch \
        scripts/check.sh $suites tests/portable/exchange_test.sh | tee "$out/check.log"
    add_up "$out/check.log"
}

for arch; do
    out=$BUILD/portable/$arch
    root=$out/sysroot
    describe "$arch" || { skip "it is this machine's own architecture"; continue; }
    echo "# $arch"
    mkdir -p "$out"
    scripts/deps.sh install "$arch" >"$out/deps.log" 2>&1 || { skip "$(tail -n 1 "$out/deps.log")"; continue; }
    reason=$(scripts/sysroot.sh "$arch" "$root") || { skip "$reason"; continue; }
    cross_build || { failed=$((failed + 1)); continue; }
    check_arch
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
