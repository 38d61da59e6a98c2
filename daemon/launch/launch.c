/*
 * Launching. One ADD_HOSTS request is a batch of launches. They begin in their order, and so many
 * run at once: thousands of daemons that start together would take each other's time until none of
 * them joins, and this daemon's own. Those that wait to be let in, many at a time (registry.c), are
 * not among them. While many hosts answer late fewer begin, on this machine one by one. Each is a
 * child, /bin/sh with the command line of the launcher (launcher.c), or, of this machine, born in
 * the nursery (nursery.h). We have a dialogue with it: it gets the bootstrap line (the invitation)
 * and says "ok INDEX" or why not. A launch has succeeded when it said so and the node has the host
 * in its table; it fails when the child ends without, or LAUNCH_US have passed since it began. The
 * result of each is told in the order of the request, as soon as it and all before it are known,
 * which shows the asker that it goes on; the request is answered when every launch has ended; when
 * the asker is gone, what has not ended is given up.
 *
 *   NEW -settle-> RUNNING -ok-> JOINING -host up-> DONE           any but DONE -...-> DONE, failed
 *      \-ssh-> CALLING -ready-> LOOKING -found, right version-> RUNNING
 *               CALLING -the server is too busy-> PAUSED -timer-> CALLING
 *
 * By ssh the invitation is sent only once the right coveyd is known to read it. Until then a login
 * shell whose start files read is fed empty lines.
 *
 * A child that goes on running after "ok" (a daemon in the foreground under srun, say) is left
 * alone: the launch stays until the child is reaped. Of ssh's nothing is left: what still holds
 * it open after a while (a start file's own background job) loses it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/bootstrap.h"
#include "daemon/base/daemon.h"
#include "daemon/base/version.h"
#include "daemon/host/hosts.h"
#include "daemon/launch/complaint.h"
#include "daemon/launch/dialogue.h"
#include "daemon/launch/launcher.h"
#include "daemon/launch/launchspec.h"
#include "daemon/launch/nursery.h"
#include "daemon/post/reply.h"
#include "daemon/post/watch.h"
#include "daemon/process/process.h"
#include "daemon/table/ending.h"
#include "lib/covey.h"
#include "proto/wire/format.h"

#define LAUNCH_US 29000000u    /* the result of a launch is known within 30 s */
#define TRY_AGAIN_US 18000000u /* a busy server is tried anew until then */
#define PAUSE_US 400000u   /* at least; at most four times as much, so that not all come at once */
#define LINGER_US 2000000u /* an ssh has ended so long after "ok" */
#define EMPTY_LINES "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
#define LAUNCHES_MAX 4096
#define AT_ONCE 256      /* so many launches run at once */
#define AT_ONCE_LOCAL 32 /* of daemons that share the processors of this machine */
#define STRAINED_PART 8  /* of the others, while hosts answer late: one may be silent to the end */
#define WAITING_TIMES 12 /* so many times that with those that wait to be let in */
#define RESULT_BYTES (4 + 4 + 2 + CONTROL_REASON_MAX)

struct outcome {
    struct control_result result;
    bool known;
};

struct batch {
    struct daemon *daemon;
    uint32_t to, request;
    bool orphaned; /* the asker is gone */
    size_t count, running;
    size_t told; /* so many outcomes were sent */
    struct outcome outcomes[];
};

enum state {
    LAUNCH_NEW,
    LAUNCH_PAUSED,
    LAUNCH_CALLING,
    LAUNCH_LOOKING,
    LAUNCH_RUNNING,
    LAUNCH_JOINING,
    LAUNCH_DONE
};

struct launch {
    struct launch *next;
    struct daemon *daemon;
    struct batch *batch; /* NULL once its result is known */
    struct outcome *outcome;
    struct control_host_spec spec;
    enum state state;
    uint32_t index;
    uint64_t incarnation, begun_us;
    pid_t pid; /* 0: no child */
    struct dialogue *dialogue;
    struct loop_child *child;
    struct loop_timer *timer;
    struct complaint complaint;
    char program[DIALOGUE_LINE_MAX + 1]; /* coveyd as found there */
};

struct launches {
    struct launch *first; /* in the order in which they were asked for */
};

/* ---- results ---- */

