/*
 * node_roll.c - the datagrams of a roll call (proto/member/roll.c): whether another host is there,
 * asked and answered without a session, for there are thousands to ask, and a session with each
 * would cost far more than the answer.
 *
 * All that a roll call sends has one nonce, so an answer says that the host lived after it began.
 * An answer that is recorded and sent again says nothing that was not true in this roll call. Who
 * answers keeps nothing, and its answer is shorter than the question.
 */
#include <string.h>

#include "proto/node/node_state.h"

static void hello_fill(const struct medium *medium, const struct row *row, struct hello *hello)
{
    const struct identity *me = &medium->endpoint.me;
    const struct rolls *rolls = &medium->node->rolls;

    *hello = (struct hello){.from = me->index, .to = row->host.index, .session = rolls->mark};
    memcpy(hello->from_id, me->id, HOST_ID_BYTES);
    memcpy(hello->to_id, row->host.id, HOST_ID_BYTES);
    memcpy(hello->nonce, rolls->nonce, AUTH_NONCE_BYTES);
}

void node_roll_ask(void *context, uint32_t host, uint32_t number)
{
    struct node *node = context;
    const struct row *row = table_row(member_table(node->member), host);
    struct medium *medium = &node->media[node_medium_to(node, host, MEDIUM_IP)->number];
    struct endpoint *e = &medium->endpoint;
    uint8_t bytes[HELLO_BYTES];
    struct hello hello;

    if (row == NULL)
        return;
    if (node->rolls.number != number) {
        node->rolls.number = number;
        node->rolls.mark = epoch_mark(member_table(node->member)->epoch);
        e->random(e->random_context, node->rolls.nonce, sizeof node->rolls.nonce);
    }
    hello_fill(medium, row, &hello);
    handshake_roll(&e->me, &hello, bytes);
    for (uint8_t i = 0; i < row->host.address_count; i++)
        if (node_medium_of(&row->host.addresses[i]) == medium->number)
            node_send_alone(medium, &row->host.addresses[i], bytes, sizeof bytes);
}

/* It is of this roll call, and authentic; else it is as if nothing had come. */
bool node_roll_on_here(struct medium *medium, const struct datagram *d, uint64_t now_us)
{
    struct node *node = medium->node;
    const struct row *row = table_row(member_table(node->member), d->host);
    struct hello hello;

    if (row == NULL || node->rolls.number == 0) {
        medium->endpoint.counters.refused_host++;
        return true;
    }
    hello_fill(medium, row, &hello);
    if (!handshake_answer_ok(&medium->endpoint.me, &hello, d))
        return false;
    if (medium == node_medium_to(node, d->host, MEDIUM_IP))
        member_on_heard(node->member, d->host, now_us);
    return true;
}
