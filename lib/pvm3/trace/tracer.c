/*
 * tracer.c - who is told of a task's events: its own tracer, that of its children, and the tracer
 * that sees all tasks that have none, pvm_reg_tracer().
 *
 * A task that pvm_spawn() starts gets in its environment:
 *
 *   PVMTRC     tid,context,tag of the tracer     PVMOUT     the same of who gets its output
 *   PVMTMASK   mask of events                    PVMTRCBUF  bytes that are sent together
 *   PVMTRCOPT  PvmTraceFull and so on
 *
 * That tasks begin and end is told the tracer by PVM's daemons; here by who spawned them, and their
 * end by the tracer's own library, which has it from Covey. What a task used is not known then, and
 * is told as 0.
 *
 * A tracer directs a task's events by messages of the library (TC_SETTRACE ...). They are heeded
 * when they come from who spawned the task, from its tracer or from the VM's, and let events go to
 * nobody but the sender.
 */
#include "lib/pvm3/trace/tracer.h"

#include <errno.h>
#include <pvm3.h>
#include <pvmproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/grow.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/mailbox/plugin.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/send.h"
#include "lib/pvm3/trace/trace.h"

#define TEXT_MAX 256 /* of a mask in a message */

/* ---- what children inherit ------------------------------------------------------------------- */

static void number_from(const char *name, int *value)
{
    const char *text = getenv(name);
    if (text != NULL)
        *value = (int)strtol(text, NULL, 0);
}

static void target_from(const char *name, int *tid, int *context, int *tag)
{
    const char *text = getenv(name);
    if (text != NULL && sscanf(text, "%d,%d,%d", tid, context, tag) != 3)
        *tid = *context = *tag = 0;
}

/* The entry of the VM's tracer in its mailbox: tid, contexts and tags, mask, buffer, options. */
static int registered(struct pvmmboxinfo *boxes, struct Pvmtracer *t)
{
    char mask[TEXT_MAX];
    int fields[5], numbers[2], before = call_setrbuf(0), error = PvmNotFound;
    if (boxes != NULL && call_recvinfo(boxes->mi_name, boxes->mi_indices[0], 0) > 0) {
        struct buffer *b = buffer_receiving();
        bool whole = unpack_array(b, PVM_INT, fields, 5, 1) == PvmOk &&
                     body_left(&b->body) < sizeof mask && unpack_string(b, mask) == PvmOk &&
                     unpack_array(b, PVM_INT, numbers, 2, 1) == PvmOk && trace_mask_ok(mask);
        error = whole ? PvmOk : PvmBadMsg;
        buffer_destroy(b);
    }
    call_setrbuf(before);
    if (error != PvmOk)
        return error;
    *t = (struct Pvmtracer){.trctid = fields[0],
                            .trcctx = fields[1],
                            .trctag = fields[2],
                            .outtid = fields[0],
                            .outctx = fields[3],
                            .outtag = fields[4],
                            .trcbuf = numbers[0],
                            .trcopt = numbers[1]};
    memcpy(t->tmask, mask, TEV_MASK_LENGTH);
    return PvmOk;
}

/* Sets *t to what the VM's tracer wants of everybody; it must be who holds the office. */
static int registered_find(int tracer, struct Pvmtracer *t)
{
    char name[] = PVMTRACERCLASS;
    struct pvmmboxinfo *boxes = NULL;
    int count = 0, error = tracer <= 0 ? PvmNotFound : call_getmboxinfo(name, &count, &boxes);
    error = error == PvmOk ? registered(count > 0 ? boxes : NULL, t) : error;
    return error == PvmOk && t->trctid != tracer ? PvmNotFound : error;
}

/* ---- that tasks begin and end ---------------------------------------------------------------- */

/* What the data of events are called is told each tracer once. */
static void introduce(const struct Pvmtracer *to)
{
    static int introduced;
    struct trace_writer w = {.events = buffer_create(ENC_DEFAULT)};
    if (w.events != NULL && introduced != to->trctid) {
        trace_names(&w);
        if (!w.failed)
            send_in(w.events, to->trctid, to->trcctx, to->trctag);
    }
    introduced = to->trctid;
    buffer_destroy(w.events);
}

