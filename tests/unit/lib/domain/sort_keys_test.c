/* links: lib/domain/sort/keys.c */
/*
 * The sort of keys of each width beside the C library's, in shapes in which the highest bytes tell
 * much of them, little, or nothing.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/sort/order.h"
#include "tests/unit/runner.h"

enum { MOST = 40000, WORDS = 2 }; /* of 8 bytes, of the widest key */
enum shape { RANDOM, SMALL, HIGHEST, EQUAL, FEW, SORTED, RUNS, LADDER, SHAPES };

static const struct sort_kernel *const kernels[] = {
    &sort_kernel_8, &sort_kernel_16, &sort_kernel_32, &sort_kernel_64, &sort_kernel_pair};
static const size_t widths[] = {1, 2, 4, 8, 16};

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (*state ^ *state >> 29) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32;
}

static uint64_t word_of(enum shape shape, uint64_t at, uint64_t *random)
{
    uint64_t any = next(random);
    switch (shape) {
    case SMALL:
        return any % 1000;
    case HIGHEST: /* as of doubles about 1: two values of the highest byte */
        return (any % 2 == 0 ? 0x3fdull : 0x400ull) << 52 | any >> 12;
    case EQUAL:
        return 0x0123456789abcdef;
    case FEW: /* that differ in all bytes, which tell the same */
        return any % 10 * 0x0101010101010101;
    case SORTED:
        return at * 0x10001;
    case RUNS: /* 64 values of the highest bytes, and others far below */
        return at % 64 << 58 | (any & 0xffff);
    case LADDER: /* each byte tells of a few alone */
        return (uint64_t)(any % 3) << at % 8 * 8;
    default:
        return any;
    }
}

/* Narrow keys are the highest bytes of such words, or the lowest; of a pair both words are, or the
 * lower one alone. */
static void keys_fill(char *keys, size_t n, size_t width, enum shape shape, int is_low,
                      uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t word = word_of(shape, i, random);
        struct sort_pair pair = {is_low ? 0 : word, word};
        uint64_t narrow = is_low || width > sizeof word ? word : word >> 8 * (sizeof word - width);
        memcpy(keys + i * width, width == sizeof pair ? (void *)&pair : (void *)&narrow, width);
    }
}

static int compare(const void *left, const void *right, void *kernel)
{
    return ((const struct sort_kernel *)kernel)->compare(NULL, left, right);
}

static void sort_as_the_library(int kind, size_t n, enum shape shape, int is_low)
{
    static uint64_t keys[MOST * WORDS], expected[MOST * WORDS], scratch[MOST * WORDS];
    struct sort_kernel kernel = *kernels[kind];
    uint64_t random = n + (uint64_t)shape;
    keys_fill((char *)keys, n, widths[kind], shape, is_low, &random);
    memcpy(expected, keys, n * widths[kind]);
    qsort_r(expected, n, widths[kind], compare, &kernel);
    kernel.sort(NULL, keys, n, scratch);
    CU_ASSERT_EQUAL(memcmp(keys, expected, n * widths[kind]), 0);
}

static void keys_are_sorted(void)
{
    static const size_t counts[] = {0, 1, 2, 48, 49, 50, 131, 1000, 32768, MOST};
    for (int kind = 0; kind < (int)(sizeof widths / sizeof *widths); kind++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                sort_as_the_library(kind, counts[i], shape, 0);
                sort_as_the_library(kind, counts[i], shape, 1);
            }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"keys of each width and shape are sorted", keys_are_sorted},
    };
    return covey_test_main("sort_keys", cases, sizeof cases / sizeof cases[0]);
}
