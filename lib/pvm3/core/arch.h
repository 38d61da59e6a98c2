/*
 * arch.h - PVM's names of architectures and numbers of data formats.
 */
#ifndef COVEY_PVM3_ARCH_H
#define COVEY_PVM3_ARCH_H

#include "lib/covey.h"

/* "LINUX64" and the like, a literal. */
const char *arch_name(const struct covey_host *host);
int arch_format(const struct covey_host *host);

/* That of this process: PVM_ARCH, otherwise by uname. */
const char *arch_own(void);

#endif
