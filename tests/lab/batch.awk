# batch.awk - turns a plain topology (topology.awk) into batches for ip(8) and tc(8).
#
#   awk -v lab=NAME -v dir=DIR -v family=4|6|46 -v mtu=BYTES [-v wires=1] -f batch.awk PLAIN
#
# Writes below DIR:
#   netns       ip batch, in the root namespace: a namespace for the switches and one per host
#   switches    ip batch, in the switches' namespace: bridges, trunks, a veth pair per host whose
#               far end, eth0, is born in the host's namespace
#   ports       tc batch, in the switches' namespace: the shaper of every port and segment
#   segments    nft rules, in the switches' namespace: the way through segments; often empty
#   stations    bridge batch, in the switches' namespace: which host is at which port of a segment,
#               since a segment cannot learn it; what it does not know it gives to all ports
#   ip.HOST     ip batch, in a host's namespace: addresses and permanent neighbours
#   tc.HOST     tc batch, in a host's namespace: the shaper of eth0
#   wires       the table of wire.c: the links that it carries, with wires=1 those of a rate
#   hosts       one line a host: NAME SWITCH BITS PORT IPV4 IPV6 ('-' where it has none)
#   trunks      one line a trunk: SWITCH SWITCH PORT PORT
#
# Interfaces bear numbers (b1, p1, t1a, w1a) since a switch's name may be longer than Linux allows; the
# alias of each says what it is.
#
# Shaping. A token bucket a direction, with a queue behind it: of 128 KiB like a port of a small
# switch, and in a host of 1000 frames, as the kernel gives a card. Each frame counts with the 24
# bytes that Ethernet adds on the wire (preamble, checksum, gap) and as at least 84, so that 100M
# carries what 100BASE-T carries. The bucket holds half a millisecond, but two frames at least:
# enough for a late timer, too little to hide a burst in; one frame of links so slow that no timer is late for them. peakrate is far above any
# rate: with it the bucket takes nothing above mtu and cuts the 64 KiB packets of segmentation
# offload into frames, as a network card without offload would have the kernel do. So a link
# without a limit gets a bucket too, faster than any machine. Checksum offload stays: without it
# older kernels refuse UDP_SEGMENT; lab up --no-offload takes it away.
#
# With wires=1 a link of a rate is two TAP devices instead, and wire.c between them. Only hosts have a bucket of one frame
# besides, a tenth faster than the wire: what a card has not taken yet waits in the host, where TCP knows of it, and not in
# the queue of the wire.
#
# A segment is one medium for all its hosts, each way. It is a bridge with a loop of wire: whatever
# comes in by a port is taken off it before the bridge sees it and sent into the one end of a veth
# pair (w1a) whose shaper has the segment's rate; it enters the bridge by the other end (w1b) and
# goes to its receiver. So all frames of all hosts wait in one queue of 128 KiB. A frame bears the
# number of the port that it came by as its mark: the bridge gives it to all others. A host sends no
# faster than the segment; what it receives has been through the medium and is not limited again.

BEGIN { PORT = 131072; CARD = 1000 * 1538 }

function netns(host) { return "covey-lab." lab (host == "" ? "" : "." host) }

function mac(i) { return sprintf("02:77:00:00:%02x:%02x", int(i / 256), i % 256) }

function ipv4(i) { return sprintf("10.77.%d.%d", int((i - 1) / 250), (i - 1) % 250 + 1) }

function ipv6(i) { return sprintf("fd77::%x", i) }

function shaper(device, bits, queue,    burst, least) {
    burst = is_wire(bits) ? 0 : int(bits / 8 * 0.0005)
    least = bits < 2e6 || is_wire(bits) ? mtu + 62 : 2 * (mtu + 38)
    bits = bits ? bits : 4e11
    burst = burst < least ? least : burst > 1e6 ? 1e6 : burst
    return sprintf("qdisc add dev %s root tbf rate %.0fbit burst %d limit %d overhead 24 mpu 84 peakrate 1tbit mtu %d\n", device, bits, burst, queue, mtu + 100)
}

