/* links: proto/raft/raft*.c proto/wire/cursor.c */
/*
 * raft_fuzz.c - hostile messages for an engine of agreement: one that waits to be added, and the
 * leader of a group, by the first byte of the input. Then come messages: a byte that chooses how
 * much time passes, a length of two bytes, the message. Ids are a host index and 16 zeros; the
 * engine is host 0. What the engine says of itself must stay consistent, and its memory bounded.
 */
#include "proto/raft/raft.h"

#include <stdlib.h>
#include <string.h>

#include "proto/raft/raft_wire.h"
#include "tests/fuzz/fuzz.h"

enum { HEARTBEAT_US = 1000 };

/* What it sends must be well-formed, and for somebody else. */
static void on_send(void *context, const struct raft_id *to, const uint8_t *bytes, size_t size)
{
    struct raft_message message;

    (void)context;
    REQUIRE(size <= RAFT_MESSAGE_BYTES_MAX && raft_wire_get(bytes, size, &message));
    REQUIRE(raft_id_equal(&message.to, to) && !raft_id_equal(&message.to, &message.from));
}

static void on_apply(void *context, uint64_t index, uint64_t term, const uint8_t *bytes,
                     size_t size)
{
    uint64_t *applied = context;

    REQUIRE(index > *applied && term > 0 && bytes && size <= RAFT_COMMAND_BYTES_MAX);
    *applied = index;
}

static bool on_save(void *context, uint8_t **bytes, size_t *size)
{
    *size = sizeof(uint64_t);
    *bytes = malloc(*size);
    memcpy(*bytes, context, *size);
    return true;
}

static bool on_load(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    return size != 0 && bytes[0] != 0xff;
}

static void on_leader(void *context, const struct raft_id *leader, uint64_t term)
{
    (void)context;
    (void)leader;
    REQUIRE(term > 0);
}

static void on_log(void *context, const char *line)
{
    (void)context;
    REQUIRE(*line);
}

static void check(struct raft *raft, uint64_t now_us)
{
    uint64_t next_us = raft_step(raft, now_us);

    if (next_us <= now_us)
        next_us = raft_step(raft, now_us);
    REQUIRE(next_us > now_us);
    REQUIRE(raft_applied_index(raft) == raft_commit_index(raft));
    REQUIRE(raft_commit_index(raft) <= raft_last_index(raft));
    REQUIRE(raft_configuration(raft)->count <= RAFT_MEMBERS_MAX);
}

static void found_group(struct raft *raft)
{
    static const struct raft_id VOTERS[] = {{.host = 0}, {.host = 1}, {.host = 2}};

    raft_bootstrap(raft, 1);
    raft_step(raft, 1);
    raft_want_voters(raft, VOTERS, 3);
    for (int i = 0; i < 8; i++)
        raft_propose(raft, (const uint8_t *)"command", 7, 1);
    raft_step(raft, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct raft_config config = {
        .election_us = 10 * HEARTBEAT_US, .heartbeat_us = HEARTBEAT_US, .log_bytes = 256};
    uint64_t applied = 0, now_us = 1;
    struct raft_owner owner = {&applied, on_send, on_apply, on_save, on_load, on_leader, on_log};
    struct raft *raft = raft_create(&config, &owner);
    struct cursor c = cursor_reader(data, size);

    if (!raft)
        return 0;
    if (cursor_get_u8(&c) & 1)
        found_group(raft);
    while (cursor_left(&c) > 0) {
        uint16_t length;
        const uint8_t *message;

        now_us += (uint64_t)cursor_get_u8(&c) * HEARTBEAT_US / 4;
        length = cursor_get_u16(&c);
        message = cursor_get_view(&c, length);
        if (message)
            raft_on_message(raft, message, length, now_us);
        check(raft, now_us);
    }
    raft_destroy(raft);
    return 0;
}
