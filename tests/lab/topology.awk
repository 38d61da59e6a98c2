# topology.awk - reads a topology file, refuses what is wrong with it, prints it in plain form.
#
#   awk -f topology.awk [-v rate=R] FILE
#
# In:  `switch NAME...`, `segment NAME RATE`, `host NAME SWITCH [RATE]`, `link SWITCH SWITCH
#      [RATE]`, `contention MODE NAME [NAME]`, `#` comments; the lines may stand in any order. A
#      segment may stand wherever a switch may. `rate` is the rate of the lines that give none.
# Out: `switch NAME`, `segment NAME BITS`, `host NAME SWITCH BITS`, `link SWITCH SWITCH BITS`, in
#      the order of the file; BITS is bits per second, 0 for a link without a limit. What is to be
#      done about contention is no business of cables: those lines are checked and left out.
# The first mistake ends the run with status 1 and one line, FILE:LINE:COLUMN: what and why.
#
# The checks run in two steps: a line's own form when it is read, the names it refers to and the
# shape of the whole (one tree, at least one host) at the end, when everything is declared.

function fail(line, column, text) {
    printf "%s:%d:%d: %s\n", FILENAME, line, column, text > "/dev/stderr"
    failed = 1
    exit 1
}

# Splits the line into word[1..words] and the column of each, word_column[1..words].
function tokenize(text,    at) {
    words = 0
    sub(/\r$/, "", text)
    sub(/#.*/, "", text)
    for (at = 1; match(text, /[^ \t]+/); text = substr(text, RSTART + RLENGTH)) {
        word[++words] = substr(text, RSTART, RLENGTH)
        word_column[words] = at + RSTART - 1
        at += RSTART + RLENGTH - 1
    }
    end_column = words ? word_column[words] + length(word[words]) : 1
}

# Bits per second of `100M`, `2.5G`, `64K` or plain bits; -1 when it is no rate.
function rate_bits(text,    unit) {
    if (text !~ /^[0-9]+(\.[0-9]+)?[KMG]?$/)
        return -1
    unit = substr(text, length(text))
    unit = unit == "K" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 1
    unit *= text + 0
    return unit >= 8000 && unit <= 4e11 ? unit : -1
}

function expect_words(least, most, form) {
    if (words < least)
        fail(FNR, end_column, "a word is missing here: " form)
    if (words > most)
        fail(FNR, word_column[most + 1], "nothing may follow here, got '" word[most + 1] "': " form)
}

function declare(at, kind) {
    if (word[at] !~ /^[A-Za-z0-9][A-Za-z0-9._-]*$/ || length(word[at]) > 63)
        fail(FNR, word_column[at], "'" word[at] "' cannot be a name: letters, digits, '.', '_', '-', at most 63")
    if (word[at] in declared)
        fail(FNR, word_column[at], "'" word[at] "' is declared already, in line " declared[word[at]])
    declared[word[at]] = FNR
    kind_of[word[at]] = kind
}

function rate_of(at) {
    if (at > words)
        return default_bits
    if (rate_bits(word[at]) < 0)
        fail(FNR, word_column[at], "'" word[at] "' is no rate: a number from 8K to 400G with K, M or G, such as 100M")
    return rate_bits(word[at])
}

# Remembers a name that must turn out to be a switch, or any node, with the place that named it.
function refer(at, any) {
    referred[++references] = word[at]
    referred_any[references] = any
    referred_line[references] = FNR
    referred_column[references] = word_column[at]
}

function read_switch(    i) {
    expect_words(2, words, "switch NAME...")
    for (i = 2; i <= words; i++) {
        declare(i, "switch")
        out[++outs] = "switch " word[i]
        group[word[i]] = word[i]
    }
}

function read_segment() {
    expect_words(3, 3, "segment NAME RATE")
    declare(2, "switch")
    out[++outs] = sprintf("segment %s %.0f", word[2], rate_of(3))
    group[word[2]] = word[2]
}

function read_contention(    i) {
    expect_words(3, 4, "contention off|stagger|token NAME [NAME]")
    if (word[2] !~ /^(off|stagger|token)$/)
        fail(FNR, word_column[2], "'" word[2] "' is none of off, stagger, token")
    for (i = 3; i <= words; i++)
        refer(i, 1)
}

function read_host() {
    expect_words(3, 4, "host NAME SWITCH [RATE]")
    declare(2, "host")
    refer(3)
    out[++outs] = sprintf("host %s %s %.0f", word[2], word[3], rate_of(4))
    hosts++
}

function read_link() {
    expect_words(3, 4, "link SWITCH SWITCH [RATE]")
    refer(2)
    refer(3)
    out[++outs] = sprintf("link %s %s %.0f", word[2], word[3], rate_of(4))
    link_from[++links] = references - 1
}

function check_references(    i, name) {
    for (i = 1; i <= references; i++) {
        name = referred[i]
        if (kind_of[name] != "switch" && !(referred_any[i] && kind_of[name]))
            fail(referred_line[i], referred_column[i], "'" name "' is " (kind_of[name] ? "a " kind_of[name] ", not a switch" : "no switch of this file"))
    }
}

# The switch that stands for all those connected to `name` so far.
function representative(name) {
    while (group[name] != name)
        name = group[name]
    return name
}

# A network of switches is a tree: no link closes a loop, and nothing is apart.
function check_tree(    i, a, b, name, first) {
    for (i = 1; i <= links; i++) {
        a = referred[link_from[i]]
        b = referred[link_from[i] + 1]
        if (representative(a) == representative(b))
            fail(referred_line[link_from[i]], referred_column[link_from[i] + 1], "the link from '" a "' to '" b "' closes a loop; switches form a tree")
        group[representative(a)] = representative(b)
    }
    for (i = 1; i <= outs; i++) {
        split(out[i], name, " ")
        if (name[1] != "switch" && name[1] != "segment")
            continue
        first = first ? first : name[2]
        if (representative(name[2]) != representative(first))
            fail(declared[name[2]], 1, "no link leads from switch '" name[2] "' to switch '" first "'")
    }
}

BEGIN {
    default_bits = rate == "" ? 0 : rate_bits(rate)
    if (default_bits < 0) {
        printf "lab: --rate: '%s' is no rate: a number from 8K to 400G with K, M or G, such as 100M\n", rate > "/dev/stderr"
        failed = 1
        exit 1
    }
}

{ tokenize($0) }
words == 0 { next }
word[1] == "switch" { read_switch(); next }
word[1] == "segment" { read_segment(); next }
word[1] == "contention" { read_contention(); next }
word[1] == "host" { read_host(); next }
word[1] == "link" { read_link(); next }
{ fail(FNR, word_column[1], "'" word[1] "' is none of switch, segment, host, link, contention") }

END {
    if (failed)
        exit 1
    check_references()
    check_tree()
    if (!hosts)
        fail(FNR ? FNR : 1, 1, "there is no host in this file")
    if (hosts > 4000)
        fail(FNR, 1, "more than 4000 hosts")
    for (i = 1; i <= outs; i++)
        print out[i]
}
