/*
 * tasks.c - tasks: which there are, whether one is alive, signals.
 */
#include <pvm3.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/rm/host.h"
#include "lib/pvm3/rm/rm.h"

#define FLAG_SPAWNED 2
#define FLAG_CONNECTED 4

/* ---- pvm_tasks() ---------------------------------------------------------------------------- */

static void task_describe(struct pvmtaskinfo *to, struct covey_task *from)
{
    /* The program alone of a command line. */
    char *command = from->command;
    command[strcspn(command, " ")] = '\0';
    to->ti_tid = from->tid;
    to->ti_ptid = from->parent;
    to->ti_host = vm_daemon_of(from->host);
    to->ti_flag = (from->parent != COVEY_NO_PARENT ? FLAG_SPAWNED : 0) |
                  (from->state == COVEY_TASK_RUNNING ? FLAG_CONNECTED : 0);
    to->ti_a_out = from->command;
    to->ti_pid = from->pid;
}

static bool host_exists(int tid)
{
    struct covey_host *hosts = NULL;
    bool found = false;
    int count = host_list(&hosts);
    for (int i = 0; i < count; i++)
        found |= vm_daemon_of(hosts[i].index) == tid;
    covey_free(hosts);
    return found;
}

/* The tasks of everywhere (0), of one host or the one task. */
static int tasks_ask(int where, struct covey_task **tasks)
{
    if (where != 0 && !vm_is_daemon(where) && !vm_is_task(where))
        return PvmNoHost;
    if (where != 0 && !host_exists(where & TID_HOST))
        return PvmNoHost;
    int count = covey_tasks(vm_handle(), covey_tid_host(where), tasks);
    if (count < 0)
        return error_of(count);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!vm_is_task(where) || (*tasks)[i].tid == where)
            (*tasks)[kept++] = (*tasks)[i];
    }
    return kept;
}

int call_tasks(int where, int *count, struct pvmtaskinfo **list)
{
    static struct pvmtaskinfo *infos; /* the program's until the next call */
    static struct covey_task *tasks;
    struct covey_task *now = NULL;
    if (vm_enter() != NULL && rm_tid() > 0) {
        return error_reported("pvm_tasks", rm_tasks(where, count, list));
    }
    int n = vm_enter() == NULL ? PvmSysErr : tasks_ask(where, &now);
    struct pvmtaskinfo *grown = n < 0 ? NULL : realloc(infos, ((size_t)n + 1) * sizeof *grown);
    if (grown == NULL) {
        covey_free(now);
        return lpvmerr("pvm_tasks", n < 0 ? n : PvmNoMem);
    }
    covey_free(tasks);
    tasks = now;
    infos = grown;
    for (int i = 0; i < n; i++)
        task_describe(&infos[i], &tasks[i]);
    call_give(count, n, PvmOk);
    if (list != NULL)
        *list = infos;
    return PvmOk;
}

int call_pstat(int tid)
{
    struct covey_task *tasks = NULL;
    if (!vm_is_task(tid))
        return lpvmerr("pvm_pstat", PvmBadParam);
    if (vm_enter() == NULL)
        return lpvmerr("pvm_pstat", PvmSysErr);
    int count = tasks_ask(tid, &tasks);
    covey_free(tasks);
    if (count == PvmNoHost || count == 0)
        return PvmNoTask;
    return count < 0 ? lpvmerr("pvm_pstat", count) : PvmOk;
}

/* ---- signals -------------------------------------------------------------------------------- */

/* A task that has ended does not mind; signal 0 only asks. */
static int send_signal(int tid, int number)
{
    if (!vm_is_task(tid))
        return PvmBadParam;
    if (vm_enter() == NULL)
        return PvmSysErr;
    int error = number == 0 ? COVEY_OK : covey_signal(vm_handle(), tid, number);
    bool nobody = error == COVEY_ENOTASK || error == COVEY_EINVAL || error == COVEY_EHOSTFAIL;
    return nobody ? PvmOk : error_of(error);
}

int call_sendsig(int tid, int number)
{
    return error_reported("pvm_sendsig", send_signal(tid, number));
}

int call_kill(int tid)
{
    return error_reported("pvm_kill", call_sendsig(tid, SIGTERM));
}
