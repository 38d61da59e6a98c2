/*
 * host.h - the hosts of the VM.
 */
#ifndef COVEY_PVM3_HOST_H
#define COVEY_PVM3_HOST_H

#include "lib/covey.h"

/* Those that are up: *hosts is freed by covey_free(). Returns their number or an error of PVM. */
int host_list(struct covey_host **hosts);

#endif
