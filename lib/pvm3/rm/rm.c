/*
 * rm.c - the resource manager: a task that is asked instead of the daemons where tasks and hosts
 * go, pvm_reg_rm().
 *
 *   task to manager, answered with the same tag and wait:
 *     SM_SPAWN program flags where count argc *argument *6target envc *variable -> count *tid
 *     SM_CONFIG -> hosts formats *(tid name arch speed format)
 *     SM_TASK where -> error *(tid parent host flags program pid)
 *     SM_ADDHOST count *name -> count formats *(tid name arch speed format)
 *     SM_DELHOST count *name -> count *error
 *     SM_SCHED -> old-tid, tid name arch speed format of the first host
 *     SM_NOTIFY what context tag count *tid, not answered
 *   manager to daemon:
 *     SM_EXEC parent program flags count argc *argument *6target envc *variable, 2 ints
 *       -> SM_EXECACK count *tid
 *     SM_ADD count *name -> SM_ADDACK, as SM_ADDHOST
 *     SM_HANDOFF tid
 *   to the manager:
 *     SM_TASKX tid status 4times
 *     SM_HOSTX tid
 *     SM_EXECACK 1 tid, one that nobody spawned
 *
 * Messages to a daemon do not leave the manager's process: its library does what PVM's daemon does,
 * by Covey's means, and answers in the daemon's name. It also tells the manager what it hears from
 * Covey of ends. A manager that has ended is as if there were none.
 */
#include "lib/pvm3/rm/rm.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/mailbox/plugin.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/send.h"
#include "lib/pvm3/message/wire.h"

#define HOSTS_MAX 4095

int pvmschedtid; /* PVM's name for the manager */

/* ---- who it is ------------------------------------------------------------------------------- */

void rm_start(bool spawned, int manager)
{
    const char *text = getenv("PVMSCHED");
    pvmschedtid = spawned ? (text == NULL ? 0 : (int)strtol(text, NULL, 0)) : manager;
    if (!spawned && rm_tid() > 0) {
        const int body[2] = {1, pvmmytid};
        struct buffer *b = buffer_create(ENC_DEFAULT);
        if (b != NULL && pack_array(b, PVM_INT, body, 2, 1) == PvmOk)
            send_in(b, pvmschedtid, PvmBaseContext, SM_EXECACK);
        buffer_destroy(b);
    }
}

int rm_tid(void)
{
    if (!vm_is_task(pvmschedtid) || pvmschedtid == pvmmytid)
        return 0;
    if (notify_has_ended(pvmschedtid))
        pvmschedtid = 0;
    return pvmschedtid;
}

