/*
 * What the console and the tasks of a benchmark tell each other: the plan, which goes to the task
 * that leads, and the rows of samples that come back. Each is packed and unpacked here, and here
 * alone, as a typed message.
 */
#ifndef COVEY_TOOLS_BENCH_PLAN_H
#define COVEY_TOOLS_BENCH_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "covey.h"

enum bench_what {
    BENCH_PINGPONG = 1, /* half round trips between two tasks */
    BENCH_STREAM = 2,   /* one way, as fast as it goes */
    BENCH_SPAWN = 3,
    BENCH_BARRIER = 4,
    BENCH_MCAST = 5,
    BENCH_BCAST = 6,       /* one to all, beside one to one and tcp to each */
    BENCH_COLLECTIVES = 7, /* every algorithm of every collective call */
    BENCH_EXCHANGE = 8,    /* sparse exchange by each algorithm */
    BENCH_ALLTOALL = 9,    /* all-to-all by each algorithm and by the library's choice */
    BENCH_BAG = 10,        /* empty items through a bag of work */
    BENCH_OVERLAP = 11,    /* communication behind computation, between two tasks */
    BENCH_RING = 100,      /* messages beside computing; covey calibrate's, without a name */
    BENCH_PAIRS = 101      /* alpha and beta of each pair; the same */
};

/* The series of the library's own choice, after those of the algorithms. */
#define BENCH_CHOICE "choice"

/* The collective calls that are measured, and NULL. */
extern const char *const bench_calls[];

/* How a message is made of the sender's bytes, and the receiver's bytes of it. */
enum bench_pack {
    BENCH_PACK_ARRAY = 0,   /* covey_send_array(), covey_recv_array() */
    BENCH_PACK_BYTES = 1,   /* packed and unpacked by copy */
    BENCH_PACK_INPLACE = 2, /* packed in place, read in place */
    BENCH_PACK_DOUBLE = 3   /* packed and unpacked as doubles */
};

enum {
    BENCH_HOSTS_BYTES = 4160, /* 64 names of 63 bytes, commas and the end */
    BENCH_TASKS_MAX = 1024,
    BENCH_SIZES_MAX = 40,
    BENCH_SERIES_MAX = 8,
    BENCH_ROWS_MAX = 1024,
    BENCH_DENSITIES_MAX = 16,
    BENCH_TOPOLOGY_BYTES = 16384,
    BENCH_MORE_ROUTES = 3,
    BENCH_ROUNDS_MAX = 10000
};

/* Tags: of the plan and of what comes back. */
enum { BENCH_TAG_PLAN = 1, BENCH_TAG_ROW = 2, BENCH_TAG_DONE = 3, BENCH_TAG_FAILED = 4 };

/* What an exchange has besides. */
struct bench_exchange {
    int32_t unequal; /* sizes differ; those of the plan are means */
    int32_t density_count;
    int32_t densities[BENCH_DENSITIES_MAX];
    int64_t rate_bps;                    /* of each host's link where no file says; 0: unknown */
    char topology[BENCH_TOPOLOGY_BYTES]; /* the text of a file; empty: one switch */
};

struct bench_plan {
    int32_t what;  /* enum bench_what */
    int32_t route; /* enum covey_route, between the tasks that are measured */
    int32_t more_routes[BENCH_MORE_ROUTES]; /* to be measured beside that one, the first ones */
    int32_t more_count;
    int32_t pause_us; /* before each message, so that its receiver is asleep; 0: none */
    int32_t pack;     /* enum bench_pack */
    int32_t rounds;   /* samples of each figure */
    int32_t batch_us; /* a sample is the mean over what takes about so long */
    int32_t spin_us;  /* how long a raw program looks for a message before it sleeps */
    int32_t bare;     /* 1: without the raw programs */
    int32_t tasks;    /* of a barrier or multicast, or to spawn */
    int32_t calls;    /* collectives: a bit for each of bench_calls that is measured; 0: all */
    int32_t size_count;
    int32_t peer_count;
    int64_t sizes[BENCH_SIZES_MAX];
    int32_t peers[BENCH_TASKS_MAX];
    char hosts[BENCH_HOSTS_BYTES]; /* to spawn on, with commas between; empty: the leader's own */
    struct bench_exchange exchange;
};

/* The samples of one program, Covey or a raw one, for one row. */
struct bench_series {
    char name[24];
    double *us; /* one a round */
    int32_t rounds;
    double task_cpu_s; /* of all that was sampled, both ends */
    double daemon_cpu_s;
    double bytes;            /* moved meanwhile */
    double learn_s, order_s; /* exchange: before the first message, on average of the rounds;
                                scheduled all-to-all: order_s, once */
    double phases;           /* exchange: the sum of all rounds; scheduled: of the schedule */
    double left;             /* ring: computing beside messages, as a share of it without */
    double spread;           /* ring: of what a message took, as a share of the mean */
};

/* One line of figures: Covey's series first, then the raw ones that make sense for it. */
struct bench_row {
    char label[64]; /* what was measured, when it is not the size */
    int64_t bytes;
    double bound_bytes; /* exchange: the most that a rank or a link has, on average */
    int32_t series_count;
    struct bench_series series[BENCH_SERIES_MAX];
};

/* The largest of the plan's sizes, at least 1. */
size_t bench_plan_largest(const struct bench_plan *plan);

/* A further series of the row, with room for so many samples; NULL: memory is exhausted. */
struct bench_series *bench_row_add(struct bench_row *row, const char *name, int32_t rounds);

/* Each returns 0 or an error of covey_pack(), covey_unpack() or COVEY_EPROTO. */
int bench_plan_pack(covey_msg_t *msg, const struct bench_plan *plan);
int bench_plan_unpack(covey_msg_t *msg, struct bench_plan *plan);
int bench_row_pack(covey_msg_t *msg, const struct bench_row *row);

/* Unpacked samples are the caller's, to be freed by bench_row_free(), also after an error. */
int bench_row_unpack(covey_msg_t *msg, struct bench_row *row);
void bench_row_free(struct bench_row *row);

#endif