# Whether wire.c carries a link; a segment is none.
function is_wire(bits) { return wires && bits > 0 }

function tap(device) { return sprintf("tuntap add dev %s mode tap\nlink set %s mtu %d\n", device, device, mtu) }

function port_up(port, bridge, alias) {
    return sprintf("link set %s addrgenmode none alias %s\nlink set %s master %s up\n", port, alias, port, bridge)
}

function write_netns(    i) {
    file = dir "/netns"
    print "netns add " netns("") > file
    for (i = 1; i <= hosts; i++)
        print "netns add " netns(host[i]) > file
    close(file)
}

# A port of a segment bears a number in its marks: hosts first, then the ends of trunks.
function write_wire(i,    k) {
    printf "link add w%da mtu %d type veth peer name w%db mtu %d\n", i, mtu, i, mtu > file
    printf "link set w%da addrgenmode none alias %s up\n", i, switch_name[i] > file
    printf "%s", port_up("w" i "b", "b" i, switch_name[i]) > file
    printf "link set w%db type bridge_slave learning off\n", i > file
}

function write_way(port, segment, number) {
    printf "chain from_%s { type filter hook ingress device \"%s\" priority 0; iifname @cut drop; meta mark set %d fwd to \"w%da\"; }\n", port, port, number, segment > file
}

function write_segments(    i) {
    file = dir "/segments"
    printf "" > file
    if (!segments)
        return
    print "table netdev lab {\nset cut { type ifname; }" > file
    for (i = 1; i <= hosts; i++)
        if (is_segment(host_switch[i]))
            write_way("p" i, number_of[host_switch[i]], i)
    for (i = 1; i <= trunks; i++) {
        if (is_segment(trunk_a[i]))
            write_way("t" i "a", number_of[trunk_a[i]], 2 * i + hosts)
        if (is_segment(trunk_b[i]))
            write_way("t" i "b", number_of[trunk_b[i]], 2 * i + 1 + hosts)
    }
    print "}\ntable bridge lab {\nchain back { type filter hook forward priority 0;" > file
    for (i = 1; i <= hosts; i++)
        if (is_segment(host_switch[i]))
            printf "oifname \"p%d\" meta mark %d drop\n", i, i > file
    for (i = 1; i <= trunks; i++)
        printf "oifname \"t%da\" meta mark %d drop\noifname \"t%db\" meta mark %d drop\n", i, 2 * i + hosts, i, 2 * i + 1 + hosts > file
    print "}\n}" > file
    close(file)
    file = dir "/stations"
    for (i = 1; i <= hosts; i++)
        if (is_segment(host_switch[i]))
            printf "fdb add %s dev p%d master static\n", mac(i), i > file
    close(file)
}

function is_segment(name) { return segment_bits[number_of[name]] > 0 }

# Of a host on a segment: what is not said is the medium's.
function bits_of(h) {
    return host_bits[h] || !is_segment(host_switch[h]) ? host_bits[h] : segment_bits[number_of[host_switch[h]]]
}

function write_switches(    i) {
    file = dir "/switches"
    for (i = 1; i <= switches; i++)
        printf "link add b%d type bridge stp_state 0 mcast_snooping 0 ageing_time 8640000\nlink set b%d addrgenmode none alias %s up\n", i, i, switch_name[i] > file
    for (i = 1; i <= switches; i++)
        if (segment_bits[i])
            write_wire(i)
    for (i = 1; i <= trunks; i++) {
        if (is_wire(trunk_bits[i]))
            printf "%s%s", tap("t" i "a"), tap("t" i "b") > file
        else
            printf "link add t%da mtu %d type veth peer name t%db mtu %d\n", i, mtu, i, mtu > file
        printf "%s", port_up("t" i "a", bridge[trunk_a[i]], trunk_b[i]) > file
        printf "%s", port_up("t" i "b", bridge[trunk_b[i]], trunk_a[i]) > file
    }
    for (i = 1; i <= hosts; i++) {
        if (is_wire(host_bits[i]))
            printf "%s", tap("p" i) > file
        else
            printf "link add p%d mtu %d type veth peer name eth0 mtu %d netns %s address %s\n", i, mtu, mtu, netns(host[i]), mac(i) > file
        printf "%s", port_up("p" i, bridge[host_switch[i]], host[i]) > file
    }
    close(file)
}

