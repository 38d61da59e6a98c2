/*
 * crew.c - the coordinator's side of a run: it spawns the tasks, sends each its job, counts what
 * they say, and reads the notices of their ends. A task that ends too early gives the whole run up
 * with one line, for nobody should wait for a result that cannot come.
 */
#include "apps/crew.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_US 250000            /* how often the progress line moves */
#define NEWS_US (5 * 1000000)     /* after a failure: wait so long for a notice that tells more */
#define RELEASE_US (10 * 1000000) /* released tasks end within this time */

int crew_error(const char *doing, int error)
{
    const char *text = covey_error_text();
    warnx("%s: %s", doing, text[0] != '\0' ? text : covey_strerror(error));
    return -1;
}

static int out_of_memory(void)
{
    warnx("out of memory");
    return -1;
}

/* The first task that could not be started names the reason; the others' is mostly the same. */
static int spawn_failure(const struct crew *crew, const char *program)
{
    for (int i = 0; i < crew->count; i++) {
        if (crew->tids[i] > 0)
            continue;
        warnx("cannot start task %d of %d on %s: %s (%s)", i + 1, crew->count, crew->hosts[i],
              covey_strerror(crew->tids[i]), program);
        return -1;
    }
    return -1;
}

static int spawn_tasks(struct crew *crew, const struct crew_plan *plan)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        warn("cannot read /proc/self/exe");
        return -1;
    }
    program[length] = '\0';
    const char *const argv[] = {program, "--worker", NULL};
    const char *const env[] = {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", NULL};
    const struct covey_spawn what = {.argv = argv,
                                     .env = env,
                                     .cwd = "/",
                                     .hosts = plan->hosts,
                                     .where = COVEY_WHERE_HOSTS,
                                     .output = COVEY_OUTPUT_SELF,
                                     .route = plan->route,
                                     .tether = 1};
    int started = covey_spawn(crew->vm, &what, crew->count, crew->tids);
    if (started < 0)
        return crew_error("cannot start the tasks", started);
    return started == crew->count ? 0 : spawn_failure(crew, program);
}

int crew_spawn(struct crew *crew, covey_t *vm, const struct crew_plan *plan)
{
    *crew = (struct crew){.vm = vm,
                          .count = plan->count,
                          .hosts = plan->hosts,
                          .sequential = plan->sequential,
                          .tolerant = plan->tolerant};
    crew->tids = calloc((size_t)plan->count, sizeof *crew->tids);
    crew->ended = calloc((size_t)plan->count, sizeof *crew->ended);
    crew->early = calloc((size_t)plan->count, sizeof *crew->early);
    if (crew->tids == NULL || crew->ended == NULL || crew->early == NULL)
        return out_of_memory();
    progress_begin(&crew->progress, plan->title);
    if (spawn_tasks(crew, plan) < 0)
        return -1;
    int error =
        covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, CREW_EXIT, crew->tids, (size_t)crew->count);
    return error < 0 ? crew_error("cannot watch the tasks", error) : 0;
}

static int send_job(struct crew *crew, int rank, crew_pack pack, const void *context)
{
    covey_msg_t *msg = covey_msg_new();
    if (msg == NULL)
        return COVEY_ENOMEM;
    const int32_t head[] = {rank, crew->count, crew->sequential, crew->progress.enabled};
    int error = covey_pack_int32(msg, head, 4, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, crew->tids, (size_t)crew->count, 1);
    if (error >= 0)
        error = pack(msg, context);
    if (error >= 0)
        error = covey_send(crew->vm, crew->tids[rank], CREW_JOB, msg);
    covey_msg_free(msg);
    return error;
}

/* ---- What tasks say ----------------------------------------------------------------------- */

static void print_output(struct crew *crew, covey_msg_t *msg)
{
    int stream;
    const char *text;
    size_t bytes;
    if (covey_unpack_output(msg, &stream, &text, &bytes) < 0)
        return;
    progress_end(&crew->progress);
    fwrite(text, 1, bytes, stream == 1 ? stdout : stderr);
}

/* ---- Ends of tasks ----------------------------------------------------------------------- */

