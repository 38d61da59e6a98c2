#!/bin/bash
# linux_test.sh - what Linux alone has stands where doc/porting.md says, and nowhere else. scripts/linux has the words.
set -uf
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Sources without comments, each line with its file before it.
uncommented() { # folder
    (cd "$1" && find cipher proto lib daemon tools apps -name '*.[ch]' -print0 | sort -z | xargs -0 awk '
        FNR == 1 { inside = 0 }
        {
            line = $0
            out = ""
            while (line != "") {
                if (inside) {
                    at = index(line, "*/")
                    if (!at) break
                    line = substr(line, at + 2)
                    inside = 0
                } else {
                    at = index(line, "/*")
                    out = out (at ? substr(line, 1, at - 1) : line)
                    line = at ? substr(line, at + 2) : ""
                    inside = at > 0
                }
            }
            if (out != "") print FILENAME ": " out
        }')
}
words() { grep -v '^#' scripts/linux; }
told() { grep -F "| $1 |" "$2" | cut -d'|' -f3 | grep -o '`[^`]*`' | tr -d '`' | sort; } # what, page
compared() { # folder, page: what differs
    local what patterns found
    uncommented "$1" >"$dir/sources"
    while IFS='|' read -r what patterns; do
        what=${what% }
        found=$(for pattern in $patterns; do
            case $pattern in '"'*) grep -F -- "$pattern" "$dir/sources" ;; *) grep -E "(^|[^A-Za-z0-9_])$pattern([^A-Za-z0-9_]|\$)" "$dir/sources" ;; esac
        done | cut -d: -f1 | sort -u)
        diff <(told "$what" "$2") <(echo "$found") | sed -n "s|^> |$what: not in doc/porting.md: |p; s|^< |$what: named in vain: |p"
    done < <(words)
    # a row of the page that has no words would never be looked at
    grep -E '^\| [^|]*\| `' "$2" | cut -d'|' -f2 | sed 's/^ //; s/ $//' | grep -vxFf <(words | cut -d'|' -f1 | sed 's/ $//')
}

none() { compared . doc/porting.md >"$dir/said"; sed 's/^/    /' "$dir/said"; [ ! -s "$dir/said" ]; }
expect "calls of Linux stand in the files that doc/porting.md names" none

mkdir "$dir/copy" && cp -r cipher proto lib daemon tools apps "$dir/copy/"
printf '#include <sys/epoll.h>\n' >"$dir/copy/lib/msg/breach.c"
printf '/* sys/epoll.h\n memfd_create */ int x; /* epoll_wait */\n' >"$dir/copy/lib/msg/comment.c"
breach() { [ "$(compared "$dir/copy" doc/porting.md)" = "epoll: not in doc/porting.md: lib/msg/breach.c" ]; }
expect "one more is found, and comments are passed over" breach
sed 's|`lib/drive/wait.c`|& `lib/drive/wait.h`|' doc/porting.md >"$dir/page"
in_vain() { compared . "$dir/page" | grep -qx "epoll: named in vain: lib/drive/wait.h"; }
expect "a file that is named in vain is found" in_vain
echo '| poll of another kind | `lib/drive/wait.c` | nothing |' | cat doc/porting.md - >"$dir/page"
no_words() { [ "$(compared . "$dir/page")" = "poll of another kind" ]; }
expect "a row without words is found" no_words
finish
