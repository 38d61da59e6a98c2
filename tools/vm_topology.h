/* The topology of a VM: set from a file, and what it lacks. */
#ifndef COVEY_TOOLS_VM_TOPOLOGY_H
#define COVEY_TOOLS_VM_TOPOLOGY_H

#include "tools/tool.h"

/* Gives the joined VM the topology of a file; "none": takes it away. Hosts of the VM that are not
 * in it are named on standard error, which is no failure. Returns an exit status, after an error
 * line in the name of `what` where it is not 0. */
int vm_topology_use(struct tool *tool, const char *what, const char *path);

/* Whether the file holds a topology ("none" counts), with an error line if not. */
int vm_topology_check(const char *what, const char *path);

#endif
