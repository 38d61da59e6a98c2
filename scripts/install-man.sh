#!/bin/bash
# install-man.sh MANDIR PAGE... - installs manual pages and a link for each function they describe.
#
# `man covey_recv_array` so finds covey_recv(3): every word before the dash in the NAME section of a
# page of section 3 that is not the page's own name becomes a symbolic link to it. Programs have none:
# covey-sort(1) calls itself sort, and `man sort` is for that of the system.
set -eu
mandir=$1
shift

# The names a page describes, one a line; understands man(7) and mdoc(7).
names_of() {
    awk '
        /^\.S[Hh] +"?NAME"?/ { in_name = 1; next }
        /^\.S[Hh] / { in_name = 0 }
        in_name && /^\.Nm/ { gsub(/[ ,]+$/, ""); print $2; next }
        in_name && !/^\./ { text = text " " $0 }
        END {
            if (sub(/ +(\\-|\\\(em|-) .*/, "", text)) {
                gsub(/[ \n]/, "", text)
                n = split(text, name, ",")
                for (i = 1; i <= n; i++) print name[i]
            }
        }' "$1"
}

for page; do
    file=$(basename "$page")
    section=${file##*.}
    install -d "$mandir/man$section"
    install -m 644 "$page" "$mandir/man$section/$file"
done
for page; do
    file=$(basename "$page")
    section=${file##*.}
    [ "$section" = 3 ] || continue
    names_of "$page" | while read -r name; do
        alias=$mandir/man$section/$name.$section
        [ "$name.$section" = "$file" ] || [ -f "$alias" -a ! -L "$alias" ] || ln -sf "$file" "$alias"
    done
done
