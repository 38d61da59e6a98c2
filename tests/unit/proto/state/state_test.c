/* links: proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/state.h"
#include "proto/wire/frame.h"
#include "tests/unit/runner.h"

/* The state as daemons see it: what was told to whom, as one line. */
struct vm {
    struct state *state;
    uint64_t index;
    uint64_t session[4], number[4];
    char told[2048];
};

static void on_event(void *context, const struct event *e)
{
    struct vm *vm = context;
    size_t used = strlen(vm->told);
    uint64_t value = 0;
    for (size_t i = 0; i < e->size && i < 8; i++)
        value = value << 8 | e->body[i];
    snprintf(vm->told + used, sizeof vm->told - used, "%s%u.%u/%u=%d:%llu", used > 0 ? " " : "",
             tid_host(e->task), tid_local(e->task), e->request, (int)e->status,
             (unsigned long long)value);
}

static void told(struct vm *vm, const char *expected)
{
    CU_ASSERT_STRING_EQUAL(vm->told, expected);
    if (strcmp(vm->told, expected) != 0)
        printf("told: %s\nnot:  %s\n", vm->told, expected);
    vm->told[0] = '\0';
}

static enum state_verdict put(struct vm *vm, const struct command *command)
{
    uint8_t bytes[COMMAND_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    command_put(&c, command);
    CU_ASSERT(cursor_ok(&c));
    return state_apply(vm->state, ++vm->index, bytes, (size_t)(c.at - bytes));
}

static struct command next_of(struct vm *vm, uint8_t kind, uint32_t host)
{
    return (struct command){
        .kind = kind, .host = host, .session = vm->session[host], .number = ++vm->number[host]};
}

static void open_host(struct vm *vm, uint32_t host, uint64_t session)
{
    vm->session[host] = session;
    vm->number[host] = 0;
    struct command k = next_of(vm, COMMAND_OPEN, host);
    CU_ASSERT_EQUAL(put(vm, &k), STATE_APPLIED);
}

static struct vm begin(void)
{
    struct vm vm = {.index = 0};
    return vm;
}

static void start(struct vm *vm)
{
    vm->state = state_create(on_event, vm);
    CU_ASSERT_FATAL(vm->state != NULL);
    for (uint32_t host = 1; host <= 3; host++)
        open_host(vm, host, host * 100);
}

static void ask(struct vm *vm, uint8_t kind, uint32_t task, uint32_t request, const void *body,
                size_t size)
{
    struct command k = next_of(vm, kind, tid_host(task));
    k.task = task;
    k.request = request;
    k.body = body;
    k.size = size;
    CU_ASSERT_EQUAL(put(vm, &k), STATE_APPLIED);
}

static void acquire(struct vm *vm, uint32_t task, uint32_t request, const char *name, uint8_t try)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_text(&c, name);
    cursor_put_u8(&c, try);
    ask(vm, COMMAND_LOCK_ACQUIRE, task, request, body, (size_t)(c.at - body));
}

static void release(struct vm *vm, uint32_t task, uint32_t request, const char *name,
                    uint64_t fence)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_text(&c, name);
    cursor_put_u64(&c, fence);
    ask(vm, COMMAND_LOCK_RELEASE, task, request, body, (size_t)(c.at - body));
}

static void cancel(struct vm *vm, uint32_t task, uint32_t request)
{
    uint8_t body[4];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u32(&c, request);
    ask(vm, COMMAND_CANCEL, task, 0, body, sizeof body);
}

static void task_gone(struct vm *vm, uint32_t task)
{
    ask(vm, COMMAND_TASK_GONE, task, 0, NULL, 0);
}

static void host_gone(struct vm *vm, uint32_t host, uint64_t session)
{
    uint8_t body[12];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u32(&c, host);
    cursor_put_u64(&c, session);
    struct command k = {.kind = COMMAND_HOST_GONE, .body = body, .size = sizeof body};
    CU_ASSERT_EQUAL(put(vm, &k), STATE_APPLIED);
}

#define T(host, local) tid_make(host, local)

