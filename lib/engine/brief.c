/*
 * brief.c - messages of one array on a TCP stream or in a ring, whole in one frame: their brief
 * header, see frame.h. It is written in the place of the headers of frame, message and item, and
 * read back into these, so that nobody else knows of it; credit counts what they would take.
 *
 * Of 32 hosts that give each other 1 KiB blocks the long headers take 4 % of the links. In a ring a
 * number and all its headers have half a line of the cache, and not two. There each message has a
 * stamp; on a stream, none may have one.
 */
#include "lib/engine/brief.h"
#include "lib/engine/conn.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/member/routes.h"
#include "lib/member/vm.h"
#include "lib/msg/message.h"
#include "proto/wire/frame.h"

_Static_assert(FRAME_ITEM_BYTES == ITEM_HEADER_BYTES, "a first item's header");

size_t brief_put(struct conn *conn, const struct covey_req *req)
{
    uint8_t item[ITEM_HEADER_BYTES];
    const struct route *route = &routes[conn->route];
    uint64_t size = req->send.msg->size - ITEM_HEADER_BYTES, count;
    int type;
    if (!(route->ring || (route->stream && req->send.stamp == 0)) ||
        req->send.msg->size < ITEM_HEADER_BYTES || size > BRIEF_SIZE_MAX)
        return 0;
    message_copy(req->send.msg, 0, item, sizeof item);
    if (!item_header_decode(item, req->send.msg->size, &type, &count) ||
        item_bytes(type, count) != req->send.msg->size)
        return 0;
    const struct brief brief = {.type = (uint8_t)type,
                                .representation = req->send.msg->representation,
                                .padding = (uint8_t)(size - count * covey_type_size(type)),
                                .size = (uint16_t)size,
                                .sequence = (uint32_t)req->send.sequence,
                                .tag = req->tag,
                                .context = req->context};
    brief_encode(&brief, conn->out.head);
    if (!route->ring)
        return FRAME_HEADER_BYTES;
    brief_stamp_put(conn->out.head, req->send.stamp);
    return BRIEF_STAMPED_BYTES;
}

uint64_t brief_sequence(const struct brief *brief, uint64_t next)
{
    return next + (uint64_t)(int64_t)(int32_t)(brief->sequence - (uint32_t)next);
}

static const char *check_array(const struct brief *brief, size_t *count)
{
    uint32_t width = (uint32_t)covey_type_size(brief->type), bytes = brief->size - brief->padding;
    if (width == 0)
        return "a brief message of an unknown type";
    *count = bytes / width;
    if (*count * width != bytes || (bytes + 7) / 8 * 8 != brief->size)
        return "a brief message that is no array of its type";
    return NULL;
}

/* One without a stamp, or of which that was taken. */
static const char *decode(const uint8_t *bytes, struct brief *brief, size_t *count)
{
    const char *refused = brief_decode(bytes, brief);
    return refused != NULL ? refused : check_array(brief, count);
}

static const char *decode_stamped(uint8_t bytes[BRIEF_STAMPED_BYTES], struct brief *brief,
                                  uint64_t *stamp, size_t *count)
{
    *stamp = brief_is_stamped(bytes) ? brief_stamp_take(bytes) : 0;
    return *stamp == 0 ? "a message without a stamp" : decode(bytes, brief, count);
}

const char *brief_look(const uint64_t words[BRIEF_STAMPED_WORDS], struct brief *brief,
                       uint64_t *stamp, size_t *count)
{
    const char *refused = brief_of_words(words, brief, stamp);
    return refused != NULL ? refused : check_array(brief, count);
}

size_t brief_head_bytes(const struct conn *conn)
{
    bool stamped = routes[conn->route].ring && brief_is_stamped(conn->in.head);
    return stamped ? BRIEF_STAMPED_BYTES : FRAME_HEADER_BYTES;
}

const char *brief_take(struct conn *conn)
{
    struct brief brief;
    struct message_header header;
    uint64_t stamp = 0;
    size_t count;
    const char *refused = routes[conn->route].ring
                              ? decode_stamped(conn->in.head, &brief, &stamp, &count)
                              : decode(conn->in.head, &brief, &count);
    if (refused != NULL)
        return refused;
    brief_expand(&brief, &conn->in.frame, &header);
    header.sequence = brief_sequence(&brief, conn->peer->in.sequence);
    header.stamp = stamp;
    conn->in.frame.source = conn->peer->tid;
    conn->in.frame.destination = conn->vm->self.tid;
    message_header_encode(&header, conn->in.preface);
    item_header_encode(conn->in.preface + FRAME_MESSAGE_BYTES, brief.type, count);
    conn->in.preface_size = conn->in.preface_used = FRAME_MESSAGE_BYTES + ITEM_HEADER_BYTES;
    return NULL;
}
