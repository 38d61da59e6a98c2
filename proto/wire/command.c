/*
 * command.c - commands and events as bytes; put and get mirror each other. The grammar stands in
 * command.h.
 */
#include "proto/wire/command.h"

#include "proto/wire/frame.h"

_Static_assert(1 + 3 + 4 + 8 + 8 + 8 + 4 + 4 == COMMAND_HEAD_BYTES, "command head");
_Static_assert(1 + 3 + 8 + 8 + 8 + 4 + 4 + 4 == EVENT_HEAD_BYTES, "event head");
_Static_assert(EVENT_HEAD_BYTES + EVENT_BODY_MAX <= FRAME_PAYLOAD_MAX, "an event fits a frame");

struct kind {
    const char *name;
    int party, effect;
};

static const struct kind *kind_find(int number)
{
    static const struct kind kinds[] = {
#define KIND_ROW(number, name, engine, party, effect) [number] = {#name, party, effect},
        COMMAND_KINDS(KIND_ROW)
#undef KIND_ROW
    };
    if (number < 0 || (size_t)number >= sizeof kinds / sizeof kinds[0])
        return NULL;
    return kinds[number].name == NULL ? NULL : &kinds[number];
}

const char *command_name(int kind)
{
    const struct kind *k = kind_find(kind);
    return k == NULL ? NULL : k->name;
}

int command_party(int kind)
{
    const struct kind *k = kind_find(kind);
    return k == NULL ? 0 : k->party;
}

int command_effect(int kind)
{
    const struct kind *k = kind_find(kind);
    return k == NULL ? 0 : k->effect;
}

static void padding_put(struct cursor *c)
{
    cursor_put_u8(c, 0);
    cursor_put_u16(c, 0);
}

static bool padding_get(struct cursor *c)
{
    uint8_t first = cursor_get_u8(c);
    return first == 0 && cursor_get_u16(c) == 0;
}

void command_put(struct cursor *c, const struct command *command)
{
    cursor_put_u8(c, command->kind);
    padding_put(c);
    cursor_put_u32(c, command->host);
    cursor_put_u64(c, command->session);
    cursor_put_u64(c, command->number);
    cursor_put_u64(c, command->taken);
    cursor_put_u32(c, command->task);
    cursor_put_u32(c, command->request);
    cursor_put_bytes(c, command->body, command->size);
}

static bool is_of_host(const struct command *command)
{
    bool numbered = command->session != 0 && command->number != 0;
    return command->host != 0 && command->host <= HOST_INDEX_MAX && numbered;
}

static bool has_task(const struct command *command)
{
    return tid_host(command->task) == command->host && tid_local(command->task) != 0;
}

static bool head_ok(const struct command *command)
{
    switch (command_party(command->kind)) {
    case COMMAND_OF_VM:
        return command->host == 0 && command->session == 0 && command->number == 0 &&
               command->taken == 0 && command->task == 0;
    case COMMAND_OF_DAEMON:
        return is_of_host(command) &&
               (command->kind == COMMAND_TASK_GONE ? has_task(command) : command->task == 0);
    case COMMAND_OF_TASK:
        return is_of_host(command) && has_task(command);
    default:
        return false;
    }
}

void command_get(struct cursor *c, struct command *command)
{
    struct command k = {.kind = cursor_get_u8(c)};
    bool padded = padding_get(c);
    k.host = cursor_get_u32(c);
    k.session = cursor_get_u64(c);
    k.number = cursor_get_u64(c);
    k.taken = cursor_get_u64(c);
    k.task = cursor_get_u32(c);
    k.request = cursor_get_u32(c);
    k.size = cursor_left(c);
    k.body = cursor_get_view(c, k.size);
    if (!padded || k.size > COMMAND_BODY_MAX || !head_ok(&k))
        c->bad = true;
    if (cursor_ok(c))
        *command = k;
}

void event_put(struct cursor *c, const struct event *event)
{
    cursor_put_u8(c, event->kind);
    padding_put(c);
    cursor_put_u64(c, event->session);
    cursor_put_u64(c, event->sequence);
    cursor_put_u64(c, event->applied);
    cursor_put_u32(c, event->task);
    cursor_put_u32(c, event->request);
    cursor_put_i32(c, event->status);
    cursor_put_bytes(c, event->body, event->size);
}

void event_get(struct cursor *c, struct event *event)
{
    struct event e = {.kind = cursor_get_u8(c)};
    bool padded = padding_get(c);
    e.session = cursor_get_u64(c);
    e.sequence = cursor_get_u64(c);
    e.applied = cursor_get_u64(c);
    e.task = cursor_get_u32(c);
    e.request = cursor_get_u32(c);
    e.status = cursor_get_i32(c);
    e.size = cursor_left(c);
    e.body = cursor_get_view(c, e.size);
    bool to_daemon = e.kind == EVENT_NOTICE && tid_host(e.task) != 0;
    if (!padded || (e.kind != EVENT_ANSWER && e.kind != EVENT_NOTICE) || e.session == 0 ||
        e.sequence == 0 || (tid_local(e.task) == 0 && !to_daemon) || e.size > EVENT_BODY_MAX)
        c->bad = true;
    if (cursor_ok(c))
        *event = e;
}
