/*
 * match.h - which receive takes which message.
 */
#ifndef COVEY_LIB_ENGINE_MATCH_H
#define COVEY_LIB_ENGINE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct arrival;
struct covey;
struct covey_req;
struct peer;

void match_post(struct covey *vm, struct covey_req *req); /* takes a waiting message, or waits */
void match_arrival(struct covey *vm, struct arrival *arrival);
/* A message that had been offered comes now: it gets memory, unless an array is there for it. */
void match_accept(struct arrival *arrival);
void match_complete(struct covey *vm, struct arrival *arrival); /* it may be given out */
bool match_cancel(struct covey *vm, struct covey_req *req);
void match_free(struct covey *vm, struct arrival *arrival);
/* Nobody gets the message any more, which stays the caller's. Its receive is again the first of
 * those posted: 1, or 0 if it had none. */
unsigned match_abandon(struct covey *vm, struct arrival *arrival);
void match_again(struct covey *vm, unsigned count); /* the first posted: other messages may fit */
int match_ready_fd(struct covey *vm); /* made when it is first asked for; or an error */
void match_home_lost(struct covey *vm, int error, const char *why); /* receives fail at once */
void match_fail_source(struct covey *vm, struct peer *peer); /* receives that only it could serve */
const struct arrival *match_find(const struct covey *vm, uint32_t source, int tag,
                                 uint32_t context);

#endif
