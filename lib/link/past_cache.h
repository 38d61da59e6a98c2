/*
 * past_cache.h - copies of arrays that are larger than the cache: what is written goes to memory at
 * once. Otherwise the processor first reads what is written over, a third of all that moves then.
 */
#ifndef COVEY_LIB_LINK_PAST_CACHE_H
#define COVEY_LIB_LINK_PAST_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether so many bytes are more than the cache holds that the processors of a host share. */
bool past_cache_is_best(size_t bytes);

/* As memcpy(), visible to other tasks when it returns. */
void past_cache_copy(void *to, const void *from, size_t bytes);

#endif
