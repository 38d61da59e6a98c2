/*
 * Launching. One ADD_HOSTS request is a batch of launches, which run all at once. Each is a child:
 * /bin/sh with the command line of the launcher (launcher.c), that gets the bootstrap line on its
 * standard input and says "ok INDEX" or why not. A launch has succeeded when it said so and the
 * node has the host in its table; it fails when the child ends without, or LAUNCH_US have passed.
 * The request is answered when every launch has ended.
 *
 *   NEW -settle-> RUNNING -ok-> JOINING -host up-> DONE        RUNNING, JOINING -...-> FAILED
 *
 * A child that goes on running after "ok" (a daemon in the foreground under srun, say) is left
 * alone: the launch stays until the child is reaped.
 */
#include "daemon/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/bootstrap.h"
#include "daemon/ending.h"
#include "daemon/hosts.h"
#include "daemon/launcher.h"
#include "daemon/launchspec.h"
#include "daemon/process.h"
#include "daemon/reply.h"
#include "lib/covey.h"

#define LAUNCH_US 30000000u
#define LAUNCHES_MAX 4096
#define RESULT_BYTES (4 + 4 + 2 + CONTROL_REASON_MAX)

struct batch {
    struct daemon *daemon;
    uint32_t to, request;
    size_t count, running;
    struct control_result results[];
};

enum state { LAUNCH_NEW, LAUNCH_RUNNING, LAUNCH_JOINING, LAUNCH_DONE };

struct launch {
    struct launch *next;
    struct daemon *daemon;
    struct batch *batch; /* NULL once its result is known */
    struct control_result *result;
    struct control_host_spec spec;
    enum state state;
    uint32_t index;
    pid_t pid;
    int said; /* the child's output, -1: closed */
    struct loop_fd *watch;
    struct loop_child *child;
    struct loop_timer *timer;
    char line[CONTROL_REASON_MAX + 1]; /* the line that is coming in */
    size_t line_used;
    char last[CONTROL_REASON_MAX + 1]; /* the last whole one */
};

/* ---- results ---- */

static void batch_answer(struct batch *batch)
{
    struct reply reply;
    reply_begin(&reply, batch->daemon, batch->to, batch->request);
    for (size_t i = 0; i < batch->count; i++) {
        struct cursor c = reply_room(&reply, RESULT_BYTES);
        control_put_result(&c, &batch->results[i]);
        reply_add(&reply, &c);
    }
    reply_send(&reply, 0);
    free(batch);
}

/* The result of a launch is known; the last one of a batch answers the request. */
static void launch_result(struct launch *l, int32_t error, const char *text)
{
    struct batch *batch = l->batch;
    struct daemon *d = l->daemon;
    l->batch = NULL;
    l->state = LAUNCH_DONE;
    loop_timer_remove(&l->timer);
    l->result->error = error;
    l->result->number = error == 0 ? l->index : 0;
    snprintf(l->result->text, sizeof l->result->text, "%s", text);
    if (error != 0)
        log_line(&d->log, LOG_ERROR, "host %s not added: %s", l->spec.name, text);
    if (--batch->running == 0)
        batch_answer(batch);
}

__attribute__((format(printf, 3, 4))) static void launch_fail(struct launch *l, int32_t error,
                                                              const char *format, ...)
{
    char text[CONTROL_REASON_MAX + 1];
    va_list list;
    if (l->batch == NULL)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (l->index != 0)
        node_uninvite(l->daemon->node, l->index);
    if (l->pid > 0)
        kill(-l->pid, SIGKILL);
    launch_result(l, error, text);
}

/* ---- what the child says ---- */

static void line_take(struct launch *l)
{
    unsigned long index;
    l->line[l->line_used] = '\0';
    l->line_used = 0;
    if (l->line[0] == '\0')
        return;
    memcpy(l->last, l->line, sizeof l->last);
    if (sscanf(l->line, "ok %lu", &index) == 1 && index == l->index && l->state == LAUNCH_RUNNING) {
        l->state = LAUNCH_JOINING;
        loop_wake(l->daemon->loop);
    }
}

static void said_close(struct launch *l)
{
    loop_fd_remove(&l->watch);
    if (l->said >= 0)
        close(l->said);
    l->said = -1;
}