/* Tells what is known in order. The last one of a batch answers the request. */
static void batch_tell(struct batch *batch)
{
    struct reply reply;
    size_t told = batch->told;
    reply_begin(&reply, batch->daemon, batch->to, batch->request);
    while (batch->told < batch->count && batch->outcomes[batch->told].known) {
        struct cursor c = reply_room(&reply, RESULT_BYTES);
        control_put_result(&c, &batch->outcomes[batch->told++].result);
        reply_add(&reply, &c);
    }
    if (batch->running == 0) {
        reply_send(&reply, 0);
        free(batch);
    } else if (batch->told > told) {
        reply_send_part(&reply);
    }
}

/* The result of a launch is known. */
static void launch_result(struct launch *l, int32_t error, const char *text)
{
    struct batch *batch = l->batch;
    struct daemon *d = l->daemon;
    l->batch = NULL;
    l->state = LAUNCH_DONE;
    if (l->child != NULL && l->spec.launcher == COVEY_LAUNCH_SSH)
        loop_timer_start(l->timer, LINGER_US);
    else
        loop_timer_remove(&l->timer);
    struct control_result *result = &l->outcome->result;
    result->error = error;
    result->number = error == 0 ? l->index : 0;
    snprintf(result->text, sizeof result->text, "%s", text);
    l->outcome->known = true;
    if (error != 0)
        log_line(&d->log, LOG_ERROR, "host %s not added: %s", l->spec.name, text);
    batch->running--;
    batch_tell(batch);
}

__attribute__((format(printf, 3, 4))) static void launch_fail(struct launch *l, int32_t error,
                                                              const char *format, ...)
{
    char text[CONTROL_REASON_MAX + 1];
    if (l->batch == NULL)
        return;
    FORMAT(text, sizeof text, format);
    if (l->index != 0)
        node_uninvite(l->daemon->node, l->index);
    if (l->pid > 0)
        kill(-l->pid, SIGKILL);
    launch_result(l, error, text);
}

/* The child failed by itself: its telling words. Who asked on another host may wonder why ssh does
 * not get from there what it gets from here. */
static void launch_fail_as_said(struct launch *l)
{
    struct daemon *d = l->daemon;
    char text[CONTROL_REASON_MAX + 1];
    bool elsewhere =
        l->state == LAUNCH_CALLING && l->batch != NULL && tid_host(l->batch->to) != daemon_host(d);
    complaint_print(&l->complaint, text, sizeof text);
    launch_fail(l, complaint_error(&l->complaint), "%s%s%s%s", elsewhere ? "from " : "",
                elsewhere ? d->self.name : "", elsewhere ? ": " : "", text);
}

/* ---- what we say ---- */

/* When the job is over, it is so for hosts that join it, which by ssh do not have this daemon's
 * environment; unless something else was said of them. */
static bool env_add_until(struct control_env *env)
{
    const char *until = getenv("COVEY_UNTIL");
    char variable[64];
    for (const char *v = NULL; (v = control_env_next(env, v)) != NULL;)
        if (strncmp(v, "COVEY_UNTIL=", 12) == 0)
            return true;
    if (until == NULL || *until == '\0')
        return true;
    snprintf(variable, sizeof variable, "COVEY_UNTIL=%s", until);
    return control_env_add(env, variable);
}

static bool invitation_print(const struct launch *l, char line[BOOTSTRAP_LINE_MAX])
{
    struct daemon *d = l->daemon;
    struct control_bootstrap b = {.version = WIRE_VERSION,
                                  .index = l->index,
                                  .incarnation = l->incarnation,
                                  .speed = l->spec.speed,
                                  .fail_timeout_us = d->conf.fail_timeout_us,
                                  .encrypt = d->node_config.encrypt,
                                  .contention = d->conf.contention,
                                  .coordinator = *node_self(d->node)};
    memcpy(b.key, d->node_config.key, sizeof b.key);
    memcpy(b.vm, d->node_config.vm, sizeof b.vm);
    memcpy(b.name, l->spec.name, sizeof b.name);
    memcpy(b.address, l->spec.address, sizeof b.address);
    memcpy(b.bind, l->spec.bind, sizeof b.bind);
    memcpy(b.interface, l->spec.interface, sizeof b.interface);
    b.env = l->spec.env;
    int size = env_add_until(&b.env) ? bootstrap_print(&b, line) : 0;
    sodium_memzero(&b, sizeof b);
    return size > 0;
}

