/*
 * siblings.c - pvm_siblings(). Who spawns several tasks by pvm_spawn() sends them the list; of
 * tasks that were started by other means, as by covey run, Covey knows.
 */
#include "lib/pvm3/task/siblings.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/notify.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/send.h"

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

/* Of who started them by other means; when that one has ended nobody knows of others. */
static int siblings_ask(void)
{
    covey_tid_t *tids = NULL;
    int count = covey_siblings(vm_handle(), &tids);
    bool lost = count == COVEY_ENOTASK || count == COVEY_ENOENT || count == COVEY_EHOSTFAIL;
    int error = lost        ? siblings_set(&pvmmytid, 1)
                : count < 0 ? error_of(count)
                            : siblings_set(tids, count);
    covey_free(tids);
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
        return siblings_ask();
    return error < 0 ? error : PvmOk;
}

static int siblings_find(void)
{
    const char *together = getenv("PVMSIBS");
    if (covey_parent(vm_handle()) == COVEY_NO_PARENT || together == NULL)
        return siblings_ask();
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
