/*
 * calls.c - what programs call: each function tells the tracer of its arguments and of its results,
 * if there is one that wants to know, and in between calls what does the work.
 */
#include "lib/pvm3/core/calls.h"

#include "lib/pvm3/trace/trace.h"

/* ---- Tasks ----------------------------------------------------------------------------------- */

int pvm_mytid(void)
{
    TRACE_BEGIN(TEV_MYTID, TRACE_NOTHING);
    return trace_ended(TEV_MYTID, call_mytid());
}

int pvm_parent(void)
{
    TRACE_BEGIN(TEV_PARENT, TRACE_NOTHING);
    return trace_ended(TEV_PARENT, call_parent());
}

int pvm_kill(int tid)
{
    TRACE_BEGIN(TEV_KILL, tid);
    return trace_ended(TEV_KILL, call_kill(tid));
}

int pvm_sendsig(int tid, int signal_number)
{
    TRACE_BEGIN(TEV_SENDSIG, tid, signal_number);
    return trace_ended(TEV_SENDSIG, call_sendsig(tid, signal_number));
}

int pvm_pstat(int tid)
{
    TRACE_BEGIN(TEV_PSTAT, tid);
    return trace_ended(TEV_PSTAT, call_pstat(tid));
}

int pvm_exit(void)
{
    TRACE_BEGIN(TEV_EXIT, TRACE_NOTHING);
    int result = call_exit();
    pvmtrace_ends(TEV_EXIT); /* who has left says no more */
    return result;
}

int pvm_siblings(int **tids)
{
    TRACE_BEGIN(TEV_SIBLINGS, TRACE_NOTHING);
    int result = call_siblings(tids);
    TRACE_END(TEV_SIBLINGS, result, result > 0 ? *tids : NULL);
    return result;
}

int pvm_spawn(char *program, char **argv, int flags, char *where, int count, int *tids)
{
    TRACE_BEGIN(TEV_SPAWN, program, where, flags, count);
    int result = call_spawn(program, argv, flags, where, count, tids);
    TRACE_END(TEV_SPAWN, result, tids == NULL ? 0 : result, tids);
    return result;
}

int pvm_tasks(int where, int *count, struct pvmtaskinfo **tasks)
{
    int n = 0;
    TRACE_BEGIN(TEV_TASKS, where);
    int result = call_tasks(where, &n, tasks);
    TRACE_END(TEV_TASKS, result, n);
    call_give(count, n, result);
    return result;
}

int pvm_notify(int what, int tag, int count, int *tids)
{
    TRACE_BEGIN(TEV_NOTIFY, what, tag, (what & ~PvmNotifyCancel) == PvmHostAdd ? 0 : count, tids);
    return trace_ended(TEV_NOTIFY, call_notify(what, tag, count, tids));
}

/* ---- Hosts ----------------------------------------------------------------------------------- */

int pvm_config(int *hosts, int *formats, struct pvmhostinfo **list)
{
    int n = 0, f = 0;
    TRACE_BEGIN(TEV_CONFIG, TRACE_NOTHING);
    int result = call_config(&n, &f, list);
    TRACE_END(TEV_CONFIG, n, f, result);
    call_give(hosts, n, result);
    call_give(formats, f, result);
    return result;
}

int pvm_mstat(char *host)
{
    TRACE_BEGIN(TEV_MSTAT, host);
    return trace_ended(TEV_MSTAT, call_mstat(host));
}

int pvm_archcode(char *arch)
{
    TRACE_BEGIN(TEV_ARCHCODE, arch);
    return trace_ended(TEV_ARCHCODE, call_archcode(arch));
}

int pvm_addhosts(char **names, int count, int *infos)
{
    TRACE_BEGIN(TEV_ADDHOSTS, count, names);
    return trace_ended(TEV_ADDHOSTS, call_addhosts(names, count, infos));
}

int pvm_delhosts(char **names, int count, int *infos)
{
    TRACE_BEGIN(TEV_DELHOSTS, count, names);
    return trace_ended(TEV_DELHOSTS, call_delhosts(names, count, infos));
}

int pvm_start_pvmd(int argc, char **argv, int block)
{
    TRACE_BEGIN(TEV_START_PVMD, block, argc, argv);
    return trace_ended(TEV_START_PVMD, call_start_pvmd(argc, argv, block));
}

int pvm_halt(void)
{
    TRACE_BEGIN(TEV_HALT, TRACE_NOTHING);
    int result = call_halt();
    pvmtrace_ends(TEV_HALT); /* to nobody: all have ended */
    return result;
}

int pvm_tickle(int count, int *numbers, int *result_count, int *results)
{
    int n = 0;
    TRACE_BEGIN(TEV_TICKLE, count, numbers);
    int result = call_tickle(count, numbers, &n, results);
    TRACE_END(TEV_TICKLE, result, n, results);
    call_give(result_count, n, result);
    return result;
}

