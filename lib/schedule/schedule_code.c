/*
 * schedule_code.c - the templates of generated programs, as the files below template/ have them: a
 * template stays a source that is compiled, formatted and linted as any other.
 */
#include "lib/schedule/schedule_code.h"

#include "proto/embed/embed.h"

EMBED(schedule_code_covey, "lib/schedule/template/covey.c");
EMBED(schedule_code_mpi, "lib/schedule/template/mpi.c");
