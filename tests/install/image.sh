#!/bin/bash
# image.sh - share/container/Containerfile: podman builds the image of the Debian packages in PACKAGES, on a base that
# mmdebstrap makes, so that no registry is asked; two containers of it become hosts of a virtual machine of this
# machine, and two others come together by the image's entry point.
#
# tests/install/package.sh runs it, for it needs packages and fetches a Debian from the network.
set -u
cd "$(dirname "$0")/../.." || exit 1
PACKAGES=$(realpath "${PACKAGES:-build/deb}")
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
# shellcheck source=tests/container/podman.sh
. tests/container/podman.sh
trap 'case $BASHPID in $$) covey halt >/dev/null 2>&1; podman_end; rm -rf "$dir" ;; esac' EXIT
why=$(podman_usable) || { skip "the image of the Containerfile" "$why"; finish; }

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
base() { mmdebstrap --quiet --variant=apt "$release" - 2>"$dir/said" | "$dir/podman" import -q - localhost/base >/dev/null; }
if ! base || ! "$dir/podman" image exists localhost/base; then
    tail -n 5 "$dir/said" | sed 's/^/    /'
    skip "the image of the Containerfile" "mmdebstrap cannot make a base here"
    finish
fi

said() { "$@" >"$dir/out" 2>&1 || { tail -n 20 "$dir/out" && return 1; }; }
builds() { # only the packages go to podman: what was built of them lies beside
    mkdir "$dir/packages" && cp "$PACKAGES"/*.deb "$dir/packages" && rm -f "$dir"/packages/*-dbgsym_*.deb &&
        said "$dir/podman" build --pull=never --isolation=chroot --network=host --build-arg BASE=localhost/base -t localhost/covey \
            -f share/container/Containerfile "$dir/packages"
}
expect "podman builds the image" builds

# ---- hosts of a VM that has others, as the guide says ----

expect "a VM starts" covey start --local 1
# shellcheck disable=SC2016 # for the shell of the daemon
template='exec "$COVEY_PODMAN" run --rm --interactive --pull=never --network=host --log-driver=none --entrypoint= $COVEY_PODMAN_RUN localhost/covey {command} --attached'
added() { said covey add c1 c2 --template "$template" --coveyd /usr/bin/coveyd; }
expect "two containers become hosts" added
version=$(dpkg-deb -f "$dir"/packages/coveyd_*.deb Version)
inside() { # the program is the image's, and so is what it finds
    covey run --host c1,c2 --cwd / dpkg-query -Wf '${Version}\n' coveyd >"$dir/out" 2>&1
    [ "$(grep -cx "$version" "$dir/out")" = 2 ] || { cat "$dir/out" && return 1; }
}
expect "tasks run in them" inside
none_left() { [ -z "$("$dir/podman" ps -aq)" ]; }
removed() { covey remove c1 c2 && within 20 none_left; }
expect "covey remove ends the containers" removed

# ---- containers that come together by themselves ----

port=$((20000 + $$ % 20000))
printf '%064d\n' 7 >"$dir/key"
chmod 400 "$dir/key"
dial() { # number, command...
    local number=$1
    shift
    # shellcheck disable=SC2086
    exec "$dir/podman" run --rm --pull=never --network=host --log-driver=none $COVEY_PODMAN_RUN --hostname "pod-$number" --env XDG_RUNTIME_DIR=/tmp \
        --volume "$dir/key:/key:ro" localhost/covey --leader 127.0.0.1 --hosts 2 --key /key --index "$number" --port "$port" -- covey with "$@"
}
together() {
    local other status
    (dial 1 --each hostname) >"$dir/out.1" 2>&1 &
    other=$!
    (dial 0 --each hostname) >"$dir/out" 2>&1
    status=$?
    wait $other
    cat "$dir/out" "$dir/out.1"
    [ $status = 0 ] && [ "$(grep -c '^pod-[01]$' "$dir/out")" = 2 ] && within 20 none_left
}
expect "two containers come together by the entry point of the image" together
finish
