/*
 * buffer.h - message buffers, which programs know by numbers.
 */
#ifndef COVEY_PVM3_BUFFER_H
#define COVEY_PVM3_BUFFER_H

#include <pvm3.h>
#include <stdbool.h>

#include "lib/covey.h"
#include "lib/pvm3/message/body.h"

/* What info.enc says of a buffer. A number that is none of these is the format of raw data. */
#define ENC_DEFAULT 0x10000000
#define ENC_RAW 0x00408c41
#define ENC_INPLACE 0x20000000

struct buffer {
    int id;
    struct pvmminfo info; /* but for the length */
    struct body body;
    bool swapped;          /* it came from a host of the other byte order */
    covey_msg_t *received; /* what the body lies in, or NULL */
    bool waiting;          /* it is in the inbox */
    struct buffer *next;   /* there */
};

/* The buffer of that number, NULL: there is none. */
struct buffer *buffer_find(int id);

/* A new one of one of ENC_...; NULL: memory is exhausted. */
struct buffer *buffer_create(int enc);
void buffer_destroy(struct buffer *buffer);

/* The buffers that are packed and unpacked, NULL: none. */
struct buffer *buffer_sending(void);
struct buffer *buffer_receiving(void);

/* Unpacking goes on with this one, and the one before is freed. NULL: with none. */
void buffer_receive(struct buffer *buffer);

#endif
