#!/bin/bash
# timeout: 120
# Python: joining, spawning, messages, requests, errors, Ctrl-C.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite messages 4
