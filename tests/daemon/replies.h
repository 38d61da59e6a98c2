/* replies.h - a daemon's answers to requests that go nowhere and are counted; a suite includes this
 * once in the place of daemon/post/reply.c. */
#ifndef COVEY_TESTS_REPLIES_H
#define COVEY_TESTS_REPLIES_H

#include <CUnit/CUnit.h>

#include "daemon/post/reply.h"

static unsigned replies_begun;

void reply_begin(struct reply *r, struct daemon *d, uint32_t to, uint32_t request)
{
    (void)r, (void)d, (void)to, (void)request;
    replies_begun++;
}

struct cursor reply_room(struct reply *r, size_t size)
{
    static uint8_t room[64];
    (void)r;
    CU_ASSERT(size <= sizeof room);
    return cursor_writer(room, sizeof room);
}

void reply_add(struct reply *r, const struct cursor *c)
{
    (void)r, (void)c;
}

void reply_send(struct reply *r, int32_t status)
{
    (void)r, (void)status;
}

void reply_error(struct daemon *d, uint32_t to, uint32_t request, int32_t status,
                 const char *format, ...)
{
    (void)d, (void)to, (void)request, (void)status, (void)format;
    replies_begun++;
}

#endif
