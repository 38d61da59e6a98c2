/*
 * order.h - the order of the elements that are sorted, and the operations of one member on them.
 *
 * Numbers are sorted as unsigned integers of the same order ("keys"), so that one radix sort serves
 * all types of one width: order_encode() and order_decode() turn one into the other.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_ORDER_H
#define COVEY_LIB_DOMAIN_SORT_ORDER_H

#include "lib/domain/covey_domain/sort.h"

struct sort_order;

struct sort_kernel {
    /* Sorts n elements, stably; scratch has room for as many. */
    void (*sort)(const struct sort_order *order, void *base, size_t n, void *scratch);
    /* Merges two sorted arrays; of equal elements those of the left one come first. */
    void (*merge)(const struct sort_order *order, const void *left, size_t left_n,
                  const void *right, size_t right_n, void *out);
    /* How many of n sorted elements come before the key; upper: or are equal to it. */
    size_t (*bound)(const struct sort_order *order, const void *base, size_t n, const void *key,
                    int upper);
    int (*compare)(const struct sort_order *order, const void *left, const void *right);
};

struct sort_order {
    const struct sort_kernel *kernel;
    size_t size;   /* bytes of an element, as sorted and as the caller has it */
    int wire_type; /* elements travel as so many of this type */
    size_t wire_count;
    int type; /* the caller's */
    covey_sort_compare_fn *compare;
    void *context;
};

/* For elements of 1, 2, 4, 8 and 16 bytes, the last ones a pair of 8, the first of which counts
 * more.
 */
extern const struct sort_kernel sort_kernel_8, sort_kernel_16, sort_kernel_32, sort_kernel_64,
    sort_kernel_pair, sort_kernel_record;

struct sort_pair {
    uint64_t high, low;
};

/* Errors: EINVAL. */
int order_init(struct sort_order *order, const struct covey_sort_kind *kind);

void order_encode(const struct sort_order *order, const void *numbers, void *keys, size_t n);
void order_decode(const struct sort_order *order, const void *keys, void *numbers, size_t n);

#endif