static void say_to_launcher(struct launch *l, const char *text)
{
    if (!dialogue_say(l->dialogue, text, strlen(text)))
        launch_fail(l, COVEY_ENOMEM, "the daemon's memory is exhausted");
}

static void invite(struct launch *l)
{
    char line[BOOTSTRAP_LINE_MAX];
    l->state = LAUNCH_RUNNING;
    if (invitation_print(l, line))
        say_to_launcher(l, line);
    else
        launch_fail(l, COVEY_EADDHOST, "the invitation is too long");
    sodium_memzero(line, sizeof line);
    dialogue_end(l->dialogue);
}

/* ---- what the child says ---- */

/* What greets may leave its line without an end. */
static bool on_ready(struct launch *l, const char *line)
{
    char script[LAUNCHER_LINE_MAX];
    if (strstr(line, LAUNCHER_READY) == NULL)
        return false;
    l->state = LAUNCH_LOOKING;
    l->complaint = (struct complaint){0}; /* what was said so far was a greeting */
    if (launcher_script(l->daemon->self.program, l->daemon->options, &l->spec, script))
        say_to_launcher(l, script);
    else
        launch_fail(l, COVEY_EINVAL, "the command line is too long");
    return true;
}

static void on_version(struct launch *l, const char *said)
{
    if (version_fits(said))
        invite(l);
    else if (version_is_one(said))
        launch_fail(l, COVEY_EVERSION, "%s has %.60s, this VM runs %s; there it is %s",
                    l->spec.name, said, version_short, l->program);
    else
        launch_fail(l, COVEY_EEXEC, "%s is not coveyd, or cannot run there: it says: %s",
                    l->program, said);
}

static void on_found(struct launch *l, const char *path)
{
    snprintf(l->program, sizeof l->program, "%s", path);
}

static void on_none(struct launch *l, const char *tried)
{
    bool there = strstr(tried, "cannot be executed") != NULL;
    launch_fail(l, there ? COVEY_EEXEC : COVEY_ENOENT,
                "there is no coveyd; tried: %s; install it, or name its path by --coveyd", tried);
}

static void on_session(struct launch *l, const char *nothing)
{
    (void)nothing;
    launch_fail(l, COVEY_EADDHOST,
                "systemd there ends a daemon with the session (KillUserProcesses=yes); once, "
                "there: loginctl enable-linger");
}

/* What the shell there says while it looks for coveyd. */
static bool on_looked(struct launch *l, const char *line)
{
    static const struct {
        const char *start;
        void (*on)(struct launch *l, const char *rest);
    } sayings[] = {
        {LAUNCHER_FOUND, on_found},
        {LAUNCHER_SAYS, on_version},
        {LAUNCHER_NONE, on_none},
        {LAUNCHER_SESSION, on_session},
    };
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++) {
        size_t size = strlen(sayings[i].start);
        if (strncmp(line, sayings[i].start, size) == 0)
            return sayings[i].on(l, line + size), true;
    }
    return false;
}

static bool on_joined(struct launch *l, const char *line)
{
    unsigned long index;
    if (sscanf(line, "ok %lu", &index) != 1 || index != l->index)
        return false;
    l->state = LAUNCH_JOINING;
    loop_wake(l->daemon->loop);
    return true;
}

static void on_line(void *context, const char *line)
{
    struct launch *l = context;
    bool taken = (l->state == LAUNCH_CALLING && on_ready(l, line)) ||
                 (l->state == LAUNCH_LOOKING && on_looked(l, line)) ||
                 (l->state == LAUNCH_RUNNING && on_joined(l, line));
    if (!taken)
        complaint_hear(&l->complaint, line);
}

/* ---- how the child ends ---- */

static bool pause_and_call_again(struct launch *l)
{
    if (l->state != LAUNCH_CALLING || !complaint_again(&l->complaint) ||
        loop_now_us() - l->begun_us > TRY_AGAIN_US)
        return false;
    l->state = LAUNCH_PAUSED;
    l->complaint = (struct complaint){0};
    dialogue_close(&l->dialogue);
    loop_timer_start(l->timer, PAUSE_US + randombytes_uniform(3 * PAUSE_US));
    return true;
}

