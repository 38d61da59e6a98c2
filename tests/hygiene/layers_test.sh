#!/bin/bash
# The layers hold, and the check that says so finds every kind of breach.
set -u
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
. tests/report.sh

expect "the tree keeps its layers" scripts/layers.sh

layers_of_copy() { BUILD=build scripts/layers.sh "$copy"; }

# one breach at a time in a copy of the tree: the check must name the file
expect_named() { # file, what it shows
    local said
    said=$(layers_of_copy 2>&1)
    if [ $? -eq 1 ] && grep -q "^$1:1: " <<<"$said"; then ok "$2"; else bad "$2" "it said: $said"; fi
}
expect_breach() { # file, line of C, what it shows
    mkdir -p "$copy/$(dirname "$1")"
    echo "$2" >"$copy/$1"
    expect_named "$1" "$3"
    rm "$copy/$1"
}
# the same where the object tells: each further pair is another file and its line of C
expect_object_breach() { # what it shows, file, line of C, ...
    local shows=$1 first=$2 made=()
    shift
    while [ $# -gt 0 ]; do
        echo "$2" >"$copy/$1"
        mkdir -p "$copy/build/obj/$(dirname "$1")"
        cc -std=c17 -fPIC -c -o "$copy/build/obj/${1%.c}.o" "$copy/$1" || bad "$shows" "no object of $1"
        made+=("$copy/$1" "$copy/build/obj/${1%.c}.o")
        shift 2
    done
    expect_named "$first" "$shows"
    rm "${made[@]}"
}

for folder in cipher proto lib daemon tools apps; do cp -r $folder "$copy/"; done
mkdir -p "$copy/build/obj" "$copy/apps/one" "$copy/apps/other"
touch "$copy/apps/other/breach_of.h" "$copy/daemon/base/breach_of.h"
expect "the copy keeps its layers, and its folders are looked at without objects" layers_of_copy
if layers_of_copy 2>&1 | grep -q 'nothing is built'; then
    ok "where nothing is built the check says what it leaves out"
else
    bad "where nothing is built the check says what it leaves out"
fi

expect_breach lib/covey/breach.h '#include "lib/msg/message.h"' "a header that is installed includes no other"
expect_breach proto/wire/breach.c '#include "lib/link/stream.h"' "proto includes nothing but proto"
expect_breach proto/wire/breach.c '#include "proto/node/node.h"' "a room includes what its row names"
expect_breach proto/attic/breach.c 'int x(void);' "a room has a row"
expect_breach proto/node/breach.c '#include <sys/socket.h>' "proto has no sockets"
expect_breach proto/node/breach.c 'int64_t now(void) { return time(NULL); }' "proto has no clock"
expect_breach proto/auth/breach.c 'void *x(void) { return dlopen("x", 0); }' "proto loads no library"
expect_breach lib/breach.c '#include "daemon/base/breach_of.h"' "lib does not include daemon"
expect_breach tools/base/breach.c '#include "proto/wire/cursor.h"' "tools include only covey.h"
expect_breach tools/base/breach.c '#include "daemon/base/breach_of.h"' "nobody includes daemon"
expect_breach tools/base/breach.c '#include "tools/vm/peers.h"' "a room of the tools includes what its row names"
expect_breach apps/one/breach.c '#include "lib/link/stream.h"' "apps include only covey.h"
expect_breach apps/one/breach.c '#include "apps/other/breach_of.h"' "an app keeps to its own folder"
expect_breach daemon/breach.c '#include <ev.h>' "ev.h stands in daemon/base/loop.c alone"
expect_breach lib/breach.c 'return ntohl(x);' "byte order is the cursor's"
expect_breach tools/base/breach.c 'int fd = socket(AF_INET, SOCK_STREAM, 0);' "tools make no sockets"

field=$(printf 'int f%d; ' {1..26})
expect_breach proto/node/breach.h "struct large { $field};" "a struct has at most 25 fields"
echo "struct message { $field};" >"$copy/proto/wire/breach.h"
expect "a message on the wire may have more" layers_of_copy
rm "$copy/proto/wire/breach.h"

mkdir "$copy/apps/full"
touch "$copy"/apps/full/{10..42}.c
expect_named apps/full/42.c "a room has at most 32 files"
rm -r "$copy/apps/full"

cursor_row='int cursor_ok(void) { return 1; }'
expect_object_breach "a room calls what its row names" \
    proto/tiling/breach.c 'int cursor_ok(void); int x(void) { return cursor_ok(); }' proto/wire/callee.c "$cursor_row"
expect_object_breach "tools call what covey.h declares alone" \
    tools/base/breach.c 'int cursor_ok(void); int x(void) { return cursor_ok(); }' proto/wire/callee.c "$cursor_row"
expect_object_breach "proto has no statics that can be written" \
    proto/wire/breach.c 'static int times; int x(void) { return ++times; }'
expect_object_breach "a circle of calls crosses no rooms" \
    apps/breach.c 'int x(void); int up(void) { return x(); }' \
    apps/one/callee.c 'int up(void); int x(void) { return up(); }'
ring=()
for i in {10..22}; do
    next=$((i == 22 ? 10 : i + 1))
    ring+=("apps/one/ring$i.c" "int x$next(void); int x$i(void) { return x$next() + 1; }")
done
expect_object_breach "a circle of calls has at most 12 files" "${ring[@]}"

finish
