/*
 * node_council.c - what a node carries between the council (council.h) and its owner.
 */
#include <errno.h>

#include "proto/node_state.h"

static void council_wants_send(void *context, uint32_t host, const uint8_t *payload, size_t size,
                               uint64_t now_us)
{
    node_member_send(context, host, FRAME_RAFT, payload, size, now_us);
}

static void council_applies(void *context, uint64_t index, const uint8_t *bytes, size_t size)
{
    struct node *node = context;

    node->owner.agreed(node->owner.context, index, bytes, size);
}

static bool council_saves(void *context, uint8_t **bytes, size_t *size)
{
    struct node *node = context;

    return node->owner.state_save(node->owner.context, bytes, size);
}

static bool council_loads(void *context, const uint8_t *bytes, size_t size)
{
    struct node *node = context;

    return node->owner.state_load(node->owner.context, bytes, size);
}

static void council_resets(void *context)
{
    struct node *node = context;

    node->owner.state_reset(node->owner.context);
}

static void council_tells_leader(void *context, uint32_t leader, uint64_t generation)
{
    struct node *node = context;

    node->owner.leader(node->owner.context, leader, generation);
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
                                  .leader = council_tells_leader,
                                  .log = council_logs};

    if (!node->owner.agreed)
        return 0;
    for (int i = 0; i < HOST_ID_BYTES; i++)
        config.id[i] = node->config.self.id[i];
    node->council = council_create(&config, &owner);
    return node->council ? 0 : -1;
}

/* ---- for the owner ---- */

int64_t node_propose(struct node *node, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    return node->council ? council_propose(node->council, bytes, size, now_us) : -EPERM;
}

uint64_t node_read(struct node *node, uint64_t now_us)
{
    return node->council ? council_read(node->council, now_us) : 0;
}

bool node_read_ok(const struct node *node, uint64_t number)
{
    return node->council && council_read_ok(node->council, number);
}

bool node_leads(const struct node *node)
{
    return node->council && council_leads(node->council);
}

uint32_t node_leader(const struct node *node)
{
    return node->council ? council_leader(node->council) : 0;
}

uint64_t node_generation(const struct node *node)
{
    return node->council ? council_generation(node->council) : 0;
}
