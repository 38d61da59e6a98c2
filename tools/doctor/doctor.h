/* Examining hosts, alone and with each other. The essay stands in doctor.c. */
#ifndef COVEY_TOOLS_DOCTOR_H
#define COVEY_TOOLS_DOCTOR_H

#include "tools/base/tool.h"
#include "tools/doctor/finding.h"

/* How a host is reached. */
enum doctor_way {
    DOCTOR_HERE,   /* it is this machine */
    DOCTOR_LAUNCH, /* by the launcher of its spec */
    DOCTOR_TASK    /* as a task of the VM */
};

struct doctor_host {
    struct covey_host_spec spec; /* the strings are the caller's */
    enum doctor_way way;
    bool local; /* a virtual host that uses 127.0.0.1 alone */
};

/* Examines n hosts, the first of which should be this machine, and then whether each reaches each
 * of the others. Ends within about a minute whatever the hosts do. Returns TOOL_OK when it was
 * possible; what was found is in *findings. */
int doctor_examine(struct tool *tool, const struct doctor_host *hosts, int n,
                   struct findings *findings);

#endif
