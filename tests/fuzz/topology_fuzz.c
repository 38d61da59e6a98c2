/* links: proto/network/topology.c proto/network/network.c proto/schedule/schedule.c proto/schedule/schedule_tree.c proto/schedule/schedule_pack.c proto/schedule/schedule_sync.c proto/schedule/schedule_proof.c */
/*
 * A topology file as anybody may have written it: what is accepted is a tree with names that can be
 * found, and its schedule can be proven while it is small; what is not is refused in one line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/schedule/schedule_proof.h"
#include "tests/fuzz/fuzz.h"

#define RANKS_MAX 12

static void look_at(const struct topology *t)
{
    REQUIRE(t->host_count > 0 && t->host_count + t->switch_count == t->node_count);
    REQUIRE(t->link_count == t->node_count - 1);
    for (int i = 0; i < t->node_count; i++)
        REQUIRE(topology_find(t, t->nodes[i].name) == i);
    for (int i = 0; i < t->link_count; i++)
        REQUIRE(t->nodes[t->links[i].b].is_switch && t->links[i].rate <= TOPOLOGY_RATE_MAX);
}

static void schedule(const struct topology *t)
{
    struct network network;
    struct schedule s;
    char why[SCHEDULE_PROOF_BYTES];

    REQUIRE(network_create(&network, t, NULL, 0) == 0);
    REQUIRE(schedule_create(&s, &network, 1) == 0);
    REQUIRE(schedule_proof(&s, &network, why) == 0);
    schedule_destroy(&s);
    network_destroy(&network);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct topology t;
    char error[TOPOLOGY_ERROR_BYTES];

    if (size > 8192)
        return 0;
    if (topology_parse(&t, (const char *)data, size, "net", error) == 0) {
        look_at(&t);
        if (t.host_count <= RANKS_MAX && t.node_count <= 2 * RANKS_MAX)
            schedule(&t);
    } else {
        REQUIRE(error[0] != '\0' && strchr(error, '\n') == NULL);
    }
    topology_destroy(&t);
    return 0;
}
