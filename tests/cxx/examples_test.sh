#!/bin/bash
# timeout: 120
# C++: the small programs that show one thing each.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/language_examples.sh
needs tests/cxx/messages "Covey was built without its header for C++"
libraries=(-lcovey)
examples share/examples/cxx .cpp "${CXX:-g++}" -std=c++17 -Wall -Wextra -Werror -I"$BUILD/cxx" -Ilib
finish
