# alltoall.awk - medians, tables and plot data of the all-to-all's figures.
#
#   awk -v out=DIR -f alltoall.awk NETWORKS FIGURES
#
# NETWORKS: NETWORK HOSTS LOAD BITS a line. FIGURES: NETWORK LOAD SYSTEM BYTES SECONDS IDLE a line, LOAD
# being quiet or busy. Prints a table for each network and load; writes DIR/NETWORK.LOAD.dat with a
# line a size: KiB, then milliseconds and Mbit/s of each system in `order` (? where there is none), and
# the peak's.
#
# The peak is Faraj & Yuan's, section 3, net of headers: a full Ethernet frame is 1538 bytes on the wire
# and carries 1448 of TCP.

function median(list,    n, part, i, j, t) {
    n = split(list, part, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && part[j] + 0 < part[j - 1] + 0; j--) {
            t = part[j]; part[j] = part[j - 1]; part[j - 1] = t
        }
    return n % 2 ? part[(n + 1) / 2] + 0 : (part[n / 2] + part[n / 2 + 1]) / 2
}

function peak_seconds(network, bytes) {
    return load[network] * bytes * 8 / bits[network] * 1538 / 1448
}

function megabits(network, bytes, seconds) {
    return hosts[network] * (hosts[network] - 1) * bytes * 8 / seconds / 1e6
}

function better(a, b) {
    return a == "" ? b : b == "" || a < b ? a : b
}

# How many times as fast as the one is the other?
function ratio(slow, fast) {
    return slow == "" || fast == "" ? "-" : sprintf("%.2f", slow / fast)
}

function time_of(network, kind, who, bytes,    key) {
    key = network " " kind " " who " " bytes
    return key in seconds ? median(seconds[key]) : ""
}

function print_title(network, kind) {
    printf "\nNetwork (%s): %d hosts, %.0f Mbit/s a link, peak %.0f Mbit/s net of headers%s\n", network, hosts[network], bits[network] / 1e6, megabits(network, 1, peak_seconds(network, 1)), kind == "busy" ? "; one processor kept busy by another program" : ""
    printf "%8s", "KiB"
    for (i = 1; i <= systems; i++)
        printf " | %-22s", title[order[i]]
    print " | Covey | Open MPI | MPICH"
}

function print_line(network, kind, bytes,    i, t, at, best) {
    printf "%8g", bytes / 1024
    printf "%g", bytes / 1024 > file
    for (i = 1; i <= systems; i++) {
        t = at[order[i]] = time_of(network, kind, order[i], bytes)
        printf " | %22s", t == "" ? "-" : sprintf("%.1f ms %3.0f%% %3.0f%%", t * 1000, 100 * peak_seconds(network, bytes) / t, 100 * median(idle[network " " kind " " order[i] " " bytes]))
        printf " %s %s", t == "" ? "?" : t * 1000, t == "" ? "?" : megabits(network, bytes, t) > file
    }
    best = better(at["openmpi"], at["mpich"])
    printf " | %5s | %8s | %5s\n", ratio(best, at["covey"]), ratio(at["openmpi"], at["openmpi+"]), ratio(at["mpich"], at["mpich+"])
    printf " %s %s\n", peak_seconds(network, bytes) * 1000, megabits(network, bytes, peak_seconds(network, bytes)) > file
}

function print_network(network, kind,    i) {
    file = out "/" network "." kind ".dat"
    print_title(network, kind)
    for (i = 1; i <= sizes; i++)
        if ((network " " kind " " size[i]) in there)
            print_line(network, kind, size[i])
    close(file)
}

BEGIN {
    systems = split("covey plain openmpi openmpi+ mpich mpich+", order, " ")
    title["covey"] = "Covey"
    title["plain"] = "Covey, no schedule"
    title["openmpi"] = "Open MPI"
    title["openmpi+"] = "Open MPI, preloaded"
    title["mpich"] = "MPICH"
    title["mpich+"] = "MPICH, preloaded"
}

FNR == NR { name[++networks] = $1; hosts[$1] = $2; load[$1] = $3; bits[$1] = $4; next }

{
    seconds[$1 " " $2 " " $3 " " $4] = seconds[$1 " " $2 " " $3 " " $4] " " $5
    idle[$1 " " $2 " " $3 " " $4] = idle[$1 " " $2 " " $3 " " $4] " " $6
    there[$1 " " $2 " " $4]
    kinds[$1 " " $2]
    if (!($4 in seen)) { seen[$4]; size[++sizes] = $4 }
}

END {
    for (i = 2; i <= sizes; i++)
        for (j = i; j > 1 && size[j] < size[j - 1]; j--) { t = size[j]; size[j] = size[j - 1]; size[j - 1] = t }
    print "Of each system: completion time of an all-to-all, its part of the peak throughput, and what part of"
    print "this machine's processors was idle; medians. Then how many times as fast as the better of the two"
    print "MPIs as they come Covey is, and as each of them itself with the generated routine preloaded."
    for (n = 1; n <= networks; n++) {
        if ((name[n] " quiet") in kinds) print_network(name[n], "quiet")
        if ((name[n] " busy") in kinds) print_network(name[n], "busy")
    }
}
