/*
 * collect.c - a trace becomes a file: a thread asks all daemons of the VM, again and again, for
 * what their tasks have recorded, and writes the answers down as they are (trace_record.h). Who
 * reads the file finds out what belongs together. Nothing is kept here.
 *
 * The collector is a member of the VM of its own. So it works beside whatever the program does, and
 * what it does is in no trace. A host that does not answer in time is asked again in the next
 * round, and counted.
 */
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/root/seen.h"
#include "proto/trace/trace_record.h"
#include "proto/trace/trace_round.h"
#include "proto/wire/cursor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_US 2000000u
#define LOOK_US 20000u
/* A short trace is looked round at shorter times, too; to look costs its hosts time. */
#define SEEN_NS_MIN 300000000u
#define SEEN_NS_MAX 1000000000u
#define SEEN_PARTS 10
#define LAST_ROUNDS 1000 /* of what is left at the end; then what goes on is not waited for */

struct covey_trace {
    covey_t *vm;
    FILE *file;
    struct seen *seen;
    uint64_t begun_ns, seen_ns;  /* when it was asked for first, and last */
    uint64_t asked_us, round_us; /* when all were asked last, and how long after that again */
    unsigned fullest;            /* percent, of all rings, this round */
    uint32_t of;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing, over; /* it is to end; it has */
    int error;          /* the first, with its text */
    char text[160];
    struct covey_trace_end end;
};

