#!/bin/sh
# public-names.sh HEADER... - prints the names of the functions that headers declare, one a line.
#
# Comments, macros with their continuation lines and inline functions are left out: what remains of
# the form `name(...);` at the start of a line is a prototype.
set -eu
awk '
    { while (match($0, /\/\*.*\*\//)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH) }
    in_comment { if (!sub(/^.*\*\//, "")) next; in_comment = 0 }
    sub(/\/\*.*/, "") { in_comment = 1 }
    in_macro || /^#/ { in_macro = /\\$/; next }
    /^[a-z].*[ *]covey_[a-z0-9_]+\(/ && !/^static|^typedef/ {
        match($0, /covey_[a-z0-9_]+\(/)
        print substr($0, RSTART, RLENGTH - 1)
    }
' "$@" | sort -u
