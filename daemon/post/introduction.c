/*
 * Direct links. The key of a stream between two tasks never crosses the network: each of the two
 * daemons derives it from the VM key, the two tids and the opener's nonce, and gives it to its own
 * task. The opener's daemon knows by which address it reaches the accepter's host, so it is the one
 * that tells the opener where to connect.
 */
#include "daemon/post/introduction.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/link/segment.h"
#include "daemon/post/direct.h"
#include "daemon/post/openings.h"
#include "daemon/table/connection.h"
#include "lib/covey.h"
#include "proto/auth/auth.h"

#define LINK_BYTES_MAX 512
#define TOO_MANY_WAIT "too many descriptors wait for tasks of this host that read nothing"

static void key_derive(const struct daemon *d, struct control_link *link, uint32_t opener,
                       uint32_t accepter)
{
    uint8_t base[AUTH_KEY_BYTES];
    memcpy(base, d->node_config.key, sizeof base);
    if (d->node_config.encrypt)
        auth_encrypting_key(base, d->node_config.key);
    auth_link_key(link->key, base, opener, accepter, link->nonce);
    sodium_memzero(base, sizeof base);
    link->has_key = true;
    link->encrypt = d->node_config.encrypt;
}

static void open_refuse(struct daemon *d, const struct frame *open, struct control_link *link,
                        const char *text)
{
    uint8_t bytes[LINK_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    link->error = COVEY_EROUTE;
    snprintf(link->text, sizeof link->text, "%s", text);
    control_put_link_refuse(&c, link);
    struct frame frame = {.length = (uint32_t)(c.at - bytes),
                          .kind = FRAME_LINK_REFUSE,
                          .source = open->destination,
                          .destination = open->source};
    post_send(d, &frame, bytes);
}

void introduction_refuse(struct daemon *d, const struct frame *open, const uint8_t *payload,
                         const char *why)
{
    struct control_link link;
    struct cursor c = cursor_reader(payload, open->length);
    control_get_link_open(&c, &link);
    open_refuse(d, open, &link, why);
}

static void key_give(struct task *opener, uint32_t accepter, struct control_link *link)
{
    uint8_t bytes[LINK_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    key_derive(opener->daemon, link, opener->tid, accepter);
    control_put_link_key(&c, link);
    struct frame frame = {.length = (uint32_t)(c.at - bytes),
                          .kind = FRAME_LINK_KEY,
                          .source = accepter,
                          .destination = opener->tid};
    connection_put(opener, &frame, bytes, NULL, 0);
}

bool introduction_depart(struct task *opener, const struct frame *frame, const uint8_t *payload,
                         int nfds)
{
    struct daemon *d = opener->daemon;
    struct control_link link;
    struct cursor c = cursor_reader(payload, frame->length);
    control_get_link_open(&c, &link);
    const char *refused = NULL;
    bool waits = false;
    if (!cursor_done(&c))
        refused = "the daemon cannot read the LINK_OPEN";
    else if (link.route == COVEY_ROUTE_SHM && tid_host(frame->destination) != daemon_host(d))
        refused = "the two tasks are on different hosts: they share no memory";
    else if (link.route == COVEY_ROUTE_TCP && slow_any_link(&d->conf.slow) &&
             tid_host(frame->destination) != daemon_host(d))
        refused = "the links of this VM are made slow, which daemons do: only the route udp is";
    else if (nfds == STREAM_FDS_LOST)
        refused = NO_DESCRIPTORS;
    else if (link.route == COVEY_ROUTE_ETHER)
        refused = openings_depart(d, frame, payload, &waits);
    if (refused != NULL) {
        open_refuse(d, frame, &link, refused);
        return false;
    }
    if (waits)
        return false;
    if (link.route == COVEY_ROUTE_TCP)
        key_give(opener, frame->destination, &link);
    return true;
}

/* Whether raw frames may go straight between the task and one of that host. *fd: a socket for it,
 * unless it has one. */
static bool direct_give(struct task *task, uint32_t host, int *fd)
{
    struct daemon *d = task->daemon;
    if (!d->conf.ether.direct || segment_link(d) == NULL || node_ether_path(d->node, host) == NULL)
        return false;
    if (!task->has_packet_socket)
        *fd = direct_open(d, task);
    return task->has_packet_socket || *fd >= 0;
}

/* What the task needs of an ether link; `asked`: the other end goes straight. */
static void complete_ether(struct task *task, const struct frame *frame, struct control_link *link,
                           bool asked, int *fd)
{
    struct daemon *d = task->daemon;
    bool open = frame->kind == FRAME_LINK_OPEN;
    link->has_key = link->has_address = false;
    link->direct = asked && direct_give(task, tid_host(frame->source), fd);
    if (!link->direct)
        return;
    key_derive(d, link, open ? frame->source : task->tid, open ? task->tid : frame->source);
    link->vm = node_vm(d->node);
    link->detour_us = d->node_config.fail_timeout_us;
    link->has_address = true;
    link->address = *node_ether_path(d->node, tid_host(frame->source));
}

static void complete_open(struct task *task, const struct frame *frame, struct control_link *link,
                          int *fd)
{
    link->has_address = false;
    if (link->route == COVEY_ROUTE_ETHER)
        complete_ether(task, frame, link, true, fd);
    else
        key_derive(task->daemon, link, frame->source, frame->destination);
}

static void complete_accept(struct task *task, const struct frame *frame, struct control_link *link,
                            int *fd)
{
    struct daemon *d = task->daemon;
    uint32_t host = tid_host(frame->source);
    const struct address *path = host == daemon_host(d) ? NULL : node_path(d->node, host);
    link->has_key = false;
    link->has_address = link->route == COVEY_ROUTE_TCP && path != NULL;
    if (link->has_address)
        link->address = *path;
    if (link->route == COVEY_ROUTE_ETHER)
        complete_ether(task, frame, link, link->direct, fd);
}

/* The payload as the task gets it, in bytes[LINK_BYTES_MAX], and a descriptor that goes with it.
 * Returns its size, 0: refused. */
static uint32_t introduction_rewrite(struct task *task, const struct frame *frame,
                                     const uint8_t *payload, uint8_t *bytes, int *fd)
{
    struct control_link link;
    struct cursor in = cursor_reader(payload, frame->length);
    struct cursor out = cursor_writer(bytes, LINK_BYTES_MAX);
    bool open = frame->kind == FRAME_LINK_OPEN;
    (open ? control_get_link_open : control_get_link_accept)(&in, &link);
    if (!cursor_done(&in))
        return 0;
    (open ? complete_open : complete_accept)(task, frame, &link, fd);
    (open ? control_put_link_open : control_put_link_accept)(&out, &link);
    return cursor_ok(&out) ? (uint32_t)(out.at - bytes) : 0;
}

/* The opener learns that the task was not asked: it may be there all the same. Who accepts takes
 * the link for ready, so it cannot go on when its answer is lost. */
static bool refuse_unless_gone(struct daemon *d, struct task *task, const struct frame *frame,
                               const uint8_t *payload)
{
    if (task->way.broken || (task->enrolled && task->way.stream == NULL))
        return false;
    struct task *accepter = task_find(d->tasks, frame->source);
    if (frame->kind == FRAME_LINK_OPEN)
        introduction_refuse(d, frame, payload, NO_DESCRIPTORS);
    else
        connection_break(accepter != NULL ? accepter : task, NO_DESCRIPTORS);
    return true;
}

/* The task gets it, with the descriptor that goes with it. */
static bool introduction_put(struct task *task, const struct frame *frame, const uint8_t *payload,
                             int fd)
{
    bool taken = connection_put(task, frame, payload, &fd, 1);
    task->has_packet_socket |= taken;
    close(fd);
    return taken;
}

bool introduction_deliver(struct daemon *d, struct task *task, const struct frame *frame,
                          const uint8_t *payload, const int *fds, int nfds)
{
    uint8_t bytes[LINK_BYTES_MAX];
    struct frame rewritten = *frame;
    int fd = -1;
    if (frame->kind == FRAME_LINK_OPEN && nfds > 0 && connection_fds_full(task)) {
        introduction_refuse(d, frame, payload, TOO_MANY_WAIT);
        return true;
    }
    rewritten.length = introduction_rewrite(task, frame, payload, bytes, &fd);
    if (rewritten.length > 0) {
        bool taken = fd >= 0 ? introduction_put(task, &rewritten, bytes, fd)
                             : connection_put(task, &rewritten, bytes, fds, nfds);
        return taken || refuse_unless_gone(d, task, frame, payload);
    }
    d->counters.frames_refused++;
    log_refused(&d->log, loop_now_us(), "%s of t%x refused: bad payload",
                frame_kind_name(frame->kind), frame->source);
    return true;
}