int crew_rank(const struct crew *crew, covey_tid_t tid)
{
    for (int i = 0; i < crew->count; i++)
        if (crew->tids[i] == tid)
            return i;
    return -1;
}

static bool is_bereft(const struct covey_notice *notice)
{
    return notice->exit_kind == COVEY_EXIT_STATUS && notice->value == CREW_STATUS_BEREFT;
}

static void describe_end(const struct covey_notice *notice, char *text, size_t capacity)
{
    switch (notice->exit_kind) {
    case COVEY_EXIT_STATUS:
        snprintf(text, capacity, "ended with status %d", notice->value);
        break;
    case COVEY_EXIT_SIGNAL:
        snprintf(text, capacity, "was killed by signal %d (%s)", notice->value,
                 strsignal(notice->value));
        break;
    case COVEY_EXIT_HOST:
        snprintf(text, capacity, "is lost with its host");
        break;
    default:
        snprintf(text, capacity, "left the virtual machine");
    }
}

/* Reads a notice and books the end. */
static int take_notice(struct crew *crew, covey_msg_t *msg, struct covey_notice *notice)
{
    int error = covey_unpack_notice(msg, notice);
    if (error < 0)
        return crew_error("cannot read a notice", error);
    int rank = crew_rank(crew, notice->tid);
    if (rank >= 0 && !crew->ended[rank]) {
        crew->ended[rank] = true;
        crew->ended_count++;
    }
    return 0;
}

/* When one task dies the others soon end too; the one that was first to blame is reported. */
static void find_culprit(struct crew *crew, struct covey_notice *worst)
{
    covey_msg_t *msg = NULL;
    while (is_bereft(worst) && crew->ended_count < crew->count &&
           covey_recv(crew->vm, COVEY_ANY_TASK, CREW_EXIT, NEWS_US, &msg) == 0) {
        struct covey_notice notice;
        if (take_notice(crew, msg, &notice) == 0 && !is_bereft(&notice))
            *worst = notice;
        covey_msg_free(msg);
    }
}

static int report_end(struct crew *crew, const struct covey_notice *first)
{
    struct covey_notice notice = *first;
    find_culprit(crew, &notice);
    char text[128];
    describe_end(&notice, text, sizeof text);
    int rank = crew_rank(crew, notice.tid);
    /* A task that failed has said why before it ended. */
    covey_msg_t *msg = NULL;
    while (covey_recv(crew->vm, COVEY_ANY_TASK, COVEY_TAG_OUTPUT, COVEY_POLL, &msg) == 0) {
        print_output(crew, msg);
        covey_msg_free(msg);
    }
    progress_end(&crew->progress);
    warnx("task %d of %d on %s %s; the run is given up", rank + 1, crew->count,
          rank < 0 ? "?" : crew->hosts[rank], text);
    return -1;
}

/* Its work is done by the others, if there are any. */
static int mourn(struct crew *crew, const struct covey_notice *notice)
{
    char text[128];
    int rank = crew_rank(crew, notice->tid);
    if (!crew->tolerant || crew->ended_count == crew->count)
        return report_end(crew, notice);
    describe_end(notice, text, sizeof text);
    progress_end(&crew->progress);
    warnx("task %d of %d on %s %s; the others do its work", rank + 1, crew->count,
          rank < 0 ? "?" : crew->hosts[rank], text);
    return 0;
}

static bool is_gone(int error)
{
    return error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL;
}

/* A call that names a task failed because it ended: the notice says how. */
int crew_fail(struct crew *crew, const char *doing, int error)
{
    char cause[256];
    snprintf(cause, sizeof cause, "%s", covey_error_text());
    covey_msg_t *msg = NULL;
    struct covey_notice notice;
    if (is_gone(error) && covey_recv(crew->vm, COVEY_ANY_TASK, CREW_EXIT, NEWS_US, &msg) == 0) {
        int result = take_notice(crew, msg, &notice);
        covey_msg_free(msg);
        return result < 0 ? -1 : report_end(crew, &notice);
    }
    progress_end(&crew->progress);
    warnx("%s: %s", doing, cause[0] != '\0' ? cause : covey_strerror(error));
    return -1;
}

