# podman.sh - to be sourced by a suite with virtual machines whose tasks or hosts are containers: podman with a store
# of its own below $dir, in COVEY_PODMAN, and images that are made of this machine's files: no registry is asked.
#
#   podman_usable        whether containers can be started here; otherwise says why
#   tree_add FILE...     puts programs with their shared libraries in the folder $dir/tree
#   tree_crypto          the library that daemons encrypt with, which they load when they run
#   image_make NAME      makes an image of that
#
# crun refuses a machine that has both generations of control groups: podman sees the older ones alone there. Root
# without CAP_SYS_RESOURCE cannot raise a limit that podman has lowered.
cat >"$dir/podman" <<END
#!/bin/sh
set -- podman --root "$dir/storage" --runroot "$dir/runroot" --storage-driver vfs --cgroup-manager cgroupfs "\$@"
[ -e /sys/fs/cgroup/unified ] && [ "\$(id -u)" = 0 ] || exec "\$@"
exec unshare -m sh -c 'umount -l /sys/fs/cgroup/unified; exec "\$@"' sh "\$@"
END
chmod 755 "$dir/podman"
processes=$(ulimit -Hu)
[ "$processes" != unlimited ] && [ "$processes" -lt 32768 ] || processes=32768
export COVEY_PODMAN=$dir/podman COVEY_PODMAN_RUN="--ulimit nproc=$processes:$processes --ulimit nofile=$(ulimit -n):$(ulimit -Hn)"
mkdir -p "$dir/tree/tmp"

tree_add() {
    local file library
    for file; do
        mkdir -p "$dir/tree/bin"
        cp -L "$file" "$dir/tree/bin/"
        for library in $(ldd "$file" | grep -o '/[^ ]*'); do
            mkdir -p "$dir/tree${library%/*}"
            cp -Ln "$library" "$dir/tree$library"
        done
    done
}

tree_crypto() {
    local library
    library=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p | awk '$1 == "libcrypto.so.3" {print $NF; exit}')
    mkdir -p "$dir/tree${library%/*}"
    cp -L "$library" "$dir/tree$library"
}

image_make() { # name
    tar -C "$dir/tree" -c . | "$dir/podman" import -q - "$1" >/dev/null
}

podman_usable() {
    command -v podman >/dev/null || { echo "podman is not installed: scripts/deps.sh install containers"; return 1; }
    tree_add /bin/sh
    local said
    # shellcheck disable=SC2086
    said=$(image_make localhost/tried 2>&1 && "$dir/podman" run --rm --network=host --pid=host --log-driver=none $COVEY_PODMAN_RUN localhost/tried sh -c : 2>&1) ||
        { echo "podman starts no container here: ${said##*$'\n'}"; return 1; }
}

podman_end() {
    [ -d "$dir/storage" ] || return
    "$dir/podman" rm -f -a -t 0 >/dev/null 2>&1
    "$dir/podman" rmi -f -a >/dev/null 2>&1
}
