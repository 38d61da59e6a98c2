#!/bin/bash
# The functions stay short enough to read.
set -u
cd "$(dirname "$0")/../.."
if ! command -v ctags >/dev/null; then
    echo "skipped: universal-ctags is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
scripts/metrics.sh
