/*
 * covey run: a parallel program as a shell command.
 *
 * The tasks' output comes as messages to this console, and a notice for each task after all of
 * its output. What they start writes here, too: when every task has its notice, those of their
 * descendants that are there are waited for in the same way, until none is found any more. How each
 * of all these ended is told behind its output, and those that did not end well are named, unless
 * their own parents have ended them; but the status of descendants is their parents' affair:
 * programs that survive the death of their workers succeed. One thread waits for messages, another
 * (interrupt.h) for signals; they share `signals` and `spawned`, and the tids, which do not change
 * once `spawned` is set. The tasks are tethered: should this process die, the daemon ends them.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/command.h"
#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/base/tid.h"
#include "tools/list/table.h"
#include "tools/run/descendants.h"
#include "tools/run/inlet.h"
#include "tools/run/outlet.h"
#include "tools/run/run_line.h"
#include "tools/run/run_trace.h"

#define TAG_EXIT COVEY_TAG_MAX /* of the notices */
#define TAG_ADOPTED (COVEY_TAG_MAX - 1)
#define TAG_OUTPUT_END (COVEY_TAG_MAX - 2)

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, BY_SIGNAL = 128 };

struct run {
    struct tool *tool;
    struct run_line line;
    struct covey_place *places; /* whose names the line may use; NULL: nobody asked */
    covey_tid_t *tids;          /* a negative one is an error code */
    int count;
    int alive; /* of those whose ends were asked for */
    int worst; /* the worst exit status so far */
    struct outlet outlet;
    struct inlet *inlet; /* standard input on its way to the first task, or NULL */
    int output_lost;     /* 0, or the exit status for it: nothing more can be written */
    atomic_bool spawned; /* tids are set */
    atomic_int signals;  /* how many came */
};

/* ---- The tasks' ends and errors ----------------------------------------------------------- */

static void worsen(struct run *run, int status)
{
    if (status > run->worst)
        run->worst = status;
}

static int status_of_error(int error)
{
    return error == COVEY_ENOENT ? NOT_FOUND : error == COVEY_EEXEC ? NOT_EXECUTABLE : TOOL_FAILED;
}

static int count_error(const struct run *run, int from, int error)
{
    int count = 0;
    for (int i = from; i < run->count; i++)
        count += run->tids[i] == error;
    return count;
}

/* Whether an earlier task met the same error. */
static bool seen_before(const struct run *run, int at)
{
    for (int i = 0; i < at; i++) {
        if (run->tids[i] == run->tids[at])
            return true;
    }
    return false;
}

/* The error's text; the exact cause, which the library tells for the last task that could not be
 * started, where all such tasks met the same error. */
static const char *cause_of(const struct run *run, int error, const char *last_cause)
{
    static const char prefix[] = "spawn: ";
    for (int i = 0; i < run->count; i++) {
        if (run->tids[i] < 0 && run->tids[i] != error)
            return covey_strerror(error);
    }
    bool prefixed = strncmp(last_cause, prefix, sizeof prefix - 1) == 0;
    return prefixed ? last_cause + sizeof prefix - 1 : last_cause;
}

/* Each kind of error once, with the number of tasks it hit. */
static void report_unstarted(struct run *run, const char *last_cause)
{
    for (int i = 0; i < run->count; i++) {
        int error = run->tids[i];
        if (error > 0 || seen_before(run, i))
            continue;
        char advice[PROGRAM_PATH_BYTES + 32];
        size_t size = sizeof advice;
        char meant[PROGRAM_PATH_BYTES];
        bool missing = error == COVEY_ENOENT || error == COVEY_EEXEC;
        if (error == COVEY_ENOENT && program_guess(run->line.what.argv[0], meant, sizeof meant))
            snprintf(advice, size, "did you mean %s?", meant);
        else
            snprintf(advice, size,
                     missing ? "it must be there and executable on each host" : "see: covey hosts");
        tool_error("run", "%d of %d tasks could not start: %s; %s", count_error(run, i, error),
                   run->count, cause_of(run, error, last_cause), advice);
        worsen(run, status_of_error(error));
    }
}

