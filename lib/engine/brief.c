/*
 * brief.c - messages of one array on a TCP stream, whole in one frame: their brief header, see
 * frame.h. It is written in the place of the headers of frame, message and item, and read back into
 * these, so that nobody else knows of it; credit counts what they would take.
 *
 * Of 32 hosts that give each other 1 KiB blocks the long headers take 4 % of the links.
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

bool brief_put(struct conn *conn, const struct covey_req *req)
{
    uint8_t item[ITEM_HEADER_BYTES];
    uint64_t size = req->send.msg->size - ITEM_HEADER_BYTES, count;
    int type;
    if (!routes[conn->route].stream || req->send.stamp != 0 ||
        req->send.msg->size < ITEM_HEADER_BYTES || size > BRIEF_SIZE_MAX)
        return false;
    message_copy(req->send.msg, 0, item, sizeof item);
    if (!item_header_decode(item, req->send.msg->size, &type, &count) ||
        item_bytes(type, count) != req->send.msg->size)
        return false;
    const struct brief brief = {.type = (uint8_t)type,
                                .representation = req->send.msg->representation,
                                .padding = (uint8_t)(size - count * covey_type_size(type)),
                                .size = (uint16_t)size,
                                .sequence = (uint32_t)req->send.sequence,
                                .tag = req->tag,
                                .context = req->context};
    brief_encode(&brief, conn->out.head);
    return true;
}

/* The number with that lower half that is nearest to the next one's. */
static uint64_t whole_sequence(uint64_t next, uint32_t half)
{
    return next + (uint64_t)(int64_t)(int32_t)(half - (uint32_t)next);
}

const char *brief_take(struct conn *conn)
{
    struct brief brief;
    const char *refused = brief_decode(conn->in.head, &brief);
    size_t width = refused == NULL ? covey_type_size(brief.type) : 0;
    if (refused != NULL)
        return refused;
    if (width == 0)
        return "a brief message of an unknown type";
    uint64_t count = (uint64_t)(brief.size - brief.padding) / width;
    if (item_bytes(brief.type, count) != (uint64_t)ITEM_HEADER_BYTES + brief.size ||
        count * width != (uint64_t)(brief.size - brief.padding))
        return "a brief message that is no array of its type";
    struct message_header header;
    brief_expand(&brief, &conn->in.frame, &header);
    header.sequence = whole_sequence(conn->peer->in.sequence, brief.sequence);
    conn->in.frame.source = conn->peer->tid;
    conn->in.frame.destination = conn->vm->self.tid;
    message_header_encode(&header, conn->in.preface);
    item_header_encode(conn->in.preface + FRAME_MESSAGE_BYTES, brief.type, count);
    conn->in.preface_size = conn->in.preface_used = sizeof conn->in.preface;
    return NULL;
}
