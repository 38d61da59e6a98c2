/*
 * output.c - pvm_catchout(): the output of children, line by line behind their tids, or as messages
 * where the program has set PvmOutputTid and PvmOutputCode itself. What counts for a child are the
 * options as they were when it was spawned.
 *
 * Children of children inherit where their output goes. Covey brings it there, too; that there is
 * such a task is told by who has spawned it (TC_OUTPUT, TO_NEW).
 *
 *   [t40003] BEGIN
 *   [t40003] what it wrote
 *   [t40003] EOF
 */
#include <stdio.h>

#include <pvm3.h>
#include <pvmproto.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/grow.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/send.h"
#include "lib/pvm3/trace/output.h"
#include "lib/pvm3/trace/trace.h"

static FILE *file; /* that output is printed to, or NULL */
struct writer {
    int tid, tag, context; /* of the messages with what it writes */
    bool unannounced;      /* it wrote before it was told of */
    bool ended;            /* and ended before that, too */
    int by;                /* the resource manager that passes it on; 0: it comes from Covey */
    int to;                /* whom it is passed on to; 0: it is for this task */
};

static struct writer *writers;
static int writer_count, writer_capacity;

/* To nobody is PVM's log; a task that others did not spawn leaves it where its own goes. */
int output_where(void)
{
    if (pvmctrc.outtid == pvmmytid)
        return COVEY_OUTPUT_SELF;
    return pvmctrc.outtid == 0 && pvmtrc.outtid > 0 ? COVEY_OUTPUT_DISCARD : COVEY_OUTPUT_INHERIT;
}

/* Whether pvm_catchout() prints it, or the program gets it as messages. */
static bool printed(const struct writer *writer)
{
    return writer->tag == TC_OUTPUT;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void print_text(int tid, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t line = end == NULL ? size : (size_t)(end - text);
        if (file != NULL && call_getopt(PvmShowTids) != 0)
            fprintf(file, "[t%x] ", (unsigned)tid);
        if (file != NULL)
            fprintf(file, "%.*s\n", (int)line, text);
        line += end != NULL;
        text += line;
        size -= line;
    }
    if (file != NULL)
        fflush(file);
}

/* "BEGIN" or "EOF", which the task did not write itself. */
static void print_mark(int tid, const char *mark)
{
    if (call_getopt(PvmShowTids) != 0)
        print_text(tid, mark, strlen(mark));
}

/* ---- messages: tid, length or one of TO_..., bytes or parent --------------------------------- */

static void send_piece(const struct writer *writer, int length, const char *text, size_t size)
{
    const int head[2] = {writer->tid, length};
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int error = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, head, 2, 1);
    if (error == PvmOk && length > 0)
        error = pack_array(b, PVM_BYTE, text, (int)size, 1);
    if (error == PvmOk && length < 0)
        error = pack_array(b, PVM_INT, &pvmmytid, 1, 1);
    if (error != PvmOk) {
        buffer_destroy(b);
        return;
    }
    inbox_deliver_by_daemon(b, writer->tag, writer->context);
}

/* For another task, in the same form. */
static void output_pass_on(const struct writer *writer, int length, const char *text, int parent)
{
    const int head[3] = {writer->tid, length, parent};
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int error = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, head, length < 0 ? 3 : 2, 1);
    if (error == PvmOk && length > 0)
        error = pack_array(b, PVM_BYTE, text, length, 1);
    if (error == PvmOk)
        send_in(b, writer->to, writer->context, writer->tag);
    buffer_destroy(b);
}

static void put_text(const struct writer *writer, const char *text, size_t size)
{
    if (writer->to > 0)
        output_pass_on(writer, (int)size, text, 0);
    else if (printed(writer))
        print_text(writer->tid, text, size);
    else
        send_piece(writer, (int)size, text, size);
}

static void put_end(const struct writer *writer)
{
    if (writer->to > 0)
        output_pass_on(writer, TO_EOF, NULL, 0);
    else if (printed(writer))
        print_mark(writer->tid, "EOF");
    else
        send_piece(writer, TO_EOF, NULL, 0);
}

/* ---- who writes ----------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct writer *writer_add(int tid)
{
    if (!GROW(writers, writer_capacity, writer_count + 1, 16))
        return NULL;
    struct writer *writer = &writers[writer_count++];
    *writer = (struct writer){.tid = tid, .tag = pvmctrc.outtag, .context = pvmctrc.outctx};
    return writer;
}

static struct writer *writer_find(int tid)
{
    for (int i = 0; i < writer_count; i++) {
        if (writers[i].tid == tid)
            return &writers[i];
    }
    return NULL;
}

static void output_end_of(int tid)
{
    struct writer *entry = writer_find(tid);
    if (entry == NULL || entry->ended)
        return;
    const struct writer writer = *entry; /* whose message may go to a handler, which may spawn */
    if (writer.unannounced)
        entry->ended = true;
    else
        *entry = writers[--writer_count];
    put_end(&writer);
}

/* When the manager ends, so does what it passed on. */
void output_on_end(int tid)
{
    const struct writer *writer = writer_find(tid);
    if (writer != NULL && writer->by == 0)
        output_end_of(tid);
    for (int i = writer_count - 1; i >= 0; i--) {
        if (i < writer_count && writers[i].by == tid)
            output_end_of(writers[i].tid);
    }
}

