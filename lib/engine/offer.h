/*
 * offer.h - long messages between tasks of one host, which their receiver copies from where they
 * lie.
 */
#ifndef COVEY_LIB_ENGINE_OFFER_H
#define COVEY_LIB_ENGINE_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct covey_req;
struct peek;

/* The other end of that link has told how its task's memory can be read. */
void offer_open(struct conn *conn, struct peek *peek);
/* Offers the send, which begins, with all that is left of it; false: it is not one for that. */
bool offer_put(struct conn *conn, struct covey_req *req);
/* The first frame of a message is here: how long it takes is measured. */
void offer_begun(struct conn *conn);
/* The message that came last may be whole. */
void offer_arrived(struct conn *conn);
/* Sees what became of the offer that is out, and reads on in the one that is here. */
void offer_poll(struct conn *conn);
/* Whether offer_poll() would find something to do. */
bool offer_due(const struct conn *conn);
/* Takes back what was not answered in time. */
void offer_check(struct conn *conn, uint64_t now_us);
/* The send under way is over: true, and its bytes are the owner's again, unless they were read. */
bool offer_end(struct conn *conn);
/* A frame continues the message that comes: what is missing is not read. NULL, or the refusal. */
const char *offer_resumed(struct conn *conn);

#endif
