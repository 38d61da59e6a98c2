# alltoall_predicted.awk - what covey predict says of all-to-alls, beside what was measured.
#
#   awk -v out=DIR -f alltoall_predicted.awk NETWORKS FIGURES
#
# NETWORKS: NETWORK HOSTS LOAD BITS a line. FIGURES: NETWORK LOAD ALGORITHM BYTES SECONDS IDLE a line,
# LOAD being quiet, or predicted. Prints a table with the medians of what was measured, how far the runs
# are apart, and the deviation of the prediction, then the median deviation and the worst; writes
# DIR/NETWORK.predicted.dat with a line a size: KiB, then measured and predicted milliseconds of each of
# `order`.

function sort_list(list, part,    n, i, j, t) {
    n = split(list, part, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && part[j] + 0 < part[j - 1] + 0; j--) {
            t = part[j]; part[j] = part[j - 1]; part[j - 1] = t
        }
    return n
}

function median(list,    n, part) {
    n = sort_list(list, part)
    return n % 2 ? part[(n + 1) / 2] + 0 : (part[n / 2] + part[n / 2 + 1]) / 2
}

# Half of the way from the least to the most, as a part of the median.
function spread(list,    n, part) {
    n = sort_list(list, part)
    return (part[n] - part[1]) / 2 / median(list)
}

function absolute(x) {
    return x < 0 ? -x : x
}

function cell(network, algorithm, bytes,    key, t, p) {
    key = network " " algorithm " " bytes
    if (!(key in measured) || !(key in predicted)) {
        printf " %s %s", "?", "?" > file
        return " – |"
    }
    t = median(measured[key])
    p = predicted[key]
    deviation[algorithm] = deviation[algorithm] " " absolute(p / t - 1)
    all = all " " absolute(p / t - 1)
    printf " %g %g", t * 1000, p * 1000 > file
    return sprintf(" %.0f ± %.0f %%, %.0f ms, %+.0f %% |", t * 1000, 100 * spread(measured[key]), p * 1000, 100 * (p / t - 1))
}

function say(name, list,    n, part) {
    n = sort_list(list, part)
    printf "%s: median deviation %.0f %%, worst %.0f %%; %d of %d within 20 %%\n", name, 100 * median(list), 100 * part[n], within(part, n), n
}

function within(part, n,    i, count) {
    for (i = 1; i <= n; i++)
        count += part[i] <= 0.2
    return count
}

BEGIN { algorithms = split("scheduled ring pairwise", order, " ") }

FNR == NR { name[++networks] = $1; next }

{
    key = $1 " " $3 " " $4
    if ($2 == "predicted")
        predicted[key] = $5
    else
        measured[key] = measured[key] " " $5
    idle[$1 " " $4] = idle[$1 " " $4] " " $6
    there[$1 " " $4]
    if (!($4 in seen)) { seen[$4]; size[++sizes] = $4 }
}

END {
    for (i = 2; i <= sizes; i++)
        for (j = i; j > 1 && size[j] + 0 < size[j - 1] + 0; j--) { t = size[j]; size[j] = size[j - 1]; size[j - 1] = t }
    print "Measured (median ± half of the range), predicted, deviation.\n"
    print "| | scheduled | ring | pairwise |\n|---|---:|---:|---:|"
    for (n = 1; n <= networks; n++) {
        file = out "/" name[n] ".predicted.dat"
        for (s = 1; s <= sizes; s++) {
            if (!((name[n] " " size[s]) in there))
                continue
            printf "%g", size[s] / 1024 > file
            line = sprintf("| (%s), %g KiB |", name[n], size[s] / 1024)
            for (i = 1; i <= algorithms; i++)
                line = line cell(name[n], order[i], size[s])
            print line
            print "" > file
        }
        close(file)
    }
    print ""
    for (i = 1; i <= algorithms; i++)
        if (order[i] in deviation)
            say(order[i], deviation[order[i]])
    if (all != "")
        say("all", all)
}
