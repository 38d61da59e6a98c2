/* The topology of a VM: set from a file, and what it lacks. */
#ifndef COVEY_TOOLS_VM_TOPOLOGY_H
#define COVEY_TOOLS_VM_TOPOLOGY_H

#include "covey.h"
#include "tools/base/tool.h"

/* Gives the joined VM the topology of a file; "none": takes it away. Hosts of the VM that are not
 * in it are named on standard error, which is no failure. Returns an exit status, after an error
 * line in the name of `what` where it is not 0. */
int vm_topology_use(struct tool *tool, const char *what, const char *path);

/* Whether the file holds a topology ("none" counts), with an error line if not. */
int vm_topology_check(const char *what, const char *path);

/* The place of a host among the nodes, or -1: by its name in the VM, or what stands before the
 * first dot of that, as covey_alltoall(3) has it. */
int vm_topology_host(const struct covey_topology_node *nodes, int count, const char *name);

#endif
