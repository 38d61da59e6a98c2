/*
 * The part of MCAST: messages for several tasks of this host that came as one.
 */
#include <string.h>

#include "daemon/base/daemon.h"
#include "daemon/post/backlog.h"
#include "daemon/post/post.h"
#include "daemon/table/connection.h"

/* Whether a receiver is not one of this host's tasks, or named twice. */
static const char *receivers_refused(const struct daemon *d, const struct control_mcast *m)
{
    for (uint16_t i = 0; i < m->count; i++) {
        uint32_t tid = m->receivers[i].tid;
        if (tid_host(tid) != daemon_host(d) || tid_local(tid) == 0)
            return "a receiver is not a task of this host";
        for (uint16_t k = 0; k < i; k++) {
            if (m->receivers[k].tid == tid)
                return "a receiver is named twice";
        }
    }
    return NULL;
}

/* The data frames differ in their destinations, and the first in the sequence number that they
 * begin with. A large one leaves at once, and whoever gets it may answer to another receiver by a
 * ring: so all of them know of theirs before the first has it, and its stamp is the same for all.
 */
static void fan_out(struct daemon *d, uint32_t source, const struct control_mcast *m,
                    const struct cursor *data)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    struct frame frame = {.length = (uint32_t)cursor_left(data),
                          .kind = FRAME_DATA,
                          .flags = m->flags,
                          .source = source};
    bool admitted[CONTROL_RECEIVERS_MAX];
    uint64_t stamp = d->tasks->stamp;
    memcpy(payload, data->at, frame.length);
    d->counters.frames_spread += m->count;
    for (uint16_t i = 0; i < m->count; i++) {
        struct task *to = task_find(d->tasks, m->receivers[i].tid);
        admitted[i] = to == NULL || backlog_admit(to, &frame);
        if (to != NULL && admitted[i])
            connection_announce(to, &frame);
    }
    for (uint16_t i = 0; i < m->count; i++) {
        struct cursor sequence = cursor_writer(payload, sizeof payload);
        if ((m->flags & FRAME_FIRST) != 0)
            cursor_put_u64(&sequence, m->receivers[i].sequence);
        frame.destination = m->receivers[i].tid;
        if (admitted[i])
            post_send(d, &frame, payload);
        else
            d->counters.frames_undeliverable++;
        d->tasks->stamp_stays = d->tasks->stamp != stamp;
    }
    d->tasks->stamp_stays = false;
}

/* MCAST, from a task: a data frame to each receiver. One that is not there is reported as for any
 * data frame. */
static const char *mcast_on_mcast(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct control_mcast m;
    control_get_mcast(payload, &m);
    if (!cursor_ok(payload))
        return "bad payload";
    struct message_header unused;
    const char *refused = receivers_refused(d, &m);
    if (refused == NULL && (m.flags & FRAME_FIRST) != 0)
        refused = message_header_decode(payload->at, cursor_left(payload), &unused);
    if (refused == NULL)
        fan_out(d, source, &m, payload);
    if (refused == NULL && tid_host(source) == daemon_host(d)) {
        /* A task of this host waits while a queue that it feeds is long. */
        struct task *sender = task_find(d->tasks, source);
        for (uint16_t i = 0; sender != NULL && i < m.count; i++) {
            const struct task *receiver = task_find(d->tasks, m.receivers[i].tid);
            if (receiver != NULL && connection_queued(receiver) > CONNECTION_QUEUE_MAX)
                connection_hold(sender, BLOCKED_BY_TASK, receiver->tid);
        }
    }
    return refused;
}

const struct part mcast_part = {
    .name = "mcast",
    .kinds = (const struct part_kind[]){{FRAME_MCAST, mcast_on_mcast, false}, {0}}};