static void said_read(struct launch *l)
{
    char bytes[4096];
    ssize_t n = 0;
    while (l->said >= 0 && (n = read(l->said, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] == '\n' || bytes[i] == '\r')
                line_take(l);
            else if (l->line_used < sizeof l->line - 1)
                l->line[l->line_used++] = bytes[i];
    if (n == 0 || errno != EAGAIN) {
        line_take(l);
        said_close(l);
    }
}

static void on_said(void *context, int events)
{
    (void)events;
    said_read(context);
}

static void on_child_end(void *context, int status)
{
    struct launch *l = context;
    l->child = NULL;
    said_read(l);
    l->pid = 0;
    if (l->state == LAUNCH_RUNNING && l->last[0] != '\0')
        launch_fail(l, COVEY_EADDHOST, "%s", l->last);
    else if (l->state == LAUNCH_RUNNING && WIFSIGNALED(status))
        launch_fail(l, COVEY_EADDHOST, "the launcher was killed by signal %d", WTERMSIG(status));
    else if (l->state == LAUNCH_RUNNING)
        launch_fail(l, COVEY_EADDHOST, "the launcher ended with status %d and said nothing",
                    WEXITSTATUS(status));
    loop_wake(l->daemon->loop);
}

static void on_late(void *context)
{
    struct launch *l = context;
    const char *last = l->last[0] == '\0' ? "nothing" : l->last;
    launch_fail(l, COVEY_EADDHOST, "not joined within %u s; the launcher's last words: %.160s",
                LAUNCH_US / 1000000u, last);
}

/* ---- beginning ---- */

static int invitation_send(struct launch *l, uint64_t incarnation, int to)
{
    struct daemon *d = l->daemon;
    char line[BOOTSTRAP_LINE_MAX];
    struct control_bootstrap b = {.version = WIRE_VERSION,
                                  .index = l->index,
                                  .incarnation = incarnation,
                                  .speed = l->spec.speed,
                                  .fail_timeout_us = d->conf.fail_timeout_us,
                                  .encrypt = d->node_config.encrypt,
                                  .coordinator = *node_self(d->node)};
    memcpy(b.key, d->node_config.key, sizeof b.key);
    memcpy(b.vm, d->node_config.vm, sizeof b.vm);
    memcpy(b.name, l->spec.name, sizeof b.name);
    memcpy(b.address, l->spec.address, sizeof b.address);
    memcpy(b.bind, l->spec.bind, sizeof b.bind);
    memcpy(b.interface, l->spec.interface, sizeof b.interface);
    b.env = l->spec.env;
    int size = bootstrap_print(&b, line); /* fits an empty pipe */
    bool sent = size > 0 && write(to, line, (size_t)size) == size;
    sodium_memzero(&b, sizeof b);
    sodium_memzero(line, sizeof line);
    return sent ? 0 : -1;
}

static void launch_watch(struct launch *l)
{
    struct loop *loop = l->daemon->loop;
    l->child = loop_child_add(loop, l->pid, on_child_end, l);
    l->watch = loop_fd_add(loop, l->said, LOOP_READ, on_said, l);
    l->timer = loop_timer_add(loop, on_late, l);
    if (l->timer == NULL || l->watch == NULL || l->child == NULL)
        launch_fail(l, COVEY_ENOMEM, "the daemon's memory is exhausted");
    else
        loop_timer_start(l->timer, LAUNCH_US);
}

static void launch_start(struct launch *l, uint64_t incarnation, const int in[2], const int out[2])
{
    char line[LAUNCHER_LINE_MAX];
    struct failure why;
    if (!launcher_line(l->daemon, &l->spec, line)) {
        launch_fail(l, COVEY_EINVAL, "the command line is too long");
        return;
    }
    char *const argv[] = {"/bin/sh", "-c", line, NULL};
    struct process process = {.program = argv[0],
                              .argv = argv,
                              .env = environ,
                              .files = &l->daemon->files,
                              .in = in[0],
                              .out = out[1],
                              .err = out[1]};
    log_line(&l->daemon->log, LOG_DEBUG, "host %s: %s", l->spec.name, line);
    l->pid = process_start(&process, &why);
    if (l->pid < 0) {
        launch_fail(l, l->pid, "%s", why.text);
        return;
    }
    l->said = out[0];
    if (invitation_send(l, incarnation, in[1]) != 0)
        launch_fail(l, COVEY_EADDHOST, "the launcher did not take the invitation");
    else
        launch_watch(l);
}

static void launch_pipes(struct launch *l, uint64_t incarnation)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
        fcntl(out[0], F_SETFL, O_NONBLOCK) != 0)
        launch_fail(l, COVEY_ERESOURCE, "cannot start the launcher: %s", strerror(errno));
    else
        launch_start(l, incarnation, in, out);
    const int ends[] = {in[0], in[1], out[1], l->said < 0 ? out[0] : -1};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

