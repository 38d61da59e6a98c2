/*
 * budget.h - how much memory the daemon may take for what waits in it: `memory` of covey.conf. What
 * is too much makes senders wait, or is refused by name.
 *
 * What counts: queues for tasks, queues for hosts, and bags with their copies and what comes in and
 * goes out for them. When queues take more than half of the budget, or all that more than the
 * whole, no queue that is longer than BUDGET_QUEUE_LEAST takes more: so whoever reads gets what is
 * sent to it, however much waits for those who do not. What is put into bags may take half of the
 * budget, and their results a quarter more, so that what was put can be done.
 */
#ifndef COVEY_DAEMON_BUDGET_H
#define COVEY_DAEMON_BUDGET_H

#include "daemon/base/daemon.h"

#define BUDGET_QUEUE_LEAST ((size_t)128 * 1024)

/* Bytes that count. */
size_t budget_used(const struct daemon *d);

/* A task is not read while a queue that it feeds is longer than this. */
size_t budget_queue_max(const struct daemon *d);

/* By how much may be put into bags, results may grow, and requests to bags may come in. */
size_t budget_for_puts(const struct daemon *d);
size_t budget_for_results(const struct daemon *d);
size_t budget_for_requests(const struct daemon *d); /* of which one alone may be so large */

#endif
