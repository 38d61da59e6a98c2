#!/bin/bash
# timeout: 120
# Python: teams, collective calls, groups, exchange.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite teams 4
