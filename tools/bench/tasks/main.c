/*
 * covey-bench: the tasks that `covey bench` measures. The console starts them; none is run by hand.
 *
 *   main.c    this file: joins, takes the plan, leads or serves, reports
 *   bag.c     workers of a bag
 *   bcast.c   the one that measures broadcasts
 *   collective.c  the one that measures collective calls
 *   exchange.c   all, when they measure exchanges
 *   overlap.c    both, when they compute while messages are under way
 *   lead.c    the one that measures          peer.c     those that it measures with
 *   order.c   what the one tells the others  party.c    what both have
 *   packing.c what packing costs, for covey calibrate; it needs no virtual machine
 *   pairs.c   alpha and beta of each two of all tasks, for the same
 *   ring.c    messages beside computing, for covey calibrate
 *   spawn.c   starting tasks                 wire.c     Covey's messages
 *   raw.c raw_*.c     the programs to compare with
 *
 * Both ends of a raw program are the two tasks themselves: the same processes on the same
 * processors, which run now Covey and now the other.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/tasks/bag.h"
#include "tools/bench/tasks/packing.h"
#include "tools/bench/tasks/party.h"
#include "tools/bench/tasks/touch.h"

static int take_plan(struct party *party)
{
    covey_msg_t *msg;
    int error = covey_recv(party->vm, party->console, BENCH_TAG_PLAN, COVEY_FOREVER, &msg);
    if (error)
        return party_fail_vm(party, "the plan", error);
    error = bench_plan_unpack(msg, &party->plan);
    covey_msg_free(msg);
    return error ? party_fail(party, "the plan", covey_strerror(error)) : 0;
}

static int prepare_party(struct party *party)
{
    const struct bench_plan *plan = &party->plan;
    for (int i = 0; i < plan->peer_count; i++) {
        int error = covey_set_route(party->vm, plan->peers[i], plan->route);
        if (error)
            return party_fail_vm(party, "a peer", error); /* the route is named there */
    }
    party->route = plan->route;
    int error = wire_open(&party->wire, party->vm, plan->pack, bench_plan_largest(plan));
    return error ? party_fail(party, "buffers", covey_strerror(error)) : 0;
}

static void close_all(struct party *party)
{
    for (int i = 0; i < RAW_KINDS; i++)
        raw_close(party->raws[i]);
    collective_close(party);
    free(party->face);
    wire_close(&party->wire);
}

static int report_done(struct party *party, int failed)
{
    covey_msg_t *msg = covey_msg_new();
    if (msg && covey_pack_string(msg, party->failure) == 0)
        covey_send(party->vm, party->console, failed ? BENCH_TAG_FAILED : BENCH_TAG_DONE, msg);
    covey_msg_free(msg);
    return failed ? 1 : 0;
}

static int lead_party(struct party *party)
{
    if (party->plan.what == BENCH_SPAWN)
        return spawn_measure(party);
    if (party->plan.what == BENCH_OVERLAP)
        return overlap_measure(party);
    if (party->plan.what == BENCH_COLLECTIVES || party->plan.what == BENCH_ALLTOALL)
        return collective_measure(party);
    if (party->plan.what == BENCH_RING)
        return ring_measure(party);
    if (party->plan.what == BENCH_PAIRS)
        return pairs_measure(party);
    return party->plan.what == BENCH_BCAST ? bcast_measure(party) : lead_measure(party);
}

/* Only the leader reports that all went well. */
static int take_part_as(struct party *party, const char *mode)
{
    bool leads = strcmp(mode, "lead") == 0;
    if (strcmp(mode, "hello") == 0)
        return spawn_hello(party);
    int failed = take_plan(party) || prepare_party(party);
    if (!failed && party->plan.what == BENCH_EXCHANGE)
        failed = exchange_measure(party, leads);
    else if (!failed)
        failed = (leads ? lead_party : peer_serve)(party);
    close_all(party);
    return failed || leads ? report_done(party, failed) : 0;
}

static bool is_mode(const char *word)
{
    return strcmp(word, "lead") == 0 || strcmp(word, "peer") == 0 || strcmp(word, "hello") == 0;
}

int main(int argc, char **argv)
{
    struct party party = {.program = argv[0]};
    if (argc == 2 && strcmp(argv[1], "exit") == 0)
        return 0;
    if (argc == 2 && strcmp(argv[1], "--kernel") == 0)
        return touch_measure() != 0 || packing_measure() != 0;
    bool bag = argc == 3 && strcmp(argv[1], "bag") == 0;
    if (!bag && (argc != 2 || !is_mode(argv[1]))) {
        fprintf(stderr, "covey-bench: is started by: covey bench\n");
        return 2;
    }
    if (covey_join(&party.vm, NULL) < 0) {
        fprintf(stderr, "covey-bench: %s\n", covey_error_text());
        return 1;
    }
    party.console = covey_parent(party.vm);
    int status = bag ? bag_work(party.vm, argv[2]) : take_part_as(&party, argv[1]);
    covey_leave(&party.vm);
    return status;
}
