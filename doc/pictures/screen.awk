# screen.awk - writes what `tmux capture-pane -p -e` printed as SVG: the characters of the screen with
# their bold, dim and reverse, in cells of one size. Colours are the terminal's own two.
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

# One run of characters with the same attributes, from a column on.
function put(text, column, row,    style, shape) {
    if (text ~ /^ *$/ && !reverse) return
    style = (bold ? " font-weight=\"bold\"" : "") (reverse ? " fill=\"#1c2128\"" : dim ? " fill=\"#8b949e\"" : "")
    if (reverse)
        shapes = shapes sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#d0d7de\"/>\n",
            MARGIN + column * CELL, MARGIN + row * LINE + 3, length(text) * CELL, LINE)
    texts = texts sprintf("<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\"%s>%s</text>\n", MARGIN + column * CELL,
        MARGIN + (row + 1) * LINE - 1, length(text) * CELL, style, escaped(text))
}

function attribute(codes,    code, n, i) {
    n = split(codes, code, ";")
    if (n == 0) code[n = 1] = 0
    for (i = 1; i <= n; i++) {
        if (code[i] + 0 == 0) bold = dim = reverse = 0
        if (code[i] == 1) bold = 1
        if (code[i] == 2) dim = 1
        if (code[i] == 7) reverse = 1
    }
}

BEGIN { CELL = 8; LINE = 18; MARGIN = 12; row = 0 }

{
    line = $0
    column = 0
    while (match(line, /\033\[[0-9;]*m/)) {
        if (RSTART > 1) put(substr(line, 1, RSTART - 1), column, row)
        column += RSTART - 1
        attribute(substr(line, RSTART + 2, RLENGTH - 3))
        line = substr(line, RSTART + RLENGTH)
    }
    if (line != "") put(line, column, row)
    column += length(line)
    if (column > columns) columns = column
    row++
    if (column > 0) rows = row
}

END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
        columns * CELL + 2 * MARGIN, rows * LINE + 2 * MARGIN, columns * CELL + 2 * MARGIN, rows * LINE + 2 * MARGIN
    print "<title>covey top while mandel draws on four hosts</title>"
    print "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1c2128\"/>"
    printf "%s<g font-family=\"DejaVu Sans Mono, Liberation Mono, monospace\" font-size=\"13\" fill=\"#d0d7de\" xml:space=\"preserve\">\n%s</g>\n</svg>\n",
        shapes, texts
}