/* ---- Messages ---------------------------------------------------------------------------- */

int crew_send_job(struct crew *crew, crew_pack pack, const void *context)
{
    for (int rank = 0; rank < crew->count; rank++) {
        int error = send_job(crew, rank, pack, context);
        if (error < 0 && !(crew->tolerant && is_gone(error)))
            return crew_fail(crew, "cannot send the tasks their job", error);
    }
    return 0;
}

int crew_tell(struct crew *crew, int tag)
{
    covey_msg_t *msg = covey_msg_new();
    covey_tid_t *tids = calloc((size_t)crew->count, sizeof *tids);
    size_t count = 0;
    for (int rank = 0; tids != NULL && rank < crew->count; rank++)
        if (!crew->ended[rank])
            tids[count++] = crew->tids[rank];
    if (msg == NULL || tids == NULL) {
        covey_msg_free(msg);
        free(tids);
        return out_of_memory();
    }
    int error = covey_mcast(crew->vm, tids, count, tag, msg);
    covey_msg_free(msg);
    free(tids);
    bool fine = error >= 0 || ((crew->tolerant || crew->released) && is_gone(error));
    return fine ? 0 : crew_fail(crew, "cannot send to the tasks", error);
}

int crew_ask(struct crew *crew, int rank, int tag)
{
    int error = covey_send_array(crew->vm, crew->tids[rank], tag, COVEY_INT32, NULL, 0);
    return error < 0 ? crew_fail(crew, "cannot send to a task", error) : 0;
}

static int on_notice(struct crew *crew, covey_msg_t *msg)
{
    struct covey_notice notice;
    if (take_notice(crew, msg, &notice) < 0)
        return -1;
    return crew->released ? 0 : mourn(crew, &notice);
}

static int on_progress(struct crew *crew, covey_msg_t *msg)
{
    double fraction;
    if (covey_unpack_double(msg, &fraction, 1, 1) == 0)
        progress_show(&crew->progress, fraction);
    return 0;
}

/* What the crew itself treats, or its server; sets *taken when the message was for it. */
static int intercept(struct crew *crew, covey_msg_t *msg, const struct covey_info *info,
                     bool *taken)
{
    *taken = true;
    switch (info->tag) {
    case CREW_EXIT:
        return on_notice(crew, msg);
    case CREW_PROGRESS:
        return on_progress(crew, msg);
    case COVEY_TAG_OUTPUT:
        print_output(crew, msg);
        return 0;
    default:
        *taken = false;
        return crew->serve != NULL ? crew->serve(crew, msg, info, taken) : 0;
    }
}

int crew_step(struct crew *crew, int64_t timeout_us, covey_msg_t **msg, struct covey_info *info)
{
    bool ticks = crew->progress.enabled && (timeout_us < 0 || timeout_us > TICK_US);
    int error =
        covey_recv(crew->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, ticks ? TICK_US : timeout_us, msg);
    if (error == COVEY_ETIMEOUT) {
        progress_show(&crew->progress, -1);
        return 0;
    }
    if (error < 0)
        return crew_fail(crew, "cannot receive from the tasks", error);
    bool taken;
    covey_msg_info(*msg, info);
    int result = intercept(crew, *msg, info, &taken);
    if (!taken)
        return 1;
    covey_msg_free(*msg);
    *msg = NULL;
    return result < 0 ? -1 : 0;
}

int crew_next(struct crew *crew, covey_msg_t **msg, struct covey_info *info)
{
    int got = 0;
    while (got == 0)
        got = crew_step(crew, COVEY_FOREVER, msg, info);
    return got < 0 ? -1 : 0;
}

/* What every task is to send, while it is gathered. */
struct gathering {
    int tag;
    crew_handler handler;
    void *context;
    bool *came; /* by rank */
};

static bool gather_misses(const struct crew *crew, const struct gathering *g)
{
    for (int rank = 0; rank < crew->count; rank++)
        if (!g->came[rank] && !crew->ended[rank])
            return true;
    return false;
}

