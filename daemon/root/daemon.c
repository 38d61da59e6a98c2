/*
 * coveyd - the daemon of one host of one virtual machine.
 *
 * Files, from the outside in:
 *   main.c        conf -> create -> run -> destroy; options.c, conf.c, bootstrap.c, detach.c
 *   daemon.c      struct daemon owns everything; what the node (proto/node/node.h) asks for is done
 * here loop.c        the event loop; udp.c, sockaddr.c, candidate.c: datagrams and addresses; where
 *                 faults are wanted, proto/session/fault_line.c stands before udp.c and ether.c;
 *                 listener.c: TCP sockets of what is no daemon, reach_server.c and offer.c
 *   identity.c    which VM and host this is, and what the others are told of it
 *   segment.c     raw Ethernet: ether.c sends and receives frames, nic.c finds the interface,
 *                 privilege.c has and drops the capability
 *   runtime.c     directory, socket and log file; log.c, failure.c: lines of text
 *   local.c       processes that call on the socket and enrol; connection.c: a task's stream
 *   casting.c     messages for tasks of many hosts; fanout.c
 *   backlog.c     how much other hosts' tasks may have waiting here; budget.c: how much may wait in
 *                 all
 *   route.c       where a frame goes; a request's handler stands in the file of its subject:
 *                 spawn.c, ps.c, output.c, watch.c, hosts.c, launch.c, stats.c; link.c;
 *                 services.c, agreement.c: what tasks agree on through the daemons;
 *                 bags.c: the bags of work that this daemon holds or has copies of;
 *                 launcher.c: the command lines that launch.c runs; dialogue.c, complaint.c: what
 *                 they say, and which of it tells; version.c; ticket.c, offer.c, guest.c: how a
 *                 host gets its invitation from a program that must not see it
 *   monitor.c     how busy the host is: sample.c looks, procfs.c and cgroup.c read;
 *                 metrics.c, http.c: the same for Prometheus
 *   task.c        the task table; process.c starts processes, tasker.c has a task do so, exit.c
 *                 ends tasks
 *   ending.c      how the daemon itself ends
 *
 * One round of the loop: callbacks read streams and datagrams and queue frames; then settle()
 * carries out what has to wait for that, lets the node send, and writes every stream to which
 * something was queued. Nothing is written before, so a round costs one write a task and few a
 * host however many frames it moved. An idle daemon sleeps: it has no timer but the node's.
 *
 * Owners: a task owns its stream, pipes and timers and is destroyed by the event that ends it
 * (exit.c), never from inside another task's frame. The node calls back into route.c and watch.c;
 * these call only node_send() and its readers. What must call more waits for settle().
 *
 * The daemon keeps no state of the VM beside the node's host table and what agreement.c has.
 */
#include "daemon/root/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/agree/agreement.h"
#include "daemon/agree/bags.h"
#include "daemon/agree/contention.h"
#include "daemon/agree/services.h"
#include "daemon/host/hosts.h"
#include "daemon/host/identity.h"
#include "daemon/host/topology.h"
#include "daemon/launch/launch.h"
#include "daemon/link/segment.h"
#include "daemon/link/udp.h"
#include "daemon/monitor/gauge.h"
#include "daemon/monitor/metrics.h"
#include "daemon/monitor/monitor.h"
#include "daemon/post/casting.h"
#include "daemon/post/route.h"
#include "daemon/post/watch.h"
#include "daemon/root/local.h"
#include "daemon/root/ready.h"
#include "daemon/spawn/spawn.h"
#include "daemon/spawn/tasker.h"
#include "daemon/table/connection.h"
#include "daemon/table/ending.h"
#include "proto/session/fault_line.h"

#define DATAGRAM_BYTES_MIN 1200
#define DATAGRAM_BYTES_LOOPBACK 65000
#define GATHER_MISSING_BYTES 8192 /* this much of a frame must be missing for reads to be rarer */
#define GATHER_US_MAX 1500
#define GATHER_US_MIN 100    /* a shorter wait is no saving */
#define GATHER_BYTES 16384.0 /* so much should have come when the socket is read again */

