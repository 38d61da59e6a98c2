/*
 * outgo.h - sends under way.
 */
#ifndef COVEY_LIB_ENGINE_OUTGO_H
#define COVEY_LIB_ENGINE_OUTGO_H

#include "proto/wire/frame.h"
#include <stdbool.h>
#include <stdint.h>

struct control_sync;
struct covey;
struct covey_req;
struct cursor;
struct peer;

void outgo_queue(struct covey *vm, struct peer *peer, struct covey_req *req);
/* Of a message: the pair's traffic grows. */
void outgo_count(struct covey *vm, struct peer *peer, uint64_t size);
void outgo_pump(struct covey *vm, struct peer *peer); /* moves what can move */
void outgo_pump_all(struct covey *vm);
void outgo_fail(struct covey *vm, struct peer *peer, int error, const char *why);
bool outgo_cancel(struct covey *vm, struct covey_req *req);
struct message_header outgo_header(const struct covey_req *req); /* of its message */
void outgo_sent(struct covey *vm, struct covey_req *req);        /* its last byte is out */
/* What a CREDIT says: limit=u64 [turn=u64]. */
void outgo_on_credit(struct covey *vm, struct peer *peer, struct cursor *payload);
void outgo_on_credit_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* A hand-over goes to the peer, between the frames of its sends; COVEY_ENOMEM: it does not. */
int outgo_sync(struct covey *vm, struct peer *peer, const struct control_sync *what);
void outgo_drop_syncs(struct peer *peer);

#endif
