/*
 * plain.h - short arrays between two tasks of one host, where nothing is in their way.
 */
#ifndef COVEY_LIB_ENGINE_PLAIN_H
#define COVEY_LIB_ENGINE_PLAIN_H

#include "lib/covey.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct covey;

#define PLAIN_BYTES_MAX 4096 /* of an array */

struct plain_send {
    uint32_t tid;
    int tag, type;
    uint32_t context;
    const void *base;
    size_t count;
};

struct plain_receive {
    struct covey *vm;
    covey_tid_t tid; /* or COVEY_ANY_TASK */
    int tag, type;   /* the tag may be COVEY_ANY_TAG */
    uint32_t context;
    void *base;
    size_t capacity;
    size_t count; /* of what came, and the rest of it */
    struct covey_info info;
};

/* Sends the array at once; false: it has to go the long way, and nothing has happened. */
bool plain_send(struct covey *vm, const struct plain_send *what);

/* Whether a message may come to the receive by plain_take(), this time. */
bool plain_may_take(const struct plain_receive *what);
/* Takes the one that the receive wants: 1; 0: nothing is there yet; -1: what is there, or what it
 * waits for, has to come the long way. */
int plain_take(void *what);

#endif
