/*
 * coveyd - the daemon of one host of one virtual machine.
 *
 * The rooms, from the bottom up; each uses those above its line here, and calls nothing below it:
 *
 *   base/     the loop, the log, the configuration; struct daemon, self.h, part.h
 *   link/     datagrams: UDP, raw Ethernet, and what stands before both (media.c)
 *   table/    the tasks of this host, the way to each, and how the daemon ends
 *   post/     where a frame goes (post.c), who is told of an end (watch.c), casts
 *   agree/    what tasks agree on through the daemons, bags of work, contention
 *   spawn/    how tasks start and end, what they read and write
 *   host/     which hosts the VM has, and which this one is
 *   launch/   how daemons start on other hosts
 *   monitor/  how busy and how fast this host is, counters, logs, metrics
 *   root/     this file, who calls on the socket (local.c), parts.c, dispatch.c
 *
 * A subject is a part: one row in part.h, one `struct part` in its own file. By these rows the
 * daemon makes and ends it, gives it frames, tells it what has happened and steps it.
 *
 * One round of the loop: callbacks read streams and datagrams and queue frames; then
 * settle_daemon() steps the parts that have something to do, which carry out what had to wait for
 * that, lets the node send, and writes every stream to which something was queued. Nothing is
 * written before, so a round costs one write a task and few a host however many frames it moved. An
 * idle daemon sleeps: it has no timer but the node's.
 *
 * Owners: a task owns its stream, pipes and timers and is destroyed by the event that ends it
 * (exit.c), never from inside another task's frame. The node calls back into post.c and watch.c;
 * these call only node_send() and its readers. What must call more waits for settle_daemon().
 *
 * The daemon keeps no state of the VM beside the node's host table and what agreement.c has.
 */
#include "daemon/root/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/agree/agreement.h"
#include "daemon/host/identity.h"
#include "daemon/host/topology.h"
#include "daemon/link/media.h"
#include "daemon/link/segment.h"
#include "daemon/post/casting.h"
#include "daemon/post/intake.h"
#include "daemon/post/post.h"
#include "daemon/post/watch.h"
#include "daemon/root/dispatch.h"
#include "daemon/root/parts.h"
#include "daemon/root/ready.h"
#include "daemon/table/connection.h"
#include "daemon/table/ending.h"
#include "proto/auth/auth.h"
#include "proto/session/slow.h"

#define DATAGRAM_BYTES_MIN 1200
#define DATAGRAM_BYTES_LOOPBACK 65000
#define DATAGRAM_BYTES_LOCAL 16000 /* ten of them fit into the buffer of a socket */

/* ---- what the node asks for ---- */

static void on_node_send(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    media_send(context, to, bytes, size);
}

static uint8_t *on_node_room(void *context, const struct address *to)
{
    return media_room(context, to);
}

static void on_node_frame(void *context, uint32_t host, const struct frame *frame,
                          const uint8_t *payload)
{
    post_from_host(context, host, frame, payload);
}

static void on_node_host(void *context, const struct host *host, int event)
{
    struct daemon *d = context;
    if (casting_host_event(d, host, event))
        watch_host_event(d, host, event);
}

static void on_node_joined(void *context)
{
    struct daemon *d = context;
    uint32_t index = node_self(d->node)->index;
    d->joined = true;
    log_line(&d->log, LOG_INFO, "host %s is host %u of VM %s%s: socket %s, UDP port %u",
             d->self.name, index, d->node_config.vm, d->node_config.encrypt ? ", encrypted" : "",
             d->runtime.socket, udp_port(d->media->udp));
    parts_joined(d);
}

static bool is_one_of_two(const struct daemon *d)
{
    unsigned count = 0;
    const struct host *host;
    for (size_t i = 0; (host = node_host_at(d->node, i)) != NULL; i++)
        count += host->state != HOST_DOWN;
    return count == 2;
}

static void on_node_ended(void *context, int why, const char *text)
{
    struct daemon *d = context;
    struct failure told;
    bool parted = why == NODE_END_CUT_OFF && is_one_of_two(d);
    failure_set(&told, "%s%s", text,
                parted ? "; of two hosts the second cannot tell the death of the first from being "
                         "cut off: a VM of three goes on, see FAILURES in coveyd(8)"
                       : "");
    ending_begin(d,
                 why == NODE_END_SHUTDOWN  ? ENDING_HALTED
                 : why == NODE_END_REMOVED ? ENDING_TOLD
                                           : ENDING_FAILED,
                 told.text);
}

static void on_node_log(void *context, const char *line)
{
    struct daemon *d = context;
    log_line(&d->log, LOG_INFO, "node: %s", line);
}