static void tracer_report(int kind, int tid, const struct Pvmtracer *to,
                          void (*rest)(struct trace_writer *, const void *), const void *what)
{
    struct trace_writer w = {.events = buffer_create(ENC_DEFAULT)};
    if (w.events == NULL)
        return;
    introduce(to);
    trace_open(&w, kind, tid);
    rest(&w, what);
    trace_close(&w);
    if (!w.failed)
        send_in(w.events, to->trctid, to->trcctx, to->trctag);
    buffer_destroy(w.events);
}

struct beginning {
    int parent, flags;
    const char *program;
};

static void write_parent(struct trace_writer *w, const void *what)
{
    const struct beginning *b = what;
    trace_int(w, TEV_DID_PT, b->parent);
}

static void write_beginning(struct trace_writer *w, const void *what)
{
    const struct beginning *b = what;
    write_parent(w, what);
    trace_int(w, TEV_DID_TF, b->flags);
    trace_string(w, TEV_DID_TN, b->program);
}

static void write_end(struct trace_writer *w, const void *status)
{
    static const int used[] = {TEV_DID_TUS, TEV_DID_TUU, TEV_DID_TSS, TEV_DID_TSU};
    trace_int(w, TEV_DID_TST, *(const int *)status);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        trace_int(w, used[i], 0);
}

/* As who is told of their events, of which a copy is kept while the tasks are started. */
static struct Pvmtracer started_for;

void tracer_on_spawn(const int *tids, int count, int flags, const char *program)
{
    const struct beginning b = {pvmmytid, flags, program};
    for (int i = 0; i < count && started_for.trctid > 0; i++) {
        tracer_report(TEV_SPNTASK, tids[i], &started_for, write_parent, &b);
        tracer_report(TEV_NEWTASK, tids[i], &started_for, write_beginning, &b);
    }
}

/* ---- the membership -------------------------------------------------------------------------- */

void tracer_start(bool spawned, int tracer)
{
    struct Pvmtracer all;
    if (spawned) {
        const char *mask = getenv("PVMTMASK");
        target_from("PVMTRC", &pvmtrc.trctid, &pvmtrc.trcctx, &pvmtrc.trctag);
        target_from("PVMOUT", &pvmtrc.outtid, &pvmtrc.outctx, &pvmtrc.outtag);
        number_from("PVMTRCBUF", &pvmtrc.trcbuf);
        number_from("PVMTRCOPT", &pvmtrc.trcopt);
        if (trace_mask_ok(mask))
            memcpy(pvmtrc.tmask, mask, TEV_MASK_LENGTH);
    }
    if (!spawned && registered_find(tracer, &all) == PvmOk) {
        pvmtrc = all;
        pvmtrc.outtid = pvmtrc.outctx = pvmtrc.outtag = 0; /* only children's goes anywhere */
        const struct beginning b = {-1, -1, program_invocation_name};
        tracer_report(TEV_NEWTASK, pvmmytid, &pvmtrc, write_beginning, &b);
    }
    pvmctrc = pvmtrc;
    trace_start();
}

static int export_target(struct exports *e, const char *name, const int target[3])
{
    char text[64];
    if (target[0] == 0)
        return PvmOk;
    snprintf(text, sizeof text, "%d,%d,%d", target[0], target[1], target[2]);
    return export_add(e, name, text);
}

static int export_number(struct exports *e, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    return export_add(e, name, text);
}

int tracer_export_targets(struct exports *e, const int targets[6])
{
    int error = export_target(e, "PVMOUT", targets);
    return error == PvmOk ? export_target(e, "PVMTRC", targets + 3) : error;
}

