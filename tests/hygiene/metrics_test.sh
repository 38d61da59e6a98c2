#!/bin/bash
# The functions stay short enough to read.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh

if command -v ctags >/dev/null; then
    expect "the median function has at most 15 lines, 90 % at most 40" scripts/metrics.sh
else
    skip "the length of functions" "universal-ctags is not installed"
fi
finish
