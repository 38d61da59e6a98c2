/*
 * sniff_stream.c - a reader of streams that nobody retransmits to. It takes bytes in order, keeps
 * some that came early, and of each frame only what is to be shown: the rest of the payload is
 * passed over, and need not even have been captured.
 *
 * What a capture lost is lost. When too much waits behind a hole, or a header makes no sense, the
 * stream is out of step until a piece begins with a header of its ends, which small messages soon
 * bring: a window puts the beginning of a frame that is sent alone at the beginning of a packet.
 */
#include "tools/wire/sniff_stream.h"

#include <stdlib.h>
#include <string.h>

#include "proto/auth/record.h"
#include "proto/wire/control.h"

#define PENDING_MAX 256
#define PENDING_BYTES_MAX (256 * 1024)
#define PREFIX_BYTES 96 /* of control frames: the numbers and names that they begin with */
#define MCAST_PREFIX_BYTES                                                                         \
    (CONTROL_MCAST_BYTES + CONTROL_RECEIVERS_MAX * CONTROL_RECEIVER_BYTES + FRAME_MESSAGE_BYTES)

struct sniff_piece {
    struct sniff_piece *next;
    uint64_t offset;
    size_t size;
    uint8_t bytes[];
};

static void await_head(struct sniff_stream *s)
{
    s->have = 0;
    s->want = s->records ? RECORD_HEAD_BYTES : FRAME_HEADER_BYTES;
}

void sniff_stream_init(struct sniff_stream *s, const struct sniff_stream_ends *ends, uint64_t skip)
{
    *s = (struct sniff_stream){.ends = *ends, .synced = true, .skip = skip};
    await_head(s);
}

static void pop_pending(struct sniff_stream *s)
{
    struct sniff_piece *piece = s->pending;
    s->pending = piece->next;
    s->pending_count--;
    s->pending_bytes -= piece->size;
    free(piece);
}

void sniff_stream_clear(struct sniff_stream *s)
{
    while (s->pending)
        pop_pending(s);
    free(s->head);
    s->head = NULL;
    s->capacity = 0;
}

/* ---- getting into step ---- */

static bool belongs(const struct sniff_stream_ends *ends, const struct frame *frame)
{
    if (FRAME_FDS(frame->flags) != 0) /* descriptors never leave a host */
        return false;
    if (ends->are_tids)
        return (ends->from == 0 ? ((frame->kind == FRAME_DATA || frame->kind == FRAME_CREDIT) &&
                                   tid_local(frame->source) != 0 && tid_host(frame->source) != 0)
                                : frame->source == ends->from) &&
               frame->destination == ends->to;
    return (ends->from == 0 || tid_host(frame->source) == ends->from) &&
           (ends->to == 0 || frame->destination == 0 || tid_host(frame->destination) == ends->to);
}

/* Bytes behind the header, of a frame or a brief one, that is there; false: it is none of these
 * ends.
 */
static bool length_of(const struct sniff_stream_ends *ends, const uint8_t *bytes, size_t *length)
{
    struct frame frame;
    struct brief brief;
    if (ends->are_tids && brief_is(bytes)) {
        bool good = brief_decode(bytes, &brief) == NULL;
        *length = good ? brief.size : 0;
        return good;
    }
    if (frame_decode(bytes, &frame) != NULL || !belongs(ends, &frame))
        return false;
    *length = frame.length;
    return true;
}

/* Brief headers say little: what begins with one must end with a message. */
bool sniff_stream_plausible(const struct sniff_stream_ends *ends, const uint8_t *bytes, size_t size)
{
    bool sure = size > 0 && !brief_is(bytes);
    size_t length;
    while (size >= FRAME_HEADER_BYTES) {
        if (!length_of(ends, bytes, &length))
            return false;
        if (size - FRAME_HEADER_BYTES <= length)
            return sure || size - FRAME_HEADER_BYTES == length;
        bytes += FRAME_HEADER_BYTES + length;
        size -= FRAME_HEADER_BYTES + length;
    }
    return sure && size > 0; /* the header of the next one is cut */
}

static void lose_step(struct sniff_stream *s)
{
    s->synced = false;
    s->skip = 0;
    await_head(s);
}

static bool find_step(struct sniff_stream *s, uint64_t offset, const uint8_t *bytes, size_t size)
{
    if (s->records || size < FRAME_HEADER_BYTES || !sniff_stream_plausible(&s->ends, bytes, size))
        return false;
    s->synced = true;
    s->next = offset;
    return true;
}

/* ---- bytes in order ---- */

/* How much of a payload is shown, or learnt from. */
static size_t prefix_bytes(const struct frame *frame)
{
    size_t want = PREFIX_BYTES;
    if (frame->kind == FRAME_DATA)
        want = frame->flags & FRAME_FIRST ? FRAME_MESSAGE_BYTES : 0;
    if (frame->kind == FRAME_MCAST)
        want = MCAST_PREFIX_BYTES;
    if (frame->kind == FRAME_TABLE || frame->kind == FRAME_JOIN || frame->kind == FRAME_HOST_EVENT)
        want = frame->length;
    return want < frame->length ? want : frame->length;
}

static bool reserve_bytes(struct sniff_stream *s, size_t bytes)
{
    uint8_t *head;
    if (s->capacity >= bytes)
        return true;
    head = realloc(s->head, bytes);
    if (head == NULL)
        return false;
    s->head = head;
    s->capacity = bytes;
    return true;
}

