/*
 * trace.c - the traces of the tasks of this host, for who collects them.
 *
 * While somebody collects, each task has a ring in memory that it shares with
 * this daemon (lib/link/trace_ring.h). The collector, a task of any host, asks again and again; the
 * answer takes what is in the rings, as it is, and tells the time of this host. To compress it here
 * would take a processor from the tasks that are looked at. The daemon itself keeps nothing but the
 * rings, RINGS_MAX at most: what a task writes faster than it is fetched is
 * counted by the task, and tasks without a ring are counted here. The ring of a task that has ended
 * stays until all of it is fetched.
 *
 * There is one collector at a time. One that has not asked for LEASE_US is gone. When somebody else
 * asks it to end, the next answer tells it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/daemon.h"
#include "daemon/post/reply.h"
#include "daemon/table/connection.h"
#include "daemon/table/task.h"
#include "lib/covey.h"
#include "lib/link/trace_ring.h"
#include "lib/msg/clock.h"
#include "proto/wire/list.h"

#define RINGS_MAX 512u
#define LEASE_US 10000000u
#define HEAD_BYTES 128

struct ring {
    struct ring *next;
    uint32_t tid, parent;
    struct trace_ring *memory;
    bool ended;
    uint64_t ticks, ns; /* the moment of the last answer */
    size_t names_bytes; /* that were passed on */
    char command[CONTROL_COMMAND_MAX + 1];
};

struct trace {
    uint32_t collector; /* 0: nobody collects */
    bool ends;          /* the collector is asked to end */
    uint64_t asked_us;  /* when it asked last */
    struct ring *first, *last;
    uint32_t rings, untraced;
    uint8_t *taken; /* TRACE_PULL_BYTES */
    char *names;    /* TRACE_NAMES_BYTES */
};

/* ---- rings ---- */

static void ring_tell(struct task *task, const int *fd)
{
    struct daemon *d = task->daemon;
    struct frame frame = {
        .kind = FRAME_TRACE_RING, .source = daemon_tid(d), .destination = task->tid};
    connection_put(task, &frame, NULL, fd, fd != NULL);
}

static bool is_asked_for(const struct trace *trace, const struct task *task)
{
    return trace->collector != 0 && !trace->ends && task->role == COVEY_ROLE_TASK &&
           task->way.stream != NULL;
}

static void ring_give(struct task *task)
{
    struct trace *trace = task->daemon->own.trace;
    int fd = -1;
    if (!is_asked_for(trace, task))
        return;
    struct ring *ring = trace->rings < RINGS_MAX ? calloc(1, sizeof *ring) : NULL;
    if (ring != NULL)
        ring->memory = trace_ring_create(&fd);
    if (ring == NULL || ring->memory == NULL) {
        free(ring);
        trace->untraced++;
        return;
    }
    ring->tid = task->tid;
    ring->parent = task->parent;
    ring->ticks = trace_ticks(ring->memory->cycles != 0);
    ring->ns = clock_ns();
    memcpy(ring->command, task->command, sizeof ring->command);
    LINK_LAST(trace->first, trace->last, ring, next);
    trace->rings++;
    ring_tell(task, &fd);
    close(fd);
}

static void ring_destroy(struct ring *ring)
{
    trace_ring_close(ring->memory);
    free(ring);
}

/* The first one is the caller's. */
static struct ring *ring_take(struct trace *trace)
{
    struct ring *ring = trace->first;
    trace->first = ring->next;
    if (trace->first == NULL)
        trace->last = NULL;
    return ring;
}

static void trace_free(struct trace *trace)
{
    while (trace->first != NULL)
        ring_destroy(ring_take(trace));
    free(trace->taken);
    free(trace->names);
    *trace = (struct trace){0};
}

static void trace_end(struct daemon *d)
{
    for (const struct ring *ring = d->own.trace->first; ring != NULL; ring = ring->next) {
        struct task *task = ring->ended ? NULL : task_find(d->tasks, ring->tid);
        if (task != NULL && task->way.stream != NULL)
            ring_tell(task, NULL);
    }
    trace_free(d->own.trace);
}

