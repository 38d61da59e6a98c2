#!/bin/sh
# messages.sh - takes doc/live-messages.png anew: messages on the page of covey web in Chromium, while poisson runs on four virtual hosts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${BUILD:-$here/../../build}")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-pictures.XXXXXX")
export PATH="$build:$build/apps:$PATH" XDG_RUNTIME_DIR="$scratch" COVEY_VM=class
unset COVEY_SOCKET
trap 'exit 1' INT TERM
trap 'kill $web $program 2>/dev/null || true; covey halt >/dev/null 2>&1; rm -rf "$scratch"' EXIT
web='' program=''
covey start --local 4 >"$scratch/started"
covey web >"$scratch/url" &
web=$!
poisson --dims 2 --size 512 --method jacobi --tasks 12 --tolerance 1e-15 --baseline 0 >"$scratch/out" 2>&1 &
program=$!
sleep 8
"$build/tests/tool/browse" "$scratch/browser" "$(cat "$scratch/url")" 1100 560 'until=flights !== null && dots.length > 0' \
    'eval=document.getElementById("flightsection").scrollIntoView()' \
    'until=dots.filter(d => performance.now() - d.at > 300).length > 20' "shot=$scratch/picture" >"$scratch/said"
base64 -d "$scratch/picture" >"$here/../live-messages.png"
