/*
 * tasker.c - starting the tasks of a host in its daemon's place: orders come as messages that the
 * library makes, and what came of them is told to the daemon.
 */
#include "lib/spawn/tasker.h"
#include "lib/calls/notify.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/home.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"

#include <stdlib.h>
#include <string.h>

#define TASKER_US 10000000u

int covey_tasker(covey_t *vm, int tag)
{
    if (vm == NULL || tag > COVEY_TAG_MAX)
        return error_set(COVEY_EINVAL, "tasker: NULL or a bad tag %d", tag);
    const uint8_t on = tag >= 0;
    struct call call = call_begin(vm);
    if (on)
        tasker_of(vm)->tag = tag; /* an order may come right behind the answer */
    int error =
        request_call(vm, FRAME_TASKER, 0, &on, sizeof on, clock_us() + TASKER_US, NULL, NULL);
    return call_end(vm, &call, error);
}

/* ---- orders ---------------------------------------------------------------------------------- */

void tasker_on_order(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct covey_msg *msg = covey_msg_new();
    if (msg != NULL && covey_pack_bytes(msg, payload, frame->length) == COVEY_OK) {
        notify_deliver(vm, msg, frame->source, tasker_of(vm)->tag);
        return;
    }
    covey_msg_free(msg);
    home_lost(vm, COVEY_ENOMEM, "memory is exhausted: an order could not be taken");
}

/* An order as it came. */
struct parts {
    uint32_t tid;
    char program[CONTROL_TEXT_MAX];
    struct control_spawn head;
    struct control_string *argv, *env; /* views */
    size_t argc, envc;
};

static const char *string_copy(char **to, const char *bytes, size_t size)
{
    char *at = *to;
    memcpy(at, bytes, size);
    at[size] = '\0';
    *to += size + 1;
    return at;
}

static void copy_list(const char **list, char **to, const struct control_string *strings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        list[i] = string_copy(to, strings[i].bytes, strings[i].size);
    list[n] = NULL;
}

/* One block: the order, both lists, all strings, which are not longer than the payload. */
static struct covey_start_order *order_make(const struct parts *p, size_t payload)
{
    size_t pointers = p->argc + p->envc + 2, texts = payload + pointers + 2;
    struct covey_start_order *order = malloc(sizeof *order + pointers * sizeof(char *) + texts);
    if (order == NULL)
        return NULL;
    const char **list = (const char **)(order + 1);
    char *to = (char *)(list + pointers);
    *order = (struct covey_start_order){.tid = (covey_tid_t)p->tid,
                                        .parent = (covey_tid_t)p->head.parent,
                                        .program = string_copy(&to, p->program, strlen(p->program)),
                                        .cwd = string_copy(&to, p->head.cwd, strlen(p->head.cwd)),
                                        .argv = list,
                                        .env = list + p->argc + 1};
    copy_list(list, &to, p->argv, p->argc);
    copy_list(list + p->argc + 1, &to, p->env, p->envc);
    return order;
}

int covey_unpack_order(covey_msg_t *msg, struct covey_start_order **order)
{
    const void *bytes;
    size_t size = 0;
    if (msg == NULL || order == NULL)
        return error_set(COVEY_EINVAL, "order: NULL");
    int error = covey_unpack_view(msg, COVEY_BYTES, &bytes, &size);
    if (error != COVEY_OK)
        return error;
    struct cursor c = cursor_reader(bytes, size);
    struct parts *p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->tid = cursor_get_u32(&c);
        cursor_get_text(&c, p->program, sizeof p->program);
        control_get_spawn(&c, &p->head);
        p->argv = control_get_strings(&c, &p->argc);
        p->env = control_get_strings(&c, &p->envc);
        if (!cursor_done(&c) || p->argv == NULL || p->env == NULL)
            error = error_set(COVEY_EPROTO, "order: the message makes no sense");
    }
    struct covey_start_order *made = p == NULL || error != COVEY_OK ? NULL : order_make(p, size);
    if (p != NULL) {
        free(p->argv);
        free(p->env);
        free(p);
    }
    if (made == NULL)
        return error != COVEY_OK ? error : error_code(COVEY_ENOMEM);
    *order = made;
    return COVEY_OK;
}

/* ---- what came of them ----------------------------------------------------------------------- */

#define STARTED 0 /* in the place of an exit kind */

static int outcome_tell(covey_t *vm, covey_tid_t tid, int kind, int32_t value)
{
    uint8_t body[16];
    struct cursor c = cursor_writer(body, sizeof body);
    struct control_gone told = {.tid = (uint32_t)tid, .kind = (uint8_t)kind, .value = value};
    if (vm == NULL || tid <= 0 || tid_local((uint32_t)tid) == 0)
        return error_set(COVEY_EINVAL, "order: bad tid %d", (int)tid);
    control_put_gone(&c, &told);
    struct call call = call_begin(vm);
    int error = home_send(vm, FRAME_ORDER_TOLD, 0, body, (size_t)(c.at - body));
    return call_end(vm, &call, error);
}

int covey_order_started(covey_t *vm, covey_tid_t tid, int32_t pid)
{
    return pid < 1 ? error_set(COVEY_EINVAL, "order: bad pid %d", (int)pid)
                   : outcome_tell(vm, tid, STARTED, pid);
}

int covey_order_ended(covey_t *vm, covey_tid_t tid, int exit_kind, int32_t value)
{
    if (exit_kind != COVEY_EXIT_STATUS && exit_kind != COVEY_EXIT_SIGNAL &&
        exit_kind != COVEY_EXIT_UNKNOWN)
        return error_set(COVEY_EINVAL, "order: a task cannot end by kind %d", exit_kind);
    return outcome_tell(vm, tid, exit_kind, value);
}