static bool trace_start(struct daemon *d, uint32_t collector)
{
    struct trace *trace = d->own.trace;
    trace->taken = malloc(TRACE_PULL_BYTES);
    trace->names = malloc(TRACE_NAMES_BYTES);
    if (trace->taken == NULL || trace->names == NULL) {
        trace_end(d);
        return false;
    }
    trace->collector = collector;
    for (struct task *task = d->tasks->first; task != NULL; task = task->next)
        ring_give(task);
    return true;
}

/* ---- answers ---- */

/* The call that a task is in; one that is torn, as the task goes on meanwhile, ends the record. */
static void put_open(struct cursor *c, const struct trace_ring *memory)
{
    struct trace_record open = memory->open;
    cursor_put_bytes(c, &open, sizeof open);
}

static unsigned percent_full(const struct trace_ring *memory)
{
    uint64_t waiting = trace_ring_waiting(memory); /* it may say anything */
    return waiting < TRACE_RING_BYTES ? (unsigned)(waiting * 100 / TRACE_RING_BYTES) : 100;
}

/* What waits in a ring, `most` bytes at most; returns how many. */
static size_t ring_pull(struct trace *trace, struct ring *ring, struct reply *reply, size_t most)
{
    struct trace_ring *memory = ring->memory;
    uint64_t from;
    size_t bytes = trace_ring_take(memory, trace->taken, most, &from);
    size_t names = trace_ring_names(memory, ring->names_bytes, trace->names, TRACE_NAMES_BYTES);
    uint64_t ticks = trace_ticks(memory->cycles != 0), ns = clock_ns();
    uint8_t flags = (uint8_t)((ring->ended ? TRACE_TASK_ENDED : 0) |
                              (representation_native() == REPRESENTATION_BIG ? TRACE_TASK_BIG : 0));
    struct cursor c = reply_room(reply, HEAD_BYTES + sizeof ring->command + names + bytes);
    if (reply->failed)
        return bytes;
    cursor_put_u32(&c, ring->tid);
    cursor_put_u32(&c, ring->parent);
    cursor_put_u8(&c, flags);
    cursor_put_u64(&c, ring->ticks);
    cursor_put_u64(&c, ring->ns);
    cursor_put_u64(&c, ticks);
    cursor_put_u64(&c, ns);
    cursor_put_u64(&c, atomic_load(&memory->dropped));
    cursor_put_text(&c, ring->command);
    put_open(&c, memory);
    cursor_put_u64(&c, from);
    cursor_put_u32(&c, (uint32_t)names);
    cursor_put_u32(&c, (uint32_t)bytes);
    cursor_put_bytes(&c, trace->names, names);
    cursor_put_bytes(&c, trace->taken, bytes);
    reply_add(reply, &c);
    ring->ticks = ticks;
    ring->ns = ns;
    ring->names_bytes += names;
    return bytes;
}

/* Who was asked first comes last the next time: none is always behind the others. A task that
 * records nothing is told of, too: it may be in a call. Returns how full the fullest was, or that
 * not all was taken. */
static unsigned pull_all(struct trace *trace, struct reply *reply)
{
    size_t left = TRACE_PULL_BYTES;
    unsigned fullest = 0;
    for (uint32_t n = trace->rings; n > 0 && left >= TRACE_PAGE_BYTES; n--) {
        struct ring *ring = ring_take(trace);
        unsigned percent = percent_full(ring->memory);
        fullest = percent > fullest ? percent : fullest;
        left -= ring_pull(trace, ring, reply, left);
        if (ring->ended && trace_ring_waiting(ring->memory) == 0) {
            trace->rings--;
            ring_destroy(ring);
        } else {
            LINK_LAST(trace->first, trace->last, ring, next);
        }
    }
    return left < TRACE_PAGE_BYTES ? TRACE_WAITS_MORE : fullest;
}

