/*
 * A task of a benchmark: what both the one that leads and its peers have. A failure is put into
 * words where it is met (party_fail(), party_fail_vm()) and told to the console by main().
 */
#ifndef COVEY_TOOLS_BENCH_PARTY_H
#define COVEY_TOOLS_BENCH_PARTY_H

#include <stdbool.h>

#include "covey.h"
#include "tools/bench/bench_plan.h"
#include "tools/bench/tasks/order.h"
#include "tools/bench/tasks/raw.h"
#include "tools/bench/tasks/wire.h"

struct party {
    covey_t *vm;
    covey_tid_t console;
    const char *program; /* its own path */
    struct bench_plan plan;
    struct wire wire;
    struct raw *raws[RAW_KINDS]; /* those that can be had */
    double cpu_s[RAW_KINDS];     /* processor seconds of the samples, by kind */
    covey_group_t *group;        /* of barriers */
    covey_team_t *all, *team;    /* of collective calls: of all tasks, of some */
    int route;                   /* to the first peer, now */
    char *face;                  /* of overlap: what comes in while this task computes */
    double work_speed, worked;   /* turns a microsecond; what came of them */
    char failure[400];
};

/* Serves the leader's orders until the last. These return 0, or -1 after party_fail(). */
int peer_serve(struct party *party);

/* Measures what the plan says and sends the rows. */
int lead_measure(struct party *party);
int spawn_measure(struct party *party);
int bcast_measure(struct party *party);
int collective_measure(struct party *party);

/* Collective calls as the leader orders them, and the end of the teams. */
int collective_team(struct party *party, const struct order *order);
int collective_serve(struct party *party, const struct order *order);
void collective_close(struct party *party);

/* Faces that two tasks give each other while they compute. */
int overlap_measure(struct party *party);
int overlap_serve(struct party *party, covey_tid_t lead, const struct order *order);

/* The ring of all tasks: the one that leads, and the others as it orders. */
int ring_measure(struct party *party);
int ring_serve(struct party *party, covey_tid_t lead, const struct order *order);

/* Each pair of all tasks, in the same way. */
int pairs_measure(struct party *party);
int pairs_serve(struct party *party, covey_tid_t lead, const struct order *order);

/* All tasks exchange together; the one that leads sends the rows. */
int exchange_measure(struct party *party, bool leads);

/* What the tasks that spawn_measure() starts do: say that they have joined. An exit status. */
int spawn_hello(struct party *party);

/* Sends a message to the other end over Covey or a raw program, or receives one. */
int party_out(struct party *party, enum raw_kind kind, covey_tid_t tid, size_t size);
int party_in(struct party *party, enum raw_kind kind, covey_tid_t tid, size_t size);

/* The tid of a task by its number, modulo their number; the one that leads is 0. */
covey_tid_t party_task(const struct party *party, int task);

/* A further series of the row, of the plan's rounds; NULL after party_fail(). */
struct bench_series *party_add_series(struct party *party, struct bench_row *row, const char *name);

/* The leader's order to the first peers, or to every one. */
int party_tell(struct party *party, const struct order *order, int count);
int party_tell_all(struct party *party, const struct order *order);

/* Messages of that kind to and from the first peer take their route from now on. */
int party_take_route(struct party *party, enum raw_kind kind);

/* Waits before a message, if the plan says so; returns for how long, in nanoseconds. */
uint64_t party_pause(const struct party *party);

/* `count` barriers of so many tasks, after joining the group the first time. */
int party_barriers(struct party *party, const char *group, int tasks, int64_t count);

/* A row to the console. */
int party_send_row(struct party *party, const struct bench_row *row);

/* Processor seconds of this process so far. */
double party_cpu_s(void);

/* Put a failure into words and return -1: by errno, or by the library's last error text. */
int party_fail(struct party *party, const char *what, const char *why);
int party_fail_vm(struct party *party, const char *what, int error);

#endif
