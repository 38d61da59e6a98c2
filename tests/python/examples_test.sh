#!/bin/bash
# timeout: 120
# Python: the small programs that show one thing each.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite examples 4
