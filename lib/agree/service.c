/*
 * service.c - what the task asks of the state that the VM's daemons agree on
 * (proto/wire/command.h): a command or a question to the own daemon, which finds out whom to ask
 * and asks again when that one is gone.
 *
 * A command whose time runs out is given up with CANCEL, which also gives back what it may have
 * been given meanwhile: so nobody holds what he was told he does not have. Commands that do not
 * wait for other tasks are given SERVICE_US: longer than the daemons need to find a new leader, or
 * to find out that there cannot be one, which ends them and with them the call.
 */
#include "lib/agree/service.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/home.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"
#include "proto/wire/names.h"

#include <stdlib.h>
#include <string.h>

#define SERVICE_US 30000000
#define QUESTION_US 2000000u /* then it is asked again */

_Static_assert(NAME_BYTES_MAX == CONTROL_NAME_MAX, "names of all kinds");

void service_begin(struct service *s, struct covey *vm, uint8_t kind, const char *what,
                   const char *name)
{
    s->vm = vm;
    s->kind = kind;
    s->what = what;
    s->name = name == NULL ? "" : name;
    s->content = NULL;
    s->body = cursor_writer(s->bytes, sizeof s->bytes);
    cursor_put_u8(&s->body, kind);
    if (name != NULL)
        cursor_put_text(&s->body, name);
}

static int refused(const struct service *s, const char *why, int error)
{
    return error_set(error, "%s %s: %s", s->what, s->name, why);
}

/* The exact cause, where the code alone does not tell. */
static int explain(const struct service *s, int error)
{
    switch (error) {
    case COVEY_EINVAL:
        return refused(s, "others use it with another number, or that is the caller itself", error);
    case COVEY_ETIMEOUT:
        return refused(s, "not to be had in time", error);
    case COVEY_ENOTASK:
        return refused(s, "a task that is needed has ended", error);
    case COVEY_EDENIED:
        return refused(s, "the caller does not hold it, not under that number", error);
    case COVEY_ENOENT:
        return refused(s, "there is none of that name", error);
    case COVEY_ERESOURCE:
        return refused(s, "the VM has too many, or all that it agrees on takes too much room",
                       error);
    case COVEY_ENOGROUP:
        return refused(s, "the caller is not part of it, or not any more", error);
    case COVEY_EEXIST:
        return refused(s, "it is there, or the caller has it or waits for it, already", error);
    case COVEY_EHOSTFAIL:
        return refused(s, "most of the hosts that kept it died at once: what was agreed on is lost",
                       error);
    default:
        return error;
    }
}

void service_undo(covey_t *vm, uint8_t kind, const char *what, const char *name)
{
    struct service s;
    uint8_t payload[4 + SERVICE_BYTES];
    struct cursor c = cursor_writer(payload, sizeof payload);
    struct call call = call_begin(vm);
    service_begin(&s, vm, kind, what, name);
    cursor_put_u32(&c, 0);
    cursor_put_bytes(&c, s.bytes, (size_t)(s.body.at - s.bytes));
    home_send(vm, FRAME_SERVICE, 0, payload, (size_t)(c.at - payload));
    call_end(vm, &call, COVEY_OK);
}

struct request *service_request(struct service *s)
{
    struct request *r =
        request_begin(s->vm, FRAME_SERVICE, 0, s->bytes, (size_t)(s->body.at - s->bytes));
    if (r != NULL)
        r->service = true;
    return r;
}

static int service_ask_until(struct service *s, uint64_t deadline_us)
{
    struct covey *vm = s->vm;
    struct request *r = service_request(s);
    if (r == NULL)
        return request_refused(vm);
    uint32_t number = r->number;
    size_t size = 0;
    int error = request_end(vm, &r, deadline_us, &s->content, &size);
    s->answer = cursor_reader(s->content, size);
    if (error == COVEY_ETIMEOUT && command_party(s->kind) == COMMAND_OF_TASK) {
        uint8_t payload[9];
        struct cursor c = cursor_writer(payload, sizeof payload);
        cursor_put_u32(&c, 0);
        cursor_put_u8(&c, COMMAND_CANCEL);
        cursor_put_u32(&c, number);
        home_send(vm, FRAME_SERVICE, 0, payload, sizeof payload);
    }
    return error;
}

