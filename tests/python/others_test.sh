#!/bin/bash
# timeout: 120
# Python: joblib, scikit-learn and Dask on an executor.
set -u
# shellcheck source=tests/python/suite.sh
. "$(dirname "$0")/suite.sh"
python_suite others 4