static void begin_one(int tid, int parent)
{
    const struct writer *added = writer_add(tid);
    if (added == NULL)
        return;
    const struct writer writer = *added;
    if (printed(&writer))
        print_mark(tid, "BEGIN");
    else if (parent == pvmmytid)
        send_piece(&writer, TO_NEW, NULL, 0); /* of others it was said already */
    if (notify_has_ended(tid))
        output_on_end(tid);
}

/* A task that was told of by who has spawned it. */
static void begin_told(int tid, int parent)
{
    struct writer *writer = writer_find(tid);
    if (writer == NULL)
        begin_one(tid, parent);
    else if (writer->ended)
        *writer = writers[--writer_count];
    else
        writer->unannounced = false;
}

/* One that was faster than that. */
static void begin_untold(int tid)
{
    begin_one(tid, 0);
    struct writer *writer = writer_find(tid);
    if (writer != NULL)
        writer->unannounced = true;
}

/* Tells who gets the output of a task that this one has spawned. */
static void output_announce(int tid)
{
    const int head[3] = {tid, TO_NEW, pvmmytid};
    struct buffer *b = buffer_create(ENC_DEFAULT);
    if (b != NULL && pack_array(b, PVM_INT, head, 3, 1) == PvmOk)
        send_in(b, pvmctrc.outtid, pvmctrc.outctx, pvmctrc.outtag);
    buffer_destroy(b);
}

/* What the manager passes on ends when it says so; a program that has its own tag gets it from
 * there. */
static void begin_passed(int tid, int manager)
{
    struct writer *writer = pvmctrc.outtag == TC_OUTPUT ? writer_add(tid) : NULL;
    if (writer == NULL)
        return;
    writer->by = manager;
    print_mark(tid, "BEGIN");
}

void output_begin(const int *tids, int count, int manager)
{
    for (int i = 0; i < count && pvmctrc.outtid > 0; i++) {
        if (pvmctrc.outtid == pvmmytid && manager > 0)
            begin_passed(tids[i], manager);
        else if (pvmctrc.outtid == pvmmytid)
            begin_one(tids[i], pvmmytid);
        else if (manager == 0)
            output_announce(tids[i]);
    }
}

void output_forward(const int *tids, int count, int parent, const int target[3])
{
    for (int i = 0; i < count; i++) {
        struct writer *writer = writer_add(tids[i]);
        if (writer == NULL)
            return;
        writer->to = target[0];
        writer->context = target[1];
        writer->tag = target[2];
        output_pass_on(writer, TO_NEW, NULL, parent);
        notify_watch(tids[i]);
    }
}

/* What the manager passes on of a task. */
static void take_passed(struct buffer *b, int tid, int length)
{
    const struct writer *writer = writer_find(tid);
    if (writer == NULL || writer->by != b->info.src || length < TO_EOF ||
        (size_t)length > body_left(&b->body))
        return;
    char *text = malloc((size_t)length + 1);
    if (length > 0 && text != NULL && unpack_array(b, PVM_BYTE, text, length, 1) == PvmOk)
        put_text(writer, text, (size_t)length);
    free(text);
    if (length == TO_EOF)
        output_end_of(tid);
}

/* Only a task whose output comes here says that another's will. */
bool output_take(struct buffer *b)
{
    int head[2];
    if (b->info.ctx != SYSCTX_TC || b->info.tag != TC_OUTPUT)
        return false;
    bool whole = unpack_array(b, PVM_INT, head, 2, 1) == PvmOk && vm_is_task(head[0]);
    if (whole && writer_find(b->info.src) != NULL && head[1] == TO_NEW)
        begin_told(head[0], b->info.src);
    else if (whole)
        take_passed(b, head[0], head[1]);
    buffer_destroy(b);
    return true;
}

void output_on_text(covey_msg_t *msg)
{
    struct covey_info info;
    const char *text;
    size_t size;
    int stream;
    covey_msg_info(msg, &info);
    if (writer_find(info.source) == NULL && pvmctrc.outtid == pvmmytid)
        begin_untold(info.source);
    const struct writer *writer = writer_find(info.source);
    if (writer == NULL || covey_unpack_output(msg, &stream, &text, &size) != COVEY_OK)
        return;
    const struct writer copy = *writer; /* a handler that gets it may spawn */
    put_text(&copy, text, size);
}

static int printed_count(void)
{
    int count = 0;
    for (int i = 0; i < writer_count; i++)
        count += printed(&writers[i]) && !writers[i].ended && writers[i].to == 0;
    return count;
}

void output_wait(void)
{
    if (file == NULL)
        return;
    while (inbox_pull(COVEY_POLL) > 0)
        ;
    if (printed_count() > 0)
        error_note("child task(s) still running.  waiting...");
    while (printed_count() > 0 && inbox_pull(COVEY_FOREVER) > 0)
        ;
    file = NULL;
    writer_count = 0;
}

int pvm_catchout(FILE *to)
{
    if (vm_enter() == NULL)
        return lpvmerr("pvm_catchout", PvmSysErr);
    file = to;
    call_setopt(PvmOutputTid, to == NULL ? 0 : pvmmytid);
    call_setopt(PvmOutputCode, to == NULL ? 0 : TC_OUTPUT);
    call_setopt(PvmOutputContext, to == NULL ? 0 : SYSCTX_TC);
    return PvmOk;
}
