/*
 * trace_compress.h - the file of a trace, compressed by zstd once it is whole: while tasks are
 * recorded that would cost them time. A file that nobody compressed is read as it is.
 */
#ifndef COVEY_TOOLS_TRACE_COMPRESS_H
#define COVEY_TOOLS_TRACE_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* Puts the compressed file in the place of a regular one, at once: who reads it meanwhile has one
 * or the other. Returns 0, or -1 with errno, and the file is as it was. */
int trace_compress(const char *path);

/* What the bytes are compressed of, in the place of them, which are freed; bytes that are not
 * compressed stay. NULL, and they are freed: why is said. A file that ends in the middle gives what
 * it has. */
uint8_t *trace_decompress(uint8_t *bytes, size_t *size, const char **why);

#endif
