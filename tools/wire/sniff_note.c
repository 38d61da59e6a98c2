/*
 * sniff_note.c - one function a subject, one row a kind. They read the beginning of a payload and
 * write a few words; what is cut short or malformed gets none.
 */
#include "tools/wire/sniff_note.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "proto/cast/cast_wire.h"
#include "proto/member/council.h"
#include "proto/member/table.h"
#include "proto/raft/raft_wire.h"
#include "proto/wire/command.h"
#include "proto/wire/control.h"

typedef void note_writer(struct sniff_frame *f, struct cursor *c);

/* The words, if the cursor read all that they are of. */
__attribute__((format(printf, 3, 4))) static void
note_say(struct sniff_frame *f, const struct cursor *c, const char *format, ...)
{
    va_list list;
    if (!cursor_ok(c))
        return;
    va_start(list, format);
    vsnprintf(f->note, sizeof f->note, format, list);
    va_end(list);
}

static void read_message(struct sniff_frame *f, struct cursor *c)
{
    f->has_message = message_header_decode(c->at, cursor_left(c), &f->message) == NULL;
}

static void note_data(struct sniff_frame *f, struct cursor *c)
{
    if (f->frame.flags & FRAME_FIRST)
        read_message(f, c);
}

static void note_mcast(struct sniff_frame *f, struct cursor *c)
{
    unsigned count = cursor_get_u16(c);
    uint8_t flags = cursor_get_u8(c);
    cursor_get_u8(c);
    cursor_get_view(c, (size_t)count * CONTROL_RECEIVER_BYTES);
    note_say(f, c, "to %u tasks", count);
    if (flags & FRAME_FIRST)
        read_message(f, c);
}

static void note_detour(struct sniff_frame *f, struct cursor *c)
{
    uint32_t session = cursor_get_u32(c);
    uint64_t number = cursor_get_u64(c);
    note_say(f, c, "#%" PRIu64 " of session %x", number, session);
}

static void note_sync(struct sniff_frame *f, struct cursor *c)
{
    struct control_sync sync;
    control_get_sync(c, &sync);
    note_say(f, c, "exchange %u of %u: rank %u hands over to the message for rank %u", sync.number,
             sync.context, sync.from, sync.about);
}

static void note_credit(struct sniff_frame *f, struct cursor *c)
{
    unsigned long long bytes = cursor_get_u64(c);
    if (cursor_left(c) >= 8)
        note_say(f, c, "to byte %llu, turn before message %llu", bytes,
                 (unsigned long long)cursor_get_u64(c));
    else
        note_say(f, c, "to byte %llu", bytes);
}

static void note_reply(struct sniff_frame *f, struct cursor *c)
{
    struct control_reply reply;
    control_get_reply(c, &reply);
    note_say(f, c, "to request %u: %d", reply.request, reply.status);
}

static void note_request(struct sniff_frame *f, struct cursor *c)
{
    uint32_t request = cursor_get_u32(c);
    note_say(f, c, "request %u", request);
}

static void note_spawn(struct sniff_frame *f, struct cursor *c)
{
    uint32_t request = cursor_get_u32(c), count = cursor_get_u32(c);
    note_say(f, c, "request %u, of %u", request, count);
}

static void note_signal(struct sniff_frame *f, struct cursor *c)
{
    struct control_signal s;
    control_get_signal(c, &s);
    note_say(f, c, "request %u, signal %d to t%x", s.request, s.signal, s.tid);
}

static void note_watch(struct sniff_frame *f, struct cursor *c)
{
    uint32_t tid = cursor_get_u32(c);
    note_say(f, c, "t%x", tid);
}

static void note_service(struct sniff_frame *f, struct cursor *c)
{
    uint32_t request = cursor_get_u32(c);
    const char *name = command_name(cursor_get_u8(c));
    note_say(f, c, "request %u, %s", request, name == NULL ? "unknown" : name);
}

static void note_command(struct sniff_frame *f, struct cursor *c)
{
    struct command k = {.kind = 0};
    command_get(c, &k);
    note_say(f, c, "%s %" PRIu64 ", t%x request %u", cursor_ok(c) ? command_name(k.kind) : "",
             k.number, k.task, k.request);
}

static void note_event(struct sniff_frame *f, struct cursor *c)
{
    struct event e = {.kind = 0};
    event_get(c, &e);
    note_say(f, c, "event %" PRIu64 ", t%x request %u: %d", e.sequence, e.task, e.request,
             (int)e.status);
}

/* All link frames begin alike. */
static void note_link(struct sniff_frame *f, struct cursor *c)
{
    uint8_t nonce[AUTH_NONCE_BYTES], route;
    cursor_get_bytes(c, nonce, sizeof nonce);
    route = cursor_get_u8(c);
    note_say(f, c, "%02x%02x%02x%02x, route %u", nonce[0], nonce[1], nonce[2], nonce[3], route);
}

