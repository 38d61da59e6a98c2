#!/bin/bash
# html_test.sh - `make doc`: every guide and manual page becomes HTML, and no link in it is dead.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/report.sh
. tests/report.sh
for tool in lowdown mandoc; do
    command -v $tool >/dev/null || { skip "guides and manual pages as HTML" "$tool is not installed" && finish; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-html-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
html=$work/html
mapfile -t pages < <(find lib daemon tools apps conf -name '*.[1-8]' | sort)

# What is in no page, or of another kind: FILE: LINK
links_of() { # FILE
    grep -oE '(href|src)="[^"]*"' "$1" | sed -E 's/^[a-z]+="//; s/"$//; s/&#47;/\//g; s/&#38;/\&/g; s/&amp;/\&/g' | sort -u
}
dead_links() {
    local file link target anchor
    while read -r file; do
        while read -r link; do
            case $link in http://* | https://* | mailto:*) continue ;; esac
            target=${link%%#*}
            anchor=
            case $link in *'#'*) anchor=${link#*#} ;; esac
            if [ -z "$target" ]; then target=$file; else target=$(dirname "$file")/$target; fi
            if [ ! -f "$target" ]; then
                echo "${file#"$html"/}: $link leads to no file"
            elif [ -n "$anchor" ] && ! grep -qE "id=\"$anchor\"" "$target"; then
                echo "${file#"$html"/}: $link leads to no place in that file"
            fi
        done < <(links_of "$file")
    done < <(find "$html" -name '*.html')
}
all_live() {
    dead_links >"$work/dead"
    cat "$work/dead"
    [ ! -s "$work/dead" ]
}
all_there() { # SUFFIX-TO-ADD, FILES...: each has its page
    local file status=0
    for file; do [ -s "$file" ] || { echo "$file is missing" && status=1; }; done
    return $status
}
# whoever begins at index.html finds every guide
all_found() {
    local guide status=0
    for guide in doc/*.md; do
        links_of "$html/index.html" | grep -qx "$(basename "$guide" .md).html" || { echo "$guide is not found" && status=1; }
    done
    return $status
}
leads_to() { grep -q "href=\"$2\"" "$html/$1"; } # FILE LINK
no_markdown_left() { ! grep -lE 'href="[^"]*\.md[#"]' "$html"/*.html; }

expect "make doc" doc/make-html.sh "$html" "${pages[@]}"
expect "each guide is there" all_there $(printf "$html/%s.html\n" index $(basename -as .md doc/*.md))
expect "each manual page is there" all_there $(printf "$html/man/%s.html\n" $(basename -a "${pages[@]}"))
expect "each lesson is there" all_there $(printf "$html/lesson-%s.html\n" $(basename -as .md doc/lessons/*.md))
expect "index.html leads to each guide" all_found
expect "no link is dead" all_live
expect "no link leads to Markdown" no_markdown_left
expect "a guide leads to a manual page" leads_to tutorial.html man/covey.hosts.5.html
expect "a page leads to the page of a function that it names" leads_to man/covey_intro.3.html covey_hosts.3.html
expect "a page leads back to the guides" leads_to man/covey.1.html ../index.html
echo "$(find "$html" -name '*.html' | wc -l) files, $(grep -ohE 'href="[^"]*"' "$html"/*.html "$html"/man/*.html | wc -l) links"
finish