static void on_child_end(void *context, int status)
{
    struct launch *l = context;
    l->child = NULL;
    dialogue_finish(l->dialogue);
    l->pid = 0;
    part_want(l->daemon, PART_launches);
    loop_wake(l->daemon->loop);
    if (l->state == LAUNCH_JOINING || l->state == LAUNCH_DONE || pause_and_call_again(l))
        return;
    if (l->complaint.line[0] != '\0')
        launch_fail_as_said(l);
    else if (WIFSIGNALED(status))
        launch_fail(l, COVEY_EADDHOST, "the launcher was killed by signal %d", WTERMSIG(status));
    else
        launch_fail(l, COVEY_EADDHOST, "the launcher ended with status %d and said nothing",
                    WEXITSTATUS(status));
}

/* Of one that the nursery started. */
static void on_born_end(void *context)
{
    struct launch *l = context;
    part_want(l->daemon, PART_launches);
    loop_wake(l->daemon->loop);
    if (l->state == LAUNCH_JOINING || l->state == LAUNCH_DONE)
        return;
    if (l->complaint.line[0] != '\0')
        launch_fail_as_said(l);
    else
        launch_fail(l, COVEY_EADDHOST, "its daemon ended and said nothing");
}

static void launch_fail_late(struct launch *l)
{
    static const char *const steps[] = {
        [LAUNCH_PAUSED] = "its ssh server is too busy",
        [LAUNCH_CALLING] = "no shell answered (do its start files read?)",
        [LAUNCH_LOOKING] = "its shell has not found coveyd",
        [LAUNCH_RUNNING] = "coveyd has not joined",
        [LAUNCH_JOINING] = "coveyd has joined, but does not answer",
    };
    const char *words = l->complaint.line;
    launch_fail(l, COVEY_ETIMEOUT, "timed out after %u s: %s%s%.160s", LAUNCH_US / 1000000u,
                steps[l->state], words[0] == '\0' ? "" : "; the last words: ", words);
}

static void launch_call(struct launch *l);

static void on_timer(void *context)
{
    struct launch *l = context;
    if (l->state == LAUNCH_PAUSED)
        launch_call(l);
    else if (l->state != LAUNCH_DONE)
        launch_fail_late(l);
    else if (l->pid > 0)
        kill(-l->pid, SIGKILL);
}

/* ---- beginning ---- */

/* A daemon of this machine like this one needs no program to be started. */
static bool is_born(const struct launch *l, const int ends[2])
{
    return l->spec.launcher == COVEY_LAUNCH_LOCAL && l->spec.coveyd[0] == '\0' &&
           l->spec.config[0] == '\0' &&
           nursery_start(l->daemon->options->nursery, l->spec.cwd, ends[0], ends[1]);
}

static void launch_start(struct launch *l, const int ends[2])
{
    char line[LAUNCHER_LINE_MAX];
    struct failure why;
    if (is_born(l, ends)) {
        dialogue_on_end(l->dialogue, on_born_end);
        return;
    }
    if (!launcher_line(l->daemon->self.program, l->daemon->options, &l->spec, line)) {
        launch_fail(l, COVEY_EINVAL, "the command line is too long");
        return;
    }
    char *const argv[] = {"/bin/sh", "-c", line, NULL};
    struct process process = {.program = argv[0],
                              .argv = argv,
                              .env = environ,
                              .files = &l->daemon->files.tasks,
                              .in = ends[0],
                              .out = ends[1],
                              .err = ends[1]};
    log_line(&l->daemon->log, LOG_DEBUG, "host %s: %s", l->spec.name, line);
    pid_t pid = process_start(&process, &why);
    if (pid < 0) {
        launch_fail(l, pid, "%s", why.text);
        return;
    }
    l->pid = pid;
    l->child = loop_child_add(l->daemon->loop, pid, on_child_end, l);
    if (l->child == NULL)
        launch_fail(l, COVEY_ENOMEM, "the daemon's memory is exhausted");
}

