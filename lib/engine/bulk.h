/*
 * bulk.h - messages that wait for contention domains.
 */
#ifndef COVEY_LIB_ENGINE_BULK_H
#define COVEY_LIB_ENGINE_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct covey;
struct covey_req;
struct frame;
struct peer;

/* Whether the next frame of the peer's first send may go as far as others are concerned. If not, it
 * is looked at again in time. */
bool bulk_may_send(struct covey *vm, struct peer *peer, struct covey_req *req);
void bulk_sent(struct covey *vm, struct peer *peer, const struct covey_req *req, uint64_t bytes);
void bulk_settle(struct covey *vm, struct peer *peer); /* its first send is another one, or none */
void bulk_drop(struct covey *vm, struct peer *peer);   /* it has no more sends */
void bulk_check(struct covey *vm, struct peer *peer, uint64_t now_us);
void bulk_on_answer(struct covey *vm, const struct frame *frame, const uint8_t *payload);

/* Trims the next frame to what may go before it is the message's turn at its receiver; false: none
 * of it. */
bool bulk_in_turn(const struct covey *vm, const struct peer *peer, const struct covey_req *req,
                  size_t *size);

#endif
