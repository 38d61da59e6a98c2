#!/bin/bash
# timeout: 60
# Python: no call of covey.h is forgotten.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite calls 1