/* Starts the child, and says what can be said to it already. */
static void launch_call(struct launch *l)
{
    int ends[2];
    bool ssh = l->spec.launcher == COVEY_LAUNCH_SSH;
    l->state = ssh ? LAUNCH_CALLING : LAUNCH_RUNNING;
    loop_timer_start(l->timer, LAUNCH_US - (loop_now_us() - l->begun_us));
    l->dialogue = dialogue_open(l->daemon->loop, on_line, l, ends);
    if (l->dialogue == NULL) {
        launch_fail(l, COVEY_ERESOURCE, "cannot start the launcher: %s", strerror(errno));
        return;
    }
    launch_start(l, ends);
    close(ends[0]);
    close(ends[1]);
    if (l->state == LAUNCH_CALLING)
        say_to_launcher(l, EMPTY_LINES);
    else if (l->state == LAUNCH_RUNNING)
        invite(l);
}

/* ---- in every round ---- */

/* The asker of one that is new may be gone. */
static void launch_check(struct launch *l)
{
    if (l->state == LAUNCH_NEW && !(l->batch != NULL && l->batch->orphaned)) {
        struct daemon *d = l->daemon;
        int index = node_invite(d->node, l->spec.name, &l->incarnation, loop_now_us());
        if (index > 0) {
            l->index = (uint32_t)index;
            l->begun_us = loop_now_us();
            l->timer = loop_timer_add(d->loop, on_timer, l);
            if (l->timer == NULL)
                launch_fail(l, COVEY_ENOMEM, "the daemon's memory is exhausted");
            else
                launch_call(l);
        } else if (index == -EEXIST) {
            launch_fail(l, COVEY_EEXIST, "the VM has a host '%s' already", l->spec.name);
        } else {
            launch_fail(l, COVEY_EADDHOST, "cannot invite a host: %s", strerror(-index));
        }
    }
    if (l->state == LAUNCH_JOINING) {
        const struct host *host = node_host(l->daemon->node, l->index);
        if (host != NULL && (host->state == HOST_UP || host->state == HOST_SUSPECT))
            launch_result(l, 0, "");
    }
    if (l->batch != NULL && l->batch->orphaned)
        launch_fail(l, COVEY_ECANCELED, "who asked for it is gone");
}

static void launch_free(struct launch *l)
{
    dialogue_close(&l->dialogue);
    loop_timer_remove(&l->timer);
    loop_child_remove(&l->child);
    free(l);
}

/* What is under way: those that take time of a processor, and all. */
struct under_way {
    size_t starting, all;
    bool strained; /* the hosts that there are answer late as it is */
};

/* A host that has asked to be let in waits for the others, and takes no time. */
static bool is_starting(const struct launch *l)
{
    const struct host *host = node_host(l->daemon->node, l->index);
    return l->state != LAUNCH_DONE && (host == NULL || host->address_count == 0);
}

static bool must_wait(const struct launch *l, const struct under_way *now)
{
    bool wanted = l->batch != NULL && !l->batch->orphaned;
    bool local = l->spec.launcher == COVEY_LAUNCH_LOCAL;
    size_t most = local ? AT_ONCE_LOCAL : AT_ONCE;
    size_t starting_most = !now->strained ? most : local ? 1 : most / STRAINED_PART;
    bool many = now->starting >= starting_most || now->all >= most * WAITING_TIMES;
    return l->state == LAUNCH_NEW && wanted && many;
}

/* Behind one that must wait none has begun. While one has not ended each round looks whether its
 * host has joined. */
static uint64_t launch_settle(struct daemon *d, uint64_t now_us)
{
    struct under_way now = {.strained = node_is_strained(d->node)};
    (void)now_us;
    for (struct launch **at = &d->own.launches->first, *l;
         (l = *at) != NULL && !must_wait(l, &now);) {
        launch_check(l);
        now.starting += is_starting(l);
        now.all += l->state != LAUNCH_DONE;
        if (l->state != LAUNCH_DONE || l->child != NULL) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        launch_free(l);
    }
    if (now.all > 0)
        part_want(d, PART_launches);
    return UINT64_MAX;
}

