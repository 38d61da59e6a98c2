#!/bin/bash
# timeout: 120
# Fortran: the small programs that show one thing each.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/language_examples.sh
needs tests/fortran/messages "Covey was built without its modules for Fortran"
libraries=(-lcovey_fortran -lcovey)
mkdir "$dir/modules"
examples share/examples/fortran .f90 "${GFORTRAN:-gfortran}" -std=f2018 -Wall -Wextra -Werror -I "$BUILD/fortran" -J "$dir/modules"
finish