/* A task that is the manager stands for itself. */
int rm_export(struct exports *e)
{
    char text[16];
    int tid = plugin_is_own(PLUGIN_RM) ? pvmmytid : rm_tid();
    if (tid == 0)
        return PvmOk;
    snprintf(text, sizeof text, "%d", tid);
    return export_add(e, "PVMSCHED", text);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct buffer *find_answer(int manager, int tag, int wait)
{
    struct buffer *b = inbox_first();
    while (b != NULL && (b->info.src != manager || b->info.tag != tag || b->info.wid != wait))
        b = b->next;
    return b;
}

static int await_answer(int manager, int tag, int wait, struct buffer **answer)
{
    int error = PvmOk;
    while (error >= 0 && (*answer = find_answer(manager, tag, wait)) == NULL)
        error = notify_await(manager);
    if (error < 0)
        return error == PvmHostFail ? PvmNoTask : error;
    inbox_remove(*answer);
    return PvmOk;
}

int rm_ask(int tag, struct buffer **request, struct buffer **answer)
{
    static int last;
    int manager = rm_tid(), wait = ++last;
    if (*request == NULL)
        return PvmNoMem;
    (*request)->info.wid = wait;
    int error = manager == 0 ? PvmNoTask : send_in(*request, manager, PvmBaseContext, tag);
    buffer_destroy(*request);
    *request = NULL;
    return error == PvmOk ? await_answer(manager, tag, wait, answer) : error;
}

int rm_tell(int tag, struct buffer **request)
{
    int manager = rm_tid();
    if (*request == NULL)
        return PvmNoMem;
    int error = manager == 0 ? PvmNoTask : send_in(*request, manager, PvmBaseContext, tag);
    buffer_destroy(*request);
    *request = NULL;
    return error;
}

/* ---- a manager's messages to daemons --------------------------------------------------------- */

bool rm_serves(int tag)
{
    return tag == SM_EXEC || tag == SM_ADD || tag == SM_HANDOFF;
}

/* As if the daemon had sent it. */
static void answer_as(struct buffer *b, const struct buffer *request, int daemon, int tag)
{
    b->info.src = DAEMON_TID | (daemon & TID_HOST);
    b->info.dst = pvmmytid;
    b->info.tag = tag;
    b->info.ctx = request->info.ctx;
    b->info.wid = request->info.wid;
    inbox_deliver(b);
}

static int exec(struct buffer *request, int daemon, struct buffer *answer)
{
    struct rm_order order = {0};
    int error = rm_order_read(request, &order);
    int *tids = error == PvmOk ? calloc((size_t)order.count, sizeof *tids) : NULL;
    if (error == PvmOk && tids == NULL)
        error = PvmNoMem;
    if (error == PvmOk)
        error = rm_order_run(&order, daemon, tids);
    if (error == PvmOk)
        error = pack_array(answer, PVM_INT, &order.count, 1, 1);
    if (error == PvmOk)
        error = pack_array(answer, PVM_INT, tids, order.count, 1);
    for (int i = 0; i < order.count && error == PvmOk; i++) {
        if (tids[i] > 0)
            notify_watch(tids[i]);
    }
    free(tids);
    rm_order_fini(&order);
    return error;
}

static int pack_host(struct buffer *b, int tid, const struct pvmhostinfo *host)
{
    const int numbers[2] = {host == NULL ? 0 : host->hi_speed, host == NULL ? 0 : host->hi_dsig};
    int error = pack_array(b, PVM_INT, &tid, 1, 1);
    if (error == PvmOk)
        error = pack_string(b, host == NULL ? "" : host->hi_name);
    if (error == PvmOk)
        error = pack_string(b, host == NULL ? "" : host->hi_arch);
    return error == PvmOk ? pack_array(b, PVM_INT, numbers, 2, 1) : error;
}

static const struct pvmhostinfo *hostinfo_find(const struct pvmhostinfo *list, int count, int tid)
{
    for (int i = 0; i < count; i++) {
        if (list[i].hi_tid == tid)
            return &list[i];
    }
    return NULL;
}

static int add_named(char **names, int count, struct buffer *answer)
{
    struct pvmhostinfo *list = NULL;
    int hosts = 0, formats = 0, *infos = calloc((size_t)count, sizeof *infos);
    int error = infos == NULL ? PvmNoMem : call_addhosts(names, count, infos);
    if (error >= 0)
        error = call_config(&hosts, &formats, &list);
    const int head[2] = {count, formats};
    if (error == PvmOk)
        error = pack_array(answer, PVM_INT, head, 2, 1);
    for (int i = 0; i < count && error == PvmOk; i++)
        error = pack_host(answer, infos[i], hostinfo_find(list, hosts, infos[i]));
    free(infos);
    return error;
}

static int rm_add(struct buffer *request, struct buffer *answer)
{
    int count = 0, read = 0;
    if (unpack_array(request, PVM_INT, &count, 1, 1) != PvmOk || count < 1 || count > HOSTS_MAX)
        return PvmBadMsg;
    char **names = calloc((size_t)count, sizeof *names);
    int error = names == NULL ? PvmNoMem : PvmOk;
    for (; read < count && error == PvmOk; read++) {
        names[read] = rm_string(request);
        error = names[read] == NULL ? PvmBadMsg : PvmOk;
    }
    if (error == PvmOk)
        error = add_named(names, count, answer);
    for (int i = 0; i < read; i++)
        free(names[i]);
    free(names);
    return error;
}

/* A request that cannot be read has no answer, as in PVM; the manager is told by an error. */
static int rm_serve_request(struct buffer *request, int daemon, int tag)
{
    struct buffer *answer = buffer_create(ENC_DEFAULT);
    if (answer == NULL)
        return PvmNoMem;
    int error = tag == SM_EXEC ? exec(request, daemon, answer) : rm_add(request, answer);
    if (error == PvmOk)
        answer_as(answer, request, daemon, tag == SM_EXEC ? SM_EXECACK : SM_ADDACK);
    else
        buffer_destroy(answer);
    return error;
}

int rm_serve(struct buffer *b, int daemon, int tag)
{
    if (!plugin_is_own(PLUGIN_RM))
        return PvmDenied;
    if (tag == SM_HANDOFF)
        return plugin_withdraw(PLUGIN_RM);
    struct buffer *request = wire_copy(b); /* what was packed stays to be sent again */
    if (request == NULL)
        return PvmNoMem;
    int error = rm_serve_request(request, daemon, tag);
    buffer_destroy(request);
    return error;
}

/* ---- what a manager is told ------------------------------------------------------------------ */

static void manager_tell(int tag, const int *numbers, int count)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    if (b == NULL || pack_array(b, PVM_INT, numbers, count, 1) != PvmOk) {
        buffer_destroy(b);
        return;
    }
    inbox_deliver_by_daemon(b, tag, PvmBaseContext);
}

