#!/bin/bash
# timeout: 120
# Python: functions on workers of an executor, their failures and deaths. SOAK: a million futures.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite executor 4