/* The name of a host, which is in the table even when it is down; "number N" if it is not. */
static void name_host(struct run *run, int index, char *name, size_t size)
{
    struct covey_host *hosts = NULL;
    int count = covey_hosts(run->tool->vm, &hosts);
    snprintf(name, size, "number %d", index);
    for (int i = 0; i < count; i++) {
        if (hosts[i].index == index)
            snprintf(name, size, "%s", hosts[i].name);
    }
    covey_free(hosts);
}

/* Of an end that was not a good one, and that nobody asked for. The exit status of a task that is
 * alone is ours, as with a command of the shell, and says enough. */
static void report_end(const struct run *run, const struct covey_end *end)
{
    bool alone = run->count == 1 && end->notice.tid == run->tids[0];
    char tid[TID_TEXT_BYTES], program[sizeof end->command];
    int value = end->notice.value;
    tid_format(end->notice.tid, tid);
    snprintf(program, sizeof program, "%.*s", (int)strcspn(end->command, " "), end->command);
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    if (end->notice.exit_kind == COVEY_EXIT_SIGNAL)
        tool_error("run", "task %s (%s) on %s was killed by signal %d (%s)", tid, name,
                   end->host_name, value, strsignal(value));
    else if (end->notice.exit_kind == COVEY_EXIT_STATUS && value != 0 && !alone)
        tool_error("run", "task %s (%s) on %s ended with status %d", tid, name, end->host_name,
                   value);
}

static int status_of_end(const struct covey_notice *notice)
{
    switch (notice->exit_kind) {
    case COVEY_EXIT_STATUS:
        return notice->value;
    case COVEY_EXIT_SIGNAL:
        return BY_SIGNAL + notice->value;
    default:
        return TOOL_FAILED;
    }
}

/* ---- The run ------------------------------------------------------------------------------ */

/* Tasks that have ended meanwhile are no error. */
static void kill_tasks(struct run *run, bool hard)
{
    for (int i = 0; i < run->count; i++) {
        if (run->tids[i] <= 0)
            continue;
        if (hard)
            covey_signal(run->tool->vm, run->tids[i], SIGKILL);
        else
            covey_kill(run->tool->vm, run->tids[i]);
    }
    if (!run->line.alone)
        descendants_end(run->tool->vm, hard);
}

/* Tasks get SIGTERM first, SIGKILL by the second signal; the third one gives up waiting, and
 * the daemon ends what is tethered to this process. */
static void kill_by_signal(void *context, int signal_number, int count)
{
    struct run *run = context;
    if (count > 2)
        _exit(BY_SIGNAL + signal_number);
    run->signals = count;
    if (run->spawned)
        kill_tasks(run, count > 1);
}

/* Makes tids the started tasks first, and asks for their ends. */
static int watch_tasks(struct run *run)
{
    covey_tid_t *started = calloc((size_t)run->count + 1, sizeof *started);
    if (!started)
        return COVEY_ENOMEM;
    for (int i = 0; i < run->count; i++) {
        if (run->tids[i] > 0)
            started[run->alive++] = run->tids[i];
    }
    int error = 0;
    if (run->alive)
        error = covey_notify(run->tool->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, started,
                             (size_t)run->alive);
    free(started);
    return error;
}

/* Says on standard error where the tasks go. */
static int explain_places(const struct covey_place *places, int count)
{
    static const char *const headings[] = {"HOST", ">TASKS", "WHY", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < count; i++)
        TABLE_ROW(table, places[i].name, CELL("%d", (int)places[i].tasks), places[i].why);
    int failed = table_print(table, stderr);
    table_destroy(table);
    return failed ? COVEY_ENOMEM : 0;
}

/* What was chosen holds when they are started next. */
static int place_tasks(struct run *run)
{
    int count = 0;
    if (run->line.automatic)
        count = covey_place_idle(run->tool->vm, &run->line.what, &run->places);
    else if (run->line.explain)
        count = covey_place(run->tool->vm, &run->line.what, run->line.n, &run->places);
    if (count < 0)
        return count;
    if (run->line.automatic && !run_line_spread(&run->line, run->places, count))
        return COVEY_ENOMEM;
    return run->line.explain ? explain_places(run->places, count) : 0;
}

