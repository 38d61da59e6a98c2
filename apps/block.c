/*
 * block.c - where the parts of a range of n elements begin. The sizes are computed from the part's
 * number alone, so that all tasks agree on them without a message.
 */
#include "apps/block.h"

int64_t block_first(int64_t n, int parts, int index)
{
    int64_t longer = n % parts; /* so many parts, the first ones, have one element more */
    return n / parts * index + (index < longer ? index : longer);
}

int64_t block_size(int64_t n, int parts, int index)
{
    return block_first(n, parts, index + 1) - block_first(n, parts, index);
}

int64_t block_size_max(int64_t n, int parts)
{
    return block_size(n, parts, 0);
}
