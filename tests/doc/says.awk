# says.awk - compares what a guide says is printed (first file) with what was printed (second file).
#
# Blanks between words count as one. `...` within a line stands for anything, a line of `...` for any lines.
# -v how="varies": figures may be others, and tids, too. -v how="any-order": lines may come in any order. Both can be given.
function pattern_of(line,    n, part, i, result) {
    gsub(/[][\\.^$*+?(){}|\/]/, "\\\\&", line)
    n = split(line, part, /\\\.\\\.\\\./)
    for (i = 1; i <= n; i++) {
        if (how ~ /varies/) {
            gsub(/t[0-9a-f][0-9a-f]+/, "t@@", part[i])
            gsub(/[0-9]+((\\\.|,|:)[0-9]+)*/, "##", part[i])
            gsub(/t@@/, "t[0-9a-f]+", part[i])
            gsub(/##/, "[0-9][0-9.,:]*", part[i])
        }
        result = result (i > 1 ? ".*" : "") part[i]
    }
    gsub(/[ \t]+/, "[ \t]+", result)
    return "^" result "[ \t]*$"
}
function complain(text) {
    print text
    bad = 1
}

FNR == NR {
    sub(/[ \t]+$/, "")
    said[++sayings] = $0
    pattern[sayings] = ($0 == "...") ? "" : pattern_of($0)
    next
}
{ printed[++lines] = $0 }

END {
    if (how ~ /any-order/) {
        for (i = 1; i <= sayings; i++) {
            if (pattern[i] == "") {
                skipping = 1
                continue
            }
            found = 0
            for (k = 1; k <= lines && !found; k++)
                if (!used[k] && printed[k] ~ pattern[i]) found = used[k] = 1
            if (!found) complain("the guide says, and it is not printed: " said[i])
        }
        for (k = 1; k <= lines && !skipping; k++)
            if (!used[k]) complain("printed, and not in the guide: " printed[k])
    } else {
        k = 1
        for (i = 1; i <= sayings; i++) {
            if (pattern[i] == "") {
                skipping = 1
                continue
            }
            while (skipping && k <= lines && printed[k] !~ pattern[i]) k++
            skipping = 0
            if (k > lines || printed[k] !~ pattern[i]) {
                complain("the guide says: " said[i] "\n  it is printed: " (k > lines ? "nothing more" : printed[k]))
                break
            }
            k++
        }
        if (!bad && !skipping && k <= lines) complain("printed, and not in the guide: " printed[k])
    }
    exit bad
}
