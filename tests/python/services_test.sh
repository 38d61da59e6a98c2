#!/bin/bash
# timeout: 120
# Python: locks and what else the VM agrees on, bags, traces, asyncio, starting, notebooks.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite services 4
