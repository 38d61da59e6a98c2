/*
 * task_stats.c - what all tasks of the VM do, and to whom they send, asked from the daemons of
 * their hosts. A daemon answers with so many tasks, and is asked again for those behind them: none
 * is busy with one answer for long, and what a question costs is bounded by the one who asks.
 */
#include "lib/calls/hosts.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/model/task_figure.h"
#include "proto/model/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MAX 1000000

/* One daemon that is asked. */
struct asked {
    struct covey_host *host;
    struct request *request;
    uint32_t behind; /* the tid of the last task that it told of */
    uint32_t left;   /* tasks behind it; before the first answer 1 */
};

/* A question, and how a row of its answer is taken: takes the tid of the task, and what is said. */
struct look;
struct question {
    uint8_t kind;
    int (*row)(struct look *l, uint32_t host, struct cursor *c, uint32_t behind, uint32_t *tid);
};

struct look {
    struct covey *vm;
    const struct question *question;
    struct covey_task_stats *all;
    struct covey_task_peer *traffic;
    int traffic_count;
    struct asked *asked;
    int count;      /* of asked */
    int told, most; /* tasks */
    uint64_t deadline_us;
};

/* Room for so many more rows. */
static bool room_make(struct covey_task_stats *all, size_t more)
{
    size_t count = (size_t)all->task_count + more;
    struct covey_task *tasks = realloc(all->tasks, count * sizeof *tasks);
    if (tasks != NULL)
        all->tasks = tasks;
    struct covey_task_stat *stats = realloc(all->stats, count * sizeof *stats);
    if (stats != NULL)
        all->stats = stats;
    return tasks != NULL && stats != NULL;
}

static void row_add(struct covey_task_stats *all, uint32_t host, const struct task_figures *f)
{
    struct covey_task *task = &all->tasks[all->task_count];
    struct covey_task_stat *stat = &all->stats[all->task_count++];
    *task = (struct covey_task){.tid = (covey_tid_t)f->task.tid,
                                .parent = (covey_tid_t)f->task.parent,
                                .output = (covey_tid_t)f->task.sink,
                                .host = (int32_t)host,
                                .pid = f->task.pid,
                                .state = f->task.state};
    memcpy(task->command, f->task.command, sizeof task->command);
    *stat = (struct covey_task_stat){.tid = (covey_tid_t)f->task.tid,
                                     .waits = f->waits,
                                     .peer = (covey_tid_t)f->peer,
                                     .tag = f->tag,
#define STAT_FIELD(number, field) .field = f->values[TASK_FIGURE_##field],
                                     TASK_FIGURES(STAT_FIELD)
#undef STAT_FIELD
    };
    memcpy(stat->call, f->call, sizeof stat->call);
    memcpy(stat->name, f->name, sizeof stat->name);
}

_Static_assert(sizeof((struct covey_task_stat *)0)->call == TASK_FIGURE_CALL + 1 &&
                   sizeof((struct covey_task_stat *)0)->name == TASK_FIGURE_NAME + 1,
               "shown whole");

/* A row that cannot be read, or whose tid is not behind the last one's, is not taken. */
static int figures_take(struct look *l, uint32_t host, struct cursor *c, uint32_t behind,
                        uint32_t *tid)
{
    struct task_figures f;
    task_figures_get(c, &f);
    *tid = f.task.tid;
    if (!cursor_ok(c) || f.task.tid <= behind)
        return COVEY_OK;
    if (!room_make(l->all, 1))
        return error_code(COVEY_ENOMEM);
    row_add(l->all, host, &f);
    return COVEY_OK;
}

static int traffic_take(struct look *l, uint32_t host, struct cursor *c, uint32_t behind,
                        uint32_t *tid)
{
    struct traffic t;
    (void)host;
    traffic_get(c, &t);
    *tid = t.tid;
    if (!cursor_ok(c) || t.tid <= behind || t.count == 0)
        return COVEY_OK;
    size_t count = (size_t)l->traffic_count + (size_t)t.count;
    struct covey_task_peer *more = realloc(l->traffic, count * sizeof *more);
    if (more == NULL)
        return error_code(COVEY_ENOMEM);
    l->traffic = more;
    for (int i = 0; i < t.count; i++)
        more[l->traffic_count++] = (struct covey_task_peer){.from = (covey_tid_t)t.tid,
                                                            .to = (covey_tid_t)t.peers[i].tid,
                                                            .sent = t.peers[i].sent,
                                                            .sent_bytes = t.peers[i].bytes};
    return COVEY_OK;
}

static const struct question figures = {FRAME_TASK_STAT, figures_take};
static const struct question traffic = {FRAME_TRAFFIC, traffic_take};