/* ---- locks ---- */

static void a_lock_is_granted_in_turn(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 0);
    acquire(&vm, T(2, 1), 1, "a", 0);
    acquire(&vm, T(3, 1), 7, "a", 0);
    acquire(&vm, T(3, 2), 1, "b", 0);
    told(&vm, "1.1/1=0:1 3.2/1=0:2");
    release(&vm, T(1, 1), 2, "a", 1);
    told(&vm, "1.1/2=0:0 2.1/1=0:3");
    release(&vm, T(2, 1), 2, "a", 3);
    told(&vm, "2.1/2=0:0 3.1/7=0:4");
    release(&vm, T(3, 1), 8, "a", 4);
    told(&vm, "3.1/8=0:0");
    acquire(&vm, T(3, 1), 9, "a", 0);
    told(&vm, "3.1/9=0:5");
    state_destroy(vm.state);
}

static void what_is_not_held_is_not_released(void)
{
    struct vm vm = begin();
    start(&vm);
    release(&vm, T(1, 1), 1, "a", 1);
    told(&vm, "1.1/1=-13:0");
    acquire(&vm, T(1, 1), 2, "a", 0);
    release(&vm, T(1, 1), 3, "a", 2);
    release(&vm, T(2, 1), 4, "a", 1);
    told(&vm, "1.1/2=0:1 1.1/3=-13:0 2.1/4=-13:0");
    state_destroy(vm.state);
}

static void trying_does_not_wait(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 1);
    acquire(&vm, T(2, 1), 1, "a", 1);
    acquire(&vm, T(1, 1), 2, "a", 0);
    acquire(&vm, T(2, 1), 2, "a", 0);
    acquire(&vm, T(2, 1), 3, "a", 0);
    told(&vm, "1.1/1=0:1 2.1/1=-3:0 1.1/2=-18:0 2.1/3=-18:0");
    state_destroy(vm.state);
}

static void giving_up_gives_back(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 0);
    acquire(&vm, T(2, 1), 1, "a", 0);
    acquire(&vm, T(3, 1), 1, "a", 0);
    vm.told[0] = '\0';
    cancel(&vm, T(2, 1), 1);
    told(&vm, "2.1/1=-19:0");
    cancel(&vm, T(1, 1), 2); /* not what was granted */
    told(&vm, "");
    cancel(&vm, T(1, 1), 1); /* its answer may be on its way: nobody waits for it any more */
    told(&vm, "3.1/1=0:2");
    state_destroy(vm.state);
}

static void the_dead_hold_nothing(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 0);
    acquire(&vm, T(1, 2), 1, "a", 0);
    acquire(&vm, T(2, 1), 1, "a", 0);
    acquire(&vm, T(2, 2), 1, "a", 0);
    acquire(&vm, T(3, 1), 1, "a", 0);
    vm.told[0] = '\0';
    task_gone(&vm, T(1, 2));
    told(&vm, "");
    task_gone(&vm, T(1, 1));
    told(&vm, "2.1/1=0:2");
    host_gone(&vm, 2, 200);
    told(&vm, "3.1/1=0:3");
    host_gone(&vm, 3, 299); /* an earlier life of it: but 300 lives */
    told(&vm, "");
    host_gone(&vm, 3, 300);
    told(&vm, "");
    acquire(&vm, T(1, 1), 9, "a", 0);
    told(&vm, "1.1/9=0:4");
    state_destroy(vm.state);
}

static void bad_names(void)
{
    struct vm vm = begin();
    char name[65];
    start(&vm);
    memset(name, 'n', sizeof name);
    name[64] = '\0';
    acquire(&vm, T(1, 1), 1, "", 0);
    acquire(&vm, T(1, 1), 2, name, 0);
    name[63] = '\0';
    acquire(&vm, T(1, 1), 3, name, 0);
    acquire(&vm, T(1, 1), 4, "a", 2);
    ask(&vm, COMMAND_LOCK_ACQUIRE, T(1, 1), 5, "\0", 1);
    told(&vm, "1.1/1=-1:0 1.1/2=-1:0 1.1/3=0:1 1.1/4=-21:0 1.1/5=-21:0");
    state_destroy(vm.state);
}

