/*
 * memory.h - allocations that fail when a suite wants them to: it includes this once and defines
 * memory_fails(), which is asked before each. Under a sanitizer or valgrind, which have a malloc of
 * their own, and without glibc none fails: MEMORY_CAN_FAIL.
 */
#ifndef COVEY_TESTS_MEMORY_H
#define COVEY_TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

__attribute__((unused)) static bool memory_fails(size_t size);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define MEMORY_CAN_FAIL false
#else
#define MEMORY_CAN_FAIL memory_is_asked()
static bool memory_asked;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((noinline)) void *malloc(size_t size)
{
    memory_asked = true;
    return memory_fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return memory_fails(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return memory_fails(size) ? NULL : __libc_realloc(old, size);
}

/* Whether these are the ones that are called. */
__attribute__((unused)) static bool memory_is_asked(void)
{
    void *(*volatile called)(size_t) = malloc; /* not this one in the compiler's knowledge */
    free(called(1));
    return memory_asked;
}
#endif

#endif
