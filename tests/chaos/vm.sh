# vm.sh - to be sourced by the suites of this folder: stories of a VM of local hosts
# (tests/local_vm.sh), and what must be true after each.
. tests/local_vm.sh
export HOME=$dir

printf '[daemon]\nfail_timeout = %s\n' "${FAIL_TIMEOUT:-2}" >"$dir/fast.conf"

limited=() # command that limits the first daemon, before its name

start_vm() { # hosts besides h0
    local names=() i
    "${limited[@]}" "$BUILD/coveyd" --local --config "$dir/fast.conf" || return 1
    for ((i = 1; i <= $1; i++)); do names+=("h$i"); done
    [ "$1" -eq 0 ] || covey add --launcher local "${names[@]}" >/dev/null
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
    start_vm "$hosts" && "$@" || status=$?
    [ $status -eq 0 ] || tail -n 20 "$dir"/run/covey/*/*.log
    halt_vm || status=1
    if [ $status -eq 0 ]; then ok "$name"; else bad "$name" "${seed:+replay with SEED=$seed}"; fi
}