static void launch_destroy(struct daemon *d)
{
    while (d->own.launches->first != NULL) {
        struct launch *l = d->own.launches->first;
        d->own.launches->first = l->next;
        if (l->pid > 0 && (l->batch != NULL || l->spec.launcher == COVEY_LAUNCH_SSH))
            kill(-l->pid, SIGKILL); /* its host is not wanted any more */
        if (l->batch != NULL && --l->batch->running == 0)
            free(l->batch);
        launch_free(l);
    }
}

/* The node may be in the middle of something: what follows waits for launch_settle(). */
static void batch_orphan(struct daemon *d, struct batch *batch)
{
    batch->orphaned = true;
    loop_wake(d->loop);
}

static void launch_task_gone(struct daemon *d, const struct control_gone *gone,
                             const struct task *own)
{
    (void)own;
    for (struct launch *l = d->own.launches->first; l != NULL; l = l->next)
        if (l->batch != NULL && l->batch->to == gone->tid)
            batch_orphan(d, l->batch);
}

static void launch_host_event(struct daemon *d, const struct host *host, int event)
{
    if (event != NODE_HOST_GONE)
        return;
    for (struct launch *l = d->own.launches->first; l != NULL; l = l->next)
        if (l->batch != NULL && tid_host(l->batch->to) == host->index)
            batch_orphan(d, l->batch);
}

/* ---- the request ---- */

static bool launch_add(struct batch *batch, size_t i, struct cursor *payload, struct launch ***end)
{
    struct launch *l = calloc(1, sizeof *l);
    if (l == NULL)
        return false;
    struct daemon *d = batch->daemon;
    l->daemon = d;
    l->batch = batch;
    l->outcome = &batch->outcomes[i];
    batch->running++;
    control_get_host_spec(payload, &l->spec);
    launchspec_complete(&l->spec, &d->conf.launch);
    **end = l;
    *end = &l->next;
    return cursor_ok(payload);
}

/* Drops the launches of a request that turned out bad. */
static void batch_drop(struct batch *batch)
{
    for (struct launch **at = &batch->daemon->own.launches->first, *l; (l = *at) != NULL;) {
        if (l->batch != batch) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        launch_free(l);
    }
    free(batch);
}

static const char *launch_on_add_hosts(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    size_t count = cursor_get_u16(payload);
    if (!cursor_ok(payload) || count > LAUNCHES_MAX)
        return "bad payload";
    if (hosts_not_coordinator(d, source, request))
        return NULL;
    if (ending_under_way(d)) {
        reply_error(d, source, request, COVEY_EHALT, "host %s is leaving the VM", d->self.name);
        return NULL;
    }
    size_t under_way = 0;
    for (const struct launch *l = d->own.launches->first; l != NULL; l = l->next)
        under_way++;
    if (under_way + count > LAUNCHES_MAX) {
        reply_error(d, source, request, COVEY_ERESOURCE, "too many hosts are being added");
        return NULL;
    }
    struct batch *batch = calloc(1, sizeof *batch + count * sizeof batch->outcomes[0]);
    if (batch == NULL)
        return "memory is exhausted";
    *batch = (struct batch){.daemon = d, .to = source, .request = request, .count = count};
    bool good = true;
    struct launch **end = &d->own.launches->first;
    while (*end != NULL)
        end = &(*end)->next;
    for (size_t i = 0; i < count && good; i++)
        good = launch_add(batch, i, payload, &end);
    if (!good || !cursor_done(payload)) {
        batch_drop(batch);
        return "bad payload";
    }
    watch_start(d, source);
    batch->running++; /* so that it is not answered, and freed, before the walk is over */
    for (struct launch *l = batch->daemon->own.launches->first; l != NULL; l = l->next) {
        const char *refused = l->batch == batch ? launchspec_refused(&l->spec) : NULL;
        if (refused != NULL)
            launch_fail(l, COVEY_EINVAL, "%s", refused);
    }
    batch->running--;
    batch_tell(batch);
    return NULL;
}

const struct part launches_part = {
    .name = "launches",
    .kinds = (const struct part_kind[]){{FRAME_ADD_HOSTS, launch_on_add_hosts, true}, {0}},
    .state_bytes = sizeof(struct launches),
    .destroy = launch_destroy,
    .settle = launch_settle,
    .task_gone = launch_task_gone,
    .host_event = launch_host_event};