static int spawn_tasks(struct run *run)
{
    int error = place_tasks(run);
    int count = error < 0 ? error : covey_spawn_count(run->tool->vm, &run->line.what, run->line.n);
    if (count < 0)
        return count;
    run->tids = calloc((size_t)count + 1, sizeof *run->tids);
    if (!run->tids)
        return COVEY_ENOMEM;
    run->count = count;
    error = covey_notify(run->tool->vm, COVEY_NOTIFY_OUTPUT_END, TAG_OUTPUT_END, NULL, 0);
    if (error < 0)
        return error;
    int started = covey_spawn(run->tool->vm, &run->line.what, run->line.n, run->tids);
    if (started < 0)
        return started;
    char *cause = strdup(covey_error_text());
    /* A signal that came while the tasks were being started takes effect now. */
    run->spawned = true;
    if (run->signals)
        kill_tasks(run, run->signals > 1);
    report_unstarted(run, cause ? cause : "memory is exhausted");
    free(cause);
    if (run->line.what.input && run->tids[0] > 0)
        run->inlet = inlet_start(run->tool->vm, run->tids[0]);
    return watch_tasks(run);
}

static void lose_output(struct run *run, int error)
{
    run->output_lost = error == EPIPE ? BY_SIGNAL + SIGPIPE : TOOL_FAILED;
    if (error != EPIPE)
        tool_error("run", "output could not be written: %s; its tasks are ended", strerror(error));
    kill_tasks(run, false);
}

static void on_output(struct run *run, covey_msg_t *msg, const struct covey_info *info)
{
    int stream;
    const char *text;
    size_t bytes;
    if (run->output_lost || covey_unpack_output(msg, &stream, &text, &bytes) < 0)
        return;
    int error = outlet_write(&run->outlet, stream, info->source, text, bytes);
    if (error)
        lose_output(run, error);
}

static void end_output(struct run *run, covey_tid_t tid)
{
    int error = run->output_lost ? 0 : outlet_end(&run->outlet, tid);
    if (error)
        lose_output(run, error);
}

static void on_notice(struct run *run, covey_msg_t *msg, int tag)
{
    struct covey_notice notice;
    if (covey_unpack_notice(msg, &notice) < 0 || notice.event != COVEY_NOTIFY_TASK_EXIT)
        return;
    end_output(run, notice.tid);
    run->alive--;
    if (tag == TAG_ADOPTED)
        return;
    worsen(run, status_of_end(&notice));
    /* Of an end that its daemon cannot tell, or does not know. */
    char tid[TID_TEXT_BYTES];
    tid_format(notice.tid, tid);
    if (notice.exit_kind == COVEY_EXIT_HOST) {
        char host[64];
        name_host(run, notice.host, host, sizeof host);
        tool_error("run", "task %s is lost: its host %s died or was cut off; see: covey hosts", tid,
                   host);
    }
    if (notice.exit_kind == COVEY_EXIT_UNKNOWN)
        tool_error("run", "task %s left and its exit status is not known", tid);
}

/* Of every task whose output comes here, descendants included. */
static void on_output_end(struct run *run, covey_msg_t *msg)
{
    struct covey_end end;
    if (covey_unpack_end(msg, &end) < 0)
        return;
    end_output(run, end.notice.tid);
    bool ours = end.parent == covey_mytid(run->tool->vm) || !run->line.alone;
    bool known = end.notice.exit_kind != COVEY_EXIT_UNKNOWN;
    if (end.asked || run->signals || run->output_lost || !ours || !known)
        return;
    if (run->line.strict)
        worsen(run, status_of_end(&end.notice));
    report_end(run, &end);
}

/* Messages that a task sent to the console by itself are taken and dropped. */
static int take_message(struct run *run, int64_t timeout_us)
{
    covey_msg_t *msg = NULL;
    struct covey_info info;
    int error = covey_recv(run->tool->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, timeout_us, &msg);
    if (error < 0)
        return error;
    covey_msg_info(msg, &info);
    if (info.tag == COVEY_TAG_OUTPUT)
        on_output(run, msg, &info);
    else if (info.tag == TAG_EXIT || info.tag == TAG_ADOPTED)
        on_notice(run, msg, info.tag);
    else if (info.tag == TAG_OUTPUT_END)
        on_output_end(run, msg);
    covey_msg_free(msg);
    return 0;
}

