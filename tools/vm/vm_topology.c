/* The topology of a VM: set from a file, and what it lacks. */
#include "tools/vm/vm_topology.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int vm_topology_host(const struct covey_topology_node *nodes, int count, const char *name)
{
    size_t first = strcspn(name, ".");
    for (int i = 0; i < count; i++) {
        bool same = strcmp(nodes[i].name, name) == 0 ||
                    (strncmp(nodes[i].name, name, first) == 0 && nodes[i].name[first] == '\0');
        if (!nodes[i].is_switch && same)
            return i;
    }
    return -1;
}

static int report_missing(struct tool *tool, const char *what, const covey_topology_t *topology)
{
    struct covey_host *hosts = NULL;
    struct covey_topology_node *nodes = NULL;
    int count = covey_topology_nodes(topology, &nodes);
    int host_count = count < 0 ? count : covey_hosts(tool->vm, &hosts);
    if (host_count >= 0) {
        const char *separator = " ";
        for (int i = 0; i < host_count; i++) {
            if (vm_topology_host(nodes, count, hosts[i].name) >= 0)
                continue;
            if (*separator == ' ')
                fprintf(
                    stderr,
                    "covey: %s: the topology lacks hosts of the VM, and an all-to-all with tasks "
                    "there goes "
                    "unscheduled:",
                    what);
            fprintf(stderr, "%s%s", separator, hosts[i].name);
            separator = ", ";
        }
        if (*separator == ',')
            fputc('\n', stderr);
    }
    covey_free(nodes);
    covey_free(hosts);
    return host_count < 0 ? tool_failed(tool, what, host_count) : TOOL_OK;
}

static int load(const char *what, const char *path, covey_topology_t **topology)
{
    if (strcmp(path, "none") == 0 || covey_topology_load(path, topology) >= 0)
        return TOOL_OK;
    return tool_error(what, "%s", covey_error_text());
}

int vm_topology_check(const char *what, const char *path)
{
    covey_topology_t *topology = NULL;
    int status = load(what, path, &topology);
    covey_topology_free(&topology);
    return status;
}

int vm_topology_use(struct tool *tool, const char *what, const char *path)
{
    covey_topology_t *topology = NULL;
    int status = load(what, path, &topology);
    int error = status == TOOL_OK ? covey_vm_set_topology(tool->vm, topology) : 0;
    if (error < 0)
        status = tool_failed(tool, what, error);
    else if (topology != NULL)
        status = report_missing(tool, what, topology);
    covey_topology_free(&topology);
    return status;
}