static void launch_begin(struct launch *l)
{
    uint64_t incarnation = 0;
    struct daemon *d = l->daemon;
    l->state = LAUNCH_RUNNING;
    int index = node_invite(d->node, l->spec.name, &incarnation, loop_now_us());
    if (index > 0) {
        l->index = (uint32_t)index;
        launch_pipes(l, incarnation);
    } else if (index == -EEXIST) {
        launch_fail(l, COVEY_EEXIST, "the VM has a host '%s' already", l->spec.name);
    } else {
        launch_fail(l, COVEY_EADDHOST, "cannot invite a host: %s", strerror(-index));
    }
}

/* ---- in every round ---- */

static void launch_check(struct launch *l)
{
    if (l->state == LAUNCH_NEW)
        launch_begin(l);
    if (l->state != LAUNCH_JOINING)
        return;
    const struct host *host = node_host(l->daemon->node, l->index);
    if (host != NULL && (host->state == HOST_UP || host->state == HOST_SUSPECT))
        launch_result(l, 0, "");
}

static void launch_free(struct launch *l)
{
    said_close(l);
    loop_timer_remove(&l->timer);
    loop_child_remove(&l->child);
    free(l);
}

void launch_settle(struct daemon *d)
{
    for (struct launch **at = &d->launches, *l; (l = *at) != NULL;) {
        launch_check(l);
        if (l->state != LAUNCH_DONE || l->child != NULL) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        launch_free(l);
    }
}

void launch_fini(struct daemon *d)
{
    while (d->launches != NULL) {
        struct launch *l = d->launches;
        d->launches = l->next;
        if (l->batch != NULL && l->pid > 0)
            kill(-l->pid, SIGKILL); /* its host is not wanted any more */
        if (l->batch != NULL && --l->batch->running == 0)
            free(l->batch);
        launch_free(l);
    }
}

/* ---- the request ---- */

static bool launch_add(struct batch *batch, size_t i, struct cursor *payload)
{
    struct launch *l = calloc(1, sizeof *l);
    if (l == NULL)
        return false;
    struct daemon *d = batch->daemon;
    l->daemon = d;
    l->batch = batch;
    l->result = &batch->results[i];
    l->said = -1;
    batch->running++;
    control_get_host_spec(payload, &l->spec);
    launchspec_complete(&l->spec, &d->conf.launch);
    struct launch **end = &d->launches;
    while (*end != NULL)
        end = &(*end)->next;
    *end = l;
    return cursor_ok(payload);
}

/* Drops the launches of a request that turned out bad. */
static void batch_drop(struct batch *batch)
{
    for (struct launch **at = &batch->daemon->launches, *l; (l = *at) != NULL;) {
        if (l->batch != batch) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        launch_free(l);
    }
    free(batch);
}

static void batch_refuse(struct batch *batch)
{
    batch->running++; /* so that it is not answered, and freed, before the walk is over */
    for (struct launch *l = batch->daemon->launches; l != NULL; l = l->next) {
        const char *refused = l->batch == batch ? launchspec_refused(&l->spec) : NULL;
        if (refused != NULL)
            launch_fail(l, COVEY_EINVAL, "%s", refused);
    }
    if (--batch->running == 0)
        batch_answer(batch);
}

const char *launch_on_add_hosts(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    size_t count = cursor_get_u16(payload);
    if (!cursor_ok(payload) || count > LAUNCHES_MAX)
        return "bad payload";
    if (hosts_not_coordinator(d, source, request))
        return NULL;
    if (ending_under_way(d)) {
        reply_error(d, source, request, COVEY_EHALT, "host %s is leaving the VM", d->name);
        return NULL;
    }
    struct batch *batch = calloc(1, sizeof *batch + count * sizeof batch->results[0]);
    if (batch == NULL)
        return "memory is exhausted";
    *batch = (struct batch){.daemon = d, .to = source, .request = request, .count = count};
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = launch_add(batch, i, payload);
    if (!good || !cursor_done(payload)) {
        batch_drop(batch);
        return "bad payload";
    }
    batch_refuse(batch);
    return NULL;
}
