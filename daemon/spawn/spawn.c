/*
 * Starting tasks. Each start takes as long as the system needs to execute a program, and a request
 * may ask for thousands: no round of the loop starts them for longer than SPAWN_ROUND_US, so that
 * the daemon goes on to be heard of and to carry messages. Requests are carried out in the order in
 * which they came.
 */
#include "daemon/spawn/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/loop.h"
#include "daemon/post/reply.h"
#include "daemon/post/watch.h"
#include "daemon/process/process.h"
#include "daemon/spawn/exit.h"
#include "daemon/spawn/input.h"
#include "daemon/spawn/output.h"
#include "daemon/spawn/tasker.h"
#include "daemon/table/ending.h"
#include "lib/covey.h"

#define RESULT_BYTES (4 + 4 + 2 + CONTROL_REASON_MAX)
#define WAITING_BYTES_MAX ((size_t)32 * 1024 * 1024) /* of requests, when another one comes */
#define STRING_BYTES 48                              /* what a short one takes */

/* A request, decoded: what each of its tasks gets. */
struct order {
    struct control_spawn head;
    uint32_t asker; /* is told of the end of each; 0: it has ended itself */
    struct strings argv;
    struct strings given, env; /* what was asked for and who it is; with the daemon's own */
    bool input;                /* the next one reads what its parent sends */
    const uint8_t *request;    /* as it came */
    size_t size;
};

static void order_free(struct order *order)
{
    strings_free(&order->argv);
    strings_free(&order->given);
    strings_free(&order->env);
}

/* ---- decoding ---- */

static int take_strings(struct cursor *payload, struct strings *list)
{
    size_t count;
    struct control_string *strings = control_get_strings(payload, &count);
    if (strings == NULL)
        return -EPROTO;
    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++)
        error = strings_add(list, strings[i].bytes, strings[i].size);
    free(strings);
    return error;
}

static bool ours(const char *variable)
{
    static const char *const names[] = {
        "COVEY_SOCKET=", "COVEY_VM=", "COVEY_TASK=", "COVEY_ROUTE="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int env_set(struct strings *env, const char *name, const char *value)
{
    char text[CONTROL_TEXT_MAX];
    int size = snprintf(text, sizeof text, "%s=%s", name, value);
    return size < 0 || (size_t)size >= sizeof text ? -ENOMEM : strings_set(env, text, (size_t)size);
}

/* The daemon's environment without what the daemon itself was given as a task. */
static int env_inherit(struct strings *env)
{
    int error = 0;
    for (char **at = environ; *at != NULL && error == 0; at++)
        if (!ours(*at))
            error = strings_add(env, *at, strlen(*at));
    return error;
}

static int order_read(const struct daemon *d, struct cursor *payload, struct order *order)
{
    order->request = payload->at;
    order->size = cursor_left(payload);
    control_get_spawn(payload, &order->head);
    int error = take_strings(payload, &order->argv);
    if (error == 0)
        error = take_strings(payload, &order->given);
    if (error == 0)
        error = strings_unique(&order->given);
    if (error == 0)
        error = env_set(&order->given, "COVEY_SOCKET", d->runtime.socket);
    if (error == 0)
        error = env_set(&order->given, "COVEY_VM", d->node_config.vm);
    return error != 0 || cursor_done(payload) ? error : -EPROTO;
}

static int order_identity(struct order *order, uint64_t cookie)
{
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)cookie);
    int error = env_set(&order->given, "COVEY_TASK", text);
    if (error == 0 && order->env.count > 0)
        error = env_set(&order->env, "COVEY_TASK", text);
    return error;
}

/* The environment of a child; from one to the next only its identity changes. */
static int order_environment(struct order *order)
{
    if (order->env.count > 0)
        return 0;
    int error = env_inherit(&order->env);
    for (size_t i = 0; i < order->given.count && error == 0; i++)
        error = strings_add(&order->env, order->given.items[i], strlen(order->given.items[i]));
    if (error == 0)
        error = strings_unique(&order->env);
    if (error != 0)
        strings_free(&order->env);
    return error;
}

/* ---- starting one ---- */

struct pipes {
    int in[2], out[2], err[2]; /* in: -1 where there is none */
};

