#!/bin/bash
# package.sh - builds the Debian packages, has lintian examine them, and installs them in a Debian of their
# own, where an ordinary user runs demos; then purges them, which must leave nothing. Where podman is there, image.sh
# makes an image of them.
#
# `make check-package` runs it, and not make check: it compiles all once more, and fetches a Debian from the
# network, which takes minutes. PACKAGES=FOLDER: packages that are built.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh

# ---- in the new Debian, which mmdebstrap has made and removes ----

inside() { # its folder
    local root=$1
    in_it() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
    installs() { in_it sh -c 'apt-get -q -y install --no-install-recommends /packages/*.deb' >"$root/packages/log" 2>&1 || { tail -n 30 "$root/packages/log" && return 1; }; }
    # without caches, logs, and what dpkg and the loader write themselves
    files() {
        find "$root" -xdev \( -path "$root/proc" -o -path "$root/sys" -o -path "$root/dev" -o -path "$root/tmp" -o -path "$root/packages" -o \
            -path "$root/var/cache" -o -path "$root/var/log" -o -path "$root/var/lib/dpkg" -o -path "$root/var/lib/apt" \) -prune -o -print |
            sed "s|^$root||" | sort
    }
    groups_of() { sort "$root/etc/group" "$root/etc/gshadow" "$root/etc/passwd"; }
    as_user() { in_it setpriv --reuid 1000 --regid 1000 --init-groups env HOME=/home/anna "$@"; }
    demo() { as_user sh /packages/demo; }
    of_group() { [ "$(in_it stat -c '%U %G %a' "$1")" = "root $2" ] || { in_it stat "$1" && false; }; }
    raw_is_ready() {
        in_it getcap /usr/libexec/covey/covey-raw | grep 'cap_net_raw=ep$' || grep 'covey-raw gets no capability here' "$root/packages/log"
    }
    same_version() { [ "$(in_it covey --version)" = "covey $(in_it dpkg-query -Wf '${Version}' covey)" ]; }
    pages() { in_it test -s /usr/share/doc/covey/html/index.html; }
    # covey is found by its users' shells, and the unit by systemd
    in_place() { [ -s "$root/usr/share/bash-completion/completions/covey" ] && [ -s "$root/usr/lib/systemd/user/covey@.service" ]; }
    purges() {
        local names
        names=$(for file in "$root"/packages/*.deb; do dpkg-deb -f "$file" Package; done)
        # shellcheck disable=SC2086
        in_it apt-get -q -y purge --autoremove $names >"$root/packages/log" 2>&1 || { tail -n 30 "$root/packages/log" && return 1; }
    }
    left() { diff "$root/packages/before" <(files) | head -n 20 | grep . && return 1; diff "$root/packages/groups" <(groups_of); }

    in_it useradd --create-home --uid 1000 anna
    install -d -m 755 "$root/packages" && install -m 644 "$packages"/*.deb debian/tests/demo "$root/packages"
    rm -f "$root"/packages/*-dbgsym_*.deb
    files >"$root/packages/before"
    groups_of >"$root/packages/groups"
    expect "the packages are installed" installs
    expect "covey is of the version of its package" same_version
    expect "covey-raw is for the group covey" of_group /usr/libexec/covey/covey-raw "covey 750"
    expect "and has its capability" raw_is_ready
    expect "completion and the unit are where they are looked for" in_place
    expect "the guides are there" pages
    expect "an ordinary user runs demos on four virtual hosts" demo
    expect "the packages are purged" purges
    expect "which leaves nothing" left
    finish
}
if [ "${1:-}" = --inside ]; then
    packages=$PACKAGES
    inside "$2"
fi

# ---- here ----

BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-package.XXXXXX")
trap 'rm -rf "$work"' EXIT

builds() { make --no-print-directory BUILD="$BUILD" deb >"$work/log" 2>&1 || { tail -n 40 "$work/log" && return 1; }; }
clean_by_lintian() { lintian --allow-root --fail-on error,warning "$PACKAGES"/*.changes; }
same_again() { # the archive, made from what was unpacked of it
    local archive
    archive=$(ls "$BUILD"/covey-*.tar.xz)
    mkdir "$work/again" && tar -xf "$archive" -C "$work/again" && "$work"/again/*/scripts/dist.sh "$(basename "$archive" .tar.xz | cut -d- -f2)" "$work" &&
        cmp "$archive" "$work/$(basename "$archive")"
}
if [ -z "${PACKAGES:-}" ]; then
    expect "dpkg-buildpackage builds them, from the archive of make dist" builds
    expect "make dist makes the same archive of what it has made" same_again
fi
export PACKAGES=${PACKAGES:-$BUILD/deb}
expect "lintian finds nothing" clean_by_lintian

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
if ! mmdebstrap --quiet --variant=apt --format=null "$release" /dev/null --customize-hook="bash $PWD/tests/install/package.sh --inside \"\$1\" >&2" \
    >"$work/said" 2>&1 && ! grep -q ' passed, ' "$work/said"; then
    sed 's/^/    /' "$work/said" | tail -n 20
    skip "in a Debian of their own" "mmdebstrap cannot make one here"
else
    sed 's/^/    /' "$work/said"
    add_sum "$work/said"
fi
bash tests/install/image.sh >"$work/image" 2>&1
sed 's/^/    /' "$work/image"
add_sum "$work/image"
finish
