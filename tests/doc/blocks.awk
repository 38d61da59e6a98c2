# blocks.awk - takes the fenced blocks of a guide in Markdown apart: -v to=FOLDER.
#
# Block N becomes FOLDER/NNN.KIND, where KIND is the word behind the fence (sh, c, text), and what stands behind
# that word becomes FOLDER/NNN.how. FOLDER/NNN.line is the number of its line. A program in C says in its first line
# what its file is called: /* pi.c - ... */ and that goes to FOLDER/NNN.name; one in C++ so, too; one in Python
# so: # pi.py - ..., in Fortran: ! pi.f90 - ...
/^```/ && !inside {
    inside = 1
    number++
    kind = substr($1, 4)
    if (kind == "") kind = "none"
    base = sprintf("%s/%03d", to, number)
    how = $0
    sub(/^```[^ ]* */, "", how)
    print how >(base ".how")
    print NR >(base ".line")
    printf "" >(base "." kind)
    first = 1
    next
}
/^```$/ && inside {
    inside = 0
    close(base "." kind)
    close(base ".how")
    close(base ".line")
    next
}
inside {
    if (first && kind == "c" && match($0, /^\/\* [a-z0-9_-]+\.[ch]/)) print substr($0, 4, RLENGTH - 3) >(base ".name")
    if (first && kind == "python" && match($0, /^# [a-z0-9_-]+\.py/)) print substr($0, 3, RLENGTH - 2) >(base ".name")
    if (first && kind == "r" && match($0, /^# [a-z0-9_-]+\.R/)) print substr($0, 3, RLENGTH - 2) >(base ".name")
    if (first && kind == "cpp" && match($0, /^\/\* [a-z0-9_-]+\.cpp/)) print substr($0, 4, RLENGTH - 3) >(base ".name")
    if (first && kind == "fortran" && match($0, /^! [a-z0-9_-]+\.f90/)) print substr($0, 3, RLENGTH - 2) >(base ".name")
    first = 0
    print >(base "." kind)
}
END { if (inside) { print "a fenced block has no end" >"/dev/stderr"; exit 1 } }
