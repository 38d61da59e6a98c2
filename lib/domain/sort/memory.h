/*
 * memory.h - the large arrays of a handle. What one algorithm has given back the next one takes:
 * the first write of a page costs more than all work on it, so a handle keeps what it has used.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_MEMORY_H
#define COVEY_LIB_DOMAIN_SORT_MEMORY_H

#include <stddef.h>

#define MEMORY_BLOCKS 6
#define MEMORY_SMALL ((size_t)64 << 10) /* bytes: less than this malloc() keeps by itself */

struct sort_block {
    void *base;
    size_t bytes;
    int is_taken;
};

struct sort_memory {
    struct sort_block blocks[MEMORY_BLOCKS];
};

/* Memory for free(). NULL: there is none. */
void *memory_new(size_t bytes);

/* Memory of at least so many bytes, for memory_give(); NULL: there is none. */
void *memory_take(struct sort_memory *memory, size_t bytes);
void memory_give(struct sort_memory *memory, void *base);

/* Bytes that are kept and not taken, with those that malloc() has. */
size_t memory_kept(const struct sort_memory *memory);

void memory_free(struct sort_memory *memory);

#endif
