/*
 * covey/message.h - messages: typed arrays that are packed and unpacked.
 */
#ifndef COVEY_MESSAGE_H
#define COVEY_MESSAGE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_msg covey_msg_t; /* a message: a list of typed arrays */

enum covey_type {
    COVEY_INT8 = 1,
    COVEY_INT16 = 2,
    COVEY_INT32 = 3,
    COVEY_INT64 = 4,
    COVEY_UINT8 = 5,
    COVEY_UINT16 = 6,
    COVEY_UINT32 = 7,
    COVEY_UINT64 = 8,
    COVEY_FLOAT = 9,
    COVEY_DOUBLE = 10,
    COVEY_COMPLEX_FLOAT = 11,  /* two floats: real, imaginary */
    COVEY_COMPLEX_DOUBLE = 12, /* two doubles: real, imaginary */
    COVEY_STRING = 13,         /* one string; the count is its length in bytes without the NUL */
    COVEY_BYTES = 14,          /* uninterpreted bytes */
    COVEY_MESSAGE = 15         /* one nested message; the count is its size in bytes */
};

/* The size in bytes of one element (1 for STRING, BYTES and MESSAGE), 0 for an unknown type. */
size_t covey_type_size(int type);

/* The name of a type ("int32"); "unknown" for an unknown one. */
const char *covey_type_name(int type);

/* A new empty message, or NULL when memory is exhausted. Free it with covey_msg_free(). */
covey_msg_t *covey_msg_new(void);

/* Frees a message; NULL is fine. */
void covey_msg_free(covey_msg_t *msg);

/* Empties a message for reuse. */
void covey_msg_reset(covey_msg_t *msg);

/* Starts reading again at the first item. */
void covey_msg_rewind(covey_msg_t *msg);

/* Adds an array of `count` elements of `type`, every stride-th element of base, by copy.
 * Errors: EINVAL (type, stride 0 with count > 1), ENOMEM, ETOOBIG. */
int covey_pack(covey_msg_t *msg, int type, const void *base, size_t count, ptrdiff_t stride);

/* Adds a contiguous array without copying it: base must stay valid and unchanged until the
 * message was sent (or freed), for covey_isend() until its request is complete. */
int covey_pack_inplace(covey_msg_t *msg, int type, const void *base, size_t count);

int covey_pack_string(covey_msg_t *msg, const char *text); /* a NUL-terminated string */
int covey_pack_bytes(covey_msg_t *msg, const void *bytes, size_t count);
int covey_pack_msg(covey_msg_t *msg, const covey_msg_t *nested); /* a copy of a whole message */

/* Takes the next item into every stride-th element of base. The item must have exactly that type
 * and at least the elements still wanted; the rest of an item stays for the next call.
 * Errors: ETYPE (the text names both types and counts), EEND, EINVAL. */
int covey_unpack(covey_msg_t *msg, int type, void *base, size_t count, ptrdiff_t stride);

/* The type and number of remaining elements of the next item, without taking it. Error: EEND. */
int covey_peek(const covey_msg_t *msg, int *type, size_t *count);

/* The rest of the next item without a copy: *base belongs to the message, is aligned for the type
 * and lives until more is packed or the message freed. Errors: ETYPE, EEND. */
int covey_unpack_view(covey_msg_t *msg, int type, const void **base, size_t *count);

/* The next item, a string, into text[capacity] with a NUL. Errors: ETRUNC, ETYPE, EEND. */
int covey_unpack_string(covey_msg_t *msg, char *text, size_t capacity);
int covey_unpack_bytes(covey_msg_t *msg, void *bytes, size_t count);

/* The next item, a nested message, as a message of its own that the caller frees. */
int covey_unpack_msg(covey_msg_t *msg, covey_msg_t **nested);

#define COVEY_PACK_TYPED(suffix, ctype, type)                                                      \
    static inline int covey_pack_##suffix(covey_msg_t *msg, const ctype *base, size_t count,       \
                                          ptrdiff_t stride)                                        \
    {                                                                                              \
        return covey_pack(msg, type, base, count, stride);                                         \
    }                                                                                              \
    static inline int covey_unpack_##suffix(covey_msg_t *msg, ctype *base, size_t count,           \
                                            ptrdiff_t stride)                                      \
    {                                                                                              \
        return covey_unpack(msg, type, base, count, stride);                                       \
    }

/* covey_pack_int32(msg, base, count, stride), covey_unpack_int32(...) and so on. Complex arrays
 * are given as their real and imaginary parts in turn; count and stride are in complex numbers. */
COVEY_PACK_TYPED(int8, int8_t, COVEY_INT8)
COVEY_PACK_TYPED(int16, int16_t, COVEY_INT16)
COVEY_PACK_TYPED(int32, int32_t, COVEY_INT32)
COVEY_PACK_TYPED(int64, int64_t, COVEY_INT64)
COVEY_PACK_TYPED(uint8, uint8_t, COVEY_UINT8)
COVEY_PACK_TYPED(uint16, uint16_t, COVEY_UINT16)
COVEY_PACK_TYPED(uint32, uint32_t, COVEY_UINT32)
COVEY_PACK_TYPED(uint64, uint64_t, COVEY_UINT64)
COVEY_PACK_TYPED(float, float, COVEY_FLOAT)
COVEY_PACK_TYPED(double, double, COVEY_DOUBLE)
COVEY_PACK_TYPED(complex_float, float, COVEY_COMPLEX_FLOAT)
COVEY_PACK_TYPED(complex_double, double, COVEY_COMPLEX_DOUBLE)

/* What is known of a message that was received or probed. */
struct covey_info {
    covey_tid_t source;
    int32_t tag;
    uint64_t bytes; /* size of the packed message */
};

/* Sender, tag and size of a received message; source 0 for one that was not received. */
void covey_msg_info(const covey_msg_t *msg, struct covey_info *info);

#ifdef __cplusplus
}
#endif
#endif
