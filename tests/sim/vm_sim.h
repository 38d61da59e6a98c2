/*
 * vm_sim.h - whole VMs of protocol engines (proto/node/node.h) on the simulated network, under one
 * virtual clock and one seed. The simulator plays the daemon: it carries datagrams and time to
 * every node, launches hosts, crashes and stops them, sends frames, and checks after every step
 * what must always hold:
 *
 *   - frames arrive exactly once, in order on their medium, unchanged;
 *   - no epoch has two coordinators;
 *   - two hosts that have the same version of the host table have the same table, and what a
 *     generation's log says of the hosts is a table that all who take from it agree on;
 *   - who was declared gone never comes up again, whoever says so;
 *   - what is agreed is agreed: all who keep it have the same state after the same commands;
 *   - nothing is queued without bound;
 *   - no nonce is used twice under one key;
 *   - no node asks to be stepped again without time passing.
 *
 * A host is a place (a port of the network); a life is one daemon on it. Lives are numbered by
 * their host index, which the VM gives.
 */
#ifndef COVEY_TESTS_SIM_VM_SIM_H
#define COVEY_TESTS_SIM_VM_SIM_H

#include "proto/node/node.h"
#include "tests/sim/network.h"

#define VM_SIM_INDEX_MAX HOST_INDEX_MAX
#define VM_SIM_SECOND 1000000u

struct vm_sim;

struct vm_sim_config {
    struct network_config network; /* ports: hosts */
    uint64_t fail_timeout_us;
    uint64_t join_timeout_us;
    bool encrypt;  /* the VM */
    bool ether;    /* hosts have raw Ethernet, too; frames take either medium */
    bool services; /* and those of the agreement prefer it */
    bool mute;     /* nothing is agreed on: hosts without work send no frames */
    bool trace;    /* print every line of every node's log */
};

/* What a daemon keeps of what is agreed. */
struct life_state {
    uint64_t index, commands, hash;
};

/* Frames to and from each other life. */
struct life_frames {
    uint32_t sent[MEDIA][VM_SIM_INDEX_MAX + 1], received[MEDIA][VM_SIM_INDEX_MAX + 1];
};

/* One daemon. */
struct life {
    struct vm_sim *sim;
    struct node *node;
    uint32_t host, index;
    uint32_t inviter; /* index of the life that invited it */
    bool running;     /* neither crashed nor ended */
    bool leaving;
    uint64_t leave_end_us;
    bool joined;
    int ended; /* enum node_end, 0: not */
    uint64_t deadline_us;
    uint64_t stopped_until_us;       /* the process stands still */
    struct life_frames *frames;      /* NULL: there were none */
    uint32_t behind;                 /* frames that vm_sim_send_behind() sent to it */
    uint32_t added, gone, suspected; /* events seen */
    uint32_t gone_changes;           /* moments at which it heard of hosts gone */
    uint64_t gone_us;                /* the last of them */
    struct life_state state;
    uint64_t generation;               /* of it, as far as it was told */
    uint64_t seen_epoch, seen_version; /* of the table, looked at last */
};

struct vm_sim *vm_sim_create(const struct vm_sim_config *config);
void vm_sim_destroy(struct vm_sim *sim);

