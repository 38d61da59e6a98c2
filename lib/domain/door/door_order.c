/*
 * door_order.c - writes and reads orders, as mirror images:
 *
 *   order = kind=i32 number=i32 keep_us=i64 tids=i32* op=i32 n=i64*16 x=f64*6
 *           members=i32 hosts=i32 line=f64*4 options=string ; alpha, beta, and those of one
 */
#include "lib/domain/door/door_order.h"

#include "lib/domain/base/error.h"
#include "lib/domain/door/door_crew.h"

#include <stdlib.h>
#include <string.h>

#define TIDS_MOST 65536
#define LINE 4 /* numbers of a network */

int door_order_pack(const struct door_message *order, covey_msg_t **msg)
{
    covey_msg_t *m = covey_msg_new();
    const int32_t head[2] = {order->kind, order->number}, op = order->op;
    const int32_t members[2] = {order->network.members, order->network.hosts};
    const struct covey_domain_network *n = &order->network;
    const double line[LINE] = {n->alpha_s, n->beta_s, n->one_alpha_s, n->one_beta_s};
    int error = m == NULL ? COVEY_ENOMEM : covey_pack_int32(m, head, 2, 1);
    if (error == 0)
        error = covey_pack_int64(m, &order->keep_us, 1, 1);
    if (error == 0)
        error = covey_pack_int32(m, order->tids, order->tid_count, 1);
    if (error == 0)
        error = covey_pack_int32(m, &op, 1, 1);
    if (error == 0)
        error = covey_pack_int64(m, order->args.n, DOOR_NUMBERS, 1);
    if (error == 0)
        error = covey_pack_double(m, order->args.x, DOOR_REALS, 1);
    if (error == 0)
        error = covey_pack_int32(m, members, 2, 1);
    if (error == 0)
        error = covey_pack_double(m, line, LINE, 1);
    if (error == 0)
        error = covey_pack_string(m, order->options);
    if (error < 0) {
        covey_msg_free(m);
        return domain_fail(COVEY_ENOMEM, "no memory for an order to the workers");
    }
    *msg = m;
    return 0;
}

static int unpack_tids(covey_msg_t *msg, struct door_message *order)
{
    int type;
    int error = covey_peek(msg, &type, &order->tid_count);
    if (error == 0 && order->tid_count > TIDS_MOST)
        error = COVEY_EPROTO;
    if (error < 0)
        return error;
    order->tids = calloc(order->tid_count + 1, sizeof *order->tids);
    if (order->tids == NULL)
        return COVEY_ENOMEM;
    return covey_unpack_int32(msg, order->tids, order->tid_count, 1);
}

int door_order_unpack(covey_msg_t *msg, struct door_message *order)
{
    int32_t head[2], members[2];
    double line[LINE];
    *order = (struct door_message){0};
    int error = covey_unpack_int32(msg, head, 2, 1);
    if (error == 0)
        error = covey_unpack_int64(msg, &order->keep_us, 1, 1);
    if (error == 0)
        error = unpack_tids(msg, order);
    if (error == 0)
        error = covey_unpack_int32(msg, &order->op, 1, 1);
    if (error == 0)
        error = covey_unpack_int64(msg, order->args.n, DOOR_NUMBERS, 1);
    if (error == 0)
        error = covey_unpack_double(msg, order->args.x, DOOR_REALS, 1);
    if (error == 0)
        error = covey_unpack_int32(msg, members, 2, 1);
    if (error == 0)
        error = covey_unpack_double(msg, line, LINE, 1);
    if (error == 0)
        error = covey_unpack_string(msg, order->options, sizeof order->options);
    if (error == 0 && (head[0] < DOOR_FORM || head[0] > DOOR_END || order->op < 0 ||
                       order->op >= DOOR_OPS || order->keep_us < 0))
        error = COVEY_EPROTO;
    if (error < 0) {
        free(order->tids);
        order->tids = NULL;
        return domain_fail(error, "an order makes no sense: %s", covey_strerror(error));
    }
    order->kind = head[0];
    order->number = head[1];
    order->network = (struct covey_domain_network){.members = members[0],
                                                   .hosts = members[1],
                                                   .alpha_s = line[0],
                                                   .beta_s = line[1],
                                                   .one_alpha_s = line[2],
                                                   .one_beta_s = line[3]};
    return 0;
}