static void on_node_agreed(void *context, uint64_t index, const uint8_t *bytes, size_t size)
{
    agreement_apply(context, index, bytes, size);
}

static bool on_node_save(void *context, uint8_t **bytes, size_t *size)
{
    return agreement_save(context, bytes, size);
}

static bool on_node_load(void *context, const uint8_t *bytes, size_t size)
{
    return agreement_load(context, bytes, size);
}

static void on_node_reset(void *context)
{
    agreement_reset(context);
}

static void on_node_leader(void *context, uint32_t leader, uint64_t generation)
{
    struct daemon *d = context;
    if (leader == 0)
        log_line(&d->log, LOG_INFO, "no host leads the log of what is agreed at the moment");
    else
        log_line(&d->log, LOG_INFO, "host %u leads the log of what is agreed, generation %llu",
                 leader, (unsigned long long)generation);
    loop_wake(d->loop);
}

static void random_bytes(void *context, void *bytes, size_t size)
{
    (void)context;
    randombytes_buf(bytes, size);
}

/* ---- one round ---- */

static void on_daemon_datagram(void *context, const struct address *from, const uint8_t *bytes,
                               size_t size)
{
    struct daemon *d = context;
    if (!casting_on_datagram(d, bytes, size))
        node_on_datagram(d->node, from, bytes, size, loop_now_us());
}

static void on_alarm(void *context)
{
    media_look(context);
    /* settle_daemon() follows, and steps the node */
}

/* Whoever leads the log of what is agreed may change in any event: all parts look at it then. */
static void office_look(struct daemon *d)
{
    const struct daemon_office now = {.leader = node_leader(d->node),
                                      .generation = node_generation(d->node),
                                      .leads = node_leads(d->node)};
    if (now.leader == d->office.leader && now.generation == d->office.generation &&
        now.leads == d->office.leads)
        return;
    d->office = now;
    parts_want(d);
}

static void settle_daemon(void *context)
{
    struct daemon *d = context;
    office_look(d);
    uint64_t parts_us = parts_settle(d);
    uint64_t node_us = node_step(d->node, loop_now_us());
    uint64_t media_us = media_flush(d);
    d->budget.hosts = node_unsent(d->node);
    parts_round_end(d);
    uint64_t next_us = parts_us < node_us ? parts_us : node_us;
    loop_alarm_set(d->alarm, next_us < media_us ? next_us : media_us);
    connection_flush_all(d);
    if (intake_resume_all(d))
        loop_wake(d->loop);
}

static void on_term(void *context)
{
    ending_begin(context, ENDING_LEAVE, "asked to by SIGTERM");
}

static void on_int(void *context)
{
    ending_begin(context, ENDING_LEAVE, "asked to by SIGINT");
}

static void on_hup(void *context)
{
    ending_begin(context, ENDING_LEAVE, "asked to by SIGHUP");
}

/* ---- create ---- */

/* The largest that is tried. On a slow link of virtual hosts each try would take as long as a
 * message of its size: there none is larger than what is sent anyway. */
static size_t datagram_bytes_max(const struct daemon *d)
{
    if (!d->options->local)
        return d->conf.datagram_bytes_max;
    return slow_any_link(&d->conf.slow) ? DATAGRAM_BYTES_LOCAL : DATAGRAM_BYTES_LOOPBACK;
}

static int node_open(struct daemon *d, struct failure *why)
{
    struct node_config *config = &d->node_config;
    const struct node_owner owner = {.context = d,
                                     .send = on_node_send,
                                     .room = on_node_room,
                                     .frame = on_node_frame,
                                     .host = on_node_host,
                                     .joined = on_node_joined,
                                     .ended = on_node_ended,
                                     .log = on_node_log,
                                     .agreed = on_node_agreed,
                                     .state_save = on_node_save,
                                     .state_load = on_node_load,
                                     .state_reset = on_node_reset,
                                     .leader = on_node_leader};
    config->fail_timeout_us = d->conf.fail_timeout_us;
    config->join_timeout_us = d->conf.join_timeout_us;
    /* What every path carries. On one machine a joiner gets the table of thousands in a few. */
    config->datagram_bytes_min = d->options->local ? DATAGRAM_BYTES_LOCAL : DATAGRAM_BYTES_MIN;
    config->datagram_bytes_max = datagram_bytes_max(d);
    config->random = random_bytes;
    randombytes_buf(&config->seed, sizeof config->seed);
    d->node = node_create(config, &owner);
    d->alarm = loop_alarm_add(d->loop, on_alarm, d);
    return d->node == NULL || d->alarm == NULL ? failure_memory(why) : media_watch(d, why);
}