static void trace_fail(struct covey_trace *t, int error, const char *why)
{
    if (t->error != COVEY_OK)
        return;
    t->error = error;
    snprintf(t->text, sizeof t->text, "trace: %s", why);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void file_put(struct covey_trace *t, const void *bytes, size_t size)
{
    if (size > 0 && fwrite(bytes, 1, size, t->file) != size)
        trace_fail(t, COVEY_ESYS, strerror(errno));
    t->end.bytes += size;
}

static void file_head(struct covey_trace *t)
{
    char text[4096];
    int n = snprintf(text, sizeof text, TRACE_FILE_MAGIC "root %u\nrecord %d\n", t->of,
                     TRACE_RECORD_BYTES);
#define FIELD(name, word, bit, bits, what)                                                         \
    n += snprintf(text + n, sizeof text - (size_t)n, "field %s %d %d %d %s\n", #name, word, bit,   \
                  bits, what);
#define KIND(number, NAME, name)                                                                   \
    n += snprintf(text + n, sizeof text - (size_t)n, "kind %d %s\n", number, name);
    TRACE_FIELDS(FIELD)
    TRACE_KINDS(KIND)
#undef FIELD
#undef KIND
    n += snprintf(text + n, sizeof text - (size_t)n, "\n");
    file_put(t, text, (size_t)n);
}

static void file_chunk(struct covey_trace *t, uint8_t kind, const void *head, size_t head_size,
                       const void *body, size_t size)
{
    uint8_t start[TRACE_CHUNK_HEAD];
    struct cursor c = cursor_writer(start, sizeof start);
    cursor_put_u8(&c, kind);
    cursor_put_u32(&c, (uint32_t)(head_size + size));
    file_put(t, start, sizeof start);
    file_put(t, head, head_size);
    file_put(t, body, size);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int trace_ask(struct covey *vm, uint32_t host, int op, uint8_t **content, size_t *size)
{
    uint8_t body[1];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u8(&c, (uint8_t)op);
    struct call call = call_begin_as(vm, "trace");
    int error = request_call(vm, FRAME_TRACE, host, body, sizeof body, clock_us() + ANSWER_US,
                             content, size);
    return call_end(vm, &call, error);
}

/* What the daemon of one host has. 1: it has more, or there is nothing to wait for. */
static int pull_host(struct covey_trace *t, const struct covey_host *host)
{
    uint8_t *content = NULL, head[128];
    size_t size = 0;
    uint64_t before_ns = clock_ns();
    int error = trace_ask(t->vm, (uint32_t)host->index, TRACE_OP_PULL, &content, &size);
    uint64_t after_ns = clock_ns();
    if (error != COVEY_OK) {
        t->end.silent++;
        return error;
    }
    struct cursor reply = cursor_reader(content, size);
    uint8_t state = cursor_get_u8(&reply), waits = cursor_get_u8(&reply);
    uint32_t untraced = cursor_get_u32(&reply);
    if (!cursor_ok(&reply)) {
        free(content);
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    }
    struct cursor c = cursor_writer(head, sizeof head);
    cursor_put_u32(&c, (uint32_t)host->index);
    cursor_put_text(&c, host->name);
    cursor_put_u64(&c, before_ns);
    cursor_put_u64(&c, after_ns);
    if (cursor_ok(&c))
        file_chunk(t, TRACE_CHUNK_PULLED, head, (size_t)(c.at - head), content, size);
    free(content);
    t->end.untraced += untraced; /* of this round: see pull_all() */
    pthread_mutex_lock(&t->lock);
    t->closing = t->closing || state == TRACE_ENDS;
    pthread_mutex_unlock(&t->lock);
    if (waits != TRACE_WAITS_MORE && waits > t->fullest)
        t->fullest = waits;
    return waits == TRACE_WAITS_MORE;
}

/* All hosts once; 1: some have more. An error is one of the first round, or of the VM. */
static int pull_all(struct covey_trace *t, bool first)
{
    struct covey_host *hosts = NULL;
    int count = covey_hosts(t->vm, &hosts), more = 0;
    uint64_t now_us = clock_us();
    t->end.untraced = 0;
    t->fullest = 0;
    for (int i = 0; i < count && more >= 0; i++) {
        if (hosts[i].state != COVEY_HOST_UP)
            continue;
        int result = pull_host(t, &hosts[i]);
        if (result < 0 && !first && result != COVEY_EDAEMON)
            result = 0;
        more = result < 0 ? result : more | result;
    }
    covey_free(hosts);
    t->round_us = first ? TRACE_ROUND_US : trace_round_us(now_us - t->asked_us, t->fullest);
    t->asked_us = now_us;
    return count < 0 ? count : more;
}

static bool look_is_due(const struct covey_trace *t)
{
    uint64_t now_ns = clock_ns(), every_ns = (now_ns - t->begun_ns) / SEEN_PARTS;
    every_ns = every_ns < SEEN_NS_MAX ? every_ns : SEEN_NS_MAX;
    return now_ns - t->seen_ns >= (every_ns > SEEN_NS_MIN ? every_ns : SEEN_NS_MIN);
}

/* What is round the tasks. */
static void look_round(struct covey_trace *t, void (*look)(struct seen *, char **, size_t *))
{
    char *text = NULL;
    size_t bytes = 0;
    uint8_t head[8];
    struct cursor c = cursor_writer(head, sizeof head);
    t->seen_ns = clock_ns();
    t->begun_ns = t->begun_ns == 0 ? t->seen_ns : t->begun_ns;
    cursor_put_u64(&c, t->seen_ns);
    look(t->seen, &text, &bytes);
    if (text != NULL)
        file_chunk(t, TRACE_CHUNK_SEEN, head, sizeof head, text, bytes);
    free(text);
}

static void stop_all(struct covey_trace *t)
{
    struct covey_host *hosts = NULL;
    int count = covey_hosts(t->vm, &hosts);
    for (int i = 0; i < count; i++) {
        uint8_t *content = NULL;
        size_t size = 0;
        if (hosts[i].state == COVEY_HOST_UP &&
            trace_ask(t->vm, (uint32_t)hosts[i].index, TRACE_OP_STOP, &content, &size) == COVEY_OK)
            free(content);
    }
    covey_free(hosts);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* True: it is to end. */
static bool pause_round(struct covey_trace *t, bool more)
{
    uint64_t at_us = t->asked_us + t->round_us;
    struct timespec at = {.tv_sec = (time_t)(at_us / 1000000),
                          .tv_nsec = (long)(at_us % 1000000) * 1000};
    pthread_mutex_lock(&t->lock);
    if (!more && !t->closing)
        pthread_cond_timedwait(&t->changed, &t->lock, &at);
    bool closing = t->closing;
    pthread_mutex_unlock(&t->lock);
    return closing;
}

static void *collect_main(void *context)
{
    struct covey_trace *t = context;
    int more = 0;
    while (more >= 0 && t->error == COVEY_OK && !pause_round(t, more > 0)) {
        more = pull_all(t, false);
        if (look_is_due(t))
            look_round(t, seen_now);
    }
    for (int i = 0; i < LAST_ROUNDS && more >= 0 && t->error == COVEY_OK && (i == 0 || more > 0);
         i++)
        more = pull_all(t, false);
    if (more >= 0) {
        look_round(t, seen_now);
        look_round(t, seen_last);
    }
    if (more < 0)
        trace_fail(t, more, covey_error_text());
    else
        file_chunk(t, TRACE_CHUNK_END, NULL, 0, NULL, 0);
    if (fflush(t->file) != 0)
        trace_fail(t, COVEY_ESYS, strerror(errno));
    stop_all(t);
    pthread_mutex_lock(&t->lock);
    t->over = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- the interface --------------------------------------------------------------------------- */

static void trace_destroy(struct covey_trace *t)
{
    if (t->file != NULL)
        fclose(t->file);
    seen_destroy(t->seen);
    covey_leave(&t->vm);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static int trace_start(struct covey_trace *t, const struct covey_options *options, const char *file)
{
    struct covey_options own = options != NULL ? *options : (struct covey_options){0};
    own.role = COVEY_ROLE_CONSOLE;
    own.command = "trace";
    int error = covey_join(&t->vm, &own);
    if (error != COVEY_OK)
        return error;
    t->file = fopen(file, "wbe");
    if (t->file == NULL)
        return error_set(COVEY_ESYS, "trace: %s: %s", file, strerror(errno));
    file_head(t);
    error = pull_all(t, true);
    if (error < 0)
        return error;
    t->seen = seen_create(t->vm);
    if (t->seen == NULL)
        return error_code(COVEY_ENOMEM);
    look_round(t, seen_now);
    error = pthread_create(&t->thread, NULL, collect_main, t);
    return error == 0 ? COVEY_OK
                      : error_set(COVEY_ERESOURCE, "trace: no thread: %s", strerror(error));
}

int covey_trace_open(covey_trace_t **trace, const struct covey_options *options, const char *file,
                     covey_tid_t of)
{
    if (trace == NULL || file == NULL || of < 0)
        return error_set(COVEY_EINVAL, "trace: NULL or no tid");
    struct covey_trace *t = calloc(1, sizeof *t);
    if (t == NULL)
        return error_code(COVEY_ENOMEM);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    t->of = (uint32_t)of;
    int error = trace_start(t, options, file);
    if (error == COVEY_OK) {
        *trace = t;
        return COVEY_OK;
    }
    char why[160];
    snprintf(why, sizeof why, "%s", covey_error_text());
    /* Hosts that had begun end it when nobody asks them any more: to stop it might stop another's.
     */
    trace_destroy(t);
    return error_set(error, "%s", why);
}

int covey_trace_close(covey_trace_t **trace, struct covey_trace_end *end)
{
    if (trace == NULL || *trace == NULL)
        return COVEY_OK;
    struct covey_trace *t = *trace;
    *trace = NULL;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    int error = t->error;
    if (end != NULL)
        *end = t->end;
    char why[160];
    snprintf(why, sizeof why, "%s", t->text);
    trace_destroy(t);
    return error == COVEY_OK ? COVEY_OK : error_set(error, "%s", why);
}

int covey_trace_wait(covey_trace_t *t)
{
    if (t == NULL)
        return error_set(COVEY_EINVAL, "trace: NULL");
    pthread_mutex_lock(&t->lock);
    while (!t->over)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return COVEY_OK;
}

/* Who traces, as the own daemon knows it; an operation may be carried out first. */
static int collector_ask(covey_t *vm, int host, int op, uint32_t *collector)
{
    uint8_t *content = NULL;
    size_t size = 0;
    int error = trace_ask(vm, (uint32_t)host, op, &content, &size);
    if (error != COVEY_OK)
        return error;
    struct cursor c = cursor_reader(content, size);
    *collector = cursor_get_u32(&c);
    bool good = cursor_done(&c);
    free(content);
    return good ? COVEY_OK : error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
}

int covey_trace_stop(covey_t *vm, int64_t timeout_us)
{
    uint32_t collector = 0;
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "trace: NULL");
    uint64_t deadline_us = clock_deadline(timeout_us);
    int error = collector_ask(vm, 0, TRACE_OP_STOP, &collector);
    if (error == COVEY_OK && collector == 0)
        return error_set(COVEY_ENOENT, "trace: nobody traces this virtual machine");
    while (error == COVEY_OK && collector != 0) {
        if (clock_us() > deadline_us)
            return error_set(COVEY_ETIMEOUT, "trace: t%x has not ended it in time", collector);
        usleep(LOOK_US);
        error = collector_ask(vm, 0, TRACE_OP_LOOK, &collector);
    }
    return error;
}
