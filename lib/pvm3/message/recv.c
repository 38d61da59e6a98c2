/*
 * recv.c - receiving: by sender, tag and context, or by the program's own function.
 *
 * A receive that names a sender ends with PvmNoTask or PvmHostFail when that task has ended and
 * nothing that fits is left of it; PVM waits for ever.
 */
#include <pvm3.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/pack.h"

#define TIMEOUT_S_MAX 1000000000 /* longer is without end */

/* What is read without waiting: pvm_nrecv() and pvm_probe() read one message, as in PVM, and
 * pvm_trecv() what there is when its time is over, but not for ever. */
#define MORE_POLLED 1
#define MORE_TIMED 1000

typedef int match_fn(int id, int tid, int tag);

static match_fn *own_match; /* NULL: by tid and tag */

static int recv_fits(const struct buffer *b, int tid, int tag)
{
    return b->info.ctx == pvmmyctx && (tid == -1 || tid == b->info.src) &&
           (tag == -1 || tag == b->info.tag);
}

static int match_default(int id, int tid, int tag)
{
    const struct buffer *b = buffer_find(id);
    return b != NULL && recv_fits(b, tid, tag);
}

match_fn *call_recvf(match_fn *match)
{
    match_fn *before = own_match == NULL ? match_default : own_match;
    own_match = match == match_default ? NULL : match;
    return before;
}

/* The first that the program's function takes, or the one it rates highest. */
static int find_rated(int tid, int tag, struct buffer **found)
{
    int best = 0;
    for (struct buffer *b = inbox_first(), *next; b != NULL; b = next) {
        next = b->next;
        int rating = b->info.ctx == pvmmyctx ? own_match(b->id, tid, tag) : 0;
        if (rating < 0)
            return rating;
        if (rating > best) {
            best = rating;
            *found = b;
        }
        if (rating == 1)
            break;
    }
    return PvmOk;
}

/* Looks through the inbox, but not again at what was looked at: those up to *seen. */
static int recv_find(int tid, int tag, struct buffer **seen, struct buffer **found)
{
    *found = NULL;
    if (own_match != NULL)
        return find_rated(tid, tag, found);
    struct buffer *b = *seen == NULL ? inbox_first() : (*seen)->next;
    for (; b != NULL && !recv_fits(b, tid, tag); b = b->next)
        ;
    *found = b;
    *seen = inbox_last();
    return PvmOk;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The next message, at the latest at end_us. Returns 1, 0 when the time ran out, or an error. */
static int wait_next(int tid, int64_t timeout_us, int64_t end_us)
{
    bool watches = timeout_us > 0 && vm_is_task(tid) && tid != pvmmytid;
    int gone = watches ? notify_watch(tid) : PvmOk;
    if (gone != PvmOk)
        return gone;
    int64_t left_us = end_us - now_us();
    return inbox_pull(left_us > 0 ? left_us : 0);
}

/* The same without a limit. */
static int wait_forever(int tid)
{
    if (!vm_is_task(tid) || tid == pvmmytid)
        return inbox_pull(COVEY_FOREVER);
    return notify_await(tid);
}

/* Sets *found; it stays in the inbox. Returns 0, also when none came in time, or an error. When no
 * time is left, `more` messages are read at most: who sends without end holds nobody up here. What
 * a handler took out of the inbox meanwhile may be what was seen last. */
static int await(int tid, int tag, int64_t timeout_us, int more, struct buffer **found)
{
    struct buffer *seen = NULL;
    int64_t end_us = timeout_us > 0 ? now_us() + timeout_us : 0;
    int result = 1;
    if (vm_enter() == NULL)
        return PvmSysErr;
    for (;;) {
        int error = recv_find(tid, tag, &seen, found);
        if (error < 0 || *found != NULL)
            return error;
        if (result <= 0 || more == 0)
            return result < 0 ? result : PvmOk;
        unsigned removals = inbox_removals();
        more -= timeout_us >= 0 && now_us() >= end_us;
        result = timeout_us < 0 ? wait_forever(tid) : wait_next(tid, timeout_us, end_us);
        if (inbox_removals() != removals)
            seen = NULL;
    }
}

static int receive(const char *call, int tid, int tag, int64_t timeout_us, int more)
{
    struct buffer *b = NULL;
    int error = await(tid, tag, timeout_us, more, &b);
    if (error < 0)
        return lpvmerr(call, error);
    if (b == NULL)
        return 0;
    inbox_remove(b);
    buffer_receive(b);
    return b->id;
}

int call_recv(int tid, int tag)
{
    return receive("pvm_recv", tid, tag, COVEY_FOREVER, MORE_TIMED);
}

int call_nrecv(int tid, int tag)
{
    return receive("pvm_nrecv", tid, tag, COVEY_POLL, MORE_POLLED);
}

int call_trecv(int tid, int tag, struct timeval *timeout)
{
    if (timeout == NULL || timeout->tv_sec > TIMEOUT_S_MAX)
        return receive("pvm_trecv", tid, tag, COVEY_FOREVER, MORE_TIMED);
    int64_t us = timeout->tv_sec < 0 ? 0 : (int64_t)timeout->tv_sec * 1000000 + timeout->tv_usec;
    return receive("pvm_trecv", tid, tag, us < 0 ? 0 : us, MORE_TIMED);
}

int call_probe(int tid, int tag)
{
    struct buffer *b = NULL;
    int error = await(tid, tag, COVEY_POLL, MORE_POLLED, &b);
    if (error < 0)
        return lpvmerr("pvm_probe", error);
    return b == NULL ? 0 : b->id;
}

/* One descriptor, whatever routes there are. What a call has already taken out of Covey, looking
 * for another message, does not show there: pvm_nrecv() finds it. */
int call_getfds(int **fds)
{
    static int list[1]; /* the program's until the next call */
    int fd = vm_enter() == NULL ? COVEY_EDAEMON : covey_fd(vm_handle());
    if (fd < 0 || fds == NULL)
        return lpvmerr("pvm_getfds", fd < 0 ? error_of(fd) : PvmBadParam);
    list[0] = fd;
    *fds = list;
    return 1;
}

/* Copies what came as it is; what is more than the array holds is lost. */
static void take_array(struct buffer *b, int type, void *base, size_t size)
{
    size = size < b->body.size ? size : b->body.size;
    body_read(&b->body, base, size);
    if (b->swapped)
        pack_swap(type, base, size);
}

int call_precv(int tid, int tag, void *base, int count, int type, int *from, int *got_tag,
               int *bytes)
{
    struct buffer *b = NULL;
    size_t size = pack_size(type);
    if (size == 0 || count < 0 || (base == NULL && count > 0))
        return lpvmerr("pvm_precv", type == PVM_STR ? PvmNotImpl : PvmBadParam);
    int error = await(tid, tag, COVEY_FOREVER, MORE_TIMED, &b);
    if (error < 0)
        return lpvmerr("pvm_precv", error);
    inbox_remove(b);
    if (from != NULL)
        *from = b->info.src;
    if (got_tag != NULL)
        *got_tag = b->info.tag;
    if (bytes != NULL)
        *bytes = (int)b->body.size;
    take_array(b, type, base, size * (size_t)count);
    buffer_destroy(b);
    return PvmOk;
}