function write_ports(    i) {
    file = dir "/ports"
    printf "" > file
    for (i = 1; i <= trunks; i++)
        if (!is_wire(trunk_bits[i]))
            printf "%s%s", shaper("t" i "a", trunk_bits[i], PORT), shaper("t" i "b", trunk_bits[i], PORT) > file
    for (i = 1; i <= hosts; i++)
        if (!is_wire(host_bits[i]))
            printf "%s", shaper("p" i, is_segment(host_switch[i]) ? 0 : host_bits[i], PORT) > file
    for (i = 1; i <= switches; i++)
        if (segment_bits[i])
            printf "%s", shaper("w" i "a", segment_bits[i], PORT) > file
    close(file)
}

function write_wires(    i) {
    file = dir "/wires"
    printf "" > file
    for (i = 1; i <= trunks; i++)
        if (is_wire(trunk_bits[i]))
            printf "t%da - t%db %.0f\n", i, i, trunk_bits[i] > file
    for (i = 1; i <= hosts; i++)
        if (is_wire(host_bits[i]))
            printf "p%d /run/netns/%s eth0 %.0f\n", i, netns(host[i]), host_bits[i] > file
    close(file)
}

# Neighbours are written down instead of asked for: no host spends frames on ARP or ND.
function write_host(h,    i) {
    file = dir "/ip." host[h]
    if (is_wire(host_bits[h]))
        printf "%slink set eth0 address %s\n", tap("eth0"), mac(h) > file
    print "link set lo up\nlink set eth0 addrgenmode none\nlink set eth0 up" > file
    if (family ~ /4/)
        print "addr add " ipv4(h) "/16 dev eth0" > file
    if (family ~ /6/)
        print "addr add " ipv6(h) "/64 dev eth0 nodad" > file
    for (i = 1; i <= hosts; i++) {
        if (i == h)
            continue
        if (family ~ /4/)
            print "neigh add " ipv4(i) " lladdr " mac(i) " dev eth0 nud permanent" > file
        if (family ~ /6/)
            print "neigh add " ipv6(i) " lladdr " mac(i) " dev eth0 nud permanent" > file
    }
    close(file)
    file = dir "/tc." host[h]
    printf "%s", shaper("eth0", is_wire(host_bits[h]) ? 1.1 * host_bits[h] : bits_of(h), CARD) > file
    close(file)
}

function write_tables(    i) {
    file = dir "/hosts"
    for (i = 1; i <= hosts; i++)
        printf "%s %s %.0f p%d %s %s\n", host[i], host_switch[i], bits_of(i), i, family ~ /4/ ? ipv4(i) : "-", family ~ /6/ ? ipv6(i) : "-" > file
    close(file)
    file = dir "/trunks"
    printf "" > file
    for (i = 1; i <= trunks; i++)
        printf "%s %s t%da t%db\n", trunk_a[i], trunk_b[i], i, i > file
    close(file)
}

$1 == "switch" || $1 == "segment" { switch_name[++switches] = $2; bridge[$2] = "b" switches; number_of[$2] = switches }
$1 == "segment" { segment_bits[switches] = $3; segments++ }
$1 == "host" { host[++hosts] = $2; host_switch[hosts] = $3; host_bits[hosts] = $4 }
$1 == "link" { trunk_a[++trunks] = $2; trunk_b[trunks] = $3; trunk_bits[trunks] = $4 }

END {
    write_netns()
    write_switches()
    write_ports()
    write_segments()
    write_wires()
    for (h = 1; h <= hosts; h++)
        write_host(h)
    write_tables()
}