/* ---- tokens ---- */

static void token(struct vm *vm, uint8_t kind, uint32_t task, uint32_t request, const char *name,
                  uint64_t number, uint32_t to)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_text(&c, name);
    if (kind == COMMAND_TOKEN_REQUEST)
        cursor_put_u8(&c, (uint8_t)number);
    if (kind == COMMAND_TOKEN_PASS || kind == COMMAND_TOKEN_DESTROY)
        cursor_put_u64(&c, number);
    if (kind == COMMAND_TOKEN_PASS)
        cursor_put_u32(&c, to);
    ask(vm, kind, task, request, body, (size_t)(c.at - body));
}

static void want(struct vm *vm, uint32_t task, uint32_t request)
{
    token(vm, COMMAND_TOKEN_REQUEST, task, request, "t", 0, 0);
}

static void pass(struct vm *vm, uint32_t task, uint32_t request, uint64_t number, uint32_t to)
{
    token(vm, COMMAND_TOKEN_PASS, task, request, "t", number, to);
}

static void a_token_goes_from_task_to_task(void)
{
    struct vm vm = begin();
    start(&vm);
    want(&vm, T(1, 1), 1);
    token(&vm, COMMAND_TOKEN_CREATE, T(1, 1), 2, "t", 0, 0);
    token(&vm, COMMAND_TOKEN_CREATE, T(2, 1), 1, "t", 0, 0);
    told(&vm, "1.1/1=-14:0 1.1/2=0:1 2.1/1=-18:0");
    want(&vm, T(1, 1), 3);
    want(&vm, T(2, 1), 2);
    want(&vm, T(3, 1), 1);
    want(&vm, T(3, 1), 2);
    token(&vm, COMMAND_TOKEN_REQUEST, T(3, 2), 1, "t", 1, 0);
    told(&vm, "1.1/3=-18:0 3.1/2=-18:0 3.2/1=-3:0");
    pass(&vm, T(2, 1), 3, 1, 0);
    pass(&vm, T(1, 1), 4, 2, 0);
    pass(&vm, T(1, 1), 5, 1, T(1, 1));
    told(&vm, "2.1/3=-13:0 1.1/4=-13:0 1.1/5=-1:0");
    pass(&vm, T(1, 1), 6, 1, T(3, 1)); /* before its turn */
    told(&vm, "1.1/6=0:0 3.1/1=0:2");
    pass(&vm, T(3, 1), 3, 2, 0);
    pass(&vm, T(2, 1), 4, 3, 0); /* nobody waits */
    pass(&vm, T(2, 1), 5, 3, 0);
    told(&vm, "3.1/3=0:0 2.1/2=0:3 2.1/4=0:0 2.1/5=-13:0");
    want(&vm, T(1, 1), 7);
    told(&vm, "1.1/7=0:4");
    state_destroy(vm.state);
}

static void a_token_passed_by_name_waits_to_be_claimed(void)
{
    struct vm vm = begin();
    start(&vm);
    token(&vm, COMMAND_TOKEN_CREATE, T(1, 1), 1, "t", 0, 0);
    want(&vm, T(1, 2), 1);
    pass(&vm, T(1, 1), 2, 1, T(2, 9)); /* which has not asked: told of its number, 2 */
    told(&vm, "1.1/1=0:1 1.1/2=0:0 2.9/1=0:2");
    want(&vm, T(2, 9), 1);
    want(&vm, T(2, 9), 2);
    told(&vm, "2.9/1=0:2 2.9/2=-18:0");
    pass(&vm, T(2, 9), 3, 2, T(3, 9));
    task_gone(&vm, T(3, 9)); /* there is no such task, says its daemon: regenerated */
    told(&vm, "2.9/3=0:0 3.9/1=0:3 1.2/1=0:4");
    pass(&vm, T(1, 2), 2, 4, T(7, 1)); /* a host that never was */
    told(&vm, "1.2/2=-4:0");
    pass(&vm, T(1, 2), 3, 4, 0);
    told(&vm, "1.2/3=0:0");
    state_destroy(vm.state);
}

