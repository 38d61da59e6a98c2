/* The peers: they do as they are told, one order after another. */
#include <errno.h>
#include <string.h>

#include "tools/bench/tasks/party.h"

/* Listens before it answers and accepts after: the leader connects in between. */
static int serve_listen(struct party *party, covey_tid_t lead, const struct order *order)
{
    struct order answer = {0};
    struct raw *raw =
        raw_listen((enum raw_kind)order->kind, order->text, (size_t)order->bytes, answer.text);
    answer.what = raw ? 0 : errno;
    int error = order_answer(party->vm, lead, &answer);
    if (error) {
        raw_close(raw);
        return party_fail_vm(party, "answering", error);
    }
    party->raws[order->kind] = raw;
    if (!raw)
        return 0;
    raw_set_spin(raw, party->plan.spin_us);
    if (raw_accept(raw) == 0)
        return 0;
    return party_fail(party, raw_name((enum raw_kind)order->kind), strerror(errno));
}

static int serve_echo(struct party *party, covey_tid_t lead, const struct order *order)
{
    enum raw_kind kind = (enum raw_kind)order->kind;
    size_t size = (size_t)order->bytes;
    struct order answer = {0};
    int failed = party_take_route(party, kind);
    for (int64_t i = 0; i < order->count && !failed; i++) {
        failed = party_in(party, kind, lead, size);
        answer.count += (int64_t)party_pause(party);
        failed = failed || party_out(party, kind, lead, size);
    }
    if (failed || party->plan.pause_us == 0)
        return failed;
    int error = order_answer(party->vm, lead, &answer);
    return error ? party_fail_vm(party, "answering", error) : 0;
}

static int serve_sink(struct party *party, covey_tid_t lead, const struct order *order)
{
    enum raw_kind kind = (enum raw_kind)order->kind;
    int failed = party_take_route(party, kind);
    for (int64_t i = 0; i < order->count && !failed; i++)
        failed = party_in(party, kind, lead, (size_t)order->bytes);
    return failed ? failed : party_out(party, kind, lead, 1);
}

static int serve_mcast(struct party *party, covey_tid_t lead, const struct order *order)
{
    int failed = 0;
    for (int64_t i = 0; i < order->count && !failed; i++)
        failed = party_in(party, RAW_NONE, lead, (size_t)order->bytes) ||
                 party_out(party, RAW_NONE, lead, 1);
    return failed;
}

static int serve_cpu(struct party *party, covey_tid_t lead)
{
    int error =
        covey_send_array(party->vm, lead, ORDER_ANSWER_TAG, COVEY_DOUBLE, party->cpu_s, RAW_KINDS);
    memset(party->cpu_s, 0, sizeof party->cpu_s);
    return error ? party_fail_vm(party, "answering", error) : 0;
}

static int serve_order(struct party *party, covey_tid_t lead, const struct order *order)
{
    switch (order->what) {
    case ORDER_LISTEN:
        return serve_listen(party, lead, order);
    case ORDER_ECHO:
        return serve_echo(party, lead, order);
    case ORDER_SINK:
        return serve_sink(party, lead, order);
    case ORDER_BARRIER:
        return party_barriers(party, order->text, (int)order->bytes, order->count);
    case ORDER_MCAST:
        return serve_mcast(party, lead, order);
    case ORDER_TEAM:
        return collective_team(party, order);
    case ORDER_COLLECTIVE:
        return collective_serve(party, order);
    case ORDER_OVERLAP:
        return overlap_serve(party, lead, order);
    case ORDER_PAIR:
        return pairs_serve(party, lead, order);
    case ORDER_RING:
        return ring_serve(party, lead, order);
    case ORDER_CPU:
        return serve_cpu(party, lead);
    default:
        return party_fail(party, "peer", "was given an order that it does not know");
    }
}

/* The leader is the first in the peers' own copy of the plan. */
int peer_serve(struct party *party)
{
    covey_tid_t lead = party->plan.peers[0];
    for (;;) {
        struct order order;
        int error = order_receive(party->vm, lead, &order);
        if (error)
            return party_fail_vm(party, "waiting for orders", error);
        if (order.what == ORDER_END)
            return 0;
        if (order.kind < 0 || order.kind >= RAW_KINDS)
            return party_fail(party, "peer", "was told of a program that it does not know");
        double start_s = party_cpu_s();
        if (serve_order(party, lead, &order) != 0)
            return -1;
        if (order.what != ORDER_CPU)
            party->cpu_s[order.kind] += party_cpu_s() - start_s;
    }
}
