/* Adding hosts and saying how it went: what `covey add` and `covey start` share. */
#ifndef COVEY_TOOLS_ADMIT_H
#define COVEY_TOOLS_ADMIT_H

#include "tools/base/tool.h"

/* Prints how the first daemon or an added host joined: "h1 joined (127.0.0.1:40001)". */
void admit_print_joined(const struct covey_host *hosts, int count, const char *name);

/* Prints a line for each of n hosts after covey_add_hosts(): joined on standard output, unless it
 * is to be quiet, why not on standard error. TOOL_OK only if all joined. */
int admit_report(struct tool *tool, const char *what, const struct covey_host_spec *specs, int n,
                 const struct covey_host_result *results, bool quiet);

#endif
