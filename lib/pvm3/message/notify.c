/*
 * notify.c - pvm_notify(), and who of the tasks that matter is still there.
 *
 * Covey is asked once for each task, and once for all hosts; its notices are turned into PVM's
 * messages for each request that waits for them. They come from nobody in particular, in the
 * context in which they were asked for.
 *
 * Of routes nobody has to be asked: there is one to a task when this task's messages to it do not
 * go through the daemons, which is looked at when something was sent to it or came from it; it is
 * gone when the task is. Those notices come from the task itself, as in PVM.
 */
#include "lib/pvm3/message/notify.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/grow.h"
#include "lib/pvm3/core/part.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/pack.h"

/* A task that Covey was asked to watch. */
struct watched {
    int tid;
    int gone; /* PvmOk, PvmNoTask or PvmHostFail */
};

/* What the program asked for. */
struct request {
    struct request *next;
    int what, tid, tag, context;
    int left; /* PvmHostAdd: messages to be sent yet, -1: without end */
};

static struct watched *watched; /* by tid */
static int watched_count, watched_capacity;
static struct request *requests;
static bool hosts_watched;
static int routes_awaited; /* requests of PvmRouteAdd */

/* ---- tasks that are watched ------------------------------------------------------------------ */

/* The position of the tid, or where it would be. */
static int watched_find(int tid)
{
    int low = 0, high = watched_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (watched[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int watched_insert(int at, int tid)
{
    if (!GROW(watched, watched_capacity, watched_count + 1, 16))
        return PvmNoMem;
    memmove(watched + at + 1, watched + at, (size_t)(watched_count - at) * sizeof *watched);
    watched[at] = (struct watched){.tid = tid};
    watched_count++;
    return PvmOk;
}

int notify_watch(int tid)
{
    int at = watched_find(tid);
    if (at < watched_count && watched[at].tid == tid)
        return watched[at].gone;
    int error = watched_insert(at, tid);
    if (error != PvmOk)
        return error;
    const covey_tid_t one = tid;
    error = covey_notify(vm_handle(), COVEY_NOTIFY_TASK_EXIT, NOTIFY_TAG, &one, 1);
    if (error == COVEY_OK)
        return PvmOk;
    watched_count--; /* it is asked again the next time */
    memmove(watched + at, watched + at + 1, (size_t)(watched_count - at) * sizeof *watched);
    return error_of(error);
}

bool notify_has_ended(int tid)
{
    int gone = notify_watch(tid);
    return gone == PvmNoTask || gone == PvmHostFail;
}

int notify_await(int tid)
{
    int result = inbox_pull(COVEY_POLL);
    if (result != 0)
        return result;
    int gone = notify_watch(tid);
    return gone != PvmOk ? gone : inbox_pull(COVEY_FOREVER);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Those that one event makes: they are delivered when the requests were gone through, since a
 * handler that takes one may change those. */
struct told {
    struct buffer *first, **end;
};

static bool is_of_route(int what)
{
    return what == PvmRouteAdd || what == PvmRouteDelete;
}

/* One with these numbers for the program. */
static void notice_tell(struct told *told, const struct request *r, const int *numbers, int count)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    if (b == NULL || pack_array(b, PVM_INT, numbers, count, 1) != PvmOk) {
        error_note("pvm_notify(): memory is exhausted, a notice is lost");
        buffer_destroy(b);
        return;
    }
    b->info.src = is_of_route(r->what) ? pvmmytid : DAEMON_TID;
    b->info.dst = pvmmytid;
    b->info.tag = r->tag;
    b->info.ctx = r->context;
    *told->end = b;
    told->end = &b->next;
}

static void notices_deliver(const struct told *told)
{
    for (struct buffer *b = told->first, *after; b != NULL; b = after) {
        after = b->next;
        b->next = NULL;
        inbox_deliver(b);
    }
}

/* Tells all that wait for this event about that tid, once. */
static void tell_once(int what, int tid)
{
    struct told told = {NULL, &told.first};
    for (struct request **at = &requests; *at != NULL;) {
        struct request *r = *at;
        if (r->what != what || (r->tid != tid && r->tid != -1)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        routes_awaited -= what == PvmRouteAdd;
        notice_tell(&told, r, &tid, 1);
        free(r);
    }
    notices_deliver(&told);
}

static void tell_added(int tid)
{
    const int body[2] = {1, tid};
    struct told told = {NULL, &told.first};
    for (struct request *r = requests; r != NULL; r = r->next) {
        if (r->what != PvmHostAdd || r->left == 0)
            continue;
        r->left -= r->left > 0;
        notice_tell(&told, r, body, 2);
    }
    notices_deliver(&told);
}

static void on_exit_notice(const struct covey_notice *n)
{
    int at = watched_find(n->tid);
    if (at < watched_count && watched[at].tid == n->tid)
        watched[at].gone = n->exit_kind == COVEY_EXIT_HOST ? PvmHostFail : PvmNoTask;
    int status = n->exit_kind == COVEY_EXIT_STATUS ? n->value << 8 : n->value;
    part_each(part, on_end) part->on_end(n->tid, status);
    tell_once(PvmTaskExit, n->tid);
    tell_once(PvmRouteDelete, n->tid);
}

/* Whether messages to the task go there without the daemons. */
static bool route_is_there(int tid)
{
    int route = vm_is_task(tid) ? covey_route(vm_handle(), tid) : COVEY_ROUTE_AUTO;
    return route == COVEY_ROUTE_SHM || route == COVEY_ROUTE_TCP || route == COVEY_ROUTE_ETHER;
}

void notify_on_message(int tid)
{
    if (routes_awaited > 0 && route_is_there(tid))
        tell_once(PvmRouteAdd, tid);
}

static void on_host_gone(int tid)
{
    tell_once(PvmHostDelete, tid);
    part_each(part, on_host_gone) part->on_host_gone(tid);
}

void notify_on_notice(covey_msg_t *msg)
{
    struct covey_notice n;
    struct covey_info from;
    covey_msg_info(msg, &from);
    if (covey_unpack_notice(msg, &n) != COVEY_OK)
        return;
    if (from.source != (n.event == COVEY_NOTIFY_TASK_EXIT ? n.tid : 0))
        return; /* a task's own words */
    if (n.event == COVEY_NOTIFY_TASK_EXIT)
        on_exit_notice(&n);
    else if (n.event == COVEY_NOTIFY_HOST_GONE)
        on_host_gone(vm_daemon_of(n.host));
    else if (n.event == COVEY_NOTIFY_HOST_ADDED)
        tell_added(vm_daemon_of(n.host));
}

void notify_clear(void)
{
    while (requests != NULL) {
        struct request *r = requests;
        requests = r->next;
        free(r);
    }
    routes_awaited = 0;
    watched_count = 0;
    hosts_watched = false;
}

/* ---- pvm_notify() --------------------------------------------------------------------------- */

static int request_add(int what, int tid, int tag, int left)
{
    struct request *r = malloc(sizeof *r);
    if (r == NULL)
        return PvmNoMem;
    *r = (struct request){requests, what, tid, tag, pvmmyctx, left};
    requests = r;
    routes_awaited += what == PvmRouteAdd;
    return PvmOk;
}

static void request_cancel(int what, int tid, int tag)
{
    for (struct request **at = &requests; *at != NULL;) {
        struct request *r = *at;
        if (r->what != what || (what != PvmHostAdd && r->tid != tid) || r->tag != tag) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        routes_awaited -= what == PvmRouteAdd;
        free(r);
    }
}

int notify_watch_hosts(void)
{
    if (hosts_watched)
        return PvmOk;
    int error = covey_notify(vm_handle(), COVEY_NOTIFY_HOST_GONE, NOTIFY_TAG, NULL, 0);
    if (error == COVEY_OK)
        error = covey_notify(vm_handle(), COVEY_NOTIFY_HOST_ADDED, NOTIFY_TAG, NULL, 0);
    hosts_watched = error == COVEY_OK;
    return error_of(error);
}

/* Whether the VM has such a host now. */
static bool host_is_there(int tid)
{
    struct covey_host *hosts = NULL;
    int count = covey_hosts(vm_handle(), &hosts);
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= vm_daemon_of(hosts[i].index) == tid && hosts[i].state != COVEY_HOST_DOWN;
    covey_free(hosts);
    return found || count < 0;
}

static int notify_task(int tid, int tag)
{
    int error = request_add(PvmTaskExit, tid, tag, 0);
    if (error != PvmOk)
        return error;
    int gone = notify_watch(tid);
    if (gone == PvmNoTask || gone == PvmHostFail)
        tell_once(PvmTaskExit, tid);
    else if (gone != PvmOk)
        request_cancel(PvmTaskExit, tid, tag);
    return gone == PvmNoTask || gone == PvmHostFail ? PvmOk : gone;
}

static int notify_host(int tid, int tag)
{
    int error = notify_watch_hosts();
    if (error == PvmOk)
        error = request_add(PvmHostDelete, tid, tag, 0);
    if (error == PvmOk && !host_is_there(tid))
        tell_once(PvmHostDelete, tid);
    return error;
}

/* The end of a route that there is not is told at once. */
static int notify_route_end(int tid, int tag)
{
    int error = request_add(PvmRouteDelete, tid, tag, 0);
    if (error != PvmOk)
        return error;
    int gone = route_is_there(tid) ? notify_watch(tid) : PvmNoTask;
    if (gone == PvmNoTask || gone == PvmHostFail)
        tell_once(PvmRouteDelete, tid);
    return gone == PvmNoTask || gone == PvmHostFail ? PvmOk : gone;
}

/* A later call takes the place of an earlier one. */
static int notify_added(int tag, int left)
{
    request_cancel(PvmHostAdd, 0, tag);
    int error = left == 0 ? PvmOk : notify_watch_hosts();
    return left == 0 || error != PvmOk ? error : request_add(PvmHostAdd, 0, tag, left);
}

static int tid_ok(int what, int tid)
{
    if (what == PvmHostDelete)
        return vm_is_daemon(tid & TID_HOST);
    return vm_is_task(tid) || (what == PvmRouteAdd && tid == -1);
}

static int notify_one(int what, int tid, int tag)
{
    switch (what) {
    case PvmTaskExit:
        return notify_task(tid, tag);
    case PvmHostDelete:
        return notify_host(tid & TID_HOST, tag);
    case PvmRouteAdd:
        return request_add(what, tid, tag, 0);
    default:
        return notify_route_end(tid, tag);
    }
}

static int notify_each(int what, int flags, int tag, int count, const int *tids)
{
    if (count < 1 || tids == NULL)
        return PvmBadParam;
    for (int i = 0; i < count; i++) {
        if (!tid_ok(what, tids[i]))
            return PvmBadParam;
    }
    int error = PvmOk;
    for (int i = 0; i < count && error == PvmOk; i++) {
        if (flags & PvmNotifyCancel)
            request_cancel(what, what == PvmHostDelete ? tids[i] & TID_HOST : tids[i], tag);
        else
            error = notify_one(what, tids[i], tag);
    }
    return error;
}

static bool is_managed(int what, int tag, int count, const int *tids)
{
    what &= ~PvmNotifyCancel;
    bool list = what == PvmTaskExit || what == PvmHostDelete;
    bool managed = false;
    part_each(part, manager) managed |= part->manager() > 0;
    return managed && tag >= 0 && (what == PvmHostAdd || (list && count > 0 && tids != NULL));
}

static int notify(int what, int tag, int count, const int *tids)
{
    if (is_managed(what, tag, count, tids)) {
        /* Routes are this task's own affair; of tasks and hosts the resource manager tells. */
        const int head[4] = {what, pvmmyctx, tag, count};
        bool added = (what & ~PvmNotifyCancel) == PvmHostAdd;
        struct buffer *b = buffer_create(ENC_DEFAULT);
        int error = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, head, 4, 1);
        if (error == PvmOk && !added)
            error = pack_array(b, PVM_INT, tids, count, 1);
        if (error == PvmOk)
            part_each(part, tell_manager) return part->tell_manager(SM_NOTIFY, &b);
        buffer_destroy(b);
        return error;
    }
    int flags = what & PvmNotifyCancel;
    if (tag < 0)
        return PvmBadParam;
    switch (what & ~PvmNotifyCancel) {
    case PvmTaskExit:
    case PvmHostDelete:
    case PvmRouteAdd:
    case PvmRouteDelete:
        return notify_each(what & ~PvmNotifyCancel, flags, tag, count, tids);
    case PvmHostAdd:
        return notify_added(tag, flags ? 0 : count);
    default:
        return PvmBadParam;
    }
}

int call_notify(int what, int tag, int count, int *tids)
{
    return error_reported("pvm_notify",
                          vm_enter() == NULL ? PvmSysErr : notify(what, tag, count, tids));
}
