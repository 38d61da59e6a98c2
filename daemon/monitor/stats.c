/*
 * stats.c - every counter of this daemon in one list: its own, those of the media, of the parts and
 * of the node. A part that counts something names it in its row (stat), and needs no line here.
 */
#include "daemon/monitor/stats.h"

#include <string.h>
#include <sys/resource.h>

#include "daemon/link/ether.h"
#include "daemon/link/media.h"
#include "daemon/link/segment.h"
#include "daemon/post/reply.h"
#include "daemon/table/budget.h"
#include "proto/session/fault_line.h"

#define NAME_BYTES_MAX 128

static void stat_add(void *context, const char *name, uint64_t value)
{
    struct reply *reply = context;
    struct cursor c = reply_room(reply, 2 + NAME_BYTES_MAX + 8);
    if (strlen(name) > NAME_BYTES_MAX)
        return;
    cursor_put_text(&c, name);
    cursor_put_u64(&c, value);
    reply_add(reply, &c);
}

/* Processor time of this daemon since it started, in microseconds. */
static uint64_t cpu_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void walk_daemon(const struct daemon *d, stats_fn *fn, void *context)
{
    const struct daemon_counters *n = &d->counters;
    fn(context, "process.cpu_us", cpu_us());
    fn(context, "tasks.now", d->tasks->count);
    fn(context, "tasks.spawned", n->tasks_spawned);
    fn(context, "tasks.spawns_failed", n->spawns_failed);
    fn(context, "tasks.enrolled", n->tasks_enrolled);
    fn(context, "tasks.ended", n->tasks_ended);
    fn(context, "stream.frames_in", n->frames_from_tasks);
    fn(context, "stream.frames_out", n->frames_to_tasks);
    fn(context, "stream.bytes_in", n->bytes_from_tasks);
    fn(context, "stream.bytes_out", n->bytes_to_tasks);
    fn(context, "stream.bytes_queued", d->budget.tasks);
    fn(context, "memory.limit", d->conf.memory_bytes);
    fn(context, "memory.used", budget_used(d));
    fn(context, "memory.bags", d->budget.bags + d->budget.incoming);
    fn(context, "stream.refused", n->streams_refused);
    fn(context, "stream.callers_refused", n->callers_refused);
    fn(context, "route.frames_to_hosts", n->frames_to_hosts);
    fn(context, "route.frames_from_hosts", n->frames_from_hosts);
    fn(context, "route.frames_detoured", n->frames_detoured);
    fn(context, "route.frames_spread", n->frames_spread);
    fn(context, "route.frames_refused", n->frames_refused);
    fn(context, "route.frames_undeliverable", n->frames_undeliverable);
}

void stats_walk(const struct daemon *d, stats_fn *fn, void *context)
{
    const char *name;
    uint64_t value;
    walk_daemon(d, fn, context);
    for (size_t i = 0; (name = udp_stat(d->media->udp, i, &value)) != NULL; i++)
        fn(context, name, value);
    struct ether_link *ether = segment_link(d);
    for (size_t i = 0; ether != NULL && (name = ether_stat(ether, i, &value)) != NULL; i++)
        fn(context, name, value);
    for (size_t p = 0; p < PARTS; p++)
        for (size_t i = 0; d->parts[p]->stat != NULL && (name = d->parts[p]->stat(d, i, &value));
             i++)
            fn(context, name, value);
    for (size_t i = 0;
         d->media->faults != NULL && (name = fault_line_stat(d->media->faults, i, &value)); i++)
        fn(context, name, value);
    for (size_t i = 0; (name = node_stat(d->node, i, &value)) != NULL; i++)
        fn(context, name, value);
}

static const char *stats_on_stats(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    struct reply reply;
    if (!cursor_done(payload))
        return "bad payload";
    reply_begin(&reply, d, source, request);
    stats_walk(d, stat_add, &reply);
    reply_send(&reply, 0);
    return NULL;
}

const struct part stats_part = {
    .name = "stats", .kinds = (const struct part_kind[]){{FRAME_STATS, stats_on_stats, true}, {0}}};
