/*
 * spare.c - memory for long arrays that come and go: see spare.h.
 *
 * A place of the shelf is taken and filled by one atomic exchange each, so there is no lock, and a
 * block is in one place or has one owner.
 */
#include "lib/msg/spare.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define WASTE 4 /* a block serves for no less than that part of it */

struct block {
    alignas(max_align_t) size_t bytes;
    alignas(max_align_t) unsigned char memory[];
};

static _Atomic(struct block *) shelf[SPARE_BLOCKS];

static struct block *block_of(void *memory)
{
    return (struct block *)(void *)((unsigned char *)memory - offsetof(struct block, memory));
}

/* Where addresses are checked, who uses memory that is no longer his must be found out. */
static int is_kept(size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    (void)bytes;
    return 0;
#else
    return bytes >= SPARE_BYTES_MIN && bytes <= SPARE_BYTES_MAX;
#endif
}

static void put_away(struct block *block)
{
    for (int i = 0; i < SPARE_BLOCKS && block != NULL; i++) {
        struct block *none = NULL;
        if (atomic_compare_exchange_strong(&shelf[i], &none, block))
            block = NULL;
    }
    free(block);
}

static struct block *find(size_t bytes)
{
    for (int i = 0; i < SPARE_BLOCKS; i++) {
        struct block *block = atomic_exchange(&shelf[i], NULL);
        if (block != NULL && block->bytes >= bytes && block->bytes / WASTE <= bytes)
            return block;
        if (block != NULL)
            put_away(block);
    }
    return NULL;
}

void *spare_take(size_t bytes)
{
    struct block *block = is_kept(bytes) ? find(bytes) : NULL;
    if (block == NULL && bytes <= SIZE_MAX - sizeof *block)
        block = malloc(sizeof *block + bytes);
    else if (block != NULL)
        bytes = block->bytes;
    if (block == NULL)
        return NULL;
    block->bytes = bytes;
    return block->memory;
}

void *spare_resize(void *memory, size_t bytes)
{
    struct block *block = memory == NULL ? NULL : block_of(memory);
    if (block == NULL)
        return spare_take(bytes);
    if (bytes <= block->bytes)
        return memory;
    block = bytes <= SIZE_MAX - sizeof *block ? realloc(block, sizeof *block + bytes) : NULL;
    if (block == NULL)
        return NULL;
    block->bytes = bytes;
    return block->memory;
}

void spare_give(void *memory)
{
    struct block *block = memory == NULL ? NULL : block_of(memory);
    if (block != NULL && is_kept(block->bytes))
        put_away(block);
    else
        free(block);
}