/* Who has a lock, and from when to when, is seen in a trace. */
static void service_record(const struct service *s, const struct call *call)
{
    struct trace *t = s->vm->trace;
    trace_put(
        t, &(struct trace_what){.kind = TRACE_SERVICE,
                                .name = trace_literal(t, s->what),
                                .begun = call->begun != 0 ? call->begun : trace_now(t),
                                .sequence = s->kind == COMMAND_LOCK_ACQUIRE   ? TRACE_SERVICE_TAKE
                                            : s->kind == COMMAND_LOCK_RELEASE ? TRACE_SERVICE_GIVE
                                                                              : TRACE_SERVICE_OTHER,
                                .tag = (int32_t)trace_name(t, s->name)});
}

int service_call(struct service *s, int64_t timeout_us)
{
    if (!cursor_ok(&s->body))
        return error_set(COVEY_EINVAL, "%s: the name or value is too long", s->what);
    struct call call = call_begin_as(s->vm, s->what);
    uint64_t start_us = clock_us();
    uint64_t deadline_us = clock_deadline(timeout_us == COVEY_POLL ? SERVICE_US : timeout_us);
    s->vm->self.awaits.kind = COVEY_WAITS_NAME;
    s->vm->self.awaits.name = s->name;
    s->vm->self.awaits.idle = true;
    int error = service_ask_until(s, deadline_us);
    s->vm->self.awaits.idle = false;
    task_count_add(&s->vm->self.page->counts.idle_us, clock_us() - start_us);
    if (s->vm->trace != NULL)
        service_record(s, &call);
    return call_end(s->vm, &call, explain(s, error));
}

int service_ask(struct service *s)
{
    uint64_t deadline_us = clock_deadline(SERVICE_US);
    struct call call = call_begin_as(s->vm, s->what);
    int error = COVEY_ETIMEOUT;
    while (error == COVEY_ETIMEOUT && clock_us() < deadline_us)
        error = service_ask_until(s, clock_us() + QUESTION_US);
    return call_end(s->vm, &call, explain(s, error));
}

void service_drop(struct service *s)
{
    free(s->content);
    s->content = NULL;
}

int service_done(struct service *s)
{
    service_drop(s);
    if (!cursor_done(&s->answer))
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    return COVEY_OK;
}

int service_order(struct service *s, int64_t timeout_us)
{
    int error = service_call(s, timeout_us);
    service_drop(s);
    return error;
}

int service_number(struct service *s, int64_t timeout_us, uint64_t *number)
{
    int error = service_call(s, timeout_us);
    if (error != COVEY_OK)
        return error;
    uint64_t value = cursor_get_u64(&s->answer);
    error = service_done(s);
    if (error == COVEY_OK && number != NULL)
        *number = value;
    return error;
}

covey_tid_t service_holder(struct service *s, uint64_t *number)
{
    int error = service_ask(s);
    if (error != COVEY_OK)
        return error;
    uint32_t holder = cursor_get_u32(&s->answer);
    uint64_t value = cursor_get_u64(&s->answer);
    error = service_done(s);
    if (error == COVEY_OK && number != NULL)
        *number = value;
    return error == COVEY_OK ? (covey_tid_t)holder : error;
}

int service_name_check(const covey_t *vm, const char *what, const char *name)
{
    if (vm == NULL || name == NULL || name[0] == '\0' || strlen(name) > CONTROL_NAME_MAX)
        return error_set(COVEY_EINVAL, "%s: a name has 1 .. %d bytes", what, CONTROL_NAME_MAX);
    return COVEY_OK;
}

int service_open(struct service *s, covey_t *vm, uint8_t kind, const char *what, const char *name)
{
    if (service_name_check(vm, what, name) != COVEY_OK)
        return COVEY_EINVAL;
    service_begin(s, vm, kind, what, name);
    return COVEY_OK;
}

/* ---- notices ---- */

void service_on_notice(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct cursor c = cursor_reader(payload, frame->length);
    uint32_t about = cursor_get_u32(&c);
    if (cursor_ok(&c) && about == NOTICE_LOST) {
        for (struct request *r = vm->requests.first; r != NULL; r = r->next) {
            if (r->service)
                request_host_failed(vm, r);
        }
        wait_changed(vm);
    }
}
