#!/bin/bash
# make-html.sh FOLDER PAGE... - makes the guides (README.md, doc/*.md, doc/lessons/*.md) and these manual pages into HTML below FOLDER.
#
# README.md becomes index.html, doc/X.md becomes X.html, doc/lessons/X.md lesson-X.html, a page becomes man/covey.1.html, and man/index.html lists the pages.
# Guides go through lowdown, pages through mandoc. What both leave to do is done by links.awk: a link to X.md leads
# to X.html, and covey_send(3) in any text leads to the page that describes it.
set -eu
to=$1
shift
here=$(dirname "$0")
top=$here/..
rm -rf "$to"
mkdir -p "$to/man" "$to/pictures"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-html.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# name.section and the file that describes it: a function has a link to its page
"$top/scripts/install-man.sh" "$scratch/man" "$@"
for name in "$scratch"/man/man*/*; do
    echo "$(basename "$name") $(basename "$(readlink -f "$name")")"
done >"$scratch/names"

guide() { # FILE NAME TITLE
    lowdown -s -thtml --parse-no-intraemph -M "title=$3" -M css=style.css "$1" |
        awk -v names="$scratch/names" -v man=man/ -f "$here/links.awk" >"$to/$2.html"
}
guide "$top/README.md" index Covey
for file in "$here"/*.md; do
    guide "$file" "$(basename "$file" .md)" "$(sed -n 's/^# //p;/^# /q' "$file")"
done
for file in "$here"/lessons/*.md; do
    guide "$file" "lesson-$(basename "$file" .md)" "$(sed -n 's/^# //p;/^# /q' "$file")"
done
cp "$here"/pictures/*.svg "$here"/pictures/*.png "$to/pictures"
cp "$here"/*.png "$to"
cp "$here/style.css" "$to"
cp "$here/style.css" "$to/man"

for page; do
    mandoc -T html -O style=style.css,man=%N.%S.html "$page" |
        awk -v names="$scratch/names" -v man= -f "$here/links.awk" >"$to/man/$(basename "$page").html"
done
{
    echo '# The manual pages of Covey'
    echo
    echo '[The guides](../index.html)'
    for section in '1 commands' '3 the library' '5 files' '7 overviews' '8 the daemon'; do
        printf '\n## %s\n\n' "Section $section"
        for page in $(printf '%s\n' "$@" | grep "\.${section%% *}\$" | sed 's|\(.*\)/\(.*\)|\2 \1/\2|' | sort | cut -d' ' -f2); do
            name=$(basename "$page")
            printf -- '- [%s](%s.html): %s\n' "${name%.*}(${name##*.})" "$name" "$(mandoc -T utf8 "$page" | sed 's/.\x08//g' |
                awk '/^NAME/ { on = 1; next } /^[A-Z]/ { on = 0 } on' | tr -s ' \n' ' ' | sed -E 's/.* (-|–|—|‐) //')"
        done
    done
} >"$scratch/index.md"
lowdown -s -thtml --parse-no-intraemph -M "title=The manual pages of Covey" -M css=style.css "$scratch/index.md" >"$to/man/index.html"