/* ---- Options --------------------------------------------------------------------------------- */

int pvm_setopt(int what, int value)
{
    TRACE_BEGIN(TEV_SETOPT, what, value);
    return trace_ended(TEV_SETOPT, call_setopt(what, value));
}

int pvm_getopt(int what)
{
    TRACE_BEGIN(TEV_GETOPT, what);
    return trace_ended(TEV_GETOPT, call_getopt(what));
}

/* ---- Contexts and message handlers ----------------------------------------------------------- */

int pvm_newcontext(void)
{
    TRACE_BEGIN(TEV_NEWCONTEXT, TRACE_NOTHING);
    return trace_ended(TEV_NEWCONTEXT, call_newcontext());
}

int pvm_setcontext(int context)
{
    TRACE_BEGIN(TEV_SETCONTEXT, context);
    return trace_ended(TEV_SETCONTEXT, call_setcontext(context));
}

int pvm_getcontext(void)
{
    TRACE_BEGIN(TEV_GETCONTEXT, TRACE_NOTHING);
    return trace_ended(TEV_GETCONTEXT, call_getcontext());
}

int pvm_freecontext(int context)
{
    TRACE_BEGIN(TEV_FREECONTEXT, context);
    return trace_ended(TEV_FREECONTEXT, call_freecontext(context));
}

int pvm_addmhf(int tid, int tag, int context, int (*handler)(int bufid))
{
    TRACE_BEGIN(TEV_ADDMHF, tid, tag, context);
    return trace_ended(TEV_ADDMHF, call_addmhf(tid, tag, context, handler));
}

int pvm_delmhf(int number)
{
    TRACE_BEGIN(TEV_DELMHF, number);
    return trace_ended(TEV_DELMHF, call_delmhf(number));
}

/* ---- Mailboxes ------------------------------------------------------------------------------- */

/* The index that is asked for; -1: none. */
static int index_of(int flags)
{
    unsigned index = PvmMboxDirectIndexOf((unsigned)flags);
    return index == 0 ? -1 : (int)index;
}

int pvm_putinfo(char *name, int bufid, int flags)
{
    TRACE_BEGIN(TEV_PUTINFO, name, index_of(flags), flags, bufid);
    return trace_ended(TEV_PUTINFO, call_putinfo(name, bufid, flags));
}

int pvm_recvinfo(char *name, int index, int flags)
{
    TRACE_BEGIN(TEV_GETINFO, name, index, flags);
    int result = call_recvinfo(name, index, flags);
    TRACE_END(TEV_GETINFO, result < 0 ? result : PvmOk, result);
    return result;
}

int pvm_delinfo(char *name, int index, int flags)
{
    TRACE_BEGIN(TEV_DELINFO, name, index, flags);
    return trace_ended(TEV_DELINFO, call_delinfo(name, index, flags));
}

int pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **boxes)
{
    TRACE_BEGIN(TEV_GETMBOXINFO, pattern);
    return trace_ended(TEV_GETMBOXINFO, call_getmboxinfo(pattern, count, boxes));
}

int pvm_insert(char *name, int index, int value)
{
    TRACE_BEGIN(TEV_INSERT, name, index, value);
    return trace_ended(TEV_INSERT, call_insert(name, index, value));
}

int pvm_lookup(char *name, int index, int *value)
{
    TRACE_BEGIN(TEV_LOOKUP, name, index);
    return trace_ended(TEV_LOOKUP, call_lookup(name, index, value));
}

int pvm_delete(char *name, int index)
{
    TRACE_BEGIN(TEV_DELETE, name, index);
    return trace_ended(TEV_DELETE, call_delete(name, index));
}

/* ---- Tasks that take over work of the daemons ------------------------------------------------ */

int pvm_reg_rm(struct pvmhostinfo **host)
{
    TRACE_BEGIN(TEV_REG_RM, TRACE_NOTHING);
    return trace_ended(TEV_REG_RM, call_reg_rm(host));
}

int pvm_reg_hoster(void)
{
    TRACE_BEGIN(TEV_REG_HOSTER, TRACE_NOTHING);
    return trace_ended(TEV_REG_HOSTER, call_reg_hoster());
}

int pvm_reg_tasker(void)
{
    TRACE_BEGIN(TEV_REG_TASKER, TRACE_NOTHING);
    return trace_ended(TEV_REG_TASKER, call_reg_tasker());
}

int pvm_reg_tracer(int trace_context, int trace_tag, int output_context, int output_tag, char *mask,
                   int buffer, int options)
{
    TRACE_BEGIN(TEV_REG_TRACER, trace_context, trace_tag, output_context, output_tag, mask, buffer,
                options);
    return trace_ended(TEV_REG_TRACER, call_reg_tracer(trace_context, trace_tag, output_context,
                                                       output_tag, mask, buffer, options));
}
