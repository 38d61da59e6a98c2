/*
 * output.c - pvm_catchout(): the output of children, line by line behind their tids, or as messages
 * where the program has set PvmOutputTid and PvmOutputCode itself. What counts for a child are the
 * options as they were when it was spawned.
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

#include "lib/pvm3/abi.h"
#include "lib/pvm3/error.h"
#include "lib/pvm3/inbox.h"
#include "lib/pvm3/notify.h"
#include "lib/pvm3/option.h"
#include "lib/pvm3/output.h"
#include "lib/pvm3/pack.h"
#include "lib/pvm3/vm.h"

static FILE *file; /* that output is printed to, or NULL */
struct writer {
    int tid, tag, context; /* of the messages with what it writes */
};

static struct writer *writers;
static int writer_count, writer_capacity;

int output_where(void)
{
    return pvm_getopt(PvmOutputTid) == pvmmytid ? COVEY_OUTPUT_SELF : COVEY_OUTPUT_INHERIT;
}

/* Whether pvm_catchout() prints it, or the program gets it as messages. */
static bool printed(const struct writer *writer)
{
    return writer->tag == TC_OUTPUT;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void print_line(int tid, const char *text, size_t size)
{
    if (file != NULL)
        fprintf(file, "[t%x] %.*s\n", (unsigned)tid, (int)size, text);
}

static void print_text(int tid, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t line = end == NULL ? size : (size_t)(end - text);
        print_line(tid, text, line);
        line += end != NULL;
        text += line;
        size -= line;
    }
    if (file != NULL)
        fflush(file);
}

/* ---- messages: tid, length or one of TO_..., bytes or parent ----------------------------------
 */

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
    b->info.src = DAEMON_TID;
    b->info.dst = pvmmytid;
    b->info.tag = writer->tag;
    b->info.ctx = writer->context;
    inbox_deliver(b);
}

/* ---- who writes ----------------------------------------------------------------------------- */

/* NULL: no memory. */
static const struct writer *writer_add(int tid)
{
    if (writer_count == writer_capacity) {
        int size = writer_capacity == 0 ? 16 : 2 * writer_capacity;
        struct writer *grown = realloc(writers, (size_t)size * sizeof *grown);
        if (grown == NULL)
            return NULL;
        writers = grown;
        writer_capacity = size;
    }
    struct writer *writer = &writers[writer_count++];
    *writer = (struct writer){tid, pvm_getopt(PvmOutputCode), pvm_getopt(PvmOutputContext)};
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

void output_begin(const int *tids, int count)
{
    for (int i = 0; i < count && output_where() == COVEY_OUTPUT_SELF; i++) {
        const struct writer *writer = writer_add(tids[i]);
        if (writer == NULL)
            return;
        if (printed(writer))
            print_text(tids[i], "BEGIN", 5);
        else
            send_piece(writer, TO_NEW, NULL, 0);
        notify_watch(tids[i]);
    }
}

void output_on_text(covey_msg_t *msg)
{
    struct covey_info info;
    const char *text;
    size_t size;
    int stream;
    covey_msg_info(msg, &info);
    const struct writer *writer = writer_find(info.source);
    if (writer == NULL || covey_unpack_output(msg, &stream, &text, &size) != COVEY_OK)
        return;
    if (printed(writer))
        print_text(info.source, text, size);
    else
        send_piece(writer, (int)size, text, size);
}

void output_on_end(int tid)
{
    struct writer *entry = writer_find(tid);
    if (entry == NULL)
        return;
    const struct writer writer = *entry; /* whose message may go to a handler, which may spawn */
    *entry = writers[--writer_count];
    if (printed(&writer))
        print_text(tid, "EOF", 3);
    else
        send_piece(&writer, TO_EOF, NULL, 0);
}

static int printed_count(void)
{
    int count = 0;
    for (int i = 0; i < writer_count; i++)
        count += printed(&writers[i]);
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
    pvm_setopt(PvmOutputTid, to == NULL ? 0 : pvmmytid);
    pvm_setopt(PvmOutputCode, to == NULL ? 0 : TC_OUTPUT);
    pvm_setopt(PvmOutputContext, to == NULL ? 0 : SYSCTX_TC);
    return PvmOk;
}