static void give_frame(struct sniff_stream *s, const struct sniff_stream_owner *owner)
{
    size_t shown = s->want - FRAME_HEADER_BYTES;
    if (s->ends.are_tids && s->ends.from == 0)
        s->ends.from = s->frame.source;
    owner->frame(owner->context, &s->frame, s->head + FRAME_HEADER_BYTES, shown);
    s->skip = s->frame.length - shown;
    await_head(s);
}

static void give_record(struct sniff_stream *s, const struct sniff_stream_owner *owner)
{
    size_t body = record_body_bytes(s->head);
    if (body == 0) {
        s->broken = true;
        lose_step(s);
        return;
    }
    owner->record(owner->context, body);
    s->skip = body + AUTH_TAG_BYTES;
    await_head(s);
}

/* The first head after a handshake: of a frame between these tasks, or of a record. */
static bool turns_out_records(struct sniff_stream *s)
{
    bool frames = frame_decode(s->head, &s->frame) == NULL && belongs(&s->ends, &s->frame);
    s->records = s->may_record && !frames && record_body_bytes(s->head) != 0;
    s->may_record = false;
    return s->records;
}

/* A brief header is shown as those that it stands for. */
static bool give_brief(struct sniff_stream *s, const struct sniff_stream_owner *owner)
{
    struct brief brief;
    struct message_header header;
    if (brief_decode(s->head, &brief) != NULL ||
        !reserve_bytes(s, FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES))
        return false;
    brief_expand(&brief, &s->frame, &header);
    s->frame.source = s->ends.from;
    s->frame.destination = s->ends.to;
    message_header_encode(&header, s->head + FRAME_HEADER_BYTES);
    owner->frame(owner->context, &s->frame, s->head + FRAME_HEADER_BYTES, FRAME_MESSAGE_BYTES);
    s->skip = brief.size;
    await_head(s);
    return true;
}

/* Collects a head; returns how many of the bytes it took. */
static size_t gather_head(struct sniff_stream *s, const struct sniff_stream_owner *owner,
                          const uint8_t *bytes, size_t size)
{
    size_t lacking = s->want - s->have, before = s->have;
    if (size > lacking)
        size = lacking;
    if (!reserve_bytes(s, s->want)) {
        lose_step(s);
        return size;
    }
    memcpy(s->head + s->have, bytes, size);
    s->have += size;
    if (s->have < s->want)
        return size;
    if (s->records) {
        give_record(s, owner);
    } else if (s->want > FRAME_HEADER_BYTES) {
        give_frame(s, owner);
    } else if (turns_out_records(s)) {
        /* the head of a record is shorter: what is behind it is read again */
        size = before < RECORD_HEAD_BYTES ? RECORD_HEAD_BYTES - before : 0;
        s->have = RECORD_HEAD_BYTES;
        give_record(s, owner);
        s->skip -= before > RECORD_HEAD_BYTES ? before - RECORD_HEAD_BYTES : 0;
    } else {
        if (!s->ends.are_tids || !brief_is(s->head) || !give_brief(s, owner)) {
            if (frame_decode(s->head, &s->frame) != NULL) {
                s->broken = true;
                lose_step(s);
            } else {
                s->want += prefix_bytes(&s->frame);
                if (s->want == FRAME_HEADER_BYTES)
                    give_frame(s, owner);
            }
        }
    }
    return size;
}

/* Takes bytes that begin at s->next or before. */
static void consume(struct sniff_stream *s, const struct sniff_stream_owner *owner, uint64_t offset,
                    const uint8_t *bytes, size_t size)
{
    uint64_t old = s->next > offset ? s->next - offset : 0;
    if (old >= size)
        return;
    if (offset > s->next)
        s->skip -= offset - s->next; /* a hole in what is passed over */
    s->next = offset + size;
    bytes += old;
    size -= (size_t)old;
    while (size > 0 && s->synced) {
        size_t taken = s->skip < size ? (size_t)s->skip : size;
        if (s->skip > 0)
            s->skip -= taken;
        else
            taken = gather_head(s, owner, bytes, size);
        bytes += taken;
        size -= taken;
    }
}

/* ---- bytes out of order ---- */

static bool reaches(const struct sniff_stream *s, uint64_t offset)
{
    return offset <= s->next || offset - s->next <= s->skip;
}

void sniff_stream_feed(struct sniff_stream *s, const struct sniff_stream_owner *owner,
                       uint64_t offset, const uint8_t *bytes, size_t size)
{
    if (!s->synced && !find_step(s, offset, bytes, size))
        return;
    if (reaches(s, offset)) {
        consume(s, owner, offset, bytes, size);
    } else {
        /* Keeps a piece until what is before it was seen. */
        struct sniff_piece *piece = malloc(sizeof *piece + size), **at = &s->pending;
        if (piece != NULL) {
            while (*at != NULL && (*at)->offset < offset)
                at = &(*at)->next;
            piece->next = *at;
            piece->offset = offset;
            piece->size = size;
            memcpy(piece->bytes, bytes, size);
            *at = piece;
            s->pending_count++;
            s->pending_bytes += size;
        }
        if (s->pending_count > PENDING_MAX || s->pending_bytes > PENDING_BYTES_MAX)
            lose_step(s);
    }
    /* Takes what waited, as far as it is its turn. */
    while (s->pending != NULL) {
        struct sniff_piece *piece = s->pending;
        if (!s->synced && !find_step(s, piece->offset, piece->bytes, piece->size)) {
            pop_pending(s);
            continue;
        }
        if (!reaches(s, piece->offset))
            return;
        consume(s, owner, piece->offset, piece->bytes, piece->size);
        pop_pending(s);
    }
}
