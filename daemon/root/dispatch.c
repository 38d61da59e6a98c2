/*
 * dispatch.c - who takes the frames that are for this daemon. Each part names the kinds that it
 * takes; here they become a table by kind, in which post.c finds a frame's taker in one step.
 *
 * A kind has one taker, and every taker's kind is one that somebody may send to a daemon: anything
 * else is a mistake in a part's row, and no daemon starts with it.
 */
#include "daemon/root/dispatch.h"

#include <assert.h>

static bool is_for_a_daemon(uint8_t kind)
{
    switch (frame_kind_party(kind)) {
    case TASK_TO_DAEMON:
    case DAEMON_TO_DAEMON:
    case ANY_TO_DAEMON:
        return true;
    default:
        return kind == FRAME_GONE; /* to a task, or to the daemon that watches for one */
    }
}

void dispatch_make(struct daemon *d)
{
    for (size_t i = 0; i < PARTS; i++) {
        const struct part_kind *k = d->parts[i]->kinds;
        for (; k != NULL && k->handle != NULL; k++) {
            assert(d->takers[k->kind].handle == NULL && is_for_a_daemon(k->kind));
            d->takers[k->kind] = (struct daemon_taker){
                .handle = k->handle, .part = (enum part_number)i, .request = k->request};
        }
    }
}