static void pipe_close(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

static void pipes_close(struct pipes *p)
{
    pipe_close(p->in);
    pipe_close(p->out);
    pipe_close(p->err);
}

static bool pipes_make(struct pipes *p, bool input)
{
    if (input && (pipe2(p->in, O_CLOEXEC) != 0 || fcntl(p->in[1], F_SETFL, O_NONBLOCK) != 0))
        return false;
    return pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->err, O_CLOEXEC) == 0 &&
           fcntl(p->out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(p->err[0], F_SETFL, O_NONBLOCK) == 0;
}

static int pipes_open(struct pipes *p, bool input, const struct files *files)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    int error = pipes_make(p, input) ? 0 : -errno;
    if (error == 0 && files_short(files, p->err[1]))
        error = -EMFILE;
    if (error == 0)
        return 0;
    pipes_close(p);
    errno = -error;
    return error;
}

static void command_text(const struct strings *argv, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < argv->count && used + 1 < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : " ", argv->items[i]);
}

static uint64_t cookie_new(void)
{
    uint64_t cookie;
    do
        randombytes_buf(&cookie, sizeof cookie);
    while (cookie == 0);
    return cookie;
}

static void task_fill(struct task *task, const struct order *order)
{
    const struct control_spawn *head = &order->head;
    task->cookie = cookie_new();
    task->times.started_us = loop_now_us();
    task->parent = head->parent;
    task->sink = head->sink;
    task->route = head->route;
    task->tether = head->tether;
    task->print = head->print;
    command_text(&order->argv, task->command, sizeof task->command);
}

static int start_process(struct task *task, struct order *order, struct pipes *pipes,
                         struct failure *why)
{
    if (order_environment(order) != 0 ||
        pipes_open(pipes, order->input, &task->daemon->files) != 0) {
        failure_set(why, "cannot start '%s': %s", order->argv.items[0], strerror(errno));
        return COVEY_ERESOURCE;
    }
    struct process process = {.program = order->argv.items[0],
                              .argv = order->argv.items,
                              .env = order->env.items,
                              .cwd = order->head.cwd,
                              .files = &task->daemon->files.tasks,
                              .tethered = true,
                              .stays = true,
                              .in = pipes->in[0],
                              .out = pipes->out[1],
                              .err = pipes->err[1]};
    pid_t pid = process_start(&process, why);
    if (pid < 0) {
        pipes_close(pipes);
        return pid;
    }
    if (order->input)
        close(pipes->in[0]);
    close(pipes->out[1]);
    close(pipes->err[1]);
    pipes->in[0] = pipes->out[1] = pipes->err[1] = -1;
    return pid;
}

/* Starts the task as a child of ours. Returns 0 or an enum covey_error. */
static int start_child(struct task *task, struct order *order, struct failure *why)
{
    struct pipes pipes;
    int pid = start_process(task, order, &pipes, why);
    if (pid < 0)
        return pid;
    task->pid = pid;
    if (order->input && input_start(task, pipes.in[1]) == 0)
        pipes.in[1] = -1;
    if (pipes.in[1] >= 0 || exit_watch(task) != 0) { /* the loop reaps it unseen */
        kill(-pid, SIGKILL);
        pipes_close(&pipes);
        failure_set(why, "host %s has no memory left", task->daemon->self.name);
        return COVEY_ERESOURCE;
    }
    output_start(task, pipes.out[0], pipes.err[0]);
    return 0;
}

/* Starts the task, or has it started. Returns 0 or an enum covey_error. */
static int start_task(struct task *task, struct order *order, struct failure *why)
{
    struct tasker_order handed = {.head = &order->head,
                                  .argv = &order->argv,
                                  .env = &order->given,
                                  .request = order->request,
                                  .size = order->size};
    if (order_identity(order, task->cookie) != 0) {
        failure_set(why, "host %s has no memory left", task->daemon->self.name);
        return COVEY_ERESOURCE;
    }
    int result = tasker_hand(task, &handed, why);
    if (result == 0)
        result = start_child(task, order, why);
    return result < 0 ? result : 0;
}

int spawn_again(struct task *task, const uint8_t *request, size_t size, struct failure *why)
{
    struct order order = {0};
    struct cursor payload = cursor_reader(request, size);
    int error = order_read(task->daemon, &payload, &order);
    task->cookie = cookie_new();
    if (error == 0)
        error = order_identity(&order, task->cookie);
    if (error != 0)
        failure_set(why, "host %s has no memory left", task->daemon->self.name);
    else
        error = start_child(task, &order, why);
    order_free(&order);
    return error;
}