/* A task that says so of itself: in PVM its daemon does. */
void rm_on_message(struct buffer *b)
{
    int body[2];
    if (!plugin_is_own(PLUGIN_RM) || b->info.tag != SM_EXECACK || !vm_is_task(b->info.src))
        return;
    bool whole = unpack_array(b, PVM_INT, body, 2, 1) == PvmOk;
    body_rewind(&b->body);
    if (whole && body[0] == 1 && body[1] == b->info.src) {
        notify_watch(b->info.src);
        b->info.src = DAEMON_TID | (b->info.src & TID_HOST);
    }
}

void rm_on_end(int tid, int status)
{
    if (plugin_is_own(PLUGIN_RM))
        manager_tell(SM_TASKX, (int[]){tid, status, 0, 0, 0, 0}, 6);
}

void rm_on_host_gone(int tid)
{
    if (plugin_is_own(PLUGIN_RM))
        manager_tell(SM_HOSTX, (int[]){tid | DAEMON_TID}, 1);
}

void rm_clear(void)
{
    pvmschedtid = 0;
}

/* ---- pvm_reg_rm() ---------------------------------------------------------------------------- */

/* The manager that there is must agree, and hands over. */
static int ask_predecessor(void)
{
    struct buffer *request = buffer_create(ENC_DEFAULT), *answer = NULL;
    int old = 0;
    if (rm_tid() == 0) {
        buffer_destroy(request);
        return PvmOk;
    }
    int error = rm_ask(SM_SCHED, &request, &answer);
    if (error == PvmOk)
        error = unpack_array(answer, PVM_INT, &old, 1, 1);
    buffer_destroy(answer);
    return error == PvmOk && old < 0 ? old : error;
}

static int take_office(struct pvmhostinfo **host)
{
    static struct pvmhostinfo first; /* the program's until the next call */
    struct pvmhostinfo *list = NULL;
    int count = 0, formats = 0, error = ask_predecessor();
    pvmschedtid = 0;
    if (error == PvmOk)
        error = call_config(&count, &formats, &list);
    if (error != PvmOk || count < 1)
        return error != PvmOk ? error : PvmNoHost;
    error = plugin_take(PLUGIN_RM);
    first = list[0]; /* names stay until the next pvm_config() */
    if (error == PvmOk && host != NULL)
        *host = &first;
    return error == PvmOk ? notify_watch_hosts() : error;
}

int call_reg_rm(struct pvmhostinfo **host)
{
    return error_reported("pvm_reg_rm", vm_enter() == NULL ? PvmSysErr : take_office(host));
}
