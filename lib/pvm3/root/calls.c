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
    int result = call_mytid();
    TRACE_END(TEV_MYTID, result);
    return result;
}

int pvm_parent(void)
{
    TRACE_BEGIN(TEV_PARENT, TRACE_NOTHING);
    int result = call_parent();
    TRACE_END(TEV_PARENT, result);
    return result;
}

int pvm_kill(int tid)
{
    TRACE_BEGIN(TEV_KILL, tid);
    int result = call_kill(tid);
    TRACE_END(TEV_KILL, result);
    return result;
}

int pvm_sendsig(int tid, int signal_number)
{
    TRACE_BEGIN(TEV_SENDSIG, tid, signal_number);
    int result = call_sendsig(tid, signal_number);
    TRACE_END(TEV_SENDSIG, result);
    return result;
}

int pvm_pstat(int tid)
{
    TRACE_BEGIN(TEV_PSTAT, tid);
    int result = call_pstat(tid);
    TRACE_END(TEV_PSTAT, result);
    return result;
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
    if (count != NULL && result == PvmOk)
        *count = n;
    return result;
}

int pvm_notify(int what, int tag, int count, int *tids)
{
    TRACE_BEGIN(TEV_NOTIFY, what, tag, (what & ~PvmNotifyCancel) == PvmHostAdd ? 0 : count, tids);
    int result = call_notify(what, tag, count, tids);
    TRACE_END(TEV_NOTIFY, result);
    return result;
}

/* ---- Hosts ----------------------------------------------------------------------------------- */

int pvm_config(int *hosts, int *formats, struct pvmhostinfo **list)
{
    int n = 0, f = 0;
    TRACE_BEGIN(TEV_CONFIG, TRACE_NOTHING);
    int result = call_config(&n, &f, list);
    TRACE_END(TEV_CONFIG, n, f, result);
    if (hosts != NULL && result == PvmOk)
        *hosts = n;
    if (formats != NULL && result == PvmOk)
        *formats = f;
    return result;
}

int pvm_mstat(char *host)
{
    TRACE_BEGIN(TEV_MSTAT, host);
    int result = call_mstat(host);
    TRACE_END(TEV_MSTAT, result);
    return result;
}

int pvm_archcode(char *arch)
{
    TRACE_BEGIN(TEV_ARCHCODE, arch);
    int result = call_archcode(arch);
    TRACE_END(TEV_ARCHCODE, result);
    return result;
}

int pvm_addhosts(char **names, int count, int *infos)
{
    TRACE_BEGIN(TEV_ADDHOSTS, count, names);
    int result = call_addhosts(names, count, infos);
    TRACE_END(TEV_ADDHOSTS, result);
    return result;
}

int pvm_delhosts(char **names, int count, int *infos)
{
    TRACE_BEGIN(TEV_DELHOSTS, count, names);
    int result = call_delhosts(names, count, infos);
    TRACE_END(TEV_DELHOSTS, result);
    return result;
}

int pvm_start_pvmd(int argc, char **argv, int block)
{
    TRACE_BEGIN(TEV_START_PVMD, block, argc, argv);
    int result = call_start_pvmd(argc, argv, block);
    TRACE_END(TEV_START_PVMD, result);
    return result;
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
    if (result_count != NULL && result == PvmOk)
        *result_count = n;
    return result;
}

/* ---- Options --------------------------------------------------------------------------------- */

int pvm_setopt(int what, int value)
{
    TRACE_BEGIN(TEV_SETOPT, what, value);
    int result = call_setopt(what, value);
    TRACE_END(TEV_SETOPT, result);
    return result;
}

int pvm_getopt(int what)
{
    TRACE_BEGIN(TEV_GETOPT, what);
    int result = call_getopt(what);
    TRACE_END(TEV_GETOPT, result);
    return result;
}

/* ---- Contexts and message handlers ----------------------------------------------------------- */

