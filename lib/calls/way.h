/*
 * way.h - where a message goes, or comes from: a task, a tag and a context. The calls of covey.h
 * that name a task by its tid and those that name it by its rank in a team differ in nothing else,
 * so each pair of them is one function here (send.c, recv.c).
 */
#ifndef COVEY_LIB_WAY_H
#define COVEY_LIB_WAY_H

#include "lib/covey.h"
#include "lib/msg/error.h"

#include <stddef.h>
#include <stdint.h>

struct covey;
struct covey_req;

struct way {
    struct covey *vm;
    covey_tid_t tid; /* receive: or COVEY_ANY_TASK */
    int tag;         /* receive: or COVEY_ANY_TAG */
    uint32_t context;
    const _Atomic int
        *closed;             /* NULL, or where the error stands with which the way is closed, 0: */
    const char *closed_text; /* it is open; and the cause. Both are read with the lock held. */
};

/* The error of a way that is closed, which is set. */
static inline int way_check(const struct way *way)
{
    if (way->closed == NULL || *way->closed == COVEY_OK)
        return COVEY_OK;
    return error_set(*way->closed, "team: %s", way->closed_text);
}

/* What the functions of covey.h of the like names promise. */
int send_message(const struct way *to, const covey_msg_t *msg);
int send_array(const struct way *to, int type, const void *base, size_t count);
int isend_message(const struct way *to, covey_msg_t **msg, covey_req_t **req);
int isend_array(const struct way *to, int type, const void *base, size_t count, covey_req_t **req);
int receive_message(const struct way *from, int64_t timeout_us, covey_msg_t **msg);
int receive_array(const struct way *from, int64_t timeout_us, int type, void *base, size_t capacity,
                  size_t *count, struct covey_info *info);
int receive_probe(const struct way *from, int64_t timeout_us, struct covey_info *info);
int ireceive_message(const struct way *from, covey_req_t **req);
int ireceive_array(const struct way *from, int type, void *base, size_t capacity,
                   covey_req_t **req);

/* Make a request of one of them, which is not started: receive_start(), send_start(). */
int receive_init(struct covey_req *req, const struct way *from);
int receive_into(struct covey_req *req, int type, void *base, size_t capacity);
void send_init(struct covey_req *req, const struct way *to);

#endif
