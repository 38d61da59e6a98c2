/*
 * part.c - what a library carries out, in the trace of its task.
 */
#include "lib/domain/base/part.h"

#include <stdio.h>

void domain_part_begin(struct domain_part *part, covey_team_t *team, const char *problem,
                       const char *algorithm, double predicted_s)
{
    part->vm = covey_team_vm(team);
    if (part->vm == NULL || covey_trace_on(part->vm) != 1) {
        part->vm = NULL;
        return;
    }
    snprintf(part->name, sizeof part->name, "%s: %s", problem, algorithm);
    if (predicted_s > 0)
        covey_trace_expect(part->vm, part->name, predicted_s);
    covey_trace_begin(part->vm, part->name);
}

void domain_part_end(const struct domain_part *part)
{
    if (part->vm != NULL)
        covey_trace_end(part->vm, part->name);
}
