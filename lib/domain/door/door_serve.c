/*
 * door_serve.c - a worker: does what its parent orders, until it is told to end, or has waited for
 * the next order as long as it was told to, or its parent is no more.
 */
#include "lib/domain/base/error.h"
#include "lib/domain/door/door_crew.h"
#include "lib/domain/door/door_order.h"

#include <stdlib.h>
#include <string.h>

struct worker {
    covey_t *vm;
    covey_team_t *talk, *team;
    int64_t keep_us;
};

static int answer(const struct worker *w, int32_t number, int error)
{
    const int32_t head[2] = {number, error};
    covey_msg_t *msg = covey_msg_new();
    const char *text = error < 0 ? covey_domain_error_text() : "";
    int failed = msg == NULL ? COVEY_ENOMEM : covey_pack_int32(msg, head, 2, 1);
    if (failed == 0)
        failed = covey_pack_string(msg, text);
    if (failed == 0)
        failed = covey_team_send(w->talk, 0, DOOR_TAG_ANSWER, msg);
    covey_msg_free(msg);
    return failed < 0 ? domain_fail_of(failed, "an answer to the caller") : 0;
}

static int make_team(const struct worker *w, const struct door_message *order, covey_team_t **team)
{
    covey_team_free(team);
    int error = covey_team_create(w->vm, order->tids, (int)order->tid_count, DOOR_FORM_US, team);
    return error < 0 ? domain_fail_of(error, "the team of the workers") : 0;
}

/* Says that it is there before it begins: one that left just now would be waited for. One that
 * failed ends: whatever others wait for in the middle of it, they learn that it does not come. */
static int run(struct worker *w, const struct door_message *order)
{
    int error = w->talk == NULL ? domain_fail(COVEY_EPROTO, "nobody to answer to")
                                : answer(w, order->number, 0);
    if (error < 0)
        return error;
    if (order->tid_count > 0)
        error = make_team(w, order, &w->team);
    if (error == 0 && w->team == NULL)
        error = domain_fail(COVEY_EPROTO, "no team to work in");
    if (error == 0) {
        struct door_member member = {
            .team = w->team, .network = order->network, .options = order->options};
        error = door_ops[order->op]->run(&member, &order->args);
    }
    int failed = answer(w, order->number, error);
    return error < 0 && error != COVEY_EINVAL ? error : failed;
}

static int obey(struct worker *w, const struct door_message *order)
{
    w->keep_us = order->keep_us;
    if (order->kind == DOOR_FORM)
        return make_team(w, order, &w->talk);
    return order->kind == DOOR_RUN ? run(w, order) : 0;
}

/* Sets *ends when this was the last order. */
static int serve_one(struct worker *w, int *ends)
{
    covey_msg_t *msg = NULL;
    struct door_message order;
    int error = covey_recv(w->vm, covey_parent(w->vm), DOOR_TAG_ORDER, w->keep_us, &msg);
    *ends = error == COVEY_ETIMEOUT || error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL;
    if (error < 0)
        return *ends ? 0 : domain_fail_of(error, "the next order");
    error = door_order_unpack(msg, &order);
    covey_msg_free(msg);
    if (error < 0)
        return error;
    *ends = order.kind == DOOR_END;
    error = obey(w, &order);
    free(order.tids);
    return error;
}

int covey_door_serve(covey_t *vm)
{
    if (vm == NULL || covey_parent(vm) == COVEY_NO_PARENT)
        return domain_fail(COVEY_EINVAL, "a worker is started by the call that needs it");
    struct worker w = {.vm = vm, .keep_us = DOOR_FORM_US};
    int error = 0;
    for (int ends = 0; error == 0 && !ends;)
        error = serve_one(&w, &ends);
    covey_team_free(&w.team);
    covey_team_free(&w.talk);
    return error;
}
