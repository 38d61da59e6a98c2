/*
 * class_server.h - the process that keeps a class open: `covey class open` starts it in the
 * background, and it ends with the VM, or with `covey class close`.
 */
#ifndef COVEY_TOOLS_CLASS_SERVER_H
#define COVEY_TOOLS_CLASS_SERVER_H

#include <stdint.h>

#include "tools/base/tool.h"

#define CLASS_READY "ready" /* what it prints when it listens, and is in its group */
#define CLASS_FOR_S 3600.0  /* a class is open for so long unless it is told another time */
#define CLASS_FOR_S_MAX 604800.0

/* Serves. Says CLASS_READY on standard output, or on standard error why it cannot; an exit status.
 */
int class_serve(struct tool *tool, double for_s, uint16_t port);

#endif
