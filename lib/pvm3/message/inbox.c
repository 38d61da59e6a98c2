/*
 * inbox.c - messages that have come and were not received yet.
 *
 * It is filled only while the program is in a call that receives, message by message until one
 * fits. What waits here is told to Covey, which bounds it together with what nobody received.
 */
#include "lib/pvm3/message/inbox.h"

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/part.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/handler.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/wire.h"

static struct buffer *first, *last;
static unsigned removals;
static int64_t waiting_bytes, told_bytes; /* of all messages here; as Covey knows it */

#define TELL_BYTES (1 << 20) /* it need not know it better */

static void inbox_tell(int64_t more)
{
    waiting_bytes += more;
    int64_t untold = waiting_bytes - told_bytes;
    if (vm_handle() == NULL || (untold < TELL_BYTES && untold > -TELL_BYTES))
        return;
    covey_keep(vm_handle(), untold);
    told_bytes = waiting_bytes;
}

struct buffer *inbox_first(void)
{
    return first;
}

struct buffer *inbox_last(void)
{
    return last;
}

void inbox_remove(struct buffer *b)
{
    struct buffer *before = NULL;
    if (!b->waiting)
        return;
    for (struct buffer *at = first; at != b; at = at->next)
        before = at;
    if (before == NULL)
        first = b->next;
    else
        before->next = b->next;
    if (last == b)
        last = before;
    b->next = NULL;
    b->waiting = false;
    inbox_tell(-(int64_t)b->body.size);
    removals++;
}

unsigned inbox_removals(void)
{
    return removals;
}

void inbox_deliver(struct buffer *b)
{
    part_each(part, on_message) part->on_message(b);
    part_each(part, take)
    {
        if (part->take(b))
            return;
    }
    if (!handler_take(b)) {
        b->next = NULL;
        b->waiting = true;
        inbox_tell((int64_t)b->body.size);
        if (last == NULL)
            first = b;
        else
            last->next = b;
        last = b;
    }
}

void inbox_deliver_by_daemon(struct buffer *b, int tag, int context)
{
    b->info.src = DAEMON_TID;
    b->info.dst = pvmmytid;
    b->info.tag = tag;
    b->info.ctx = context;
    inbox_deliver(b);
}

static void deliver_message(covey_msg_t **msg)
{
    struct buffer *b = wire_buffer(msg);
    if (b == NULL)
        return;
    notify_on_message(b->info.src);
    inbox_deliver(b);
}

/* What is none of PVM's, such as a message of a program that uses covey.h, is dropped. */
static void dispatch(covey_msg_t **msg)
{
    struct covey_info info;
    covey_msg_info(*msg, &info);
    if (info.tag == WIRE_TAG)
        deliver_message(msg);
    else if (info.tag == NOTIFY_TAG)
        notify_on_notice(*msg);
    part_each(part, on_covey_message)
    {
        if (part->covey_tag == info.tag)
            part->on_covey_message(*msg);
    }
    covey_msg_free(*msg);
}

int inbox_pull(int64_t timeout_us)
{
    covey_msg_t *msg = NULL;
    int error = covey_recv(vm_handle(), COVEY_ANY_TASK, COVEY_ANY_TAG, timeout_us, &msg);
    if (error == COVEY_OK)
        dispatch(&msg);
    if (error == COVEY_OK || error == COVEY_ETIMEOUT)
        return error == COVEY_OK;
    return error == COVEY_ENOMEM ? PvmNoMem : PvmSysErr;
}

void inbox_clear(void)
{
    while (first != NULL)
        buffer_destroy(first);
    told_bytes = 0; /* to the next virtual machine */
}
