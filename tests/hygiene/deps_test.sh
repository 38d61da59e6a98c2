#!/bin/bash
# deps.sh finds the compiler that make was given, whatever words that is made of.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh

require() { # compiler -> what deps.sh says
    CC=$1 scripts/deps.sh require build 2>&1
}
refuses() { # compiler, the word that is not found
    ! require "$1" >/dev/null && require "$1" | grep -qF "'$2' is not found (set CC=...)"
}

expect "the compiler may have a launcher and options" require "env cc -O1"
expect "a compiler that is not there is named" refuses /nowhere/cc /nowhere/cc
expect "a launcher that is not there is named" refuses "/nowhere/ccache cc" /nowhere/ccache
finish
