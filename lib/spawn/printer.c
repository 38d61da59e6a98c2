/*
 * printer.c - the output of tasks of a program that was started by hand. Such a program is the sink
 * of what it spawns, and of what that spawns in turn; the pieces that come are printed here by a
 * thread of their own, so that a terminal that stands still stops neither messages nor the
 * program. A piece is acknowledged when it is printed, and the daemons hold each writer back that
 * has OUTPUT_UNACKED_MAX bytes under way.
 *
 * A piece is whole lines, but for lines that are very long and the last one of a task. When another
 * task has left its line unfinished on a stream, a newline comes in between.
 *
 * Who leaves still prints what was written before: the daemons are asked for it, and tasks that are
 * not tethered may go on for GATHER_QUIET_US after the last piece.
 */
#include "lib/spawn/printer.h"
#include "lib/calls/hosts.h"
#include "lib/calls/notify.h"
#include "lib/drive/wait.h"
#include "lib/engine/peer.h"
#include "lib/member/home.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/write_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GATHER_QUIET_US 1000000u
#define GATHER_US 10000000u /* in all */
#define TAG_BYTES 16
#define LINE_BYTES 512

struct piece {
    STAILQ_ENTRY(piece) next;
    struct control_output output; /* tid 0: a line of our own */
    char text[];
};

struct printer {
    pthread_t thread;
    pthread_cond_t wake;
    STAILQ_HEAD(, piece) pieces;
    uint64_t pieces_ever;
    bool untethered; /* some tasks outlive the program */
    bool ending;
    bool broken[3];   /* per descriptor: nothing can be written there any more */
    uint32_t open[3]; /* the task whose line was begun there, or 0 */
};

int printer_printing(void)
{
    const char *text = getenv("COVEY_OUTPUT");
    if (text == NULL || text[0] == '\0' || strcmp(text, "print") == 0)
        return PRINTING_PLAIN;
    if (strcmp(text, "tag") == 0)
        return PRINTING_TAGGED;
    if (strcmp(text, "none") == 0)
        return PRINTING_NOT;
    return error_set(COVEY_EINVAL, "COVEY_OUTPUT is '%.40s', and not print, tag or none", text);
}

/* ---- writing, by the thread ------------------------------------------------------------------ */

static bool write_tagged(int fd, const struct piece *piece, bool begun)
{
    char tag[TAG_BYTES];
    const char *text = piece->text;
    int tag_bytes = snprintf(tag, sizeof tag, "[t%x] ", (unsigned)piece->output.tid);
    bool good = true;
    for (size_t left = piece->output.bytes, line; left > 0 && good; left -= line, text += line) {
        const char *end = memchr(text, '\n', left);
        line = end == NULL ? left : (size_t)(end - text) + 1;
        good = (begun || write_all(fd, tag, (size_t)tag_bytes)) && write_all(fd, text, line);
        begun = false;
    }
    return good;
}

static void print(struct printer *p, const struct piece *piece, bool tagged)
{
    int fd = piece->output.stream;
    uint32_t tid = piece->output.tid;
    size_t size = piece->output.bytes;
    bool begun = p->open[fd] != 0 && p->open[fd] == tid;
    if (p->broken[fd] || size == 0)
        return;
    bool good = p->open[fd] == 0 || begun || write_all(fd, "\n", 1);
    if (good && tagged && tid != 0)
        good = write_tagged(fd, piece, begun);
    else if (good)
        good = write_all(fd, piece->text, size);
    p->open[fd] = piece->text[size - 1] == '\n' ? 0 : tid;
    p->broken[fd] = !good;
}

static void *print_all(void *context)
{
    struct covey *vm = context;
    struct printer *p = output_of(vm)->printer;
    pthread_mutex_lock(&vm->lock);
    while (!p->ending || !STAILQ_EMPTY(&p->pieces)) {
        struct piece *piece = STAILQ_FIRST(&p->pieces);
        if (piece == NULL) {
            pthread_cond_wait(&p->wake, &vm->lock);
            continue;
        }
        STAILQ_REMOVE_HEAD(&p->pieces, next);
        pthread_mutex_unlock(&vm->lock);
        print(p, piece, output_of(vm)->printing == PRINTING_TAGGED);
        pthread_mutex_lock(&vm->lock);
        uint8_t payload[16];
        struct cursor c = cursor_writer(payload, sizeof payload);
        if (piece->output.tid != 0 && vm->home.lost == 0) {
            control_put_output_ack(&c, &piece->output);
            home_send(vm, FRAME_OUTPUT_ACK, tid_make(tid_host(piece->output.tid), 0), payload,
                      (size_t)(c.at - payload));
        }
        free(piece);
    }
    pthread_mutex_unlock(&vm->lock);
    return NULL;
}

/* ---- what comes ------------------------------------------------------------------------------ */

