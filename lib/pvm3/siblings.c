/*
 * siblings.c - pvm_siblings(). Who spawns several tasks sends them the list. Programs that covey
 * run started have no such parent: theirs are the tasks with the same parent and the same command.
 */
#include "lib/pvm3/siblings.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/abi.h"
#include "lib/pvm3/calls.h"
#include "lib/pvm3/error.h"
#include "lib/pvm3/notify.h"
#include "lib/pvm3/pack.h"
#include "lib/pvm3/send.h"
#include "lib/pvm3/vm.h"

static int *siblings;
static int sibling_count;

void siblings_clear(void)
{
    free(siblings);
    siblings = NULL;
    sibling_count = 0;
}

static int siblings_set(const int *tids, int count)
{
    int *list = malloc((size_t)count * sizeof *list);
    if (list == NULL)
        return PvmNoMem;
    memcpy(list, tids, (size_t)count * sizeof *list);
    free(siblings);
    siblings = list;
    sibling_count = count;
    return PvmOk;
}

void siblings_tell(int *tids, int count)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int error = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, &count, 1, 1);
    if (error == PvmOk)
        error = pack_array(b, PVM_INT, tids, count, 1);
    if (error == PvmOk)
        send_system(b, tids, count, TC_SIBLINGS);
    buffer_destroy(b);
}

static int siblings_read(struct buffer *b)
{
    int count;
    int error = unpack_array(b, PVM_INT, &count, 1, 1);
    if (error != PvmOk || count < 1 || (size_t)count * 4 > body_left(&b->body))
        return PvmBadMsg;
    int *list = malloc((size_t)count * sizeof *list);
    if (list == NULL)
        return PvmNoMem;
    error = unpack_array(b, PVM_INT, list, count, 1);
    if (error == PvmOk)
        error = siblings_set(list, count);
    free(list);
    return error;
}

bool siblings_take(struct buffer *b)
{
    if (b->info.ctx != SYSCTX_TC || b->info.tag != TC_SIBLINGS)
        return false;
    if (vm_is_spawner(b->info.src)) /* nobody else knows them */
        siblings_read(b);
    buffer_destroy(b);
    return true;
}

/* ---- without news from the parent ------------------------------------------------------------ */

static int is_sibling(const struct covey_task *task, const struct covey_task *own)
{
    return task->parent == own->parent && strcmp(task->command, own->command) == 0;
}

static const struct covey_task *own_entry(const struct covey_task *tasks, int count)
{
    for (int i = 0; i < count; i++) {
        if (tasks[i].tid == pvmmytid)
            return &tasks[i];
    }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int siblings_choose(const struct covey_task *tasks, int count)
{
    const struct covey_task *own = own_entry(tasks, count);
    int *tids = calloc((size_t)count + 1, sizeof *tids);
    int n = 0;
    if (tids == NULL)
        return PvmNoMem;
    for (int i = 0; i < count && own != NULL && own->parent != COVEY_NO_PARENT; i++) {
        if (is_sibling(&tasks[i], own))
            tids[n++] = tasks[i].tid;
    }
    if (n == 0)
        tids[n++] = pvmmytid;
    qsort(tids, (size_t)n, sizeof *tids, by_number);
    int error = siblings_set(tids, n);
    free(tids);
    return error;
}

static int siblings_guess(void)
{
    struct covey_task *tasks = NULL;
    int count = covey_tasks(vm_handle(), 0, &tasks);
    int error = count < 0 ? error_of(count) : siblings_choose(tasks, count);
    covey_free(tasks);
    return error;
}

/* ---- pvm_siblings() -------------------------------------------------------------------------- */

/* The parent may have ended before it could send the list. */
static int siblings_await(void)
{
    int parent = covey_parent(vm_handle());
    int error = PvmOk;
    while (sibling_count == 0 && error >= 0)
        error = notify_await(parent);
    if (error == PvmNoTask || error == PvmHostFail)
        return siblings_guess();
    return error < 0 ? error : PvmOk;
}

static int siblings_find(void)
{
    const char *together = getenv("PVMSIBS");
    if (covey_parent(vm_handle()) == COVEY_NO_PARENT || together == NULL)
        return siblings_guess();
    return strcmp(together, "1") == 0 ? siblings_set(&pvmmytid, 1) : siblings_await();
}

int call_siblings(int **tids)
{
    if (tids == NULL || vm_enter() == NULL)
        return lpvmerr("pvm_siblings", tids == NULL ? PvmBadParam : PvmSysErr);
    int error = sibling_count > 0 ? PvmOk : siblings_find();
    if (error != PvmOk)
        return lpvmerr("pvm_siblings", error);
    *tids = siblings;
    return sibling_count;
}