uint32_t daemon_host(const struct daemon *d)
{
    return d->node == NULL ? 0 : node_self(d->node)->index;
}

uint32_t daemon_tid(const struct daemon *d)
{
    return tid_make(daemon_host(d), 0);
}

bool daemon_coordinates(const struct daemon *d)
{
    return node_coordinator(d->node) == daemon_host(d) && daemon_host(d) != 0;
}

/* ---- what the node asks for ---- */

static void lane_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (node_lane_of(to) == LANE_ETHER)
        segment_send(d, to, bytes, size);
    else
        udp_send(d->udp, to, bytes, size);
}

void daemon_send(struct daemon *d, const struct address *to, const uint8_t *bytes, size_t size)
{
    if (d->faults != NULL)
        fault_line_put(d->faults, to, bytes, size, loop_now_us());
    else
        lane_send(d, to, bytes, size);
}

static void on_node_send(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    daemon_send(context, to, bytes, size);
}

static uint8_t *on_node_room(void *context, const struct address *to)
{
    struct daemon *d = context;
    return d->faults != NULL || node_lane_of(to) == LANE_ETHER ? NULL : udp_room(d->udp, to);
}

static void on_fault_out(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    lane_send(context, to, bytes, size);
}

static void on_node_frame(void *context, uint32_t host, const struct frame *frame,
                          const uint8_t *payload)
{
    route_from_host(context, host, frame, payload);
}

static void on_node_host(void *context, const struct host *host, int event)
{
    static const char *const events[] = {
        [NODE_HOST_ADDED] = "added",
        [NODE_HOST_SUSPECT] = "suspect",
        [NODE_HOST_ALIVE] = "alive",
        [NODE_HOST_GONE] = "gone",
    };
    struct daemon *d = context;
    log_line(&d->log, LOG_INFO, "host %s (%u) %s", host->name, host->index, events[event]);
    if (casting_host_event(d, host, event))
        watch_host_event(d, host, event);
}

static void on_node_joined(void *context)
{
    struct daemon *d = context;
    uint32_t index = node_self(d->node)->index;
    d->joined = true;
    log_line(&d->log, LOG_INFO, "host %s is host %u of VM %s%s: socket %s, UDP port %u", d->name,
             index, d->node_config.vm, d->node_config.encrypt ? ", encrypted" : "",
             d->runtime.socket, udp_port(d->udp));
    casting_begin(d);
    if (!d->options->local)
        gauge_start(d);
    ready_tell(d, "ok %u", index);
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
        log_line(&d->log, LOG_INFO, "no host leads in what is agreed at the moment");
    else
        log_line(&d->log, LOG_INFO, "host %u leads in what is agreed, generation %llu", leader,
                 (unsigned long long)generation);
    loop_wake(d->loop);
}

static void random_bytes(void *context, void *bytes, size_t size)
{
    (void)context;
    randombytes_buf(bytes, size);
}

/* ---- one round ---- */

static void on_datagram(void *context, const struct address *from, const uint8_t *bytes,
                        size_t size)
{
    struct daemon *d = context;
    if (!casting_on_datagram(d, bytes, size))
        node_on_datagram(d->node, from, bytes, size, loop_now_us());
}

/* How fast a large frame comes in: from one read in the middle of it to the next. */
static void rate_sample(struct daemon *d, size_t bytes, uint64_t now_us)
{
    double rate = (double)bytes / (double)(now_us - d->read_us + 1);
    d->receive_rate = d->receive_rate > 0 ? (d->receive_rate + rate) / 2 : rate;
}

/* How long the rest of a large frame may be left in the socket. */
static uint64_t gather_us(const struct daemon *d)
{
    if (d->receive_rate <= 0)
        return 0;
    double wait_us = GATHER_BYTES / d->receive_rate;
    if (wait_us < GATHER_US_MIN)
        return 0;
    return wait_us < GATHER_US_MAX ? (uint64_t)wait_us : GATHER_US_MAX;
}

/* In the middle of a large frame, waking up for each datagram of it costs more than the datagram:
 * the socket then is left alone for a moment, and what has come is read in one go. On a fast path
 * the moment would be what limits it: there it is short, or none. */
