/*
 * outbox.h - messages that leave in the background, whoever is slow to take them.
 */
#ifndef APPS_OUTBOX_H
#define APPS_OUTBOX_H

#include "covey.h"

struct outbox {
    covey_req_t **requests;
    size_t count, capacity;
};

/* Begins to send the message, and takes it in any case; what was packed in place must stay as it
 * is until outbox_free(). To a task that ended nothing is sent. 0 or an error of the library. */
int outbox_send(struct outbox *outbox, covey_t *vm, covey_tid_t to, int tag, covey_msg_t *msg);
/* Waits for those under way, unless they can be called back. */
void outbox_free(struct outbox *outbox);

#endif
