# vm.sh - to be sourced by the suites of this folder: a VM of local hosts in a runtime directory of
# its own, and what must be true after it.
BUILD=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-chaos.XXXXXX")
export XDG_RUNTIME_DIR=$dir/run COVEY_VM=chaos$$ HOME=$dir
unset COVEY_SOCKET COVEY_ROUTE
mkdir -m 700 "$dir/run"
# a child that is killed before it executes anything would tidy up, too
trap '[ "$BASHPID" = $$ ] && { "$BUILD/covey" halt 2>/dev/null; rm -rf "$dir"; }' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

printf '[daemon]\nfail_timeout = %s\n' "${FAIL_TIMEOUT:-2}" >"$dir/fast.conf"

covey() { "$BUILD/covey" "$@"; }

limited=() # command that limits the first daemon, before its name

start_vm() { # hosts besides h0
    local names=() i
    "${limited[@]}" "$BUILD/coveyd" --local --config "$dir/fast.conf" || return 1
    for ((i = 1; i <= $1; i++)); do names+=("h$i"); done
    [ "$1" -eq 0 ] || covey add --launcher local "${names[@]}" >/dev/null
}

socket_of() { echo "$dir/run/covey/$COVEY_VM/$1.sock"; } # host

daemon_pid() { # host
    local pid
    for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        [ "$(readlink "/proc/$pid/exe")" = "$BUILD/coveyd" ] &&
            [ "$(readlink "/proc/$pid/fd/2")" = "$dir/run/covey/$COVEY_VM/$1.log" ] && echo "$pid"
    done
}

# What daemons that were killed left is removed by the last one that ends in order.
nothing_left() { [ -z "$(find "$dir/run" -mindepth 1)" ]; }

halt_vm() {
    covey halt || return 1
    within 15 nothing_left || { find "$dir/run" -mindepth 1; return 1; }
}

story() { # name, hosts besides h0, command...: on a VM of its own
    local name=$1 hosts=$2 status=0
    shift 2
    case $name in *"${TEST:-}"*) ;; *) return ;; esac
    start_vm "$hosts" || { bad "$name" "the VM does not start"; return; }
    "$@" || status=$?
    [ $status -eq 0 ] || tail -n 20 "$dir"/run/covey/*/*.log
    halt_vm || status=1
    if [ $status -eq 0 ]; then ok "$name"; else bad "$name" "${seed:+replay with SEED=$seed}"; fi
}
