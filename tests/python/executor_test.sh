#!/bin/bash
# timeout: 120
# Python: functions on workers of an executor, their failures and deaths.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite executor 4
