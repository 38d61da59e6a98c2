/*
 * send.c - sending a buffer to a task, to many, and an array without a buffer.
 *
 * As in PVM it is no error to send to a task that has ended: its end is told by pvm_notify(). When
 * its host has failed the call says so, which PVM does not.
 */
#include "lib/pvm3/message/send.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdlib.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/part.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/wire.h"

/* Of a message's way: a receiver that is gone is not an error here. */
static int sent(int error)
{
    return error == COVEY_ENOTASK ? PvmOk : error_of(error);
}

/* A message to oneself does not leave the process. */
static int send_self(const struct buffer *b)
{
    struct buffer *copy = wire_copy(b);
    if (copy == NULL)
        return PvmNoMem;
    inbox_deliver(copy);
    return PvmOk;
}

static int send_message(const struct buffer *b, int tid)
{
    covey_msg_t *msg = wire_message(b);
    if (msg == NULL)
        return PvmNoMem;
    int error = covey_send(vm_handle(), tid, WIRE_TAG, msg);
    covey_msg_free(msg);
    notify_on_message(tid);
    return sent(error);
}

static void address(struct buffer *b, int tid, int tag)
{
    b->info.ctx = pvmmyctx;
    b->info.tag = tag;
    b->info.src = pvmmytid;
    b->info.dst = tid;
}

static bool allows_reserved;

void send_allow_reserved(bool allowed)
{
    allows_reserved = allowed;
}

static int tag_ok(int tag)
{
    return tag >= 0 || allows_reserved;
}

/* A daemon's tid, with or without the bit that says so. */
static int names_daemon(int tid)
{
    return (tid & ~(DAEMON_TID | TID_HOST)) == 0;
}

static int send_to(struct buffer *b, int tid, int tag)
{
    if (b != NULL && allows_reserved && names_daemon(tid)) {
        part_each(part, serves)
        {
            if (!part->serves(tag))
                continue;
            address(b, tid, tag);
            return part->serve(b, tid & TID_HOST, tag);
        }
    }
    if (!vm_is_task(tid) || !tag_ok(tag))
        return PvmBadParam;
    if (b == NULL)
        return PvmNoBuf;
    address(b, tid, tag);
    return tid == pvmmytid ? send_self(b) : send_message(b, tid);
}

int call_send(int tid, int tag)
{
    return error_reported("pvm_send",
                          vm_enter() == NULL ? PvmSysErr : send_to(buffer_sending(), tid, tag));
}

static int tids_ok(const int *tids, int count)
{
    for (int i = 0; i < count; i++) {
        if (!vm_is_task(tids[i]))
            return 0;
    }
    return 1;
}

static int send_many(const struct buffer *b, const int *tids, int count)
{
    covey_msg_t *msg = wire_message(b);
    if (msg == NULL)
        return PvmNoMem;
    int error = covey_mcast(vm_handle(), tids, (size_t)count, WIRE_TAG, msg);
    covey_msg_free(msg);
    for (int i = 0; i < count; i++)
        notify_on_message(tids[i]);
    return sent(error);
}

static int mcast(struct buffer *b, const int *tids, int count, int tag)
{
    if (b == NULL)
        return PvmNoBuf;
    if (count < 0 || (tids == NULL && count > 0) || !tag_ok(tag) || !tids_ok(tids, count))
        return PvmBadParam;
    address(b, 0, tag);
    return count == 0 ? PvmOk : send_many(b, tids, count);
}

int send_system(struct buffer *b, const int *tids, int count, int tag)
{
    address(b, 0, tag);
    b->info.ctx = SYSCTX_TC;
    return send_many(b, tids, count);
}

int send_in(struct buffer *b, int tid, int context, int tag)
{
    address(b, tid, tag);
    b->info.ctx = context;
    return tid == pvmmytid ? send_self(b) : send_message(b, tid);
}

int call_mcast(int *tids, int count, int tag)
{
    return error_reported(
        "pvm_mcast", vm_enter() == NULL ? PvmSysErr : mcast(buffer_sending(), tids, count, tag));
}

static int psend(int tid, int tag, const void *base, int count, int type)
{
    struct buffer *b = buffer_create(ENC_INPLACE);
    int error = b == NULL ? PvmNoMem : pack_array(b, type, base, count, 1);
    if (error == PvmOk)
        error = send_to(b, tid, tag);
    buffer_destroy(b);
    return error;
}

int call_psend(int tid, int tag, void *base, int count, int type)
{
    return error_reported("pvm_psend", vm_enter() == NULL ? PvmSysErr
                                       : type == PVM_STR  ? PvmNotImpl
                                                          : psend(tid, tag, base, count, type));
}
