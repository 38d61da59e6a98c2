/* links: proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * state_limits_test.c - the agreed state at its limits: when it is full, when too many wait for one
 * thing, and when memory is exhausted at any of its allocations.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "proto/state/consensus.h"
#include "proto/state/state.h"
#include "proto/state/waiters.h"
#include "proto/wire/frame.h"
#include "tests/unit/memory.h"
#include "tests/unit/runner.h"

static struct {
    bool armed;
    long left; /* allocations that succeed, then one fails */
    bool failed;
} memory;

static bool memory_fails(size_t size)
{
    (void)size;
    if (!memory.armed || memory.left-- != 0)
        return false;
    memory.failed = true;
    return true;
}

struct vm {
    struct state *state;
    uint64_t index, number;
    int32_t status; /* of the last answer */
    uint64_t told;  /* how many events, and what they said */
    uint64_t sum;
    bool deaf; /* it says of no event that it has taken it */
};

static void on_event(void *context, const struct event *e)
{
    struct vm *vm = context;
    vm->status = e->status;
    vm->told++;
    vm->sum = vm->sum * 31 + e->task + e->request * 7 + (uint64_t)(uint32_t)e->status;
    for (size_t i = 0; i < e->size; i++)
        vm->sum = vm->sum * 31 + e->body[i];
}

static enum state_verdict put(struct vm *vm, uint8_t kind, uint32_t task, uint32_t request,
                              const struct cursor *body, const uint8_t *bytes)
{
    uint8_t room[COMMAND_BYTES_MAX];
    struct cursor c = cursor_writer(room, sizeof room);
    command_put(&c, &(struct command){.kind = kind,
                                      .host = 1,
                                      .session = 1,
                                      .number = ++vm->number,
                                      .taken = vm->deaf ? 0 : vm->told, /* there is one session */
                                      .task = task,
                                      .request = request,
                                      .body = bytes,
                                      .size = body == NULL ? 0 : (size_t)(body->at - bytes)});
    CU_ASSERT_FATAL(cursor_ok(&c));
    return state_apply(vm->state, ++vm->index, room, (size_t)(c.at - room));
}

/* Begins with a name; what follows is by kind. */
static enum state_verdict ask(struct vm *vm, uint8_t kind, uint32_t local, uint32_t request,
                              const char *name)
{
    uint8_t bytes[256];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_text(&c, name);
    if (kind == COMMAND_LOCK_ACQUIRE || kind == COMMAND_TOKEN_REQUEST)
        cursor_put_u8(&c, 0);
    if (kind == COMMAND_GROUP_BARRIER || kind == COMMAND_RENDEZVOUS)
        cursor_put_u32(&c, RENDEZVOUS_MAX);
    if (kind == COMMAND_RENDEZVOUS) {
        cursor_put_u8(&c, RENDEZVOUS_VALUE_MAX);
        cursor_put_bytes(&c, (uint8_t[RENDEZVOUS_VALUE_MAX]){0}, RENDEZVOUS_VALUE_MAX);
    }
    if (kind == COMMAND_LEADER_NEXT || kind == COMMAND_CONSENSUS_PROPOSE ||
        kind == COMMAND_CONSENSUS_LEARN)
        cursor_put_u64(&c, request);
    if (kind == COMMAND_VIEW_NEXT)
        cursor_put_u64(&c, 1);
    if (kind == COMMAND_VIEW_PUT || kind == COMMAND_TOKEN_DESTROY || kind == COMMAND_LOCK_RELEASE)
        cursor_put_u64(&c, 0);
    return put(vm, kind, tid_make(1, local), request, &c, bytes);
}

static bool start(struct vm *vm)
{
    *vm = (struct vm){.state = state_create(on_event, vm)};
    return vm->state != NULL && put(vm, COMMAND_OPEN, 0, 0, NULL, NULL) == STATE_APPLIED;
}

/* ---- full ---- */

static uint8_t *saved(const struct state *state, size_t *size)
{
    size_t room = (size_t)64 << 20;
    uint8_t *bytes = malloc(room);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    *size = state_save(state, bytes, room);
    CU_ASSERT(*size > 0);
    return bytes;
}

