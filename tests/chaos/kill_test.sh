#!/bin/bash
# timeout: 240
# kill_test.sh - kill -9 at random instants: of tasks that send, receive, spawn, enrol and wait at
# barriers over every route, and of daemons, the coordinating one among them.
#
# Survivors go on, get the right notices, and nothing is left: see chaos.c. SEED=N replays; SOAK=1
# kills thousands. TEST=text runs only the stories whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh
seed=${SEED:-$RANDOM$RANDOM}
if [ -n "${SOAK:-}" ]; then kills=${KILLS:-10000} rounds=${ROUNDS:-500}; else kills=250 rounds=5; fi

chaos() { # host whose daemon lives, arguments
    COVEY_SOCKET=$(socket_of "$1") "$BUILD/tests/chaos/chaos" "${@:2}"
}

story "tasks are killed" 1 chaos h0 tasks "$seed" "$kills"
story "daemons are killed" 4 chaos h4 daemons "$seed" "$rounds" 5
finish