/* ---- the request ---- */

/* A request that is being carried out. */
struct spawn {
    struct spawn *next; /* a later one */
    struct order order;
    uint8_t *request; /* what the order refers to */
    struct reply reply;
    uint32_t done; /* so many of its tasks have a result */
    bool orphaned; /* who they were to end with is gone */
    size_t bytes;  /* that it takes */
};

struct spawns {
    struct spawn *first, *last; /* requests whose tasks are being started, the oldest first */
    size_t bytes;               /* that they take */
};

static void spawns_add(struct spawns *spawns, struct spawn *spawn)
{
    const struct order *order = &spawn->order;
    spawn->bytes =
        sizeof *spawn + order->size + (order->argv.count + order->given.count) * STRING_BYTES;
    *(spawns->first != NULL ? &spawns->last->next : &spawns->first) = spawn;
    spawns->last = spawn;
    spawns->bytes += spawn->bytes;
}

/* The oldest, of which there is one. */
static struct spawn *spawns_take(struct spawns *spawns)
{
    struct spawn *spawn = spawns->first;
    assert(spawn != NULL && spawns->bytes >= spawn->bytes);
    spawns->first = spawn->next;
    spawns->bytes -= spawn->bytes;
    return spawn;
}

static void spawn_free(struct spawn *spawn)
{
    if (spawn == NULL)
        return;
    order_free(&spawn->order);
    free(spawn->request);
    free(spawn);
}

/* Takes the strings of the order. NULL: no memory, and the order is as it was. */
static struct spawn *spawn_create(struct daemon *d, uint32_t source, struct order *order)
{
    struct spawn *spawn = calloc(1, sizeof *spawn);
    uint8_t *request = malloc(order->size);
    if (spawn == NULL || request == NULL) {
        free(request);
        spawn_free(spawn);
        return NULL;
    }
    memcpy(request, order->request, order->size);
    spawn->request = request;
    spawn->order = *order;
    spawn->order.request = request;
    spawn->order.asker = source;
    order->argv = order->given = order->env = (struct strings){0};
    reply_begin(&spawn->reply, d, source, order->head.request);
    return spawn;
}

/* Starts the next task, if it is still wanted. Returns its tid > 0 or an enum covey_error. */
static int32_t spawn_one_more(struct daemon *d, struct spawn *spawn, struct failure *why)
{
    if (ending_under_way(d)) {
        failure_set(why, "host %s is leaving the VM", d->self.name);
        return COVEY_EHALT;
    }
    if (spawn->orphaned) {
        failure_set(why, "the parent is gone");
        return COVEY_ENOTASK;
    }
    spawn->order.input = spawn->order.head.input && spawn->done == 0;
    /* Starts one task. Returns its tid > 0 or an enum covey_error. */
    struct task *task = task_create(d);
    if (task == NULL) {
        failure_set(why, "host %s runs %u tasks already, or has no memory left", d->self.name,
                    d->tasks->count);
        return COVEY_ERESOURCE;
    }
    task_fill(task, &spawn->order);
    int error = COVEY_ERESOURCE;
    if (spawn->order.asker != 0 && watch_for(task, spawn->order.asker) != 0)
        failure_set(why, "host %s has no memory left", d->self.name);
    else
        error = start_task(task, &spawn->order, why);
    if (error != 0) {
        task_destroy(task);
        return error;
    }
    return (int32_t)task->tid;
}

static void spawn_next(struct daemon *d, struct spawn *spawn)
{
    struct failure why = {""};
    struct control_result result = {0};
    int32_t tid = spawn_one_more(d, spawn, &why);
    if (tid > 0)
        result.number = (uint32_t)tid;
    else
        result.error = tid;
    snprintf(result.text, sizeof result.text, "%.*s", CONTROL_REASON_MAX, why.text);
    *(tid > 0 ? &d->counters.tasks_spawned : &d->counters.spawns_failed) += 1;
    struct cursor c = reply_room(&spawn->reply, RESULT_BYTES);
    control_put_result(&c, &result);
    reply_add(&spawn->reply, &c);
    spawn->done++;
}

