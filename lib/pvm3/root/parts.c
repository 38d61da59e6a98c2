/*
 * parts.c - the table of the subjects that stand above membership and messages (core/part.h).
 *
 * The order counts: the tracer hears of a message before the resource manager, the trace ends
 * before the output is waited for, the resource manager hears of an end before the tracer, and what
 * a plugin holds is given up last.
 */
#include "lib/pvm3/core/part.h"

#include "lib/pvm3/mailbox/mailbox.h"
#include "lib/pvm3/mailbox/plugin.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/rm/rm.h"
#include "lib/pvm3/rm/tasker.h"
#include "lib/pvm3/task/siblings.h"
#include "lib/pvm3/trace/output.h"
#include "lib/pvm3/trace/trace.h"
#include "lib/pvm3/trace/tracer.h"

/* A task that pvm_spawn() did not start asks who it has to do with. */
static void plugins_start(bool spawned)
{
    struct plugins plugins = {0};
    if (!spawned)
        plugin_look(&plugins);
    tracer_start(spawned, plugins.tid[PLUGIN_TRACER]);
    rm_start(spawned, plugins.tid[PLUGIN_RM]);
}

static void output_on_task_end(int tid, int status)
{
    (void)status;
    output_on_end(tid);
}

static int tasker_serve_daemon(struct buffer *b, int daemon, int tag)
{
    (void)daemon, (void)tag;
    return tasker_serve(b);
}

static const struct part table[] = {
    {.name = "inbox", .clear = inbox_clear},
    {.name = "notices", .clear = notify_clear},
    {.name = "siblings", .take = siblings_take, .clear = siblings_clear},
    {.name = "trace",
     .leave = trace_stop,
     .enter_program = trace_enter_program,
     .leave_program = trace_leave_program},
    {.name = "output",
     .leave = output_wait,
     .on_end = output_on_task_end,
     .covey_tag = COVEY_TAG_OUTPUT,
     .on_covey_message = output_on_text},
    {.name = "tracer", .on_message = tracer_on_message, .take = tracer_take, .clear = tracer_clear},
    {.name = "output of others", .take = output_take},
    {.name = "mailboxes", .leave = mailbox_leave},
    {.name = "resource manager",
     .on_message = rm_on_message,
     .on_end = rm_on_end,
     .on_host_gone = rm_on_host_gone,
     .serves = rm_serves,
     .serve = rm_serve,
     .manager = rm_tid,
     .tell_manager = rm_tell,
     .clear = rm_clear},
    {.name = "tracer, of ends", .on_end = tracer_on_end},
    {.name = "tasker",
     .covey_tag = TASKER_TAG,
     .on_covey_message = tasker_on_order,
     .serves = tasker_serves,
     .serve = tasker_serve_daemon},
    {.name = "plugins", .start = plugins_start, .clear = plugin_clear},
    {.name = NULL},
};

__attribute__((constructor)) static void parts_place(void)
{
    parts = table;
}
