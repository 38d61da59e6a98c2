# crowd.sh - to be sourced by suites of the lab, after tests/report.sh: hosts of a fifth of a core each, on some of
# which somebody else computes. It makes a folder, $dir, which is gone when the suite ends.
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-crowd.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Ends the suite where there can be no lab.
needs_lab() { # NAME
    [ "$(id -u)" = 0 ] && unshare --net --uts true 2>/dev/null && return
    skip "$1" "needs root and network namespaces"
    finish
}

# Runs vm.sh with such hosts, and ends the suite where no host can be held to its part. What they say is in $dir/said.
crowded_vm() { # NAME, what vm.sh takes...
    BUILD=$BUILD tests/lab/vm.sh --hosts 4 --cpu 0.2 --pin "${@:2}" >"$dir/said" 2>&1
    grep -q "controller, which is not mounted" "$dir/said" || return 0
    skip "$1" "there is no cpu cgroup controller here"
    finish
}