static void note_link_key(struct sniff_frame *f, struct cursor *c)
{
    uint8_t nonce[AUTH_NONCE_BYTES];
    cursor_get_bytes(c, nonce, sizeof nonce); /* the key is nobody's business */
    note_say(f, c, "%02x%02x%02x%02x", nonce[0], nonce[1], nonce[2], nonce[3]);
}

static void note_table(struct sniff_frame *f, struct cursor *c)
{
    struct table_head head;
    table_get_head(c, &head);
    note_say(f, c, "%s, version %" PRIu64 ".%" PRIu64 ".%" PRIu64 ", %u rows",
             head.flags & TABLE_FULL ? "whole" : "change", epoch_generation(head.epoch),
             head.epoch & UINT32_MAX, head.version, head.count);
}

static void note_claim(struct sniff_frame *f, struct cursor *c)
{
    note_say(f, c, "generation %" PRIu64, cursor_get_u64(c));
}

static void note_raft(struct sniff_frame *f, struct cursor *c)
{
    cursor_get_u64(c); /* generation */
    uint8_t what = cursor_get_u8(c);
    cursor_get_view(c, 3);
    if (what == COUNCIL_MESSAGE) {
        const char *name = raft_wire_kind_name(cursor_get_u8(c));
        bool pre = (cursor_get_u8(c) & RAFT_PRE) != 0;
        cursor_get_u16(c);
        uint64_t term = cursor_get_u64(c);
        note_say(f, c, "%s%s term %" PRIu64, pre ? "PRE_" : "", name == NULL ? "unknown" : name,
                 term);
    }
}

/* See cast_wire.h. */
static void note_cast(struct sniff_frame *f, struct cursor *c)
{
    static const char *const types[] = {
        [CAST_OPEN] = "OPEN", [CAST_OPENED] = "OPENED", [CAST_ACK] = "ACK",
        [CAST_SYNC] = "SYNC", [CAST_CLOSE] = "CLOSE",   [CAST_FLUSH] = "FLUSH",
        [CAST_DATA] = "DATA", [CAST_DONE] = "DONE",     [CAST_ORDER] = "ORDER"};
    uint8_t type = cursor_get_u8(c);
    uint32_t sender, channel;
    cursor_get_view(c, 3);
    sender = cursor_get_u32(c);
    channel = cursor_get_u32(c);
    note_say(f, c, "%s of channel %u of host %u",
             type < sizeof types / sizeof types[0] && types[type] ? types[type] : "unknown",
             channel, sender);
}

static void note_host(struct sniff_frame *f, struct cursor *c)
{
    struct host_room room;
    struct host host;
    control_get_host(c, &host, &room);
    note_say(f, c, "'%s'", host.name);
}

void sniff_note(struct sniff_frame *f, const uint8_t *payload, size_t size)
{
    struct cursor c = cursor_reader(payload, size);
    static note_writer *const writers[UINT8_MAX + 1] = {
        [FRAME_DATA] = note_data,         [FRAME_CREDIT] = note_credit,
        [FRAME_LINK_OPEN] = note_link,    [FRAME_LINK_KEY] = note_link_key,
        [FRAME_LINK_ACCEPT] = note_link,  [FRAME_LINK_REFUSE] = note_link,
        [FRAME_MCAST] = note_mcast,       [FRAME_REPLY] = note_reply,
        [FRAME_HOSTS] = note_request,     [FRAME_TASKS] = note_request,
        [FRAME_SPAWN] = note_spawn,       [FRAME_SIGNAL] = note_signal,
        [FRAME_WATCH] = note_watch,       [FRAME_GONE] = note_watch,
        [FRAME_OUTPUT] = note_watch,      [FRAME_OUTPUT_ACK] = note_watch,
        [FRAME_ADD_HOSTS] = note_request, [FRAME_REMOVE_HOSTS] = note_request,
        [FRAME_HALT] = note_request,      [FRAME_STATS] = note_request,
        [FRAME_SERVICE] = note_service,   [FRAME_PROPOSE] = note_command,
        [FRAME_EVENT] = note_event,       [FRAME_JOIN] = note_host,
        [FRAME_TABLE] = note_table,       [FRAME_RAFT] = note_raft,
        [FRAME_CAST_CONTROL] = note_cast, [FRAME_SYNC] = note_sync,
        [FRAME_DETOUR] = note_detour,     [FRAME_CLAIM] = note_claim,
        [FRAME_CLAIM_REPLY] = note_claim, [FRAME_HOST_STAT] = note_request,
        [FRAME_TASK_STAT] = note_request, [FRAME_MEASURE] = note_request,
        [FRAME_LOG] = note_request,       [FRAME_ENDED] = note_watch,
        [FRAME_INPUT] = note_request,     [FRAME_TRACE] = note_request,
        [FRAME_TRAFFIC] = note_request,
    };
    note_writer *writer = writers[f->frame.kind];
    f->has_message = false;
    f->note[0] = '\0';
    if (writer != NULL)
        writer(f, &c);
}