static void a_token_is_regenerated_and_destroyed(void)
{
    struct vm vm = begin();
    start(&vm);
    token(&vm, COMMAND_TOKEN_CREATE, T(1, 1), 1, "t", 0, 0);
    want(&vm, T(1, 2), 1);
    want(&vm, T(2, 1), 1);
    vm.told[0] = '\0';
    host_gone(&vm, 1, 100); /* its holder and the next in line */
    told(&vm, "2.1/1=0:2");
    cancel(&vm, T(2, 1), 1); /* given back, whether or not it knows */
    want(&vm, T(3, 1), 1);
    want(&vm, T(3, 2), 1);
    told(&vm, "3.1/1=0:3");
    token(&vm, COMMAND_TOKEN_DESTROY, T(3, 2), 2, "t", 3, 0);
    token(&vm, COMMAND_TOKEN_DESTROY, T(3, 1), 2, "t", 3, 0);
    token(&vm, COMMAND_TOKEN_DESTROY, T(3, 1), 3, "t", 3, 0);
    told(&vm, "3.2/2=-13:0 3.1/2=0:0 3.2/1=-14:0 3.1/3=-14:0");
    state_destroy(vm.state);
}

/* ---- meetings and groups ---- */

static void meet(struct vm *vm, uint32_t task, uint32_t request, uint32_t wanted, const char *value)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_text(&c, "m");
    cursor_put_u32(&c, wanted);
    cursor_put_u8(&c, (uint8_t)strlen(value));
    cursor_put_bytes(&c, value, strlen(value));
    ask(vm, COMMAND_RENDEZVOUS, task, request, body, (size_t)(c.at - body));
}

static void who_meets_is_told_of_all(void)
{
    struct vm vm = begin();
    start(&vm);
    meet(&vm, T(1, 1), 1, 2, "a");
    meet(&vm, T(2, 1), 1, 3, "b");
    meet(&vm, T(1, 1), 2, 2, "c");
    told(&vm, "2.1/1=-1:0 1.1/2=-18:0");
    meet(&vm, T(2, 1), 2, 2, "");
    told(&vm, "1.1/1=0:1125904224944136 2.1/2=0:1125904224944136"); /* t40001 1 "a" t8.. */
    meet(&vm, T(1, 1), 3, 1, ""); /* alone, and under a name that is free again */
    told(&vm, "1.1/3=0:67109120");
    meet(&vm, T(1, 1), 4, 0, "");
    meet(&vm, T(1, 1), 5, 257, "");
    told(&vm, "1.1/4=-1:0 1.1/5=-1:0");
    state_destroy(vm.state);
}

static void a_death_ends_a_meeting_and_a_timeout_does_not(void)
{
    struct vm vm = begin();
    start(&vm);
    meet(&vm, T(1, 1), 1, 3, "a");
    meet(&vm, T(2, 1), 1, 3, "b");
    cancel(&vm, T(1, 1), 1);
    told(&vm, "1.1/1=-19:0");
    meet(&vm, T(3, 1), 1, 3, "c");
    host_gone(&vm, 3, 300);
    told(&vm, "2.1/1=-4:0");
    state_destroy(vm.state);
}

static void group(struct vm *vm, uint8_t kind, uint32_t task, uint32_t request, uint32_t count)
{
    uint8_t body[16];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_text(&c, "g");
    if (kind == COMMAND_GROUP_BARRIER)
        cursor_put_u32(&c, count);
    ask(vm, kind, task, request, body, (size_t)(c.at - body));
}

