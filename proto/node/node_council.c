/*
 * node_council.c - what a node carries between the council (council.h), the membership (member.h)
 * and its owner. Of the log, changes of the host table go to the membership, all else to the owner;
 * a snapshot has both in it. Who leads the log is told to the membership, and who holds office to
 * the owner.
 *
 * A node whose owner keeps no state has no council: its log is itself. What it proposes is agreed
 * at once, and the first of a VM leads until it dies.
 */
#include <errno.h>
#include <stdlib.h>

#include "proto/node/node_state.h"

static void council_wants_send(void *context, uint32_t host, const uint8_t *payload, size_t size,
                               uint64_t now_us)
{
    node_member_send(context, host, FRAME_RAFT, payload, size, now_us);
}

static void council_applies(void *context, enum council_kind kind, uint64_t index,
                            const uint8_t *bytes, size_t size)
{
    struct node *node = context;

    if (kind == COUNCIL_COMMAND) {
        node->owner.agreed(node->owner.context, index, bytes, size);
        return;
    }
    node->changed = true;
    member_on_change(node->member, bytes, size, node->now_us);
}

static bool council_saves(void *context, uint8_t **bytes, size_t *size)
{
    struct node *node = context;
    uint8_t *table, *state;
    size_t length;

    if (!table_save(member_table(node->member), &table, &length))
        return false;
    if (!node->owner.state_save(node->owner.context, &state, size)) {
        free(table);
        return false;
    }
    uint8_t *all = malloc(4 + length + *size);
    if (all != NULL) {
        struct cursor c = cursor_writer(all, 4 + length + *size);
        cursor_put_u32(&c, (uint32_t)length);
        cursor_put_bytes(&c, table, length);
        cursor_put_bytes(&c, state, *size);
        *bytes = all;
        *size += 4 + length;
    }
    free(table);
    free(state);
    return all != NULL;
}

static bool council_loads(void *context, const uint8_t *bytes, size_t size)
{
    struct node *node = context;
    struct cursor c = cursor_reader(bytes, size);
    size_t length = cursor_get_u32(&c);
    const uint8_t *table = cursor_get_view(&c, length);

    /* that table is agreed, whatever comes of the rest */
    node->changed = true;
    return cursor_ok(&c) && member_on_snapshot(node->member, table, length, node->now_us) &&
           node->owner.state_load(node->owner.context, c.at, cursor_left(&c));
}

static void council_resets(void *context)
{
    struct node *node = context;

    node->owner.state_reset(node->owner.context);
}

static void council_leads_now(void *context, uint64_t epoch)
{
    struct node *node = context;

    node->changed = true;
    if (epoch != 0)
        member_lead(node->member, epoch, node->now_us);
    else
        member_depose(node->member, node->now_us);
}

static void council_tells_voters(void *context, const uint32_t *hosts, size_t count)
{
    struct node *node = context;

    node->changed = true;
    member_set_voters(node->member, hosts, count);
}

static void council_tells_leaving(void *context, uint32_t host, uint64_t now_us)
{
    struct node *node = context;

    node->changed = true;
    member_on_leaving(node->member, host, now_us);
}

static void council_logs(void *context, const char *line)
{
    struct node *node = context;

    node->owner.log(node->owner.context, line);
}

int node_council_create(struct node *node)
{
    struct council_config config = {.table = member_table(node->member),
                                    .fail_timeout_us = node->config.fail_timeout_us,
                                    .seed = node->config.seed};
    struct council_owner owner = {.context = node,
                                  .send = council_wants_send,
                                  .apply = council_applies,
                                  .save = council_saves,
                                  .load = council_loads,
                                  .reset = council_resets,
                                  .leads = council_leads_now,
                                  .voters = council_tells_voters,
                                  .leaves = council_tells_leaving,
                                  .log = council_logs};

    if (node->owner.agreed == NULL)
        return 0;
    for (int i = 0; i < HOST_ID_BYTES; i++)
        config.id[i] = node->config.self.id[i];
    node->council = council_create(&config, &owner);
    return node->council != NULL ? 0 : -1;
}

/* ---- what membership asks of the log ---- */

int64_t node_council_propose(void *context, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct node *node = context;

    if (node->council != NULL)
        return council_propose(node->council, COUNCIL_CHANGE, bytes, size, now_us);
    node->changed = true;
    member_on_change(node->member, bytes, size, now_us);
    return 0;
}

void node_council_found(void *context, uint64_t generation, uint64_t now_us)
{
    struct node *node = context;

    if (node->council == NULL)
        member_lead(node->member, epoch_make(generation, 1), now_us);
    else if (council_found(node->council, generation, now_us) < 0)
        node_log(node, "nothing can be agreed on: out of memory");
}

/* ---- for the owner ---- */

/* Who leads is in the table; of itself a host says so when it may take commands. */
void node_council_tell(struct node *node)
{
    uint32_t leader = node_leader(node);
    uint64_t generation = node_generation(node);

    if (node->council == NULL || !member_is_up(node->member) ||
        (leader == node->told_leader && generation == node->told_generation))
        return;
    node->told_leader = leader;
    node->told_generation = generation;
    node->owner.leader(node->owner.context, leader, generation);
}

int64_t node_propose(struct node *node, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    if (!node_leads(node) || !member_holds_office(node->member))
        return -EPERM;
    return council_propose(node->council, COUNCIL_COMMAND, bytes, size, now_us);
}

uint64_t node_read(struct node *node, uint64_t now_us)
{
    return node->council != NULL ? council_read(node->council, now_us) : 0;
}

bool node_read_ok(const struct node *node, uint64_t number)
{
    return node->council != NULL && council_read_ok(node->council, number);
}

bool node_leads(const struct node *node)
{
    return node->council != NULL && council_leads(node->council) && member_in_office(node->member);
}

bool node_is_strained(const struct node *node)
{
    return member_is_strained(node->member);
}

uint32_t node_leader(const struct node *node)
{
    uint32_t coordinator = member_table(node->member)->coordinator;
    bool elsewhere = coordinator != member_self(node->member);

    return node->council != NULL && (elsewhere || node_leads(node)) ? coordinator : 0;
}

uint64_t node_generation(const struct node *node)
{
    return node->council != NULL ? council_generation(node->council) : 0;
}
