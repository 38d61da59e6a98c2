/*
 * launchrun.h - `coveyd --launch`: any command of coveyd on another host, started as a daemon would
 * be.
 */
#ifndef COVEY_DAEMON_LAUNCHRUN_H
#define COVEY_DAEMON_LAUNCHRUN_H

#include "daemon/base/conf.h"
#include "daemon/base/options.h"

/* The operands are fields of the host, KEY=VALUE as in covey.hosts(5) and name=NAME, then the word
 * `run` and the arguments of coveyd there. Becomes the launcher; returns only -1, with *why. */
int launchrun(const struct options *options, const struct conf *conf, struct failure *why);

#endif