/* A task without a tracer is seen by the VM's. */
int tracer_export(struct exports *e, int tracer)
{
    struct Pvmtracer t = pvmctrc, all;
    if (t.trctid == 0 && tracer != pvmmytid && registered_find(tracer, &all) == PvmOk) {
        all.outtid = t.outtid, all.outctx = t.outctx, all.outtag = t.outtag;
        t = all;
    }
    started_for = t;
    const int targets[6] = {t.outtid, t.outctx, t.outtag, t.trctid, t.trcctx, t.trctag};
    int error = tracer_export_targets(e, targets);
    if (error == PvmOk)
        error = export_add(e, "PVMTMASK", t.tmask);
    if (error == PvmOk)
        error = export_number(e, "PVMTRCBUF", t.trcbuf);
    return error == PvmOk ? export_number(e, "PVMTRCOPT", t.trcopt) : error;
}

/* ---- a tracer's directions ------------------------------------------------------------------- */

static int unpack_mask(struct buffer *b, char *mask)
{
    char text[TEXT_MAX];
    if (body_left(&b->body) >= 2 * sizeof text || unpack_string(b, text) != PvmOk)
        return PvmBadMsg;
    if (!trace_mask_ok(text))
        return PvmBadMsg;
    memcpy(mask, text, TEV_MASK_LENGTH);
    return PvmOk;
}

/* Events go to the sender, and output as well, if their tids are not 0. */
static void set_trace(struct buffer *b)
{
    int f[6], numbers[2];
    Pvmtmask mask;
    if (unpack_array(b, PVM_INT, f, 6, 1) != PvmOk || unpack_mask(b, mask) != PvmOk ||
        unpack_array(b, PVM_INT, numbers, 2, 1) != PvmOk)
        return;
    if (f[0] == b->info.src && numbers[0] >= 0 && numbers[1] >= 0) {
        trace_flush();
        pvmtrc.trctid = f[0], pvmtrc.trcctx = f[1], pvmtrc.trctag = f[2];
        pvmtrc.trcbuf = numbers[0], pvmtrc.trcopt = numbers[1];
        memcpy(pvmtrc.tmask, mask, TEV_MASK_LENGTH);
        pvmctrc.trctid = f[0], pvmctrc.trcctx = f[1], pvmctrc.trctag = f[2];
        memcpy(pvmctrc.tmask, mask, TEV_MASK_LENGTH);
        trace_start();
    }
    if (f[3] == b->info.src) {
        pvmtrc.outtid = pvmctrc.outtid = f[3];
        pvmtrc.outctx = pvmctrc.outctx = f[4];
        pvmtrc.outtag = pvmctrc.outtag = f[5];
    }
}

static void set_number(struct buffer *b, int *value)
{
    int number;
    if (unpack_array(b, PVM_INT, &number, 1, 1) != PvmOk || number < 0)
        return;
    trace_flush();
    *value = number;
}

static bool may_direct(int tid)
{
    struct plugins plugins;
    if (tid == pvmtrc.trctid || vm_is_spawner(tid))
        return true;
    plugin_look(&plugins);
    return tid == plugins.tid[PLUGIN_TRACER];
}

bool tracer_take(struct buffer *b)
{
    if (b->info.ctx != SYSCTX_TC || b->info.tag < TC_SETTRACE || b->info.tag > TC_SETTRCOPT)
        return false;
    if (may_direct(b->info.src)) {
        switch (b->info.tag) {
        case TC_SETTRACE:
            set_trace(b);
            break;
        case TC_SETTMASK:
            unpack_mask(b, pvmtrc.tmask);
            break;
        case TC_SETTRCBUF:
            set_number(b, &pvmtrc.trcbuf);
            break;
        case TC_SETTRCOPT:
            set_number(b, &pvmtrc.trcopt);
            break;
        default:
            break;
        }
    }
    buffer_destroy(b);
    return true;
}

/* ---- this task is the tracer ----------------------------------------------------------------- */

static struct Pvmtracer own; /* what was registered; no tid: it is not the VM's tracer */

/* What was agreed on with tasks that send events here. */
static bool is_for_tracer(const struct buffer *b, struct Pvmtracer *to)
{
    *to = own.trctid > 0 ? own : pvmctrc;
    return to->trctid == pvmmytid && b->info.ctx == to->trcctx && b->info.tag == to->trctag;
}