int pvm_newcontext(void)
{
    TRACE_BEGIN(TEV_NEWCONTEXT, TRACE_NOTHING);
    int result = call_newcontext();
    TRACE_END(TEV_NEWCONTEXT, result);
    return result;
}

int pvm_setcontext(int context)
{
    TRACE_BEGIN(TEV_SETCONTEXT, context);
    int result = call_setcontext(context);
    TRACE_END(TEV_SETCONTEXT, result);
    return result;
}

int pvm_getcontext(void)
{
    TRACE_BEGIN(TEV_GETCONTEXT, TRACE_NOTHING);
    int result = call_getcontext();
    TRACE_END(TEV_GETCONTEXT, result);
    return result;
}

int pvm_freecontext(int context)
{
    TRACE_BEGIN(TEV_FREECONTEXT, context);
    int result = call_freecontext(context);
    TRACE_END(TEV_FREECONTEXT, result);
    return result;
}

int pvm_addmhf(int tid, int tag, int context, int (*handler)(int bufid))
{
    TRACE_BEGIN(TEV_ADDMHF, tid, tag, context);
    int result = call_addmhf(tid, tag, context, handler);
    TRACE_END(TEV_ADDMHF, result);
    return result;
}

int pvm_delmhf(int number)
{
    TRACE_BEGIN(TEV_DELMHF, number);
    int result = call_delmhf(number);
    TRACE_END(TEV_DELMHF, result);
    return result;
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
    int result = call_putinfo(name, bufid, flags);
    TRACE_END(TEV_PUTINFO, result);
    return result;
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
    int result = call_delinfo(name, index, flags);
    TRACE_END(TEV_DELINFO, result);
    return result;
}

int pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **boxes)
{
    TRACE_BEGIN(TEV_GETMBOXINFO, pattern);
    int result = call_getmboxinfo(pattern, count, boxes);
    TRACE_END(TEV_GETMBOXINFO, result);
    return result;
}

int pvm_insert(char *name, int index, int value)
{
    TRACE_BEGIN(TEV_INSERT, name, index, value);
    int result = call_insert(name, index, value);
    TRACE_END(TEV_INSERT, result);
    return result;
}

int pvm_lookup(char *name, int index, int *value)
{
    TRACE_BEGIN(TEV_LOOKUP, name, index);
    int result = call_lookup(name, index, value);
    TRACE_END(TEV_LOOKUP, result);
    return result;
}

int pvm_delete(char *name, int index)
{
    TRACE_BEGIN(TEV_DELETE, name, index);
    int result = call_delete(name, index);
    TRACE_END(TEV_DELETE, result);
    return result;
}

/* ---- Tasks that take over work of the daemons ------------------------------------------------ */

int pvm_reg_rm(struct pvmhostinfo **host)
{
    TRACE_BEGIN(TEV_REG_RM, TRACE_NOTHING);
    int result = call_reg_rm(host);
    TRACE_END(TEV_REG_RM, result);
    return result;
}

int pvm_reg_hoster(void)
{
    TRACE_BEGIN(TEV_REG_HOSTER, TRACE_NOTHING);
    int result = call_reg_hoster();
    TRACE_END(TEV_REG_HOSTER, result);
    return result;
}

int pvm_reg_tasker(void)
{
    TRACE_BEGIN(TEV_REG_TASKER, TRACE_NOTHING);
    int result = call_reg_tasker();
    TRACE_END(TEV_REG_TASKER, result);
    return result;
}

int pvm_reg_tracer(int trace_context, int trace_tag, int output_context, int output_tag, char *mask,
                   int buffer, int options)
{
    TRACE_BEGIN(TEV_REG_TRACER, trace_context, trace_tag, output_context, output_tag, mask, buffer,
                options);
    int result = call_reg_tracer(trace_context, trace_tag, output_context, output_tag, mask, buffer,
                                 options);
    TRACE_END(TEV_REG_TRACER, result);
    return result;
}
