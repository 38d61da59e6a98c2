#!/bin/bash
# The layers hold, and the check that says so finds every kind of breach.
set -u
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
. tests/report.sh

expect "the tree keeps its layers" scripts/layers.sh

# one breach at a time in a copy of the tree: the check must name the file
expect_breach() { # file, line of C, what it shows
    local said
    mkdir -p "$copy/$(dirname "$1")"
    echo "$2" >"$copy/$1"
    said=$(scripts/layers.sh "$copy")
    if [ $? -eq 1 ] && grep -q "^$1:1: " <<<"$said"; then ok "$3"; else bad "$3" "it said: $said"; fi
    rm "$copy/$1"
}

cp -r proto lib "$copy/"
for folder in daemon tools apps; do [ -d $folder ] && cp -r $folder "$copy/"; done
touch "$copy/daemon/breach_of.h" 2>/dev/null || { mkdir "$copy/daemon"; touch "$copy/daemon/breach_of.h"; }
mkdir -p "$copy/apps/other"
touch "$copy/apps/other/breach_of.h"
# what the tree itself breaks is told above
scripts/layers.sh "$copy" >/dev/null || finish

expect_breach proto/breach.c '#include "lib/link/stream.h"' "proto includes nothing but proto"
expect_breach proto/breach.c '#include <sys/socket.h>' "proto has no sockets"
expect_breach proto/breach.c 'int64_t now(void) { return time(NULL); }' "proto has no clock"
expect_breach lib/breach.c '#include "daemon/breach_of.h"' "lib does not include daemon"
expect_breach lib/covey/breach.h '#include "lib/msg/message.h"' "a header that is installed includes no other"
expect_breach tools/breach.c '#include "proto/wire/cursor.h"' "tools include only covey.h"
expect_breach tools/breach.c '#include "daemon/breach_of.h"' "nobody includes daemon"
expect_breach apps/one/breach.c '#include "lib/link/stream.h"' "apps include only covey.h"
expect_breach apps/one/breach.c '#include "apps/other/breach_of.h"' "an app keeps to its own folder"
expect_breach daemon/breach.c '#include <ev.h>' "ev.h stands in daemon/base/loop.c alone"
expect_breach lib/breach.c 'return ntohl(x);' "byte order is the cursor's"
expect_breach tools/breach.c 'int fd = socket(AF_INET, SOCK_STREAM, 0);' "tools make no sockets"

finish
