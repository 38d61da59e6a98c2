/*
 * launchspec.h - how one host is to be started, once the asker's words and covey.conf are put
 * together.
 */
#ifndef COVEY_DAEMON_LAUNCHSPEC_H
#define COVEY_DAEMON_LAUNCHSPEC_H

#include "daemon/base/conf.h"
#include "proto/wire/control.h"

/* Fills what the asker left open from [launch] of covey.conf: afterwards `launcher` is ssh, exec or
 * local, and `hostname` is set. A template that was given without a launcher means exec. */
void launchspec_complete(struct control_host_spec *spec, const struct conf_launch *conf);

/* Why a completed spec cannot be launched, in words; NULL: it can. What a shell or ssh could take
 * for an option of its own is refused. */
const char *launchspec_refused(const struct control_host_spec *spec);

#endif
