/*
 * outbox.c - messages that leave in the background: a slow receiver holds up nobody but itself.
 * Requests that ended are freed now and then, not each time, for to look at all of them costs
 * time.
 */
#include "apps/outbox.h"

#include <stdlib.h>

#define REAP_LEAST 16 /* under this many it is not looked which ones are done */

static int outbox_reserve(struct outbox *outbox)
{
    if (outbox->count >= REAP_LEAST) {
        /* Frees those that are done, however they ended: a receiver that ended says so by a notice.
         */
        size_t kept = 0;
        for (size_t i = 0; i < outbox->count; i++) {
            if (covey_test(outbox->requests[i]) == 0)
                outbox->requests[kept++] = outbox->requests[i];
            else
                covey_req_free(&outbox->requests[i]);
        }
        outbox->count = kept;
    }
    if (outbox->count < outbox->capacity)
        return 0;
    size_t capacity = outbox->capacity + REAP_LEAST;
    covey_req_t **requests = realloc(outbox->requests, capacity * sizeof(covey_req_t *));
    if (requests == NULL)
        return COVEY_ENOMEM;
    outbox->requests = requests;
    outbox->capacity = capacity;
    return 0;
}

int outbox_send(struct outbox *outbox, covey_t *vm, covey_tid_t to, int tag, covey_msg_t *msg)
{
    int error = outbox_reserve(outbox);
    if (error == 0)
        error = covey_isend(vm, to, tag, &msg, &outbox->requests[outbox->count]);
    if (error == 0)
        outbox->count++;
    covey_msg_free(msg);
    return error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL ? 0 : error;
}

void outbox_free(struct outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++)
        covey_req_free(&outbox->requests[i]);
    free(outbox->requests);
    *outbox = (struct outbox){.requests = NULL};
}
