/*
 * work.c - what the tasks of this host do, and to whom they send: the requests TASK_STAT and
 * TRAFFIC.
 *
 * A task counts on a page that it shares with this daemon (lib/link/task_page.h), and the kernel
 * knows what its process uses. Both are looked at when somebody asks, and nothing is done or kept
 * in between. One answer has ROWS_MAX tasks at most, so that the daemon is back at its messages
 * soon; the asker says behind which tid the next one begins, and may want fewer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/daemon.h"
#include "daemon/monitor/procfs.h"
#include "daemon/monitor/ps.h"
#include "daemon/post/reply.h"
#include "daemon/table/task.h"
#include "lib/covey.h"
#include "lib/link/task_page.h"
#include "lib/msg/clock.h"
#include "proto/model/task_figure.h"
#include "proto/model/traffic.h"

#define ROWS_MAX 128
#define TEXT_BYTES 1024

_Static_assert(TASK_PAGE_CALL == TASK_FIGURE_CALL + 1 && TASK_PAGE_NAME == TASK_FIGURE_NAME + 1,
               "what a page says fits into a row");
_Static_assert(TASK_PAGE_PEERS == TRAFFIC_PEERS, "all peers of a page fit into a row");

/* ---- one task ---- */

static void look_at_process(const struct daemon *d, pid_t pid, double *values)
{
    char path[CONF_PROCFS_MAX + 32], text[TEXT_BYTES];
    uint64_t ticks, pages;
    snprintf(path, sizeof path, "%s/%d/stat", d->conf.monitor.procfs, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (!procfs_process(text, &ticks, &pages))
        return;
    values[TASK_FIGURE_cpu_s] = (double)ticks / (double)sysconf(_SC_CLK_TCK);
    values[TASK_FIGURE_memory_bytes] = (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void look_at_page(const struct task_page *page, uint64_t now_us, struct task_figures *f)
{
    struct task_page_look look;
    double *v = f->values;
    task_page_read(page, now_us, &look);
    v[TASK_FIGURE_elapsed_s] = (double)look.elapsed_us / 1e6;
    v[TASK_FIGURE_idle_s] = (double)look.idle_us / 1e6;
    v[TASK_FIGURE_communication_s] = (double)look.communication_us / 1e6;
    v[TASK_FIGURE_sent] = (double)look.sent;
    v[TASK_FIGURE_sent_bytes] = (double)look.sent_bytes;
    v[TASK_FIGURE_received] = (double)look.received;
    v[TASK_FIGURE_received_bytes] = (double)look.received_bytes;
    f->waits = (uint8_t)look.kind;
    if (look.kind == COVEY_WAITS_NOT)
        return;
    v[TASK_FIGURE_waits_s] = (double)look.wait_us / 1e6;
    f->peer = look.peer;
    f->tag = look.tag;
    memcpy(f->call, look.call, sizeof f->call);
    memcpy(f->name, look.name, sizeof f->name);
}

static void look_at_task(const struct task *task, struct task_figures *f)
{
    uint64_t now_us = clock_us();
    task_figures_init(f);
    f->task = (struct control_task){.tid = task->tid,
                                    .parent = task->parent,
                                    .sink = task->sink,
                                    .pid = task->pid,
                                    .state = task_state(task)};
    memcpy(f->task.command, task->command, sizeof f->task.command);
    f->values[TASK_FIGURE_at_s] = (double)now_us / 1e6;
    if (task->end.reaped)
        return; /* its pid may be another's by now */
    look_at_process(task->daemon, task->pid, f->values);
    if (task->way.page != NULL && task->way.stream != NULL)
        look_at_page(task->way.page, now_us, f);
    f->values[TASK_FIGURE_age_s] = f->values[TASK_FIGURE_elapsed_s];
    if (task->times.started_us != 0 && task->times.started_us <= now_us)
        f->values[TASK_FIGURE_age_s] = (double)(now_us - task->times.started_us) / 1e6;
}

static void look_at_peers(const struct task *task, struct traffic *t)
{
    struct task_page_peer peer;
    t->tid = task->tid;
    t->count = 0;
    if (task->end.reaped || task->way.page == NULL || task->way.stream == NULL)
        return;
    for (int i = 0; i < TASK_PAGE_PEERS; i++)
        if (task_page_read_peer(task->way.page, i, &peer))
            t->peers[t->count++] = (struct traffic_peer){peer.tid, peer.sent, peer.bytes};
}

/* ---- the answers ---- */

static int compare_tids(const void *a, const void *b)
{
    const struct task *const *x = a, *const *y = b;
    return ((*x)->tid > (*y)->tid) - ((*x)->tid < (*y)->tid);
}

/* Those behind a tid, in order; the array is the caller's to free. NULL: memory is exhausted. */
static const struct task **tasks_behind(const struct daemon *d, uint32_t tid, size_t *count)
{
    const struct task **list = calloc(d->tasks->count + 1, sizeof(struct task *));
    *count = 0;
    for (const struct task *t = d->tasks->first; list != NULL && t != NULL; t = t->next)
        if (t->tid > tid && !ps_hides(t))
            list[(*count)++] = t;
    if (list != NULL)
        qsort(list, *count, sizeof *list, compare_tids);
    return list;
}

static void add_figures(struct reply *reply, const struct task *task)
{
    struct task_figures f;
    look_at_task(task, &f);
    struct cursor c = reply_room(reply, TASK_FIGURES_BYTES_MAX);
    task_figures_put(&c, &f);
    reply_add(reply, &c);
}

static void add_traffic(struct reply *reply, const struct task *task)
{
    struct traffic t;
    look_at_peers(task, &t);
    struct cursor c = reply_room(reply, TRAFFIC_BYTES_MAX);
    traffic_put(&c, &t);
    reply_add(reply, &c);
}

static const char *answer(struct daemon *d, uint32_t source, struct cursor *payload,
                          void add(struct reply *, const struct task *))
{
    uint32_t request = cursor_get_u32(payload), behind = cursor_get_u32(payload);
    size_t most = cursor_get_u16(payload), count;
    if (!cursor_done(payload))
        return "bad payload";
    const struct task **list = tasks_behind(d, behind, &count);
    if (list == NULL) {
        reply_error(d, source, request, COVEY_ENOMEM, "the daemon's memory is exhausted");
        return NULL;
    }
    size_t rows = most < ROWS_MAX ? most : ROWS_MAX;
    rows = count < rows ? count : rows;
    struct reply reply;
    reply_begin(&reply, d, source, request);
    struct cursor c = reply_room(&reply, 4);
    cursor_put_u32(&c, (uint32_t)(count - rows));
    reply_add(&reply, &c);
    for (size_t i = 0; i < rows; i++)
        add(&reply, list[i]);
    reply_send(&reply, 0);
    free(list);
    return NULL;
}

static const char *work_on_task_stat(struct daemon *d, uint32_t source, struct cursor *payload)
{
    return answer(d, source, payload, add_figures);
}

static const char *work_on_traffic(struct daemon *d, uint32_t source, struct cursor *payload)
{
    return answer(d, source, payload, add_traffic);
}

const struct part work_part = {
    .name = "work",
    .kinds = (const struct part_kind[]){
        {FRAME_TASK_STAT, work_on_task_stat, true}, {FRAME_TRAFFIC, work_on_traffic, true}, {0}}};
