/*
 * pack.h - arrays of PVM's types to bytes and back.
 *
 * The default encoding has XDR's sizes, so that a message has the length that programs know: bytes
 * and strings are filled up to multiples of 4, short integers take 4 bytes; but long ones take 8,
 * on all hosts. The bytes are in the sender's order, and a receiver of the other order turns them.
 * Raw data are as they lie in memory.
 */
#ifndef COVEY_PVM3_PACK_H
#define COVEY_PVM3_PACK_H

#include <stddef.h>

#include "lib/pvm3/message/buffer.h"

/* The size of an element of PVM_BYTE .. PVM_ULONG in memory; 0: no such type, or PVM_STR. */
size_t pack_size(int type);

/* Packs or unpacks every stride-th of `count` elements. Returns 0 or an error, which is not
 * printed. A buffer of NULL is PvmNoBuf. */
int pack_array(struct buffer *b, int type, const void *base, int count, int stride);
int unpack_array(struct buffer *b, int type, void *base, int count, int stride);
int pack_string(struct buffer *b, const char *text);
int unpack_string(struct buffer *b, char *text);

/* Turns the byte order of `size` bytes that are elements of a type. */
void pack_swap(int type, void *bytes, size_t size);

#endif
