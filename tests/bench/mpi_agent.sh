#!/bin/sh
# mpi_agent.sh HOST COMMAND... - what MPICH calls in the place of rsh: it takes a program, no words.
exec "$(dirname "$0")/mpi.sh" agent "$@"