/* Meetings of which each lacks one: a task brings its value to all. */
static uint32_t fill(struct vm *vm)
{
    uint32_t opened = 0;
    for (char name[16]; opened < 4096; opened++) {
        snprintf(name, sizeof name, "m%u", opened);
        for (uint32_t local = 1; local < RENDEZVOUS_MAX; local++) {
            vm->status = ERROR_OK;
            CU_ASSERT_EQUAL(ask(vm, COMMAND_RENDEZVOUS, local, opened, name), STATE_APPLIED);
            if (vm->status == ERROR_ERESOURCE)
                return opened;
        }
    }
    return opened;
}

static void a_full_one_takes_no_more(void)
{
    struct vm vm, copy;
    size_t size, again;
    CU_ASSERT_FATAL(start(&vm));
    ask(&vm, COMMAND_LOCK_ACQUIRE, 1, 1, "early");
    CU_ASSERT(fill(&vm) < 4096);
    CU_ASSERT(state_is_full(vm.state));
    uint8_t *bytes = saved(vm.state, &size);
    CU_ASSERT(size > STATE_BYTES_MAX && size < STATE_BYTES_MAX + STATE_LOOK_EVERY * 100);

    const uint8_t adding[] = {COMMAND_GROUP_JOIN,    COMMAND_LOCK_ACQUIRE,   COMMAND_TOKEN_CREATE,
                              COMMAND_TOKEN_REQUEST, COMMAND_VIEW_JOIN,      COMMAND_LEADER_STAND,
                              COMMAND_LEADER_NEXT,   COMMAND_CONSENSUS_LEARN};
    for (size_t i = 0; i < sizeof adding; i++) {
        CU_ASSERT_EQUAL(ask(&vm, adding[i], 7, 100 + (uint32_t)i, "late"), STATE_APPLIED);
        CU_ASSERT_EQUAL(vm.status, ERROR_ERESOURCE);
    }

    /* a replica made of a snapshot refuses the same */
    copy = vm;
    copy.state = state_load(on_event, &copy, bytes, size);
    free(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy.state);
    CU_ASSERT(state_is_full(copy.state));
    state_destroy(copy.state);

    /* what gives back is taken, and then there is room again */
    ask(&vm, COMMAND_LOCK_RELEASE, 1, 2, "early");
    CU_ASSERT_EQUAL(vm.status, ERROR_EDENIED);
    put(&vm, COMMAND_TASK_GONE, tid_make(1, 3), 0, NULL, NULL);
    for (uint32_t i = 0; i < STATE_LOOK_EVERY; i++)
        put(&vm, COMMAND_ACK, 0, 0, NULL, NULL);
    CU_ASSERT_FALSE(state_is_full(vm.state));
    ask(&vm, COMMAND_LOCK_ACQUIRE, 7, 200, "late");
    CU_ASSERT_EQUAL(vm.status, ERROR_OK);
    free(saved(vm.state, &again));
    CU_ASSERT(again < STATE_BYTES_MAX);
    state_destroy(vm.state);
}

/* A daemon that takes no events: they are kept for it, up to a limit. */
static void too_many_events_are_kept(void)
{
    struct vm vm;
    uint32_t met = 0;
    CU_ASSERT_FATAL(start(&vm));
    vm.deaf = true;
    for (char name[16]; met < 64 && vm.status == ERROR_OK; met++) {
        snprintf(name, sizeof name, "m%u", met);
        for (uint32_t local = 1; local <= RENDEZVOUS_MAX && vm.status == ERROR_OK; local++)
            ask(&vm, COMMAND_RENDEZVOUS, local, met, name);
    }
    CU_ASSERT_EQUAL(vm.status, ERROR_ERESOURCE);
    CU_ASSERT(met > 1 && met < 4);
    vm.deaf = false;
    put(&vm, COMMAND_ACK, 0, 0, NULL, NULL);
    ask(&vm, COMMAND_LOCK_ACQUIRE, 7, 200, "late");
    CU_ASSERT_EQUAL(vm.status, ERROR_OK);
    state_destroy(vm.state);
}

static void too_many_wait_for_one_thing(void)
{
    struct vm vm;
    CU_ASSERT_FATAL(start(&vm));
    ask(&vm, COMMAND_TOKEN_CREATE, 1, 1, "t");
    ask(&vm, COMMAND_LOCK_ACQUIRE, 1, 1, "l");
    uint64_t told = vm.told;
    for (uint32_t local = 2; local < 2 + WAITERS_MAX; local += 4096)
        for (uint32_t i = 0; i < 4096; i++)
            ask(&vm, COMMAND_LOCK_ACQUIRE, local + i, 1, "l");
    CU_ASSERT_EQUAL(vm.told, told);
    ask(&vm, COMMAND_LOCK_ACQUIRE, 2 + WAITERS_MAX, 1, "l");
    CU_ASSERT_EQUAL(vm.told, told + 1);
    CU_ASSERT_EQUAL(vm.status, ERROR_ERESOURCE);
    CU_ASSERT_FALSE(state_is_full(vm.state));
    state_destroy(vm.state);
}

