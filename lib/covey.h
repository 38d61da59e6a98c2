/*
 * covey.h - the task library of Covey: a pool of hosts as one virtual machine.
 *
 * A program enrols with covey_join() and then is a task of a virtual machine (VM): it can start
 * other tasks, exchange typed messages with them, form groups and be told of events. Every call
 * takes the handle that covey_join() gave. A handle may be used by several threads at once; a
 * message may be used by one thread at a time.
 *
 * Units and shapes. Times are microseconds in int64_t (`_us`); sizes are bytes unless the name
 * says elements. Strides are in elements, as in PVM: 1 is contiguous.
 *
 * Errors. Calls return 0 or a count >= 0 on success and one of enum covey_error (< 0) on failure;
 * covey_strerror() gives its text and covey_error_text() the exact cause of the calling thread's
 * last failure. Outputs are set only on success, unless a call says otherwise.
 *
 * Ownership. A call that takes `covey_msg_t **` takes the message over and sets the pointer to
 * NULL when it succeeds; when it fails the caller still owns it. What a call allocates for the
 * caller is freed by the function its comment names.
 *
 * Each header below can be read, and included, alone. They stand in the order in which a newcomer
 * needs them: the first two groups are enough for a program of tasks that send to each other.
 */
#ifndef COVEY_H
#define COVEY_H

/* clang-format off */
#include "covey/base.h"       /* tids, timeouts, errors */
#include "covey/join.h"       /* becoming a task; routes */
#include "covey/host.h"       /* hosts and tasks there are, and their load */
#include "covey/spawn.h"      /* starting and ending tasks */

#include "covey/message.h"    /* packing and unpacking */
#include "covey/send.h"       /* sending and receiving */
#include "covey/notify.h"     /* being told of ends and of hosts */
#include "covey/request.h"    /* the same while the task computes, and waiting */

#include "covey/group.h"      /* tasks that join and leave under a name */
#include "covey/team.h"       /* tasks in a fixed order */
#include "covey/collective.h" /* what they call together */
#include "covey/window.h"     /* memory that they put into and get from */

#include "covey/bag.h"        /* items of work for whoever is free */
#include "covey/service.h"    /* locks, tokens, meetings */
#include "covey/session.h"    /* agreed views, election, consensus */
#include "covey/machine.h"    /* adding hosts, halting, counters, logs */
#include "covey/trace.h"      /* what the program did, and when */

#include "covey/topology.h"   /* networks */
#include "covey/schedule.h"   /* all-to-all without contention */
#include "covey/exchange.h"   /* arrays of any size between any members */
#include "covey/tiles.h"      /* loop nests in tiles */
#include "covey/calibration.h" /* what hosts and routes were measured to do */
#include "covey/model.h"      /* how long programs take */
/* clang-format on */

#endif
