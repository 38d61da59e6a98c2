/*
 * order.c - the leading task's orders and the peers' answers, packed and unpacked in one place.
 */
#include "tools/bench/tasks/order.h"

#define NUMBERS 4

static int send_tagged(covey_t *vm, covey_tid_t tid, int tag, const struct order *order)
{
    covey_msg_t *msg = covey_msg_new();
    if (!msg)
        return COVEY_ENOMEM;
    int error = covey_pack_int64(msg, &order->what, NUMBERS, 1);
    if (error == 0)
        error = covey_pack_string(msg, order->text);
    if (error == 0)
        error = covey_send(vm, tid, tag, msg);
    covey_msg_free(msg);
    return error;
}

static int receive_tagged(covey_t *vm, covey_tid_t tid, int tag, struct order *order)
{
    covey_msg_t *msg;
    int error = covey_recv(vm, tid, tag, COVEY_FOREVER, &msg);
    if (error)
        return error;
    error = covey_unpack_int64(msg, &order->what, NUMBERS, 1);
    if (error == 0)
        error = covey_unpack_string(msg, order->text, sizeof order->text);
    covey_msg_free(msg);
    return error;
}

int order_send(covey_t *vm, covey_tid_t tid, const struct order *order)
{
    return send_tagged(vm, tid, ORDER_TAG, order);
}

int order_receive(covey_t *vm, covey_tid_t tid, struct order *order)
{
    return receive_tagged(vm, tid, ORDER_TAG, order);
}

int order_answer(covey_t *vm, covey_tid_t tid, const struct order *answer)
{
    return send_tagged(vm, tid, ORDER_ANSWER_TAG, answer);
}

int order_receive_answer(covey_t *vm, covey_tid_t tid, struct order *answer)
{
    return receive_tagged(vm, tid, ORDER_ANSWER_TAG, answer);
}
