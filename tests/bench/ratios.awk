# ratios.awk - the table of the comparison. Reads lines
#
#   HOSTS SYSTEM ROUTE/PACKING LOAD SIZE FIGURE
#
# one a measurement, SYSTEM being covey or pvm, and prints a line for each HOSTS, LOAD and SIZE:
# medians over the rounds, of a system's packings the best, and the ratio of the two systems' best
# single rounds. Ratios above 1 say that Covey is ahead. With drop_in=1 both systems ran one program,
# and each of its ways has a line.

function least_of(list,    n, v, i) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++) if (v[i] + 0 < v[1] + 0) v[1] = v[i]
    return v[1]
}

# The best single round of a system's ways that match.
function at_best(key, who, pattern,    n, i, names, m, least) {
    n = split(ways[key, who], names, " ")
    for (i = 1; i <= n; i++) {
        if (names[i] !~ pattern) continue
        m = least_of(figures[key, who, names[i]])
        if (least == "" || m + 0 < least + 0) least = m
    }
    return least
}

# The best median of a system's ways that match; best_way is set to its name.
function best(key, who, pattern,    n, i, names, m, least) {
    best_way = ""
    n = split(ways[key, who], names, " ")
    for (i = 1; i <= n; i++) {
        if (names[i] !~ pattern) continue
        m = median(figures[key, who, names[i]])
        if (best_way == "" || m < least) { least = m; best_way = names[i] }
    }
    return best_way == "" ? "" : least
}

function is_bandwidth(load, size) { return load == "stream" || ((load == "ping" || load == "netpipe") && size > 4096) }

function what(load, size) {
    if (load == "ping" && !is_bandwidth(load, size)) return "half round trip, " size_text(size) ", us"
    if (load == "ping") return "round trips, " size_text(size) ", MB/s"
    if (load == "netpipe") return "NetPIPE, " size_text(size) (is_bandwidth(load, size) ? ", MB/s" : ", us")
    if (load == "stream") return "stream, " size_text(size) ", MB/s"
    if (load == "cpuping") return "CPU s/GB, round trips of " size_text(size)
    if (load == "cpustream") return "CPU s/GB, stream of " size_text(size)
    if (load == "mcast") return "multicast to 8, " size_text(size) ", us"
    if (load == "spawn") return "spawn of " size ", ms a task"
    if (load == "barrier") return "barrier of " size ", us"
    if (load == "ring") return "ring of " size ", us a step of 1 KiB"
    return load " " size
}

# A figure as it is printed: times as they are, bandwidth from the time a message of that size takes.
function shown(load, size, us) {
    if (us == "") return "-"
    if (is_bandwidth(load, size)) return sprintf("%.0f", size / us)
    if (load == "spawn") return sprintf("%.2f", us / 1000)
    return sprintf(us < 10 ? "%.2f" : us < 100 ? "%.1f" : "%.0f", us)
}

function ratio(pvm, covey) { return pvm == "" || covey == "" ? "-" : sprintf("%.2f", pvm / covey) }

function print_row(label, a, b, c, d, e, f, g, h, i, j) {
    if (markdown)
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", label, a, b, c, d, e, f, g, h, i, j
    else
        printf "%-36s %8s %-19s %9s %8s %8s %8s %8s %8s %8s  %s\n", label, a, b, c, d, e, f, g, h, i, j
}

function print_line(key, part,    pvm, pvm_way, standard, any, verdict) {
    split(key, part, SUBSEP)
    pvm = best(key, "pvm", ".")
    pvm_way = best_way
    standard = best(key, "pvm", "^daemon/default$")
    any = best(key, "covey", "^auto/")
    verdict = pvm == "" ? "no PVM" : any == "" ? "-" : any < pvm ? "ahead" : "BEHIND"
    counts[verdict]++
    print_row(what(part[2], part[3]), shown(part[2], part[3], pvm), pvm_way, shown(part[2], part[3], standard),
        shown(part[2], part[3], any), shown(part[2], part[3], best(key, "covey", "^udp/")),
        shown(part[2], part[3], best(key, "covey", "^tcp/")), ratio(pvm, any),
        ratio(at_best(key, "pvm", "."), at_best(key, "covey", "^auto/")), ratio(standard, any), verdict)
}

# One way of a program that both systems ran.
function print_way(key, way,    part, pvm, covey, verdict, row) {
    split(key, part, SUBSEP)
    pvm = best(key, "pvm", "^" way "$")
    covey = best(key, "covey", "^" way "$")
    verdict = pvm == "" ? "no PVM" : covey == "" ? "-" : covey < pvm ? "ahead" : "BEHIND"
    counts[verdict]++
    row = markdown ? "| %s | %s | %s | %s | %s | %s | %s |\n" : "%-36s %-15s %9s %9s %7s %8s  %s\n"
    printf row, what(part[2], part[3]), way, shown(part[2], part[3], pvm), shown(part[2], part[3], covey),
        ratio(pvm, covey), ratio(at_best(key, "pvm", "^" way "$"), at_best(key, "covey", "^" way "$")), verdict
}

function print_ways(key,    names, n, i) {
    n = split(ways[key, "covey"], names, " ")
    for (i = 1; i <= n; i++) print_way(key, names[i])
}

function print_head(hosts,    where) {
    where = hosts == 1 ? "on one host" : "between two hosts"
    print ""
    if (!drop_in) {
        print_row(where, "PVM best", "by", "PVM def.", "Covey", "udp", "tcp", "to best", "at best", "to def.",
            "Covey is")
        if (markdown) print "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---|"
    } else if (markdown) {
        printf "| %s | by | PVM | Covey | ratio | at best | Covey is |\n|---|---|---:|---:|---:|---:|---|\n", where
    } else {
        printf "%-36s %-15s %9s %9s %7s %8s  %s\n", where, "by", "PVM", "Covey", "ratio", "at best", "Covey is"
    }
}

$6 + 0 > 0 {
    key = $1 SUBSEP $4 SUBSEP $5
    if (!(key in seen)) { seen[key] = 1; keys[++key_count] = key }
    if (!((key, $2, $3) in figures)) ways[key, $2] = ways[key, $2] " " $3
    figures[key, $2, $3] = figures[key, $2, $3] " " $6
}

END {
    for (hosts = 1; hosts <= 2; hosts++) {
        headed = 0
        for (k = 1; k <= key_count; k++) {
            split(keys[k], part, SUBSEP)
            if (part[1] != hosts) continue
            if (!headed++) print_head(hosts)
            if (drop_in) print_ways(keys[k])
            else print_line(keys[k])
        }
    }
    printf "\n%d lines ahead of PVM%s, %d behind\n", counts["ahead"], drop_in ? "" : "'s best", counts["BEHIND"]
}
