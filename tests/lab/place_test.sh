#!/bin/bash
# place_test.sh - spawn avoids a host that is really busy: a lab of hosts of a fifth of a core each,
# on one of which something else computes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
. tests/lab/crowd.sh
BUILD=$(realpath "${BUILD:-build}")
needs_lab "placement in a lab"

# on the first host of the lab: what it takes to start and to measure their speed has kept all hosts
# busy a moment ago
cat >"$dir/inside" <<'TEXT'
dir=$1
told_apart() { # a look keeps this host busy, too: not too often
    sleep 0.5
    covey top --once >"$dir/top"
    awk '$2 == "up" && ($1 == "h3" ? $4 >= 90 : $4 < 40) { n++ } END { exit n != 4 }' "$dir/top"
}
. tests/report.sh
within 4 told_apart || echo "the load of h3 never showed, or that of the others stayed"
covey run -n 3 --explain hostname >"$dir/went" 2>"$dir/why"
TEXT
# the owner says how fast they are: as fast as each other, whatever disturbs while each is measured
printf '[daemon]\nspeed = 2000\n' >"$dir/conf"
crowded_vm "placement in a lab" --hog h3 --conf "$dir/conf" -- bash "$dir/inside" "$dir"
cat "$dir/said" "$dir/why" "$dir/top"

avoids() { [ "$(LC_ALL=C /usr/bin/sort "$dir/went" | tr '\n' ' ')" = "h1 h2 h4 " ] || { cat "$dir/went" && return 1; }; }
# what the monitor has at that moment, which beside other load on the machine is less than a moment ago
says_why() { grep -qE '^h3 +0 +others end earlier: 0\.1.* of a core \((0\.[5-9]|1\.0) compete for 0\.2 cores\)' "$dir/why"; }
shows() { awk '$1 == "h3" { exit !($3 == 0.2 && $4 >= 90) }' "$dir/top"; }
expect "spawn avoids the busy host" avoids
expect "--explain says why" says_why
expect "covey top shows the busy host" shows
finish
