/*
 * window_order.h - what members of a window on different hosts say to each other: each order is a
 * message of the window's own, whose tag is its kind.
 *
 *   order = words=4 UINT64: number, at, type, count   [array=count elements of type: PUT, DATA]
 *
 *   kind      number         at             type            count
 *   PUT       0              displacement   of the array    its elements
 *   GET       of the answer  displacement   of the array    its elements
 *   DATA      of the GET     0              of the array    its elements
 *   SIGNAL    0              the counter    0               added to it
 *   LOCK      of the answer  0              the lock's kind 0
 *   UNLOCK    of the answer  0              0               0
 *   FLUSH     of the answer  0              0               0
 *   DONE      of the question
 *
 * A member carries out the orders of another one in the order in which they were sent, so the
 * answer to a FLUSH says that all before it are done, and comes behind the DATA of all GETs before
 * it.
 */
#ifndef COVEY_LIB_ONESIDED_WINDOW_ORDER_H
#define COVEY_LIB_ONESIDED_WINDOW_ORDER_H

#include "lib/covey.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_ORDER_BYTES ((size_t)256 << 10) /* of an array: longer ones go in parts */

enum window_order_kind {
    WINDOW_PUT = 1,
    WINDOW_GET,
    WINDOW_DATA,
    WINDOW_SIGNAL,
    WINDOW_LOCK,
    WINDOW_UNLOCK,
    WINDOW_FLUSH,
    WINDOW_DONE,
    WINDOW_ORDER_KINDS
};

struct window_order {
    int kind, type;
    uint64_t number, at, count;
};

/* Whether elements of the type can stand in a window. */
bool window_order_type_ok(int type);
/* The message of an order, with the array that it takes, by copy or lent until the message is
 * freed; NULL: no memory. */
covey_msg_t *window_order_message(const struct window_order *order, const void *array, bool lend);
/* Reads one that came, up to its array. NULL, or why it is refused. */
const char *window_order_read(covey_msg_t *msg, int kind, struct window_order *order);
/* Whether `count` elements are within so many bytes. */
bool window_order_is_within(uint64_t at, int type, uint64_t count, uint64_t bytes);

#endif
