/*
 * cast_sim.h - hosts that cast to each other over a simulated network, under a virtual clock and a
 * seed. Datagrams are lost, doubled, corrupted, overtaken; control frames arrive in order, but may
 * take long; hosts die at any moment, with what they had under way cut off anywhere, between the
 * copies of one datagram too, and the others learn of it one after another; hosts join.
 *
 * Every delivery is checked when it happens: whole, meant for that host, not given out before, in
 * the order of its sender, in the same total order as at every host alive. At the end, when the
 * faults have stopped: whatever one survivor was given out all were, whatever a survivor sent has
 * arrived, and nobody has anything left to do.
 */
#ifndef COVEY_TESTS_SIM_CAST_SIM_H
#define COVEY_TESTS_SIM_CAST_SIM_H

#include <stdbool.h>
#include <stdint.h>

#define CAST_SIM_HOSTS 10

/* How a datagram for many travels: one on a segment that all share; one to each; one for those
 * whose way over the segment is open by then, and one to each other. */
enum cast_sim_form { CAST_SIM_SEGMENT, CAST_SIM_UNICAST, CAST_SIM_MIXED, CAST_SIM_FORMS };

struct cast_sim_config {
    uint64_t seed;
    unsigned hosts, joiners; /* together at most CAST_SIM_HOSTS */
    unsigned messages;       /* of the whole run */
    unsigned deaths, cuts;
    enum cast_sim_form form;
    unsigned narrow_percent; /* of the hosts: their paths carry less than is thought */
    unsigned total_percent;  /* of the messages */
    uint32_t loss_ppm, duplicate_ppm, reorder_ppm, corrupt_ppm;
    uint64_t delay_us, jitter_us;
    uint32_t refuse_ppm; /* a message is not taken by the owner now */
    bool encrypt;
    bool many_sets;     /* more than have channels with large buffers */
    bool large;         /* messages of up to 64 KiB */
    bool together;      /* deaths and messages close to each other, control frames slow */
    uint64_t crisis_us; /* how close; 0: 40 ms */
    uint64_t first_id;  /* of the channels of each host */
    bool trace;
};

struct cast_sim_result {
    uint64_t delivered, delivered_total, sent, repairs, repairs_multicast, flushes, steps;
    uint64_t fragments_sent, repairs_framed, broken_off, at_us;
};

/* Runs to the end; NULL, or what went wrong. */
const char *cast_sim_run(const struct cast_sim_config *config, struct cast_sim_result *result);

#endif