static void groups_are_part_of_it(void)
{
    struct vm vm = begin();
    uint8_t bytes[64];
    start(&vm);
    group(&vm, COMMAND_GROUP_JOIN, T(1, 1), 1, 0);
    group(&vm, COMMAND_GROUP_JOIN, T(2, 1), 1, 0);
    group(&vm, COMMAND_GROUP_JOIN, T(2, 1), 2, 0);
    group(&vm, COMMAND_GROUP_BARRIER, T(1, 1), 2, 0);
    told(&vm, "1.1/1=0:0 2.1/1=0:1 2.1/2=-18:0");
    group(&vm, COMMAND_GROUP_BARRIER, T(2, 1), 3, 0);
    told(&vm, "1.1/2=0:0 2.1/3=0:0");
    struct cursor body = cursor_reader("\0\1g", 3), out = cursor_writer(bytes, sizeof bytes);
    CU_ASSERT_EQUAL(state_query(vm.state, COMMAND_GROUP_MEMBERS, T(1, 1), &body, &out), ERROR_OK);
    CU_ASSERT_EQUAL(out.at - bytes, 16);
    group(&vm, COMMAND_GROUP_LEAVE, T(1, 1), 3, 0);
    group(&vm, COMMAND_GROUP_LEAVE, T(1, 1), 4, 0);
    told(&vm, "1.1/3=0:0 1.1/4=-17:0");
    task_gone(&vm, T(2, 1));
    body = cursor_reader("\0\1g", 3);
    CU_ASSERT_EQUAL(state_query(vm.state, COMMAND_GROUP_MEMBERS, T(1, 1), &body, &out),
                    ERROR_ENOGROUP);
    state_destroy(vm.state);
}

/* ---- sessions ---- */

static void a_repeated_command_is_applied_once(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 0);
    vm.told[0] = '\0';
    vm.number[1]--;
    struct command k = next_of(&vm, COMMAND_LOCK_ACQUIRE, 1);
    uint8_t body[] = {0, 1, 'b', 0};
    k.task = T(1, 1);
    k.body = body;
    k.size = sizeof body;
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_REPEATED);
    k.number += 2;
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_AHEAD);
    told(&vm, "");
    uint64_t applied;
    CU_ASSERT_EQUAL(state_session(vm.state, 1, &applied), 100);
    CU_ASSERT_EQUAL(applied, 2);
    state_destroy(vm.state);
}

static void an_ended_session_stays_so(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 0);
    acquire(&vm, T(2, 1), 1, "a", 0);
    vm.told[0] = '\0';
    host_gone(&vm, 1, 100);
    told(&vm, "2.1/1=0:2");
    struct command k = next_of(&vm, COMMAND_ACK, 1);
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_STALE);
    k = (struct command){.kind = COMMAND_OPEN, .host = 1, .session = 100, .number = 1};
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_STALE);
    k = (struct command){.kind = COMMAND_ACK, .host = 1, .session = 101, .number = 1};
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_AHEAD);
    open_host(&vm, 1, 101);
    open_host(&vm, 2, 201); /* without a word of the end of 200 */
    acquire(&vm, T(1, 1), 1, "a", 0);
    told(&vm, "1.1/1=0:3");
    state_destroy(vm.state);
}

static void what_was_not_taken_is_told_again(void)
{
    struct vm vm = begin();
    start(&vm);
    acquire(&vm, T(1, 1), 1, "a", 0);
    acquire(&vm, T(1, 1), 2, "b", 0);
    acquire(&vm, T(1, 1), 3, "c", 0);
    vm.told[0] = '\0';
    state_resend(vm.state, 1, 0);
    told(&vm, "1.1/1=0:1 1.1/2=0:2 1.1/3=0:3");
    state_resend(vm.state, 1, 2);
    told(&vm, "1.1/3=0:3");
    struct command k = next_of(&vm, COMMAND_ACK, 1);
    k.taken = 2;
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_APPLIED);
    state_resend(vm.state, 1, 0);
    told(&vm, "1.1/3=0:3");
    state_resend(vm.state, 2, 0);
    state_resend(vm.state, 77, 0);
    told(&vm, "");
    state_destroy(vm.state);
}

