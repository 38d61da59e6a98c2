# python.awk - the table of python.sh. Reads lines
#
#   TASKS SYSTEM ROUND CALL BYTES FIGURE
#
# SYSTEM being covey (in C), python or mpi4py, FIGURE microseconds or, where CALL is futures.WAY, a rate.
# It prints medians over the rounds, and ratios: above 1 Covey in Python is ahead of mpi4py.

function of(key, name) { return (key, name) in figures ? median(figures[key, name]) : "" }

function shown(figure) {
    return figure == "" ? "-" : sprintf(figure < 10 ? "%.2f" : figure < 100 ? "%.1f" : "%.0f", figure)
}

function ratio(a, b) { return a == "" || b == "" || b == 0 ? "-" : sprintf("%.2f", a / b) }

function print_row(a, b, c, d, e, f, g) { printf "%-34s %9s %9s %9s %9s %7s %9s\n", a, b, c, d, e, f, g }

function print_line(key,    part, c, python, mpi, what) {
    split(key, part, SUBSEP)
    c = of(key, "covey"); python = of(key, "python"); mpi = of(key, "mpi4py")
    if (python != "" && mpi != "") counts[part[2] ~ /^futures/ ? python >= mpi : python <= mpi]++
    if (part[2] ~ /^futures/) {
        what = part[2] == "futures.map100" ? "map, 100 a message" : substr(part[2], 9)
        print_row("futures a second, " what, "-", shown(python), shown(mpi), "-", "-", ratio(python, mpi))
    } else
        print_row((part[2] == "ping" ? "half round trip, array" : part[2] == "object" ? "half round trip, object" : part[2]) \
            ", " size_text(part[3]), shown(c), shown(python), shown(mpi), c == "" ? "-" : sprintf("%.2f", python - c),
            ratio(python, c), ratio(mpi, python))
}

$6 + 0 > 0 {
    key = $1 SUBSEP $4 SUBSEP $5
    if (!(key in seen)) { seen[key] = 1; keys[++key_count] = key; if (!($1 in places)) { places[$1] = 1; order[++place_count] = $1 } }
    figures[key, $2] = figures[key, $2] " " $6
}

END {
    for (p = 1; p <= place_count; p++) {
        print ""
        print_row(order[p] " tasks or workers", "C", "Python", "mpi4py", "more", "to C", "to mpi4py")
        for (k = 1; k <= key_count; k++) if (index(keys[k], order[p] SUBSEP) == 1) print_line(keys[k])
    }
    printf "\nahead of mpi4py on %d of %d lines\n", counts[1], counts[0] + counts[1]
}
