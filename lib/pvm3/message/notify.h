/*
 * notify.h - ends of tasks and changes of the host table.
 */
#ifndef COVEY_PVM3_NOTIFY_H
#define COVEY_PVM3_NOTIFY_H

#include <stdbool.h>

#include "lib/covey.h"

#define NOTIFY_TAG 0x3f70766e /* of Covey's notices */

/* From now on it is known when the task ends. Returns PvmOk while it lives, PvmNoTask or
 * PvmHostFail when it was heard that it does not, or another error. */
int notify_watch(int tid);
/* The same, where only the end counts. */
bool notify_has_ended(int tid);

/* Waits for the next message, whoever sends it, while that task lives: its end counts when no
 * message is there any more. Returns 1 or an error, PvmNoTask and PvmHostFail for the end. */
int notify_await(int tid);

/* From now on hosts that come and go are known. Returns 0 or an error. */
int notify_watch_hosts(void);

/* A notice came. */
void notify_on_notice(covey_msg_t *msg);

/* A message went to that task, or came from it. */
void notify_on_message(int tid);

void notify_clear(void);

#endif
