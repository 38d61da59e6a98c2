/*
 * memory.c - a few blocks, of which the smallest that is large enough is taken. A new one is an
 * eighth larger than asked, for the next run's pieces may be a little larger than this one's. Where
 * there are too many, the smallest makes room.
 *
 * Large ones ask the system for large pages, of which there are fewer to write for the first time.
 */
#include "lib/domain/sort/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE (2 * HUGE_PAGE)

void *memory_new(size_t bytes)
{
    if (bytes < LARGE || bytes > (size_t)-1 - HUGE_PAGE)
        return malloc(bytes);
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *base = aligned_alloc(HUGE_PAGE, whole);
    if (base != NULL)
        madvise(base, whole, MADV_HUGEPAGE); /* if there are any */
    return base;
}

static struct sort_block *find_fitting(struct sort_memory *memory, size_t bytes)
{
    struct sort_block *best = NULL;
    for (int i = 0; i < MEMORY_BLOCKS; i++) {
        struct sort_block *b = &memory->blocks[i];
        if (b->base != NULL && !b->is_taken && b->bytes >= bytes &&
            (best == NULL || b->bytes < best->bytes))
            best = b;
    }
    return best;
}

/* Where a new block can stand: in an empty place, or in that of the smallest that is not taken. */
static struct sort_block *find_place(struct sort_memory *memory)
{
    struct sort_block *best = NULL;
    for (int i = 0; i < MEMORY_BLOCKS; i++) {
        struct sort_block *b = &memory->blocks[i];
        if (!b->is_taken && (best == NULL || b->bytes < best->bytes))
            best = b;
    }
    return best;
}

static void drop_kept(struct sort_memory *memory)
{
    for (int i = 0; i < MEMORY_BLOCKS; i++)
        if (!memory->blocks[i].is_taken) {
            free(memory->blocks[i].base);
            memory->blocks[i] = (struct sort_block){.base = NULL};
        }
}

void *memory_take(struct sort_memory *memory, size_t bytes)
{
    struct sort_block *b = bytes < MEMORY_SMALL ? NULL : find_fitting(memory, bytes);
    if (b != NULL) {
        b->is_taken = 1;
        return b->base;
    }
    b = bytes < MEMORY_SMALL ? NULL : find_place(memory);
    if (b == NULL)
        return malloc(bytes);
    free(b->base);
    size_t room = bytes > (size_t)-1 - bytes / 8 ? bytes : bytes + bytes / 8;
    *b = (struct sort_block){.base = memory_new(room), .bytes = room};
    if (b->base == NULL) { /* what is kept elsewhere may be what lacks */
        drop_kept(memory);
        *b = (struct sort_block){.base = memory_new(bytes), .bytes = bytes};
    }
    b->is_taken = b->base != NULL;
    if (b->base == NULL)
        b->bytes = 0;
    return b->base;
}

void memory_give(struct sort_memory *memory, void *base)
{
    for (int i = 0; base != NULL && i < MEMORY_BLOCKS; i++)
        if (memory->blocks[i].base == base) {
            memory->blocks[i].is_taken = 0;
            return;
        }
    free(base);
}

size_t memory_kept(const struct sort_memory *memory)
{
    size_t bytes = MEMORY_BLOCKS * MEMORY_SMALL;
    for (int i = 0; i < MEMORY_BLOCKS; i++)
        bytes += memory->blocks[i].is_taken ? 0 : memory->blocks[i].bytes;
    return bytes;
}

void memory_free(struct sort_memory *memory)
{
    for (int i = 0; i < MEMORY_BLOCKS; i++)
        free(memory->blocks[i].base);
    *memory = (struct sort_memory){.blocks = {{.base = NULL}}};
}
