#!/bin/bash
# libraries_load.sh - what is chosen while hosts are loaded from outside: 2 of 8 hosts on one switch, which
# have a fifth of a processor each, by a program that takes all it can get. libraries_choice.sh says what is printed.
set -u
HOGS=${HOGS:-h6 h7} CPU=${CPU:-0.2} NETWORKS=${NETWORKS:-switch} exec "$(dirname "$0")/libraries_choice.sh"