static void answer_pull(struct daemon *d, uint32_t source, uint32_t request)
{
    struct trace *trace = d->own.trace;
    struct reply reply;
    uint8_t head[TRACE_PULLED_BYTES];
    reply_begin(&reply, d, source, request);
    struct cursor c = reply_room(&reply, sizeof head);
    size_t at = reply.used;
    if (!reply.failed) {
        memset(c.at, 0, sizeof head);
        c.at += sizeof head;
        reply_add(&reply, &c);
    }
    unsigned waits = pull_all(trace, &reply);
    if (!reply.failed) {
        c = cursor_writer(reply.bytes + at, sizeof head);
        cursor_put_u8(&c, trace->ends ? TRACE_ENDS : TRACE_RUNS);
        cursor_put_u8(&c, (uint8_t)waits);
        cursor_put_u32(&c, trace->untraced);
        cursor_put_u64(&c, clock_ns());
    }
    reply_send(&reply, 0);
}

static void on_pull(struct daemon *d, uint32_t source, uint32_t request)
{
    struct trace *trace = d->own.trace;
    bool free_again = trace->collector == 0 || loop_now_us() - trace->asked_us > LEASE_US;
    if (trace->collector != 0 && trace->collector != source && free_again)
        trace_end(d);
    if (trace->collector != 0 && trace->collector != source) {
        reply_error(d, source, request, COVEY_EEXIST,
                    "the virtual machine is traced already, by t%x", trace->collector);
        return;
    }
    if (trace->collector == 0 && !trace_start(d, source)) {
        reply_error(d, source, request, COVEY_ENOMEM, "the daemon's memory is exhausted");
        return;
    }
    trace->asked_us = loop_now_us();
    answer_pull(d, source, request);
}

static const char *trace_on_frame(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct trace *trace = d->own.trace;
    uint32_t request = cursor_get_u32(payload);
    uint8_t op = cursor_get_u8(payload);
    if (!cursor_done(payload) || op > TRACE_OP_STOP)
        return "bad payload";
    if (trace->collector != 0 && loop_now_us() - trace->asked_us > LEASE_US)
        trace_end(d);
    if (op == TRACE_OP_PULL) {
        on_pull(d, source, request);
        return NULL;
    }
    if (op == TRACE_OP_STOP && trace->collector == source)
        trace_end(d);
    else if (op == TRACE_OP_STOP && trace->collector != 0)
        trace->ends = true;
    struct reply reply;
    reply_begin(&reply, d, source, request);
    struct cursor c = reply_room(&reply, 4);
    cursor_put_u32(&c, trace->collector);
    reply_add(&reply, &c);
    reply_send(&reply, 0);
    return NULL;
}

/* ---- the part ---- */

static void trace_destroy(struct daemon *d)
{
    trace_free(d->own.trace);
}

/* Nothing else comes of a task that is freed; what it wrote stays until it is fetched. */
static void trace_task_free(struct task *task)
{
    struct trace *trace = task->daemon->own.trace;
    for (struct ring *ring = trace != NULL ? trace->first : NULL; ring != NULL; ring = ring->next)
        if (ring->tid == task->tid)
            ring->ended = true;
}

/* A collector that is gone is not waited for. */
static uint64_t trace_settle(struct daemon *d, uint64_t now_us)
{
    struct trace *trace = d->own.trace;
    if (trace->collector == 0)
        return UINT64_MAX;
    if (now_us - trace->asked_us > LEASE_US) {
        trace_end(d);
        return UINT64_MAX;
    }
    return trace->asked_us + LEASE_US + 1;
}

const struct part trace_part = {
    .name = "trace",
    .kinds = (const struct part_kind[]){{FRAME_TRACE, trace_on_frame, true}, {0}},
    .state_bytes = sizeof(struct trace),
    .destroy = trace_destroy,
    .settle = trace_settle,
    .task_enrolled = ring_give,
    .task_free = trace_task_free};
