/*
 * The end of a task. A child ends in three steps: its process is reaped; what it had sent (its
 * stream) and written (its pipes) is read to the end; then GONE is sent and the task forgotten. A
 * grandchild may hold the pipes open: it is waited for LINGER_US, then its output is its own
 * affair. So whoever gets GONE has got everything before it.
 *
 * Of a task that another one started, the daemon may see that the process has ended; how, that
 * task says (tasker.c), if it does so within LINGER_US.
 */
#include "daemon/spawn/exit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "daemon/post/intake.h"
#include "daemon/post/watch.h"
#include "daemon/spawn/input.h"
#include "daemon/spawn/output.h"
#include "daemon/table/ending.h"
#include "lib/covey.h"

#define LINGER_US 1000000u
#define KILL_AFTER_US 3000000u
#define STATUS_UNSTARTED 127 /* as a shell's */

/* A child leads a process group. */
static bool has_group(const struct task *task)
{
    return task->cookie != 0 && task->handed == NULL;
}

static void exit_finish(struct task *task)
{
    struct daemon *d = task->daemon;
    if (task->end.killed && task->pid > 0 && has_group(task))
        kill(-task->pid, SIGKILL); /* what is left of its process group */
    log_line(&d->log, LOG_DEBUG, "t%x ended: kind %d value %d: %s", task->tid, task->end.kind,
             task->end.value, task->command);
    d->counters.tasks_ended++;
    output_tell_end(task);
    watch_announce(task);
    task_destroy(task);
    ending_task_gone(d);
}

void exit_check(struct task *task)
{
    if (task->end.reaped && task->output[0].fd < 0 && task->output[1].fd < 0)
        exit_finish(task);
}

static void on_linger(void *context)
{
    struct task *task = context;
    output_close(task);
    exit_finish(task);
}

static bool exit_soon(struct task *task, uint64_t delay_us)
{
    if (task->end.linger == NULL)
        task->end.linger = loop_timer_add(task->daemon->loop, on_linger, task);
    if (task->end.linger != NULL)
        loop_timer_start(task->end.linger, delay_us);
    return task->end.linger != NULL;
}

static void on_reaped(void *context, int status)
{
    struct task *task = context;
    task->end.child = NULL;
    task->end.reaped = true;
    task->end.kind = WIFSIGNALED(status) ? COVEY_EXIT_SIGNAL : COVEY_EXIT_STATUS;
    task->end.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    intake_drain(task);
    output_drain(task);
    if (!exit_soon(task, LINGER_US))
        output_close(task);
    exit_check(task);
}

int exit_watch(struct task *task)
{
    task->end.child = loop_child_add(task->daemon->loop, task->pid, on_reaped, task);
    return task->end.child == NULL ? -ENOMEM : 0;
}

/* A process that is not our child has left. */
static bool exit_task_closed(struct task *task)
{
    if (task->cookie != 0)
        return false;
    exit_finish(task);
    return true;
}

void exit_handed(struct task *task)
{
    task->end.reaped = true;
    intake_drain(task);
    if (!exit_soon(task, LINGER_US))
        exit_finish(task);
}

void exit_told(struct task *task, uint8_t kind, int32_t value)
{
    task->end.kind = kind;
    task->end.value = value;
    intake_drain(task);
    exit_finish(task);
}

void exit_unstarted(struct task *task)
{
    task->end.kind = COVEY_EXIT_STATUS;
    task->end.value = STATUS_UNSTARTED;
    exit_soon(task, 0);
}

/* ---- signals ---- */

int exit_signal(struct task *task, int number)
{
    if (task->pid <= 0)
        return -EPERM; /* enrolled from where this daemon cannot see its process */
    if (task->end.reaped && task->handed != NULL)
        return 0; /* its number may be another's by now */
    if (!has_group(task))
        return kill(task->pid, number) == 0 ? 0 : -errno;
    if (kill(-task->pid, number) == 0)
        return 0;
    return task->end.reaped ? 0 : -errno;
}

/* Ends what is left of it now. */
static void exit_kill(struct task *task)
{
    task->end.killed = true;
    if (exit_signal(task, SIGKILL) == -EPERM && task->handed != NULL) {
        task->end.kind = COVEY_EXIT_SIGNAL; /* nobody has said that it was started */
        task->end.value = SIGKILL;
        exit_soon(task, 0);
    }
}

static void on_kill(void *context)
{
    exit_kill(context);
}

void exit_end(struct task *task)
{
    if (task->end.killed)
        return;
    task->end.killed = true;
    exit_signal(task, SIGTERM);
    task->end.kill = loop_timer_add(task->daemon->loop, on_kill, task);
    if (task->end.kill == NULL)
        exit_kill(task);
    else
        loop_timer_start(task->end.kill, KILL_AFTER_US);
}

/* That it ends by these signals is no fault: its parent wants it, or has ended. */
void exit_dismiss(struct task *task)
{
    task->end.dismissed = true;
    exit_end(task);
}

/* ---- what ends with others, and with the daemon ---- */

/* What the end of a task means for those here that depend on it. A process that enrolled by itself
 * ends with its stream alone. */
static void exit_task_gone(struct daemon *d, const struct control_gone *gone,
                           const struct task *own)
{
    (void)own;
    for (struct task *task = d->tasks->first; task != NULL; task = task->next) {
        if (task->parent == gone->tid)
            input_end(task);
        if (task->tether && task->parent == gone->tid)
            exit_dismiss(task);
        if (task->sink == gone->tid)
            output_discard(task);
    }
}

static void exit_host_event(struct daemon *d, const struct host *host, int event)
{
    struct task *task = event == NODE_HOST_GONE ? d->tasks->first : NULL;
    for (; task != NULL; task = task->next) {
        if (tid_host(task->parent) == host->index)
            input_end(task);
        if (task->tether && tid_host(task->parent) == host->index)
            exit_dismiss(task);
        if (tid_host(task->sink) == host->index)
            output_discard(task);
    }
}

static void exit_ending(struct daemon *d, enum part_ending event, const char *text)
{
    (void)text;
    for (struct task *task = d->tasks->first; task != NULL; task = task->next) {
        if (task->cookie == 0)
            continue;
        if (event == PART_ENDING_BEGINS)
            exit_end(task);
        else
            exit_kill(task);
    }
}

const struct part exit_part = {.name = "exit",
                               .task_gone = exit_task_gone,
                               .task_closed = exit_task_closed,
                               .host_event = exit_host_event,
                               .ending = exit_ending};
