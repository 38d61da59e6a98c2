/*
 * record.c - the operations on records of any size with the caller's comparison: merge sort, for it
 * is stable and compares least.
 */
#include "lib/domain/sort/order.h"

#include <string.h>

static int compare(const struct sort_order *order, const void *left, const void *right)
{
    return order->compare(left, right, order->context);
}

static void merge(const struct sort_order *order, const void *left, size_t left_n,
                  const void *right, size_t right_n, void *out)
{
    const char *a = left, *b = right;
    char *to = out;
    while (left_n > 0 && right_n > 0) {
        int takes_right = compare(order, a, b) > 0;
        memcpy(to, takes_right ? b : a, order->size);
        to += order->size;
        b += takes_right ? order->size : 0;
        a += takes_right ? 0 : order->size;
        right_n -= (size_t)takes_right;
        left_n -= (size_t)!takes_right;
    }
    if (left_n > 0)
        memcpy(to, a, left_n * order->size);
    else if (right_n > 0)
        memcpy(to, b, right_n * order->size);
}

/* Calls itself as deep as n has bits. */
static void sort(const struct sort_order *order, void *base, size_t n, void *scratch)
{
    size_t half = n / 2;
    char *right = (char *)base + half * order->size;
    if (n < 2)
        return;
    sort(order, base, half, scratch);
    sort(order, right, n - half, scratch);
    if (compare(order, right - order->size, right) <= 0)
        return;
    merge(order, base, half, right, n - half, scratch);
    memcpy(base, scratch, n * order->size);
}

static size_t bound(const struct sort_order *order, const void *base, size_t n, const void *key,
                    int upper)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int sign = compare(order, (const char *)base + middle * order->size, key);
        if (sign < 0 || (upper && sign == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct sort_kernel sort_kernel_record = {
    .sort = sort, .merge = merge, .bound = bound, .compare = compare};
