#!/bin/bash
# timeout: 120
# Python: solvers on numpy arrays.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite solvers 4