/* ---- Descendants -------------------------------------------------------------------------- */

/* Asks for the ends of the descendants that are there. What the others wrote is here before the
 * answer that they are gone, in the queue. */
static int adopt_descendants(struct run *run)
{
    covey_tid_t *tids = NULL;
    int count = descendants_find(run->tool->vm, &tids);
    if (count > 0 && (run->signals || run->output_lost))
        descendants_end(run->tool->vm, run->signals > 1);
    int error = count > 0 ? covey_notify(run->tool->vm, COVEY_NOTIFY_TASK_EXIT, TAG_ADOPTED, tids,
                                         (size_t)count)
                          : count;
    run->alive += error == 0 && count > 0 ? count : 0;
    covey_free(tids);
    return error;
}

/* Hosts are asked side by side, not at one instant: a task may start another on a host that has
 * answered and end before its own is asked. So all are asked again. */
static int adopt_all(struct run *run)
{
    int error = adopt_descendants(run);
    if (error == 0 && run->alive == 0)
        error = adopt_descendants(run);
    return error;
}

static int follow_tasks(struct run *run)
{
    int error = 0;
    while (error == 0 && run->alive > 0) {
        error = take_message(run, COVEY_FOREVER);
        if (error == 0 && run->alive == 0 && !run->line.alone)
            error = adopt_all(run);
    }
    while (error == 0)
        error = take_message(run, COVEY_POLL);
    return error == COVEY_ETIMEOUT ? 0 : error;
}

/* A reader of standard output that goes away shows as EPIPE, not as our death. */
static int run_tasks(struct run *run)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    fflush(stdout);
    sigaction(SIGPIPE, &ignore, &before);
    int error = spawn_tasks(run);
    if (error == 0)
        error = follow_tasks(run);
    inlet_stop(&run->inlet);
    int unwritten = run->output_lost ? 0 : outlet_end_all(&run->outlet);
    if (unwritten)
        lose_output(run, unwritten);
    sigaction(SIGPIPE, &before, NULL);
    return error;
}

static int execute(struct run *run)
{
    struct interrupt *interrupt = interrupt_start(kill_by_signal, run);
    if (!interrupt)
        return tool_error("run", "no thread can be started; free memory or processes");
    struct run_trace trace = {0};
    int status = tool_join(run->tool, "run");
    if (status == TOOL_OK)
        status = run_trace_begin(&trace, run->tool, &run->line);
    int error = status == TOOL_OK ? run_tasks(run) : 0;
    worsen(run, run_trace_end(&trace));
    int signal_number = interrupt_stop(&interrupt);
    if (signal_number) {
        /* The terminal has shown ^C: what follows begins on a line of its own. */
        if (signal_number == SIGINT && isatty(STDERR_FILENO))
            fputc('\n', stderr);
        return BY_SIGNAL + signal_number;
    }
    if (error < 0) {
        tool_failed(run->tool, "run", error);
        worsen(run, status_of_error(error));
    }
    worsen(run, status);
    return run->output_lost ? run->output_lost : run->worst;
}

static int run_command(struct tool *tool, int argc, char **argv)
{
    struct run run = {
        .tool = tool,
        .line = {.what = {.output = COVEY_OUTPUT_SELF, .tether = 1, .input = !tool->reads_lines}}};
    int status = run_line_read(&run.line, argc, argv);
    run.outlet.tagged = run.line.tagged;
    if (status == TOOL_OK)
        status = execute(&run);
    run_line_fini(&run.line);
    covey_free(run.places);
    free(run.tids);
    outlet_fini(&run.outlet);
    return status;
}

const struct command cmd_run = {
    .name = "run",
    .run = run_command,
    .usage =
        "[-n N|auto] [--host HOST,...] [--each] [--route ROUTE] [--env NAME[=VALUE]]... "
        "[--in IMAGE] [--cwd DIR] [--tag-output] [--no-input] [--no-descendants] [--strict] [--memory BYTES] "
        "[--traffic TID:BYTES] [--explain] [--trace FILE] [--summary] PROG [ARG...]",
    .help = "run a program as tasks; its exit status is the worst of theirs",
    .options = run_line_options,
    .operand = "PROG",
};
