#!/bin/bash
# timeout: 120
# Python: commands of a file on all hosts.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite map 4
