# beside.awk - the table of beside.sh. Reads lines
#
#   HOSTS TASKS SYSTEM ROUND CALL BYTES REPETITIONS US PROCESSOR_US
#
# one a measurement, and prints a line for each HOSTS, TASKS, CALL and BYTES: medians over the rounds of
# each system, time before processor time, and the ratio of the best MPI's time and Covey's. With
# markdown=1 the table is Markdown.

function what(call, size) {
    if (call == "barrier") return call
    if (call == "ping") return "half round trip, " size_text(size)
    if (call == "pings") return "half round trips, " size_text(size)
    return call ", " size_text(size)
}

function shown(us) {
    return us == "" ? "-" : sprintf(us < 10 ? "%.2f" : us < 100 ? "%.1f" : "%.0f", us)
}

function print_row(label, fields, n, verdict,    i) {
    if (markdown) {
        printf "| %s", label
        for (i = 1; i <= n; i++) printf " | %s", fields[i]
        print " | " verdict " |"
        return
    }
    printf "%-26s", label
    for (i = 1; i <= n; i++) printf " %9s", fields[i]
    print "  " verdict
}

function print_head(hosts, tasks,    names, i, n, fields) {
    n = split(heads, names, "/")
    for (i = 1; i <= n; i++) fields[i] = names[i]
    fields[++n] = "ratio"
    for (i = 1; i < n; i++) fields[n + i] = "cpu"
    print ""
    print_row(tasks " tasks on " (hosts == 1 ? "one host" : hosts " hosts"), fields, 2 * n - 1, "Covey is")
    if (!markdown) return
    printf "|---|"
    for (i = 1; i < 2 * n; i++) printf "---:|"
    print "---|"
}

function print_line(key,    part, i, us, cpu, best, fields, verdict) {
    split(key, part, SUBSEP)
    for (i = 1; i <= system_count; i++) {
        us[i] = (key, systems[i]) in times ? median(times[key, systems[i]]) : ""
        cpu[i] = (key, systems[i]) in cpus ? median(cpus[key, systems[i]]) : ""
        fields[i] = shown(us[i])
        fields[system_count + 1 + i] = shown(cpu[i])
        if (i > 1 && us[i] != "" && (!best || us[i] + 0 < us[best] + 0)) best = i
    }
    verdict = !best ? "no MPI" : us[1] == "" ? "-" : us[1] + 0 <= us[best] + 0 ? "ahead" : "BEHIND"
    fields[system_count + 1] = best && us[1] + 0 > 0 ? sprintf("%.2f", us[best] / us[1]) : "-"
    counts[verdict]++
    if ((verdict == "ahead" || verdict == "BEHIND") && cpu[1] + 0 <= cpu[best] + 0) thrifty++
    print_row(what(part[3], part[4]), fields, 2 * system_count + 1, verdict)
}

BEGIN {
    system_count = split("covey openmpi openmpi+ mpich", systems, " ")
    heads = "Covey/Open MPI/yielding/MPICH"
}

$8 + 0 > 0 {
    place = $1 SUBSEP $2
    if (!(place in key_count)) places[++place_count] = place
    key = place SUBSEP $5 SUBSEP $6
    if (!(key in seen)) { seen[key] = 1; keys[place, ++key_count[place]] = key }
    times[key, $3] = times[key, $3] " " $8
    cpus[key, $3] = cpus[key, $3] " " $9
}

END {
    for (p = 1; p <= place_count; p++) {
        split(places[p], part, SUBSEP)
        print_head(part[1], part[2])
        for (k = 1; k <= key_count[places[p]]; k++) print_line(keys[places[p], k])
    }
    printf "\nahead on %d of %d lines, and with no more processor time than the fastest MPI on %d\n", counts["ahead"],
        counts["ahead"] + counts["BEHIND"], thrifty
}
