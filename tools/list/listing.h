/* What the commands that list something share: their one option and the names of hosts. */
#ifndef COVEY_TOOLS_LISTING_H
#define COVEY_TOOLS_LISTING_H

#include <stdbool.h>

#include "covey.h"
#include "tools/base/args.h"
#include "tools/base/tool.h"

#define LISTING_PATIENCE_US 1000000 /* a busy host may take a while */

/* The table of the one option, --json. */
extern const struct args_option listing_options[];

/* Reads a command line of nothing but --json and joins the VM; an exit status, after an error line
 * where it is not TOOL_OK. */
int listing_join(struct tool *tool, int argc, char **argv, bool *json);

/* The name of the host with that index, or "?". */
const char *listing_host_name(const struct covey_host *hosts, int count, int index);

#endif