static int gather_one(struct crew *crew, const struct gathering *g, const struct covey_info *info,
                      covey_msg_t *msg)
{
    int rank = crew_rank(crew, info->source);
    if (rank < 0 || info->tag != g->tag || g->came[rank]) {
        warnx("unexpected message with tag %d of task %d", info->tag, info->source);
        return -1;
    }
    g->came[rank] = true;
    return g->handler != NULL ? g->handler(g->context, rank, msg) : 0;
}

bool crew_keep(struct crew *crew, covey_msg_t *msg, const struct covey_info *info)
{
    int rank = crew_rank(crew, info->source);
    if (info->tag != CREW_DONE || rank < 0 || crew->early[rank] != NULL)
        return false;
    crew->early[rank] = msg;
    return true;
}

static int gather_early(struct crew *crew, const struct gathering *g)
{
    int result = 0;
    for (int rank = 0; rank < crew->count && result == 0; rank++) {
        struct covey_info info;
        covey_msg_t *msg = crew->early[rank];
        crew->early[rank] = NULL;
        if (msg == NULL)
            continue;
        covey_msg_info(msg, &info);
        result = gather_one(crew, g, &info, msg);
        covey_msg_free(msg);
    }
    return result;
}

int crew_gather(struct crew *crew, int tag, crew_handler handler, void *context)
{
    struct gathering g = {tag, handler, context, calloc((size_t)crew->count, sizeof *g.came)};
    int result = g.came == NULL ? out_of_memory() : gather_early(crew, &g);
    while (result == 0 && gather_misses(crew, &g)) {
        covey_msg_t *msg = NULL;
        struct covey_info info;
        int got = crew_step(crew, COVEY_FOREVER, &msg, &info);
        result = got > 0 ? gather_one(crew, &g, &info, msg) : got;
        covey_msg_free(msg);
    }
    free(g.came);
    return result;
}

int crew_receive_array(struct crew *crew, int rank, int type, void *base, size_t count)
{
    size_t received = 0;
    int error = covey_recv_array(crew->vm, crew->tids[rank], CREW_RESULT, COVEY_FOREVER, type, base,
                                 count, &received, NULL);
    if (error < 0)
        return crew_fail(crew, "cannot receive a result", error);
    if (received == count)
        return 0;
    warnx("task %d sent %zu elements of a result, not %zu", rank + 1, received, count);
    return -1;
}

int crew_collect_solution(struct crew *crew, struct crew_solution *solution)
{
    if (crew_tell(crew, CREW_COLLECT) < 0 ||
        crew_receive_array(crew, 0, COVEY_DOUBLE, solution->figures, CREW_FIGURES) < 0 ||
        crew_receive_array(crew, 0, COVEY_BYTES, solution->algorithm, sizeof solution->algorithm) <
            0 ||
        crew_receive_array(crew, 0, COVEY_BYTES, solution->table, sizeof solution->table) < 0)
        return -1;
    solution->algorithm[sizeof solution->algorithm - 1] = '\0';
    solution->table[sizeof solution->table - 1] = '\0';
    return 0;
}

int crew_release(struct crew *crew)
{
    crew->released = true;
    if (crew_tell(crew, CREW_STOP) < 0)
        return -1;
    while (crew->ended_count < crew->count) {
        covey_msg_t *msg = NULL;
        struct covey_notice notice;
        int error = covey_recv(crew->vm, COVEY_ANY_TASK, CREW_EXIT, RELEASE_US, &msg);
        if (error < 0)
            return crew_error("the tasks do not end", error);
        int result = take_notice(crew, msg, &notice);
        covey_msg_free(msg);
        if (result < 0)
            return -1;
    }
    progress_end(&crew->progress);
    return 0;
}

void crew_dismiss(struct crew *crew)
{
    for (int i = 0; crew->ended != NULL && i < crew->count; i++)
        if (!crew->ended[i] && crew->tids[i] > 0)
            covey_kill(crew->vm, crew->tids[i]);
    for (int i = 0; crew->early != NULL && i < crew->count; i++)
        covey_msg_free(crew->early[i]);
    progress_end(&crew->progress);
    free(crew->tids);
    free(crew->ended);
    free(crew->early);
    *crew = (struct crew){0};
}