/* Starts more of the tasks that were asked for. */
static uint64_t spawns_settle(struct daemon *d, uint64_t now_us)
{
    struct spawns *spawns = d->own.spawns;
    while (spawns->first != NULL && loop_now_us() < now_us + SPAWN_ROUND_US) {
        struct spawn *spawn = spawns->first;
        if (spawn->done < spawn->order.head.count) {
            spawn_next(d, spawn);
            continue;
        }
        reply_send(&spawn->reply, 0);
        spawn_free(spawns_take(spawns));
    }
    if (spawns->first != NULL) {
        part_want(d, PART_spawns);
        loop_wake(d->loop);
    }
    return UINT64_MAX;
}

static void spawns_destroy(struct daemon *d)
{
    while (d->own.spawns->first != NULL) {
        struct spawn *spawn = spawns_take(d->own.spawns);
        free(spawn->reply.bytes);
        spawn_free(spawn);
    }
}

/* Takes the strings of the order. What is short is done at once. */
static void spawn_begin(struct daemon *d, uint32_t source, struct order *order)
{
    struct spawn *spawn = spawn_create(d, source, order);
    if (spawn == NULL) {
        reply_error(d, source, order->head.request, COVEY_ENOMEM, "host %s has no memory left",
                    d->self.name);
        return;
    }
    spawns_add(d->own.spawns, spawn);
    watch_start(d, spawn->order.head.sink);
    if (spawn->order.head.tether)
        watch_start(d, spawn->order.head.parent);
    if (d->own.spawns->first == spawn)
        spawns_settle(d, loop_now_us());
}

/* What was to end with it is not started any more. */
static void spawn_task_gone(struct daemon *d, const struct control_gone *gone,
                            const struct task *own)
{
    uint32_t tid = gone->tid;
    (void)own;
    for (struct spawn *spawn = d->own.spawns->first; spawn != NULL; spawn = spawn->next) {
        struct control_spawn *head = &spawn->order.head;
        spawn->orphaned |= head->tether && head->parent == tid;
        if (head->sink == tid)
            head->sink = 0;
        if (spawn->order.asker == tid)
            spawn->order.asker = 0;
    }
}

static void spawn_host_event(struct daemon *d, const struct host *gone, int event)
{
    uint32_t host = gone->index;
    for (struct spawn *spawn = event == NODE_HOST_GONE ? d->own.spawns->first : NULL; spawn != NULL;
         spawn = spawn->next) {
        struct control_spawn *head = &spawn->order.head;
        spawn->orphaned |= head->tether && tid_host(head->parent) == host;
        if (tid_host(head->sink) == host)
            head->sink = 0;
        if (tid_host(spawn->order.asker) == host)
            spawn->order.asker = 0;
    }
}

static const char *spawn_on_spawn(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct order order = {0};
    int error = order_read(d, payload, &order);
    const char *refused = error == -EPROTO ? "bad payload" : NULL;
    uint32_t request = order.head.request;
    if (error == -ENOMEM)
        reply_error(d, source, request, COVEY_ENOMEM, "host %s has no memory left", d->self.name);
    else if (refused == NULL && (order.argv.count == 0 || order.argv.items[0][0] == '\0'))
        reply_error(d, source, request, COVEY_EINVAL, "no program is named");
    else if (refused == NULL && order.head.count > d->conf.tasks_max)
        reply_error(d, source, request, COVEY_ERESOURCE, "host %s runs at most %u tasks",
                    d->self.name, d->conf.tasks_max);
    else if (refused == NULL && ending_under_way(d))
        reply_error(d, source, request, COVEY_EHALT, "host %s is leaving the VM", d->self.name);
    else if (refused == NULL && d->own.spawns->bytes > WAITING_BYTES_MAX)
        reply_error(d, source, request, COVEY_ERESOURCE, "host %s has too many tasks to start",
                    d->self.name);
    else if (refused == NULL)
        spawn_begin(d, source, &order);
    order_free(&order);
    return refused;
}

const struct part spawns_part = {
    .name = "spawns",
    .kinds = (const struct part_kind[]){{FRAME_SPAWN, spawn_on_spawn, true}, {0}},
    .state_bytes = sizeof(struct spawns),
    .destroy = spawns_destroy,
    .settle = spawns_settle,
    .task_gone = spawn_task_gone,
    .host_event = spawn_host_event};
