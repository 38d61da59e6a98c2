# examples.awk - takes the commands out of a manual page or a guide: -v page=NAME -v list=tests/doc/elsewhere -v rows=FILE.
#
# Of a manual page those are the literal blocks of all sections (.Dl, .Bd, .EX, .nf), but for the prototypes in the SYNOPSIS of
# a page of the library; of a block with prompts, what stands behind `$ `. Of a guide those are indented lines outside of fences.
# What the list does not name is printed: it is to be run. The numbers of the list's rows that were met go to FILE.
function plain(line) {
    gsub(/\\&|\\f[A-Z]/, "", line)
    gsub(/\\-/, "-", line)
    gsub(/\\\(ti/, "~", line)
    gsub(/\\\(aq/, "'", line)
    gsub(/\\e/, "\\", line)
    return line
}
function named(line,    i) { # the row of a line, or 0
    for (i = 1; i <= listed; i++)
        if ((of[i] == page || of[i] == "*") && index(line, beginning[i]) == 1) {
            print i >rows
            return i
        }
    return 0
}
# A command goes on over lines as long as one ends so; a block that the list calls text has none.
function block_end(    i, row, goes_on, line) {
    for (i = 1; i <= lines; i++) {
        line = block[i]
        if (prompts && !goes_on && !sub(/^\$ /, "", line)) continue
        if (!goes_on) {
            row = named(line)
            if (row && kind[row] ~ /^(text|program)$/) break
        }
        if (!row) print line
        goes_on = line ~ /(\\|\||&&)$/
    }
    lines = prompts = 0
}
function add(line) {
    if (line ~ /^\$ /) prompts = 1
    if (line !~ /^ *$/) block[++lines] = line
}

FILENAME == list {
    if ($0 ~ /^#|^$/) next
    split($0, field, / +[|] +/)
    of[++listed] = field[1]
    beginning[listed] = field[2]
    kind[listed] = field[3]
    next
}
page ~ /[.]md$/ && /^```/ { fenced = !fenced }
page ~ /[.]md$/ {
    if (!fenced && sub(/^    /, "")) add($0)
    else block_end()
    next
}
/^[.]S[Hh] / { prototypes = /SYNOPSIS/ && page ~ /[.]3$/ }
prototypes { next }
/^[.]Dl / { add(plain(substr($0, 5))); next }
/^[.](Bd|EX|nf)/ { block_end(); inside = 1; next }
/^[.](Ed|EE|fi)/ { block_end(); inside = 0; next }
inside && !/^[.]/ { add(plain($0)) }
!inside { block_end() }
END { block_end() }
