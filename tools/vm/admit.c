/*
 * admit.c - prints the hosts that joined and, of each that did not, why. `covey add` and `covey
 * start` say it in the same words for they say it here.
 */
#include "tools/vm/admit.h"

#include <stdio.h>
#include <string.h>

void admit_print_joined(const struct covey_host *hosts, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(hosts[i].name, name) == 0 && hosts[i].state != COVEY_HOST_DOWN) {
            printf("%s joined (%s)\n", name, hosts[i].address);
            return;
        }
    }
    printf("%s joined\n", name);
}

int admit_report(struct tool *tool, const char *what, const struct covey_host_spec *specs, int n,
                 const struct covey_host_result *results, bool quiet)
{
    struct covey_host *hosts = NULL;
    int status = TOOL_OK;
    int count = covey_hosts(tool->vm, &hosts);
    if (count < 0)
        return tool_failed(tool, what, count);
    for (int i = 0; i < n; i++) {
        if (results[i].error == 0 && !quiet) {
            admit_print_joined(hosts, count, specs[i].name);
        } else if (results[i].error != 0) {
            const char *name = specs[i].name;
            const char *text =
                results[i].text[0] ? results[i].text : covey_strerror(results[i].error);
            tool_error(name, "did not join: %s", text);
            status = TOOL_FAILED;
        }
    }
    covey_free(hosts);
    return status;
}
