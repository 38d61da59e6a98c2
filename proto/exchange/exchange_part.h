/*
 * exchange_part.h - the algorithms of exchange.h that are more than a formula, for exchange.c.
 */
#ifndef COVEY_PROTO_EXCHANGE_PART_H
#define COVEY_PROTO_EXCHANGE_PART_H

#include "proto/exchange/exchange.h"

/* The messages of each rank, as sender or receiver: list[first[i]] .. list[first[i + 1] - 1]. */
struct exchange_rows {
    size_t *first;
    uint32_t *list;
};

int exchange_rows_create(struct exchange_rows *rows, const struct exchange *x, int receivers);
void exchange_rows_destroy(struct exchange_rows *rows);

/* Each sets phase or start of all messages, and phases or end. They return 0, or -1 when memory is
 * exhausted. network NULL: links do not count. */
int exchange_random_fill(struct exchange *x, const struct network *network, uint64_t seed);
int exchange_colour_fill(struct exchange *x);
int exchange_longest_fill(struct exchange *x, const struct network *network);

#endif
