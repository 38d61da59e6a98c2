#!/bin/bash
# lessons_test.sh - the pages of the lessons, followed word for word: each program runs in C and in Python, and prints what its page shows.
# timeout: 300
set -u
cd "$(dirname "$0")/../.." || exit 1
for file in share/lessons/*.c lib/python/covey/examples/[!_]*.py; do
    name=$(basename "${file%.*}")
    [ -e "share/lessons/$name.c" ] && [ -e "lib/python/covey/examples/$name.py" ] && grep -q "(lessons/$name.md)" doc/lessons.md ||
        { echo "not ok - $name is a program in C and in Python, which doc/lessons.md names" && exit 1; }
done
exec bash tests/doc/doc_test.sh doc/lessons/*.md
