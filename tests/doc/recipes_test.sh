#!/bin/bash
# recipes_test.sh - the recipes of doc/contributing.md, followed word for word in a copy of the sources.
# timeout: 600
exec bash "$(dirname "$0")/doc_test.sh" doc/contributing.md