/* ---- memory ---- */

/* Each engine makes what it has and goes on to its next step; false: the replica is broken. */
static bool live(struct vm *vm)
{
    const struct {
        uint8_t kind;
        uint32_t local;
    } steps[] = {
        {COMMAND_GROUP_JOIN, 1},        {COMMAND_GROUP_JOIN, 2},   {COMMAND_GROUP_BARRIER, 1},
        {COMMAND_LOCK_ACQUIRE, 1},      {COMMAND_LOCK_ACQUIRE, 2}, {COMMAND_TOKEN_CREATE, 1},
        {COMMAND_TOKEN_REQUEST, 2},     {COMMAND_RENDEZVOUS, 1},   {COMMAND_RENDEZVOUS, 2},
        {COMMAND_RENDEZVOUS, 3},        {COMMAND_VIEW_JOIN, 1},    {COMMAND_VIEW_NEXT, 1},
        {COMMAND_VIEW_JOIN, 2},         {COMMAND_VIEW_PUT, 2},     {COMMAND_LEADER_NEXT, 3},
        {COMMAND_LEADER_STAND, 1},      {COMMAND_LEADER_STAND, 2}, {COMMAND_CONSENSUS_LEARN, 1},
        {COMMAND_CONSENSUS_PROPOSE, 2}, {COMMAND_LOCK_RELEASE, 1}};
    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (ask(vm, steps[i].kind, steps[i].local, 40, "x") != STATE_APPLIED)
            return false;
    return put(vm, COMMAND_TASK_GONE, tid_make(1, 1), 0, NULL, NULL) == STATE_APPLIED;
}

/* The k-th allocation of a life fails: the replica says that it is broken, or is as any other. */
static void it_is_whole_or_broken(void)
{
    struct vm whole, vm;
    size_t size, other;
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("no allocation can be made to fail here");
        return;
    }
    CU_ASSERT_FATAL(start(&whole) && live(&whole));
    uint8_t *expected = saved(whole.state, &size);
    long k = 0;
    for (memory.failed = true; memory.failed; k++) {
        memory.failed = false;
        memory.left = k;
        memory.armed = true;
        bool lives = start(&vm) && live(&vm);
        memory.armed = false;
        CU_ASSERT_EQUAL(lives, !memory.failed);
        if (!lives && vm.state != NULL)
            CU_ASSERT_EQUAL(put(&vm, COMMAND_ACK, 0, 0, NULL, NULL), STATE_BROKEN);
        if (lives) {
            uint8_t *bytes = saved(vm.state, &other);
            CU_ASSERT(size == other && memcmp(expected, bytes, size) == 0);
            CU_ASSERT_EQUAL(vm.sum, whole.sum);
            free(bytes);
        }
        state_destroy(vm.state);
    }
    CU_ASSERT(k > 30);
    free(expected);
    state_destroy(whole.state);
}

static void it_is_loaded_whole_or_not(void)
{
    struct vm whole, vm;
    size_t size;
    if (!MEMORY_CAN_FAIL) {
        covey_test_skip("no allocation can be made to fail here");
        return;
    }
    CU_ASSERT_FATAL(start(&whole) && live(&whole));
    uint8_t *bytes = saved(whole.state, &size);
    long k = 0;
    for (memory.failed = true; memory.failed; k++) {
        memory.failed = false;
        memory.left = k;
        memory.armed = true;
        struct state *loaded = state_load(on_event, &vm, bytes, size);
        memory.armed = false;
        CU_ASSERT_EQUAL(loaded != NULL, !memory.failed);
        state_destroy(loaded);
    }
    CU_ASSERT(k > 20);
    free(bytes);
    state_destroy(whole.state);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a full one takes no more", a_full_one_takes_no_more},
        {"too many events are kept", too_many_events_are_kept},
        {"too many wait for one thing", too_many_wait_for_one_thing},
        {"it is whole or broken", it_is_whole_or_broken},
        {"it is loaded whole or not", it_is_loaded_whole_or_not},
    };
    return covey_test_main("state_limits", cases, sizeof cases / sizeof cases[0]);
}
