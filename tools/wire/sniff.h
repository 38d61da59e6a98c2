/*
 * sniff.h - `coveyd --sniff`: shows what Covey says on the wire. The essay stands in sniff.c.
 */
#ifndef COVEY_DAEMON_SNIFF_H
#define COVEY_DAEMON_SNIFF_H

#include "daemon/base/conf.h"
#include "daemon/base/options.h"

#define SNIFF_USAGE -2

/* Captures and prints, as the operands say. Returns 0, or with *why SNIFF_USAGE when they are wrong
 * and -1 when something failed. */
int sniff(const struct options *options, const struct conf *conf, struct failure *why);

#endif
