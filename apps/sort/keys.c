/*
 * keys.c - lists of 64-bit keys: made from a seed, sorted by quicksort that turns into heapsort
 * where it goes too deep, merged, and summed up. The sums show that no key was lost or changed
 * without a second list to compare with.
 */
#include "apps/sort/keys.h"

#include "apps/random.h"

#include <string.h>

#define SMALL 24 /* up to here insertion is faster */

void keys_make(uint64_t seed, int64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = (int64_t)random_at(seed, i);
}

/* ---- Sorting ----------------------------------------------------------------------------- */

static void swap(int64_t *a, int64_t *b)
{
    int64_t t = *a;
    *a = *b;
    *b = t;
}

static void sift_down(int64_t *keys, size_t root, size_t n)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n)
            return;
        if (child + 1 < n && keys[child + 1] > keys[child])
            child++;
        if (keys[root] >= keys[child])
            return;
        swap(&keys[root], &keys[child]);
        root = child;
    }
}

static int64_t median(int64_t a, int64_t b, int64_t c)
{
    if (a > b)
        swap(&a, &b);
    if (b > c)
        b = c;
    return a > b ? a : b;
}

/* Hoare's partition: returns the size of the left part, 1 .. n - 1, whose keys are <= the pivot;
 * those of the right part are >= it. Equal keys spread over both. */
static size_t partition(int64_t *keys, size_t n)
{
    /* Of nine keys, so that ordered input is no bad case. */
    size_t step = n / 9;
    int64_t low = median(keys[0], keys[step], keys[2 * step]);
    int64_t middle = median(keys[3 * step], keys[4 * step], keys[5 * step]);
    int64_t high = median(keys[6 * step], keys[7 * step], keys[8 * step]);
    int64_t pivot = median(low, middle, high);
    size_t i = 0;
    size_t j = n - 1;
    for (;;) {
        while (keys[i] < pivot)
            i++;
        while (keys[j] > pivot)
            j--;
        if (i >= j)
            break;
        swap(&keys[i++], &keys[j--]);
    }
    return i > 0 ? i : 1;
}

/* Recurses into the smaller part, so the depth is at most log2 n; `patience` counts the levels
 * before heapsort takes over. */
static void sort_quickly(int64_t *keys, size_t n, int patience)
{
    while (n > SMALL) {
        if (patience-- == 0) {
            for (size_t i = n / 2; i > 0; i--)
                sift_down(keys, i - 1, n);
            for (size_t end = n; end > 1; end--) {
                swap(&keys[0], &keys[end - 1]);
                sift_down(keys, 0, end - 1);
            }
            return;
        }
        size_t left = partition(keys, n);
        if (left < n - left) {
            sort_quickly(keys, left, patience);
            keys += left;
            n -= left;
        } else {
            sort_quickly(keys + left, n - left, patience);
            n = left;
        }
    }
    for (size_t i = 1; i < n; i++) {
        int64_t key = keys[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

void keys_sort(int64_t *keys, size_t n)
{
    int levels = 0;
    for (size_t i = n; i > 1; i /= 2)
        levels++;
    sort_quickly(keys, n, 2 * levels);
}

void keys_merge(int64_t *keys, size_t left, size_t n, int64_t *scratch)
{
    memcpy(scratch, keys, left * sizeof *keys);
    const int64_t *a = scratch;
    const int64_t *a_end = scratch + left;
    const int64_t *b = keys + left;
    const int64_t *b_end = keys + n;
    while (a < a_end && b < b_end) {
        bool from_a = *a <= *b; /* without a branch: which run is next cannot be predicted */
        *keys++ = from_a ? *a : *b;
        a += from_a;
        b += !from_a;
    }
    memcpy(keys, a, (size_t)(a_end - a) * sizeof *keys);
}

/* ---- Comparison -------------------------------------------------------------------------- */

void keys_sum_add(struct keys_sum *sum, const int64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sum->sum += (uint64_t)keys[i];
        sum->mixed_sum += random_at(0, (uint64_t)keys[i]);
    }
}

void keys_sum_made(struct keys_sum *sum, uint64_t seed, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t key = (int64_t)random_at(seed, i);
        keys_sum_add(sum, &key, 1);
    }
}

bool keys_are_sorted(const int64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (keys[i - 1] > keys[i])
            return false;
    return true;
}
