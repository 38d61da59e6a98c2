#!/bin/bash
# sysroot.sh ARCH DIR - unpacks the libraries that Covey links for another Debian architecture below
# DIR; the C library is that of the cross compiler.
#
# apt-get keeps all it needs to know of that architecture below DIR/apt: neither the packages nor the
# architectures of this machine change, and no privilege is needed.
set -u
arch=$1
root=$2
packages=(libsodium-dev libev-dev libinih-dev libpcap0.8-dev libcunit1-dev libzstd-dev)

foreign_apt() { # apt-get or apt-cache, its words
    local program=$1
    shift
    "$program" -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
        -o Dir::State::lists="$root/apt/lists" -o Dir::State::status="$root/apt/status" \
        -o Dir::Cache="$root/apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The shared libraries that the -dev packages are for, and those that they need in turn; the C library
# is there already.
runtime_packages() {
    foreign_apt apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "${packages[@]}" |
        grep -E '^lib[a-z0-9.+-]*$' | grep -vE -- '-dev$|^libc6|^libcrypt1$|^libgcc|^libelogind' | sort -u
}

unpack() {
    local package runtime
    cd "$root/apt/packages" || return
    foreign_apt apt-get update || echo "apt-get update failed; trying with what is known." >&2
    runtime=$(runtime_packages)
    # shellcheck disable=SC2086
    foreign_apt apt-get download "${packages[@]}" $runtime || return
    for package in *.deb; do
        dpkg -x "$package" "$root" || return
    done
    # some lie in /lib still: the linker and the loader are told of one folder
    [ ! -d "$root/lib" ] || cp -a "$root/lib/." "$root/usr/lib"
}

[ -e "$root/complete" ] && exit 0
rm -rf "$root"
mkdir -p "$root"/apt/{lists/partial,cache/archives/partial,packages}
root=$(realpath "$root")
touch "$root/apt/status"
(unpack) >"$root/log" 2>&1 || {
    echo "cannot unpack ${packages[*]} for $arch: $(tail -n 1 "$root/log")"
    exit 1
}
rm -rf "$root/apt"
touch "$root/complete"
