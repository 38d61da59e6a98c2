#!/bin/bash
# timeout: 120
# Python: demos of whole programs.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite demos 4
