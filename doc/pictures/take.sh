#!/bin/bash
# take.sh - takes the pictures of README.md anew, as root: top.svg and mandel.png beside this file.
#
# top.svg is what a terminal shows of `covey top` while mandel draws on four lab hosts of a quarter of
# a core: tmux captures the characters and their attributes, screen.awk writes them as SVG, nothing is
# added or left out. mandel.png is what mandel wrote there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != on-anna ]; then
    BUILD=${BUILD:-$here/../../build} exec "$here/../../tests/lab/vm.sh" \
        --topology "$here/pool.topology" --cpu 0.25 -- "$here/take.sh" on-anna
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-pictures.XXXXXX")
terminal() { tmux -S "$scratch/tmux" -f /dev/null "$@"; }
clean_up() {
    terminal kill-server 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT

mandel --size 480x360 --output "$here/mandel.png"
# of this one only the work counts
mandel --size 4000x3000 --iterations 20000 --tasks 8 --baseline 0 >"$scratch/out" &
TERM=screen-256color terminal new-session -d -x 92 -y 9 "covey top"
sleep 12 # the load of ten seconds is in the columns then
terminal capture-pane -p -e >"$scratch/screen"
wait
awk -f "$here/screen.awk" "$scratch/screen" >"$here/top.svg"
