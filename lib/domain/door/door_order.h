/*
 * door_order.h - an order as a message, written by the caller and read by a worker.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_ORDER_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_ORDER_H

#include "lib/domain/door/door.h"

struct door_message {
    int32_t kind, number;
    int64_t keep_us;
    covey_tid_t *tids; /* of the team to be made */
    size_t tid_count;  /* 0: none is made */
    int32_t op;        /* of RUN, as all below */
    struct door_args args;
    struct covey_domain_network network;
    char options[DOOR_OPTION_BYTES];
};

/* Errors: ENOMEM. */
int door_order_pack(const struct door_message *order, covey_msg_t **msg);

/* Allocates tids, which free() frees. Errors: ETYPE, EEND, EPROTO, ENOMEM. */
int door_order_unpack(covey_msg_t *msg, struct door_message *order);

#endif