/* The thread takes no signal: those are the program's. */
static int thread_start(struct covey *vm)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&output_of(vm)->printer->thread, NULL, print_all, vm);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int printer_start(struct covey *vm, bool tethered)
{
    if (output_of(vm)->printing != PRINTING_PLAIN && output_of(vm)->printing != PRINTING_TAGGED)
        return COVEY_OK;
    if (output_of(vm)->printer == NULL) {
        struct printer *p = calloc(1, sizeof *p);
        if (p == NULL)
            return error_code(COVEY_ENOMEM);
        STAILQ_INIT(&p->pieces);
        pthread_cond_init(&p->wake, NULL);
        output_of(vm)->printer = p;
        int error = thread_start(vm);
        if (error != 0) {
            pthread_cond_destroy(&p->wake);
            free(p);
            output_of(vm)->printer = NULL;
            return error_set(COVEY_ERESOURCE, "no thread for output: %s", strerror(error));
        }
    }
    output_of(vm)->printer->untethered |= !tethered;
    return COVEY_OK;
}

static void printer_put(struct covey *vm, const struct control_output *o, const uint8_t *text)
{
    struct printer *p = output_of(vm)->printer;
    if (p == NULL || p->ending || (o->stream != STDOUT_FILENO && o->stream != STDERR_FILENO))
        return; /* nobody here has spawned it, or it comes too late */
    struct piece *piece = malloc(sizeof *piece + o->bytes);
    if (piece == NULL) {
        home_lost(vm, COVEY_ENOMEM, "memory is exhausted: the output of a task could not be taken");
        return;
    }
    piece->output = *o;
    memcpy(piece->text, text, o->bytes);
    STAILQ_INSERT_TAIL(&p->pieces, piece, next);
    p->pieces_ever++;
    pthread_cond_signal(&p->wake);
}

/* ---- the end --------------------------------------------------------------------------------- */

struct writers {
    struct peer **peers;
    int count, gone; /* the first so many have ended */
};

static bool all_gone(void *context)
{
    struct writers *w = context;
    while (w->gone < w->count && w->peers[w->gone]->gone)
        w->gone++;
    return w->gone == w->count;
}

void printer_gather(struct covey *vm)
{
    struct covey_host *hosts = NULL;
    struct covey_task *tasks = NULL;
    int count = 0;
    if (output_of(vm)->printer == NULL || vm->home.lost != 0 ||
        tasks_survey(vm, GATHER_QUIET_US, &hosts, &tasks, &count) < 0)
        return;
    struct writers w = {.peers = calloc((size_t)count + 1, sizeof(struct peer *))};
    for (int i = 0; i < count && w.peers != NULL && output_of(vm)->printer->untethered; i++) {
        bool prints = tasks[i].output == (covey_tid_t)vm->self.tid;
        struct peer *peer = prints ? peer_get(vm, (uint32_t)tasks[i].tid) : NULL;
        if (peer != NULL)
            w.peers[w.count++] = peer;
    }
    uint64_t seen, end_us = clock_us() + GATHER_US;
    int error;
    do {
        uint64_t quiet_us = clock_us() + GATHER_QUIET_US;
        seen = output_of(vm)->printer->pieces_ever;
        error = wait_until(vm, all_gone, &w, quiet_us < end_us ? quiet_us : end_us);
    } while (error == COVEY_ETIMEOUT && output_of(vm)->printer->pieces_ever != seen &&
             clock_us() < end_us);
    free(w.peers);
    free(hosts);
    free(tasks);
}

void printer_destroy(struct covey *vm)
{
    struct printer *p = output_of(vm)->printer;
    if (p == NULL)
        return;
    p->ending = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&vm->lock);
    pthread_join(p->thread, NULL);
    pthread_mutex_lock(&vm->lock);
    pthread_cond_destroy(&p->wake);
    free(p);
    output_of(vm)->printer = NULL;
}

/* ---- frames: what is not to be printed is the program's ---- */

void printer_on_output(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_output o;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_output(&c, &o);
    if (cursor_ok(&c) && o.print)
        printer_put(vm, &o, c.at);
    else
        notify_output(vm, frame, payload);
}

void printer_on_end(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct control_ended e;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_ended(&c, &e);
    if (cursor_ok(&c) && e.print && e.kind == COVEY_EXIT_SIGNAL && !e.asked) {
        char line[LINE_BYTES], program[sizeof e.command];
        snprintf(program, sizeof program, "%.*s", (int)strcspn(e.command, " "), e.command);
        const char *slash = strrchr(program, '/');
        int size =
            snprintf(line, sizeof line, "covey: task t%x (%s) on %s was killed by signal %d (%s)\n",
                     (unsigned)e.tid, slash == NULL ? program : slash + 1, e.host, (int)e.value,
                     strsignal(e.value));
        struct control_output o = {.stream = STDERR_FILENO, .bytes = (uint32_t)size};
        printer_put(vm, &o, (const uint8_t *)line);
    }
    notify_ended(vm, frame, payload);
}