/* Tids grow from row to row, so that each is told of once. */
static int answer_take(struct look *l, struct asked *asked, const uint8_t *content, size_t size)
{
    struct cursor c = cursor_reader(content, size);
    uint32_t before = asked->behind;
    asked->left = cursor_get_u32(&c);
    while (cursor_ok(&c) && cursor_left(&c) > 0) {
        uint32_t tid;
        int error = l->question->row(l, (uint32_t)asked->host->index, &c, asked->behind, &tid);
        if (error != COVEY_OK)
            return error;
        if (!cursor_ok(&c) || tid <= asked->behind)
            break;
        l->told++;
        asked->behind = tid;
    }
    if (!cursor_done(&c) || (asked->left > 0 && asked->behind == before))
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    return COVEY_OK;
}

/* One that leaves meanwhile takes its tasks with it; one that is silent is a suspect. */
static int answer_await(struct look *l, struct asked *asked)
{
    uint8_t *content = NULL;
    size_t size = 0;
    int error = request_end(l->vm, &asked->request, l->deadline_us, &content, &size);
    asked->left = 0;
    if (error == COVEY_ETIMEOUT)
        asked->host->state = COVEY_HOST_SUSPECT;
    if (error == COVEY_ETIMEOUT || error == COVEY_EHOSTFAIL || error == COVEY_ENOHOST)
        return COVEY_OK;
    if (error != COVEY_OK)
        return error;
    asked->host->state = COVEY_HOST_UP; /* whatever the table says of it */
    error = answer_take(l, asked, content, size);
    free(content);
    return error;
}

/* Asks all that have tasks left for so many of them, which is shared out among them. */
static int round_ask(struct look *l)
{
    int asked = 0, error = COVEY_OK, left = l->most - l->told;
    for (int i = 0; i < l->count; i++)
        asked += l->asked[i].left > 0;
    for (int i = 0; i < l->count && left > 0; i++) {
        struct asked *one = &l->asked[i];
        uint8_t body[6];
        struct cursor c = cursor_writer(body, sizeof body);
        if (one->left == 0)
            continue;
        int share = (left + asked - 1) / asked;
        asked--;
        left -= share;
        cursor_put_u32(&c, one->behind);
        cursor_put_u16(&c, (uint16_t)(share < UINT16_MAX ? share : UINT16_MAX));
        one->request =
            request_begin(l->vm, l->question->kind, (uint32_t)one->host->index, body, sizeof body);
        if (one->request == NULL)
            error = request_refused(l->vm);
    }
    for (int i = 0; i < l->count; i++) {
        int own = l->asked[i].request == NULL ? COVEY_OK : answer_await(l, &l->asked[i]);
        error = error == COVEY_OK ? own : error;
    }
    return error;
}

static bool any_left(const struct look *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->asked[i].left > 0)
            return l->told < l->most;
    return false;
}

static int look_at_all(struct look *l)
{
    struct covey_task_stats *all = l->all;
    int n = hosts_ask(l->vm, &all->hosts), error = COVEY_OK;
    if (n < 0)
        return n;
    all->host_count = n;
    l->asked = calloc((size_t)n + 1, sizeof *l->asked);
    if (l->asked == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < n; i++) {
        if (all->hosts[i].state == COVEY_HOST_UP || all->hosts[i].state == COVEY_HOST_SUSPECT)
            l->asked[l->count++] = (struct asked){.host = &all->hosts[i], .left = 1};
    }
    while (error == COVEY_OK && any_left(l))
        error = round_ask(l);
    for (int i = 0; i < l->count; i++)
        all->left_out += (int32_t)(l->asked[i].behind == 0 ? 0 : l->asked[i].left);
    free(l->asked);
    return error;
}

int covey_task_stats(covey_t *vm, int64_t timeout_us, int most, struct covey_task_stats *all)
{
    if (vm == NULL || timeout_us < 0 || most < 1 || most > MOST_MAX || all == NULL)
        return error_set(COVEY_EINVAL, "task stats: NULL, bad timeout or bad number of tasks");
    struct covey_task_stats found = {0};
    struct look l = {.vm = vm,
                     .question = &figures,
                     .all = &found,
                     .most = most,
                     .deadline_us = clock_us() + (uint64_t)timeout_us};
    struct call call = call_begin(vm);
    int error = look_at_all(&l);
    if (error == COVEY_OK) {
        *all = found;
    } else {
        free(found.hosts);
        free(found.tasks);
        free(found.stats);
    }
    return call_end(vm, &call, error);
}

int covey_task_peers(covey_t *vm, int64_t timeout_us, int most, struct covey_task_peer **list)
{
    if (vm == NULL || timeout_us < 0 || most < 1 || most > MOST_MAX || list == NULL)
        return error_set(COVEY_EINVAL, "task peers: NULL, bad timeout or bad number of tasks");
    struct covey_task_stats hosts = {0};
    struct look l = {.vm = vm,
                     .question = &traffic,
                     .all = &hosts,
                     .most = most,
                     .deadline_us = clock_us() + (uint64_t)timeout_us};
    struct call call = call_begin(vm);
    int error = look_at_all(&l);
    free(hosts.hosts);
    if (error == COVEY_OK)
        *list = l.traffic;
    else
        free(l.traffic);
    return call_end(vm, &call, error == COVEY_OK ? l.traffic_count : error);
}