static int log_begin(struct daemon *d, struct failure *why)
{
    int level = d->options->verbose ? LOG_DEBUG : d->conf.log_level;
    int error = log_open(&d->log, d->options->foreground ? NULL : d->runtime.log, level);
    if (error != 0)
        return failure_set(why, "cannot write %s: %s", d->runtime.log, strerror(-error));
    if (d->log.fd != STDERR_FILENO)
        dup2(d->log.fd, STDERR_FILENO); /* what libraries say on standard error */
    return 0;
}

static int signals_begin(struct daemon *d)
{
    signal(SIGPIPE, SIG_IGN);
    d->signals[0] = loop_signal_add(d->loop, SIGTERM, on_term, d);
    d->signals[1] = loop_signal_add(d->loop, SIGINT, on_int, d);
    if (d->options->foreground || d->options->attached)
        d->signals[2] = loop_signal_add(d->loop, SIGHUP, on_hup, d);
    else
        signal(SIGHUP, SIG_IGN);
    return d->signals[0] == NULL || d->signals[1] == NULL ? -ENOMEM : 0;
}

static int daemon_open(struct daemon *d, struct failure *why)
{
    if (auth_init() != 0)
        return failure_set(why, "libsodium cannot be used");
    if (auth_cipher_library() == NULL)
        return failure_set(why, "nothing encrypts here: libcrypto.so.3 (OpenSSL) is not installed");
    if (identity_take(d, why) != 0 || (!d->options->join && topology_read(d, why) != 0))
        return -1;
    ssize_t size = readlink("/proc/self/exe", d->self.program, sizeof d->self.program - 1);
    if (size <= 0)
        return failure_set(why, "cannot find out where coveyd is: %s", strerror(errno));
    if (setenv("COVEYD", d->self.program, 1) != 0) /* for tasks and launchers, see coveyd(8) */
        return failure_set(why, "memory is exhausted");
    if (files_init(&d->files, why) != 0 ||
        runtime_open(&d->runtime, d->node_config.vm, d->self.name, !d->options->join, why) != 0 ||
        log_begin(d, why) != 0)
        return -1;
    d->loop = loop_create();
    if (d->loop == NULL || tasks_create(d) != 0 || signals_begin(d) != 0)
        return failure_memory(why);
    if (media_open(d, on_daemon_datagram, why) != 0 ||
        identity_describe(d, &d->node_config.self, why) != 0 || segment_open(d, why) != 0 ||
        parts_create(d, why) != 0)
        return -1;
    return node_open(d, why);
}

struct daemon *daemon_create(const struct options *options, const struct conf *conf,
                             const struct control_bootstrap *invitation, int ready_fd,
                             struct failure *why)
{
    struct daemon *d = calloc(1, sizeof *d);
    if (d == NULL) {
        failure_memory(why);
        return NULL;
    }
    d->parts = daemon_parts;
    dispatch_make(d);
    d->options = options;
    d->conf = *conf;
    struct control_bootstrap *own = &d->self.invitation;
    *own = *invitation;
    if (options->join)
        host_keep(&own->coordinator, &own->room, &invitation->coordinator);
    d->ready_fd = ready_fd;
    d->log.fd = d->runtime.listener = -1;
    if (daemon_open(d, why) == 0)
        return d;
    ready_tell(d, "%s", why->text);
    d->exit_status = 1;
    daemon_destroy(d);
    return NULL;
}

/* ---- run and destroy ---- */

int daemon_run(struct daemon *d)
{
    if (d->options->join)
        node_join(d->node, &d->self.invitation.coordinator, loop_now_us());
    else
        node_bootstrap(d->node, loop_now_us());
    topology_propose(d);
    loop_set_settle(d->loop, settle_daemon, d);
    loop_run(d->loop);
    return d->exit_status;
}

void daemon_destroy(struct daemon *d)
{
    if (d == NULL)
        return;
    if (d->log.fd >= 0)
        log_line(&d->log, LOG_INFO, "ended");
    enum runtime_logs logs = ending_logs(d);
    parts_destroy(d);
    runtime_close(&d->runtime, logs); /* before a console sees the end */
    tasks_destroy(d);
    loop_alarm_remove(&d->alarm);
    for (int i = 0; i < DAEMON_SIGNALS; i++)
        loop_signal_remove(&d->signals[i]);
    node_destroy(d->node);
    media_close(d);
    loop_destroy(d->loop);
    log_close(&d->log);
    free(d->topology);
    sodium_memzero(&d->self.invitation, sizeof d->self.invitation);
    sodium_memzero(&d->node_config, sizeof d->node_config);
    free(d);
}
