/*
 * keys.h - lists of 64-bit keys: made, sorted, merged, summed up, read and written.
 */
#ifndef SORT_KEYS_H
#define SORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Fills keys with the first n of the sequence that the seed names. */
void keys_make(uint64_t seed, int64_t *keys, size_t n);

/* Sorts upwards, in place and in O(n log n) whatever the order: quicksort, which turns to
 * heapsort where the pivots are bad. */
void keys_sort(int64_t *keys, size_t n);

/* Merges the sorted runs keys[0 .. left) and keys[left .. n). `scratch` has room for `left`. */
void keys_merge(int64_t *keys, size_t left, size_t n, int64_t *scratch);

/* The same for every order of the same keys; other keys give the same only by a rare chance. */
struct keys_sum {
    uint64_t sum;
    uint64_t mixed_sum;
};
void keys_sum_add(struct keys_sum *sum, const int64_t *keys, size_t n);

/* The sum of what keys_make() makes, without making a list of it. */
void keys_sum_made(struct keys_sum *sum, uint64_t seed, size_t n);

bool keys_are_sorted(const int64_t *keys, size_t n);

enum keys_format {
    KEYS_TEXT,  /* decimal numbers with white space between; written one a line */
    KEYS_BINARY /* int64_t in this host's byte order */
};

/* Reads a whole file; sets *keys (freed by the caller with free()) and *n. Returns 0, or -1 after
 * saying what is wrong. */
int keys_read(const char *path, enum keys_format format, int64_t **keys, size_t *n);

/* Writes keys. Returns 0, or -1 with errno set. */
int keys_write(FILE *stream, enum keys_format format, const int64_t *keys, size_t n);

#endif
