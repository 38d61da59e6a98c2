/*
 * The run of a benchmark: one task leads, the others serve it. They are tethered to this console,
 * so that its death ends them; a signal, or the failure of one, ends them here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/base/tid.h"
#include "tools/bench/bench.h"

#define TAG_EXIT COVEY_TAG_MAX /* of the notices */
#define BY_SIGNAL 128

/* ---- where ---- */

/* One task a host, unless their number is said. */
static bool everywhere(const struct bench *bench)
{
    return bench->plan.what == BENCH_BCAST || bench->plan.what == BENCH_COLLECTIVES ||
           bench->plan.what == BENCH_EXCHANGE || bench->plan.what == BENCH_ALLTOALL ||
           bench->plan.what == BENCH_RING || bench->plan.what == BENCH_PAIRS;
}

/* All other hosts that are up, as one text. */
static int choose_all(struct bench *bench, const struct covey_host *hosts, int n)
{
    size_t room = (size_t)n * sizeof hosts[0].name, used = 0;
    bench->host_text = malloc(room);
    if (!bench->host_text)
        return tool_error("bench", "memory is exhausted");
    for (int i = 0; i < n && bench->host_count < BENCH_HOSTS_MAX; i++) {
        if (hosts[i].state != COVEY_HOST_UP || strcmp(hosts[i].name, bench->hosts[0]) == 0)
            continue;
        bench->hosts[bench->host_count++] = bench->host_text + used;
        used += (size_t)snprintf(bench->host_text + used, room - used, "%s", hosts[i].name) + 1;
    }
    return TOOL_OK;
}

/* Without --host: this host, and another one after it, if there is one, where that makes sense. */
static int choose_hosts(struct bench *bench)
{
    struct covey_host *hosts;
    const char *own = covey_myhost(bench->tool->vm);
    const char *other = NULL;
    if (bench->host_count > 0)
        return TOOL_OK;
    int n = covey_hosts(bench->tool->vm, &hosts);
    if (n < 0)
        return tool_failed(bench->tool, "bench", n);
    if (everywhere(bench)) {
        bench->hosts[bench->host_count++] = own;
        int status = choose_all(bench, hosts, n);
        covey_free(hosts);
        return status;
    }
    bool wanted = covey_route_reach(bench->plan.route) & COVEY_REACH_OUTSIDE &&
                  bench->plan.what != BENCH_SPAWN;
    for (int i = 0; i < n && !other && wanted; i++) {
        if (hosts[i].state == COVEY_HOST_UP && strcmp(hosts[i].name, own) != 0)
            other = hosts[i].name;
    }
    bench->host_text = other ? strdup(other) : NULL;
    bench->hosts[bench->host_count++] = own;
    if (bench->host_text)
        bench->hosts[bench->host_count++] = bench->host_text;
    covey_free(hosts);
    return TOOL_OK;
}

/* ---- the tasks ---- */

int bench_spawn(struct tool *tool, const char *what, const struct covey_spawn *task,
                const char *host, covey_tid_t *tid)
{
    struct covey_spawn whole = *task;
    whole.hosts = (const char *const[]){host, NULL};
    whole.cwd = "/";
    whole.where = COVEY_WHERE_HOSTS;
    whole.output = COVEY_OUTPUT_SELF;
    whole.tether = 1;
    int started = covey_spawn(tool->vm, &whole, 1, tid);
    if (started < 0)
        return tool_failed(tool, what, started);
    return started ? TOOL_OK : tool_error(what, "host %s: %s", host, covey_error_text());
}

static int start_one(struct bench *bench, const char *program, int at)
{
    const struct covey_spawn task = {
        .argv = (const char *const[]){program, at == 0 ? "lead" : "peer", NULL}};
    int status = bench_spawn(bench->tool, "bench", &task, bench->hosts[at % bench->host_count],
                             &bench->tids[at]);
    bench->task_count += status == TOOL_OK;
    return status;
}

/* One that has ended by itself is no error. */
static void end_tasks(struct bench *bench)
{
    for (int i = 0; i < bench->task_count; i++)
        covey_kill(bench->tool->vm, bench->tids[i]);
}

static int start_tasks(struct bench *bench)
{
    char program[PROGRAM_PATH_BYTES];
    int status = program_find("bench", "covey-bench", program, sizeof program);
    int wanted = bench->plan.peer_count + 1;
    for (int i = 0; i < wanted && status == TOOL_OK; i++)
        status = start_one(bench, program, i);
    bench->alive = bench->task_count;
    if (bench->alive > 0) {
        int error = covey_notify(bench->tool->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, bench->tids,
                                 (size_t)bench->alive);
        if (error)
            return tool_failed(bench->tool, "bench", error);
    }
    for (int i = wanted - 1; i >= 0 && status == TOOL_OK; i--) {
        /* The leader's plan names the peers, theirs names the leader. */
        struct bench_plan plan = bench->plan;
        plan.peer_count = i == 0 ? bench->task_count - 1 : 1;
        for (int k = 0; k < plan.peer_count; k++)
            plan.peers[k] = bench->tids[i == 0 ? k + 1 : 0];
        covey_msg_t *msg = covey_msg_new();
        int error = msg ? bench_plan_pack(msg, &plan) : COVEY_ENOMEM;
        if (error == 0)
            error = covey_send(bench->tool->vm, bench->tids[i], BENCH_TAG_PLAN, msg);
        covey_msg_free(msg);
        status = error ? tool_failed(bench->tool, "bench", error) : TOOL_OK;
    }
    return status;
}

