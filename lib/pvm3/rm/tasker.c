/*
 * tasker.c - the tasker: a task that starts the others of its host, pvm_reg_tasker().
 *
 *   to the tasker:
 *     SM_STTASK tid flags program argc *argument envc *variable, not answered
 *   tasker to its daemon:
 *     SM_TASKX tid status 4times: it has ended, or could not be started
 *
 * The first is Covey's order, the second is told to Covey. The process becomes the task by the
 * variables of the order, to be added to the tasker's own; among them is PVM's PVMEPID.
 */
#include "lib/pvm3/rm/tasker.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/mailbox/plugin.h"
#include "lib/pvm3/message/inbox.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/wire.h"

/* ---- orders ---------------------------------------------------------------------------------- */

static int count_of(const char *const *list)
{
    int count = 0;
    while (list[count] != NULL)
        count++;
    return count;
}

static int pack_strings(struct buffer *b, const char *const *list)
{
    int error = PvmOk;
    for (; *list != NULL && error == PvmOk; list++)
        error = pack_string(b, *list);
    return error;
}

/* The flags of pvm_spawn(), 0 for a task that something else started. */
static int flags_of(const char *const *env)
{
    size_t size = strlen(TASKER_FLAGS "=");
    for (; *env != NULL; env++) {
        if (strncmp(*env, TASKER_FLAGS "=", size) == 0)
            return (int)strtol(*env + size, NULL, 0);
    }
    return 0;
}

static int pack_environment(struct buffer *b, const struct covey_start_order *o)
{
    char expected[32];
    int count = count_of(o->env) + 1;
    snprintf(expected, sizeof expected, "PVMEPID=%d", (int)o->tid);
    int error = pack_array(b, PVM_INT, &count, 1, 1);
    if (error == PvmOk)
        error = pack_string(b, expected);
    return error == PvmOk ? pack_strings(b, o->env) : error;
}

static int pack_order(struct buffer *b, const struct covey_start_order *o)
{
    const int head[2] = {o->tid, flags_of(o->env)};
    int count = count_of(o->argv), error = pack_array(b, PVM_INT, head, 2, 1);
    if (error == PvmOk)
        error = pack_string(b, o->program);
    if (error == PvmOk)
        error = pack_array(b, PVM_INT, &count, 1, 1);
    if (error == PvmOk)
        error = pack_strings(b, o->argv);
    return error == PvmOk ? pack_environment(b, o) : error;
}

static void order_deliver(const struct covey_start_order *o)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    if (b == NULL || pack_order(b, o) != PvmOk) {
        buffer_destroy(b);
        covey_order_ended(vm_handle(), o->tid, COVEY_EXIT_UNKNOWN, 0);
        return;
    }
    inbox_deliver_by_daemon(b, SM_STTASK, PvmBaseContext);
}

/* Only a daemon's words count. */
void tasker_on_order(covey_msg_t *msg)
{
    struct covey_info from;
    struct covey_start_order *order = NULL;
    covey_msg_info(msg, &from);
    if (!vm_is_daemon(from.source) || covey_unpack_order(msg, &order) != COVEY_OK)
        return;
    order_deliver(order);
    covey_free(order);
}

/* ---- ends ------------------------------------------------------------------------------------ */

bool tasker_serves(int tag)
{
    return tag == SM_TASKX && plugin_is_own(PLUGIN_TASKER);
}

int tasker_serve(struct buffer *b)
{
    int body[2];
    struct buffer *copy = wire_copy(b); /* what was packed stays to be sent again */
    int error = copy == NULL ? PvmNoMem : unpack_array(copy, PVM_INT, body, 2, 1);
    buffer_destroy(copy);
    if (error != PvmOk)
        return error;
    bool signalled = WIFSIGNALED(body[1]);
    return error_of(covey_order_ended(vm_handle(), body[0],
                                      signalled ? COVEY_EXIT_SIGNAL : COVEY_EXIT_STATUS,
                                      signalled ? WTERMSIG(body[1]) : WEXITSTATUS(body[1])));
}

/* ---- pvm_reg_tasker() ------------------------------------------------------------------------ */

int call_reg_tasker(void)
{
    int error = vm_enter() == NULL ? PvmSysErr : plugin_take(PLUGIN_TASKER);
    if (error == PvmOk)
        error = error_of(covey_tasker(vm_handle(), TASKER_TAG));
    return error_reported("pvm_reg_tasker", error);
}