/* A message that says that a task has begun, and which. */
static bool is_beginning(struct buffer *b, int *tid)
{
    int head[2], field[2], value = 0;
    bool found = unpack_array(b, PVM_INT, head, 2, 1) == PvmOk && head[0] == TEV_MARK_EVENT_DESC &&
                 head[1] == TEV_NEWTASK;
    char name[TEXT_MAX];
    found = found && body_left(&b->body) < sizeof name && unpack_string(b, name) == PvmOk;
    for (int i = 0; i < 3 && found; i++) /* seconds, microseconds, tid */
        found = unpack_array(b, PVM_INT, field, 2, 1) == PvmOk &&
                unpack_array(b, PVM_INT, &value, 1, 1) == PvmOk;
    body_rewind(&b->body);
    *tid = value;
    return found && field[0] == TEV_DID_TID && vm_is_task(value);
}

/* Those whose end is to be told. */
static int *seen;
static int seen_count, seen_capacity;

static int seen_add(int tid)
{
    if (!GROW(seen, seen_capacity, seen_count + 1, 16))
        return PvmNoMem;
    seen[seen_count++] = tid;
    return PvmOk;
}

void tracer_on_message(struct buffer *b)
{
    struct Pvmtracer to;
    int tid;
    if (!is_for_tracer(b, &to) || !is_beginning(b, &tid) || seen_add(tid) != PvmOk)
        return;
    if (notify_has_ended(tid))
        tracer_on_end(tid, 0);
}

/* Behind what the task itself sent. */
void tracer_on_end(int tid, int status)
{
    struct Pvmtracer to = own.trctid > 0 ? own : pvmctrc;
    for (int i = 0; i < seen_count; i++) {
        if (seen[i] != tid)
            continue;
        seen[i] = seen[--seen_count];
        if (to.trctid == pvmmytid)
            tracer_report(TEV_ENDTASK, tid, &to, write_end, &status);
        return;
    }
}

void tracer_clear(void)
{
    seen_count = 0;
    own = (struct Pvmtracer){0};
}

/* ---- pvm_reg_tracer() ------------------------------------------------------------------------ */

static int about(struct buffer *b, const struct Pvmtracer *t)
{
    const int targets[5] = {t->trctid, t->trcctx, t->trctag, t->outctx, t->outtag};
    const int numbers[2] = {t->trcbuf, t->trcopt};
    int error = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, targets, 5, 1);
    if (error == PvmOk)
        error = pack_string(b, t->tmask);
    return error == PvmOk ? pack_array(b, PVM_INT, numbers, 2, 1) : error;
}

static int office_take(const struct Pvmtracer *t)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int error = about(b, t);
    if (error == PvmOk)
        error = plugin_register(PLUGIN_TRACER, b);
    buffer_destroy(b);
    if (error == PvmOk)
        own = *t;
    return error;
}

/* A second call gives it up. */
int call_reg_tracer(int trace_context, int trace_tag, int output_context, int output_tag,
                    char *mask, int buffer, int options)
{
    int error = vm_enter() == NULL ? PvmSysErr : PvmOk;
    if (error == PvmOk && plugin_is_own(PLUGIN_TRACER)) {
        own = (struct Pvmtracer){0};
        error = plugin_withdraw(PLUGIN_TRACER);
    } else if (error == PvmOk) {
        struct Pvmtracer t = {.trctid = pvmmytid,
                              .trcctx = trace_context,
                              .trctag = trace_tag,
                              .outtid = pvmmytid,
                              .outctx = output_context,
                              .outtag = output_tag,
                              .trcbuf = buffer,
                              .trcopt = options};
        error = trace_mask_ok(mask) ? PvmOk : PvmBadParam;
        if (error == PvmOk)
            memcpy(t.tmask, mask, TEV_MASK_LENGTH);
        error = error == PvmOk ? office_take(&t) : error;
    }
    return error_reported("pvm_reg_tracer", error);
}
