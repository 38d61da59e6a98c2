/*
 * brief.h - the short header of short messages.
 */
#ifndef COVEY_LIB_ENGINE_BRIEF_H
#define COVEY_LIB_ENGINE_BRIEF_H

#include <stdbool.h>

struct conn;
struct covey_req;

/* Writes that of a message which begins, and is whole, into out_head; false: it has none. */
bool brief_put(struct conn *conn, const struct covey_req *req);
/* Takes the one in in_head; the reason of refusal or NULL. */
const char *brief_take(struct conn *conn);

#endif
