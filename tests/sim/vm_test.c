/* links: tests/sim/vm_sim.c tests/sim/network.c proto/node.c proto/reception.c proto/node_stat.c proto/member.c proto/registry.c proto/replica.c proto/detector.c proto/election.c proto/table.c proto/session.c proto/negotiation.c proto/handshake.c proto/datagram.c proto/inbox.c proto/outbox.c proto/auth.c proto/address.c proto/control.c proto/cursor.c proto/frame.c proto/window.c proto/window_ack.c proto/window_cc.c proto/window_loss.c proto/window_mtu.c proto/window_ranges.c proto/window_receive.c proto/window_ring.c proto/window_rtt.c proto/window_send.c proto/window_sent.c proto/window_wire.c */
/*
 * vm_test.c - whole VMs in the simulator (vm_sim.h).
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/vm_sim.h"
#include "tests/unit/runner.h"

static struct vm_sim_config good_days(uint64_t seed, uint32_t hosts)
{
    return (struct vm_sim_config){
        .network = {.seed = seed, .ports = hosts, .delay_us = 200, .jitter_us = 50},
        .fail_timeout_us = 5 * VM_SIM_SECOND,
        .join_timeout_us = 20 * VM_SIM_SECOND};
}

static void launch_all(struct vm_sim *sim, uint32_t hosts)
{
    vm_sim_bootstrap(sim, 0);
    for (uint32_t host = 1; host < hosts; host++)
        vm_sim_launch(sim, host);
}

static void good_day(void)
{
    struct vm_sim_config config = good_days(1, 8);
    struct vm_sim *sim;

    config.trace = getenv("TRACE") != NULL;
    sim = vm_sim_create(&config);
    launch_all(sim, 8);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, VM_SIM_SECOND));
    printf("joined after %llu us\n", (unsigned long long)vm_sim_now(sim));
    for (uint32_t i = 1; i <= 8; i++)
        for (uint32_t j = 1; j <= 8; j++)
            for (int k = 0; i != j && k < 20; k++)
                CU_ASSERT_EQUAL(vm_sim_send(sim, vm_sim_life(sim, i), j, 4 + (uint32_t)k * 3000),
                                0);
    CU_ASSERT(vm_sim_run_until(sim, vm_sim_is_converged, 10 * VM_SIM_SECOND));
    printf("frames after %llu us\n", (unsigned long long)vm_sim_now(sim));
    CU_ASSERT_EQUAL(node_remove(vm_sim_on(sim, 0)->node, 3, vm_sim_now(sim)), 0);
    vm_sim_on(sim, 0)->deadline_us = 0;
    vm_sim_run(sim, VM_SIM_SECOND);
    CU_ASSERT_EQUAL(vm_sim_life(sim, 3)->ended, NODE_END_REMOVED);
    vm_sim_check_converged(sim);
    node_shutdown(vm_sim_on(sim, 0)->node, vm_sim_now(sim));
    vm_sim_on(sim, 0)->deadline_us = 0;
    vm_sim_run(sim, VM_SIM_SECOND);
    CU_ASSERT_EQUAL(vm_sim_running(sim), 0);
    if (vm_sim_failure(sim))
        printf("%s\n", vm_sim_failure(sim));
    CU_ASSERT_PTR_NULL(vm_sim_failure(sim));
    vm_sim_destroy(sim);
}

static const struct test_case CASES[] = {{"good day", good_day}};

int main(void)
{
    return covey_test_main("vm", CASES, sizeof CASES / sizeof CASES[0]);
}