/* The first thing that was violated, or NULL. */
const char *vm_sim_failure(const struct vm_sim *sim);
void vm_sim_fail(struct vm_sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint64_t vm_sim_now(const struct vm_sim *sim);
uint64_t *vm_sim_random(struct vm_sim *sim);
struct network *vm_sim_network(struct vm_sim *sim);

/* Starts the first daemon on a host; launches one that joins (through the coordinator that is known
 * to be alive; false: there is none, or it refused); kills it; lets it stand still. */
void vm_sim_bootstrap(struct vm_sim *sim, uint32_t host);
bool vm_sim_launch(struct vm_sim *sim, uint32_t host);
void vm_sim_crash(struct vm_sim *sim, uint32_t host);
void vm_sim_stop(struct vm_sim *sim, uint32_t host, uint64_t duration_us);

/* Leaves in order and exits when all is said. */
void vm_sim_leave(struct vm_sim *sim, struct life *life);
/* A node's function was called from outside: it is stepped at once. */
void vm_sim_touch(struct life *life);
/* Ends all cuts. */
void vm_sim_heal(struct vm_sim *sim);

/* Raw Ethernet carries nothing, or carries again; IP goes on. */
void vm_sim_cut_ether(struct vm_sim *sim, bool cut);
/* A medium carries nothing from one host to another, or carries again. */
void vm_sim_cut_way(struct vm_sim *sim, enum node_medium medium, uint32_t from, uint32_t to,
                    bool cut);

/* The host's address changes: what is sent to the old one vanishes, as behind a NAT that forgot.
 * The host's row still names the old address, so that only who hears from it can reach it. */
void vm_sim_move(struct vm_sim *sim, uint32_t host);

/* Everything that is sent over IP passes the tap before the network. */
typedef void vm_sim_tap(void *context, uint32_t from, uint32_t to, const uint8_t *bytes,
                        size_t size);
void vm_sim_set_tap(struct vm_sim *sim, vm_sim_tap *tap, void *context);
/* A datagram that no node sent, from the address of a host, arrives now. */
void vm_sim_inject(struct vm_sim *sim, uint32_t from, uint32_t to, const uint8_t *bytes,
                   size_t size);
void vm_sim_inject_ether(struct vm_sim *sim, uint32_t from, uint32_t to, const uint8_t *bytes,
                         size_t size);
/* Counts the lines logged from now on, by any life, that contain the text. */
void vm_sim_count_lines(struct vm_sim *sim, const char *text);
uint64_t vm_sim_counted(const struct vm_sim *sim);
/* A counter of a life's node by name. */
uint64_t vm_sim_stat(const struct life *life, const char *name);

/* The life that runs on a host, or NULL; a life by its index. */
struct life *vm_sim_on(struct vm_sim *sim, uint32_t host);
struct life *vm_sim_life(struct vm_sim *sim, uint32_t index);
/* A life that coordinates and runs, the one of the latest epoch; NULL: none. */
struct life *vm_sim_coordinator(struct vm_sim *sim);
uint64_t vm_sim_epoch(const struct life *life);

/* Sends a frame of `size` payload bytes from one life to another; what node_send() returns. Where
 * there is raw Ethernet it takes either medium by chance, or the one that is named. */
int vm_sim_send(struct vm_sim *sim, struct life *from, uint32_t to, uint32_t size);
int vm_sim_send_over(struct life *from, uint32_t to, uint32_t size, enum node_medium medium);
/* The same over IP, behind what was sent over raw Ethernet (node_send_behind()). */
int vm_sim_send_behind(struct life *from, uint32_t to);

/* How many frames of that life came over the medium. */
uint32_t vm_sim_received(const struct life *life, uint32_t from, enum node_medium medium);

/* Lets time pass, until the first failure. */
void vm_sim_run(struct vm_sim *sim, uint64_t duration_us);
/* The same, ending as soon as done() says so; whether it did. */
bool vm_sim_run_until(struct vm_sim *sim, bool (*done)(struct vm_sim *sim), uint64_t duration_us);

/* The life that leads the log of what is agreed, or NULL; a new command at it: its index or what
 * node_propose() refused with. */
struct life *vm_sim_leader(struct vm_sim *sim);
int64_t vm_sim_propose(struct vm_sim *sim, struct life *life);
/* Whether the leader's log has it as a voter. */
bool vm_sim_votes(struct vm_sim *sim, const struct life *life);
/* After quiet: one life leads and coordinates, all know it, and a command is agreed on. */
void vm_sim_check_council(struct vm_sim *sim);

/* After quiet: every running life must have joined, all tables must be alike and name exactly the
 * running lives, and every frame between two lives that run must have arrived. */
void vm_sim_check_converged(struct vm_sim *sim);
bool vm_sim_is_converged(struct vm_sim *sim);
size_t vm_sim_running(struct vm_sim *sim);

#endif