static void bad_commands(void)
{
    struct vm vm = begin();
    start(&vm);
    uint8_t bytes[COMMAND_BYTES_MAX + 1] = {0};
    CU_ASSERT_EQUAL(state_apply(vm.state, ++vm.index, bytes, 0), STATE_BAD);
    CU_ASSERT_EQUAL(state_apply(vm.state, ++vm.index, bytes, sizeof bytes), STATE_BAD);
    struct command k = next_of(&vm, COMMAND_LOCK_ACQUIRE, 1);
    k.task = T(2, 1); /* of another host */
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_BAD);
    k.kind = COMMAND_HOST_GONE; /* not a daemon's */
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_BAD);
    k.kind = COMMAND_LOCK_OWNER; /* a question */
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_BAD);
    k.kind = 255;
    CU_ASSERT_EQUAL(put(&vm, &k), STATE_BAD);
    CU_ASSERT_EQUAL(state_apply(vm.state, vm.index, bytes, 0), STATE_REPEATED);
    told(&vm, "");
    state_destroy(vm.state);
}

/* ---- snapshots ---- */

static void a_loaded_state_goes_on_as_the_saved_one(void)
{
    struct vm vm = begin(), other;
    static uint8_t bytes[65536], again[65536];
    start(&vm);
    for (uint32_t task = 1; task < 4; task++)
        for (uint32_t host = 1; host <= 3; host++)
            acquire(&vm, T(host, task), task, task % 2 ? "a" : "b", 0);
    host_gone(&vm, 3, 300);
    size_t size = state_save(vm.state, bytes, sizeof bytes);
    CU_ASSERT_FATAL(size > 0);
    CU_ASSERT_EQUAL(state_save(vm.state, again, size - 1), 0);
    vm.told[0] = '\0';
    other = vm;
    other.state = state_load(on_event, &other, bytes, size);
    CU_ASSERT_FATAL(other.state != NULL);
    CU_ASSERT_EQUAL(state_index(other.state), state_index(vm.state));
    struct vm *both[] = {&vm, &other};
    for (int i = 0; i < 2; i++) {
        state_resend(both[i]->state, 1, 0);
        task_gone(both[i], T(1, 1));
        release(both[i], T(1, 2), 9, "b", 2);
        host_gone(both[i], 2, 200);
    }
    CU_ASSERT_STRING_EQUAL(vm.told, other.told);
    size = state_save(vm.state, bytes, sizeof bytes);
    CU_ASSERT_EQUAL(state_save(other.state, again, sizeof again), size);
    CU_ASSERT(memcmp(bytes, again, size) == 0);
    for (size_t i = 0; i < size; i++) /* cut short anywhere it is refused */
        CU_ASSERT_PTR_NULL(state_load(on_event, &other, bytes, i));
    bytes[3] ^= 1;
    CU_ASSERT_PTR_NULL(state_load(on_event, &other, bytes, size));
    state_destroy(vm.state);
    state_destroy(other.state);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a lock is granted in turn, each time with a larger number", a_lock_is_granted_in_turn},
        {"what is not held is not released", what_is_not_held_is_not_released},
        {"trying does not wait", trying_does_not_wait},
        {"giving up gives back what was granted meanwhile", giving_up_gives_back},
        {"the dead hold nothing", the_dead_hold_nothing},
        {"bad names and bodies are answered", bad_names},
        {"a token goes from task to task", a_token_goes_from_task_to_task},
        {"a token passed by name waits to be claimed", a_token_passed_by_name_waits_to_be_claimed},
        {"a token is regenerated, and destroyed", a_token_is_regenerated_and_destroyed},
        {"who meets is told of all", who_meets_is_told_of_all},
        {"a death ends a meeting, a timeout does not",
         a_death_ends_a_meeting_and_a_timeout_does_not},
        {"groups are part of it", groups_are_part_of_it},
        {"a repeated command is applied once, an early one not at all",
         a_repeated_command_is_applied_once},
        {"an ended session stays ended", an_ended_session_stays_so},
        {"what was not taken is told again", what_was_not_taken_is_told_again},
        {"what is no command changes nothing", bad_commands},
        {"a loaded state goes on as the saved one", a_loaded_state_goes_on_as_the_saved_one},
    };
    return covey_test_main("state", cases, sizeof cases / sizeof cases[0]);
}
