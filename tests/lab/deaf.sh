# deaf.sh - to be sourced by suites of the lab, inside a VM of it: hosts that hear no raw frames of ours.

# The hosts hear them no more, while IP goes on; or do again.
deaf() { # yes or no, HOST...
    local host how=$1
    shift
    for host; do
        if [ "$how" = yes ]; then
            nsenter --net="/run/netns/covey-lab.$LAB.$host" nft -f - <<'END' || return
table netdev deaf {
    chain in {
        type filter hook ingress device eth0 priority 0
        ether type 0x88b5 drop
    }
}
END
        else
            nsenter --net="/run/netns/covey-lab.$LAB.$host" nft delete table netdev deaf || return
        fi
    done
}
