#!/bin/bash
# live.sh - takes doc/live-page.png anew, as root: the page of covey web in Chromium, while demos run on six lab hosts of a fifth
# of a core each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export BUILD=${BUILD:-$here/../../build}
if [ "${1:-}" != in-lab ]; then
    exec "$here/../../tests/lab/vm.sh" --topology "$here/two-floors.topology" --cpu 0.2 --name pool -- "$here/live.sh" in-lab
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-pictures.XXXXXX")
trap 'kill $web 2>/dev/null || true; rm -rf "$scratch"' EXIT
covey topology --use "$here/two-floors.topology"
covey web >"$scratch/url" &
web=$!
sleep 10
matmul --size 512 --tasks 4 >"$scratch/out" || true
sleep 6
mandel --size 6000x4000 --iterations 20000 --bag --tasks 12 --baseline 0 >"$scratch/out" &
mandel=$!
sleep 45
XDG_RUNTIME_DIR=$scratch "$BUILD/tests/tool/browse" "$scratch/browser" "$(cat "$scratch/url")" 1300 1760 'until=document.documentElement.dataset.drawn > 4 && matrix !== null' "shot=$scratch/picture"
base64 -d "$scratch/picture" >"$here/../live-page.png"
kill $mandel 2>/dev/null || true
wait $mandel || true