/* ---- what they say ---- */

static void fail_bench(struct bench *bench, const char *text)
{
    if (!bench->failed && bench->signals == 0 && !bench->quiet)
        tool_error("bench", "%s", text);
    bench->failed = true;
    end_tasks(bench);
}

static void on_message(struct bench *bench, covey_msg_t *msg)
{
    struct covey_info info;
    covey_msg_info(msg, &info);
    if (info.tag == BENCH_TAG_ROW) {
        if (bench->row_count != BENCH_ROWS_MAX) {
            struct bench_row *row = &bench->rows[bench->row_count];
            int error = bench_row_unpack(msg, row);
            if (error == 0) {
                bench->row_count++;
            } else {
                bench_row_free(row);
                fail_bench(bench, covey_strerror(error));
            }
        }
    } else if (info.tag == BENCH_TAG_FAILED) {
        char text[512];
        if (covey_unpack_string(msg, text, sizeof text) != 0)
            snprintf(text, sizeof text, "a task failed");
        fail_bench(bench, text);
    } else if (info.tag == BENCH_TAG_DONE) {
        bench->done = true;
    } else if (info.tag == COVEY_TAG_OUTPUT) {
        int stream;
        const char *text;
        size_t bytes;
        if (!bench->quiet && covey_unpack_output(msg, &stream, &text, &bytes) == 0)
            fprintf(stderr, "covey: bench: %.*s", (int)bytes, text);
    } else if (info.tag == TAG_EXIT) {
        struct covey_notice notice;
        if (covey_unpack_notice(msg, &notice) != 0 || notice.event != COVEY_NOTIFY_TASK_EXIT)
            return;
        bench->alive--;
        if (notice.exit_kind == COVEY_EXIT_STATUS && notice.value == 0)
            return;
        char tid[TID_TEXT_BYTES], text[160];
        tid_format(notice.tid, tid);
        snprintf(text, sizeof text, "task %s of it %s; see: covey hosts", tid,
                 notice.exit_kind == COVEY_EXIT_HOST ? "is lost with its host" : "ended too early");
        fail_bench(bench, text);
    }
}

static int follow_tasks(struct bench *bench)
{
    while (bench->alive > 0) {
        covey_msg_t *msg = NULL;
        int error = covey_recv(bench->tool->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, &msg);
        if (error)
            return tool_failed(bench->tool, "bench", error);
        on_message(bench, msg);
        covey_msg_free(msg);
    }
    if (bench->done && !bench->failed)
        return TOOL_OK;
    if (!bench->failed && bench->signals == 0 && !bench->quiet)
        tool_error("bench", "the tasks ended before they had measured");
    return TOOL_FAILED;
}

static void end_by_signal(void *context, int signal_number, int count)
{
    struct bench *bench = context;
    if (count > 2)
        _exit(BY_SIGNAL + signal_number);
    bench->signals = count;
    if (bench->known)
        end_tasks(bench);
}

int bench_run(struct bench *bench)
{
    struct interrupt *interrupt = interrupt_start(end_by_signal, bench);
    if (!interrupt)
        return tool_error("bench", "no thread can be started; free memory or processes");
    int status = tool_join(bench->tool, "bench");
    if (status == TOOL_OK) {
        status = choose_hosts(bench);
        /* The names as one text again, for the leader, which spawns on them. */
        char *hosts = bench->plan.hosts;
        size_t used = 0;
        for (int i = 0; i < bench->host_count && used < BENCH_HOSTS_BYTES; i++)
            used += (size_t)snprintf(hosts + used, BENCH_HOSTS_BYTES - used, "%s%s", i ? "," : "",
                                     bench->hosts[i]);
        if (bench->plan.tasks == 0)
            bench->plan.tasks = bench->host_count > 1 ? bench->host_count : 2;
        if (everywhere(bench))
            bench->plan.peer_count = bench->plan.tasks - 1;
        if (status == TOOL_OK)
            status = start_tasks(bench);
        bench->known = true;
        if (status != TOOL_OK || bench->signals)
            end_tasks(bench);
        bench->failed = status != TOOL_OK;
        int followed = bench->tool->vm ? follow_tasks(bench) : TOOL_FAILED;
        status = status == TOOL_OK ? followed : status;
    }
    int signal_number = interrupt_stop(&interrupt);
    return signal_number ? BY_SIGNAL + signal_number : status;
}
