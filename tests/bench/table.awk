# table.awk - what tables of figures have in common: -f before that of the table.

function median(list,    n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function size_text(size) {
    if (size >= 1048576) return size / 1048576 " MiB"
    return size >= 1024 ? size / 1024 " KiB" : size " B"
}