static void udp_read(struct daemon *d)
{
    uint64_t now_us = loop_now_us();
    size_t bytes = udp_receive(d->udp, on_datagram, d);
    if (d->read_us != 0 && bytes > 0)
        rate_sample(d, bytes, now_us);
    bool middle = bytes > 0 && node_missing(d->node) >= GATHER_MISSING_BYTES;
    uint64_t wait_us = middle && !d->options->local ? gather_us(d) : 0;
    d->read_at_us = wait_us > 0 ? now_us + wait_us : 0;
    d->read_us = middle ? now_us : 0;
}

static void on_udp(void *context, int events)
{
    struct daemon *d = context;
    if (events & LOOP_READ)
        udp_read(d);
    /* writable: settle() sends */
}

static void on_alarm(void *context)
{
    struct daemon *d = context;
    if (d->read_at_us != 0 && loop_now_us() >= d->read_at_us)
        udp_read(d);
    /* settle() follows, and steps the node */
}

static void settle(void *context)
{
    struct daemon *d = context;
    hosts_settle(d);
    launch_settle(d);
    spawn_settle(d);
    tasker_settle(d);
    agreement_settle(d);
    uint64_t bags_us = bags_settle(d, loop_now_us());
    services_settle(d);
    ending_leave(d);
    uint64_t segment_us = segment_settle(d, loop_now_us());
    uint64_t casting_us = casting_settle(d, loop_now_us());
    uint64_t contention_us = contention_settle(d, loop_now_us());
    uint64_t next_us = node_step(d->node, loop_now_us());
    uint64_t fault_us = d->faults == NULL ? UINT64_MAX : fault_line_step(d->faults, loop_now_us());
    bool full = udp_flush(d->udp);
    segment_flush(d);
    d->budget.hosts = node_unsent(d->node);
    monitor_settle(d, loop_now_us());
    ending_check(d);
    loop_fd_set(d->udp_watch, (d->read_at_us == 0 ? LOOP_READ : 0) | (full ? LOOP_WRITE : 0));
    if (d->read_at_us != 0 && d->read_at_us < next_us)
        next_us = d->read_at_us;
    next_us = next_us < segment_us ? next_us : segment_us;
    next_us = next_us < bags_us ? next_us : bags_us;
    next_us = next_us < casting_us ? next_us : casting_us;
    next_us = next_us < contention_us ? next_us : contention_us;
    loop_alarm_set(d->node_alarm, next_us < fault_us ? next_us : fault_us);
    connection_flush_all(d);
    if (connection_resume_all(d))
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

static int faults_open(struct daemon *d, struct failure *why)
{
    char text[FAULT_TEXT_MAX];
    if (!fault_any(&d->conf.fault))
        return 0;
    fault_print(&d->conf.fault, text);
    log_line(&d->log, LOG_INFO, "faults of what is sent: %s", text);
    d->faults = fault_line_create(&d->conf.fault, on_fault_out, d);
    return d->faults == NULL ? failure_set(why, "memory is exhausted") : 0;
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
    config->datagram_bytes_min = DATAGRAM_BYTES_MIN;
    config->datagram_bytes_max =
        d->options->local ? DATAGRAM_BYTES_LOOPBACK : d->conf.datagram_bytes_max;
    config->random = random_bytes;
    randombytes_buf(&config->seed, sizeof config->seed);
    if (identity_describe(d, &config->self, why) != 0 || segment_open(d, why) != 0)
        return -1;
    d->node = node_create(config, &owner);
    d->node_alarm = loop_alarm_add(d->loop, on_alarm, d);
    d->udp_watch = loop_fd_add(d->loop, udp_fd(d->udp), LOOP_READ, on_udp, d);
    if (d->node == NULL || d->node_alarm == NULL || d->udp_watch == NULL)
        return failure_set(why, "memory is exhausted");
    return 0;
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
    d->on_term = loop_signal_add(d->loop, SIGTERM, on_term, d);
    d->on_int = loop_signal_add(d->loop, SIGINT, on_int, d);
    if (d->options->foreground)
        d->on_hup = loop_signal_add(d->loop, SIGHUP, on_hup, d);
    else
        signal(SIGHUP, SIG_IGN);
    return d->on_term == NULL || d->on_int == NULL ? -ENOMEM : 0;
}

static int tables_create(struct daemon *d, struct failure *why)
{
    d->loop = loop_create();
    if (d->loop == NULL || tasks_init(&d->tasks, d) != 0 || agreement_create(d) != 0 ||
        services_create(d) != 0 || contention_create(d) != 0 || bags_create(d) != 0 ||
        ending_create(d) != 0 || signals_begin(d) != 0 || ready_watch(d) != 0 || local_open(d) != 0)
        return failure_set(why, "memory is exhausted");
    return 0;
}

static int daemon_open(struct daemon *d, struct failure *why)
{
    if (auth_init() != 0)
        return failure_set(why, "libsodium cannot be used");
    if (auth_cipher_library() == NULL)
        return failure_set(why, "nothing encrypts here: libcrypto.so.3 (OpenSSL) is not installed");
    if (identity_take(d, why) != 0 || (!d->options->join && topology_read(d, why) != 0))
        return -1;
    ssize_t size = readlink("/proc/self/exe", d->program, sizeof d->program - 1);
    if (size <= 0)
        return failure_set(why, "cannot find out where coveyd is: %s", strerror(errno));
    if (files_init(&d->files, why) != 0 ||
        runtime_open(&d->runtime, d->node_config.vm, d->name, !d->options->join, why) != 0 ||
        log_begin(d, why) != 0 || tables_create(d, why) != 0)
        return -1;
    struct udp_config udp = {.local = d->options->local,
                             .bind = d->conf.bind,
                             .port_first = d->conf.port.first,
                             .port_last = d->conf.port.last};
    d->udp = udp_create(&udp, why);
    if (d->udp == NULL || faults_open(d, why) != 0 || node_open(d, why) != 0)
        return -1;
    return monitor_create(d, why) != 0 ? -1 : metrics_open(d, why);
}

struct daemon *daemon_create(const struct options *options, const struct conf *conf,
                             const struct control_bootstrap *invitation, int ready_fd,
                             struct failure *why)
{
    struct daemon *d = calloc(1, sizeof *d);
    if (d == NULL) {
        failure_set(why, "memory is exhausted");
        return NULL;
    }
    d->options = options;
    d->conf = *conf;
    d->invitation = *invitation;
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
        node_join(d->node, &d->invitation.coordinator, loop_now_us());
    else
        node_bootstrap(d->node, loop_now_us());
    topology_propose(d);
    loop_set_settle(d->loop, settle, d);
    loop_run(d->loop);
    return d->exit_status;
}

void daemon_destroy(struct daemon *d)
{
    if (d == NULL)
        return;
    if (d->log.fd >= 0)
        log_line(&d->log, LOG_INFO, "ended");
    launch_fini(d);
    spawn_fini(d);
    hosts_fini(d);
    local_close(d->local);
    ready_close(d);
    metrics_close(d->metrics);
    runtime_close(&d->runtime, ending_logs(d)); /* before a console sees the end */
    if (d->tasks.by_local != NULL)
        tasks_fini(&d->tasks);
    loop_fd_remove(&d->udp_watch);
    loop_alarm_remove(&d->node_alarm);
    loop_signal_remove(&d->on_term);
    loop_signal_remove(&d->on_int);
    loop_signal_remove(&d->on_hup);
    casting_end(d);
    node_destroy(d->node);
    fault_line_destroy(d->faults);
    segment_close(d);
    udp_destroy(d->udp);
    gauge_destroy(d->gauge);
    monitor_destroy(d->monitor);
    contention_destroy(d->contention);
    services_destroy(d->services);
    bags_destroy(d->bags);
    agreement_destroy(d->agreement);
    ending_destroy(d->ending);
    loop_destroy(d->loop);
    log_close(&d->log);
    free(d->topology);
    sodium_memzero(&d->invitation, sizeof d->invitation);
    sodium_memzero(&d->node_config, sizeof d->node_config);
    free(d);
}
