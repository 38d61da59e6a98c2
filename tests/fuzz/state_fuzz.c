/* links: proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * state_fuzz.c - what voters agree on, from a daemon that is out of its mind: commands, questions
 * and snapshots.
 *
 * The input is a list of steps: a byte that chooses, a length of two bytes, the bytes. Steps are
 * commands as they are (0), the bodies of commands whose heads are good (1), questions (2), and a
 * snapshot in place of the state (3). In the end a replica made of a snapshot of the state is that
 * state, byte for byte, and answers as it does.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/state/state.h"
#include "proto/wire/frame.h"
#include "proto/wire/host.h"
#include "tests/fuzz/fuzz.h"

#define SNAPSHOT_BYTES (1 << 20)
#define ANSWER_BYTES 60000
#define DAEMONS 3

struct fuzz {
    struct state *state;
    uint64_t index;
    uint64_t numbers[DAEMONS + 1]; /* the last command of each daemon's session */
};

static void on_event(void *context, const struct event *event)
{
    static volatile uint8_t sum;

    (void)context;
    REQUIRE(event->kind == EVENT_ANSWER || event->kind == EVENT_NOTICE);
    REQUIRE(event->size <= EVENT_BODY_MAX);
    for (size_t i = 0; i < event->size; i++)
        sum = (uint8_t)(sum + event->body[i]);
}

static void apply(struct fuzz *f, const uint8_t *bytes, size_t size)
{
    REQUIRE(state_apply(f->state, ++f->index, bytes, size) != STATE_BROKEN);
}

/* kind task body: a command of one of a few daemons, in its turn. */
static void apply_body(struct fuzz *f, const uint8_t *bytes, size_t size)
{
    static uint8_t room[COMMAND_BYTES_MAX];
    struct cursor c = cursor_writer(room, sizeof room);
    uint32_t host = 1 + bytes[1] % DAEMONS;
    struct command k = {.kind = bytes[0],
                        .host = host,
                        .session = 1,
                        .number = f->numbers[host] + 1,
                        .taken = bytes[1] & 0x80 ? f->numbers[host] : 0,
                        .body = bytes + 2,
                        .size = size - 2};

    if (command_party(k.kind) == COMMAND_OF_TASK || k.kind == COMMAND_TASK_GONE)
        k.task = tid_make(host, 1 + (bytes[1] >> 4 & 3));
    if (command_party(k.kind) == COMMAND_OF_TASK)
        k.request = (uint32_t)f->index + 1;
    if (command_party(k.kind) == COMMAND_OF_VM)
        k.host = 0, k.session = k.number = k.taken = 0;
    command_put(&c, &k);
    if (cursor_ok(&c) &&
        state_apply(f->state, ++f->index, room, (size_t)(c.at - room)) == STATE_APPLIED)
        f->numbers[host] += k.host != 0;
}

static void query(const struct fuzz *f, uint8_t kind, const uint8_t *bytes, size_t size)
{
    static uint8_t answer[ANSWER_BYTES];
    struct cursor body = cursor_reader(bytes, size), out = cursor_writer(answer, sizeof answer);

    state_query(f->state, kind, tid_make(1, 1), &body, &out);
}

static void load(struct fuzz *f, const uint8_t *bytes, size_t size)
{
    struct state *state = state_load(on_event, NULL, bytes, size);

    if (state == NULL)
        return;
    state_destroy(f->state);
    f->state = state;
    f->index = state_index(state);
    if (f->index > UINT64_MAX / 2)
        f->index = 0; /* no log is so long */
}

static void play(struct fuzz *f, uint8_t choice, const uint8_t *bytes, size_t size)
{
    switch (choice & 3) {
    case 0:
        apply(f, bytes, size);
        break;
    case 1:
        if (size >= 2)
            apply_body(f, bytes, size);
        break;
    case 2:
        if (size >= 1)
            query(f, bytes[0], bytes + 1, size - 1);
        break;
    default:
        load(f, bytes, size);
        break;
    }
    state_resend(f->state, 1, 0);
}

static void check_snapshot(const struct fuzz *f)
{
    uint8_t *first = malloc(SNAPSHOT_BYTES), *second = malloc(SNAPSHOT_BYTES);
    size_t size;
    struct state *copy;

    REQUIRE(first != NULL && second != NULL);
    size = state_save(f->state, first, SNAPSHOT_BYTES);
    if (size > 0) {
        copy = state_load(on_event, NULL, first, size);
        REQUIRE(copy != NULL);
        REQUIRE(state_save(copy, second, SNAPSHOT_BYTES) == size);
        REQUIRE(memcmp(first, second, size) == 0);
        state_destroy(copy);
    }
    free(first);
    free(second);
}

static void open_sessions(struct fuzz *f)
{
    static const uint8_t bodies[DAEMONS][2] = {
        {COMMAND_OPEN, 0}, {COMMAND_OPEN, 1}, {COMMAND_OPEN, 2}};

    for (size_t i = 0; i < DAEMONS; i++)
        apply_body(f, bodies[i], 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {.state = state_create(on_event, NULL)};
    struct cursor c = cursor_reader(data, size);

    REQUIRE(f.state != NULL);
    open_sessions(&f);
    while (cursor_left(&c) >= 3) {
        uint8_t choice = cursor_get_u8(&c);
        size_t length = cursor_get_u16(&c);

        if (length > cursor_left(&c))
            length = cursor_left(&c);
        play(&f, choice, cursor_get_view(&c, length), length);
    }
    check_snapshot(&f);
    state_destroy(f.state);
    return 0;
}
