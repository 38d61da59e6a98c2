/*
 * model.h - how long a program takes on a number of hosts, from what was measured once: the models
 * of Schmidt & Sunderam, section 3.
 *
 *   model_line.c      alpha + beta N, fitted
 *   model_paper.c     the paper's equations as they stand
 *   model_packing.c   what packing takes
 *   model_play.c      the tasks' computations and messages played against each other
 *   model_matmul.c    pipe-multiply-roll, played
 *   model_sort.c      split-sort-merge, played
 *   model_mandel.c    Mandelbrot from a task queue, played
 *   model_hierarchical.c  pipe-multiply-roll in two levels, played
 *   model_agenda.c    a bag of items, played; model_bag.c: matmul and sort of them
 *   model_alltoall.c  all-to-all on a network, scheduled and not, played frame by frame:
 *     model_exchange.c  who sends when; model_net.c, model_tcp.c  links, queues and streams
 *   model_best.c      break-even and most efficient number of hosts
 *
 * The paper adds computation and communication. Here programs send while they compute and tasks
 * share hosts and links, and the paper itself finds what is missing then: contention (section 3.1)
 * and overlap (section 3.3). So the program's own pattern of computations and messages is played in
 * virtual time: each message takes alpha + beta N where nothing else uses its links, links are
 * shared evenly, and so are the processors of a host.
 *
 * Present load (section 5 leaves it to future work: "external processor and network load factors").
 * On a host with P processors, of which d tasks of others take their even part, k tasks of the
 * program run at min(1, P / (k + d)) of their speed each, and their messages find max(P - d, P / (1
 * + d)) processors. On a link of which others use the part u the messages of the program share 1 -
 * u.
 *
 * All is pure: figures in, figures out. Times are seconds, sizes bytes.
 */
#ifndef COVEY_PROTO_MODEL_H
#define COVEY_PROTO_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/model/model_line.h"
#include "proto/model/model_net.h"
#include "proto/network/network.h"

enum {
    MODEL_HOSTS_MAX = 256,
    MODEL_BLOCKS = 6,         /* sizes of matrix blocks that are measured */
    MODEL_BLOCK_SMALLEST = 64 /* each is twice the one before */
};

/* What a host needs for an operation, as one task alone on it meets it; 0: not known. */
struct model_host {
    double processors;           /* tasks that run as fast as one alone, such as 2.0 */
    double share;                /* processor seconds that a task gets in a second, 0 .. 1 */
    double madd_s[MODEL_BLOCKS]; /* T_mult + T_add in blocks of 64, 128, ... rows and columns */
    double oper_s;               /* T_oper: a test and swap; keys log2 keys of them sort */
    double merge_s;              /* a key that is merged */
    double iteration_s;          /* of the Mandelbrot set */
    double touch_s; /* a byte of memory that is written for the first time; 0: none, too */

    /* What others do there at present; zeros: nothing, as when it was measured. */
    double demand;            /* tasks that compete for the processors */
    double link_out, link_in; /* part of the link's rate each way, 0 .. 1 */
};

/* What packing is measured of: the classes of types that are copied or converted differently. */
enum model_packing_type {
    MODEL_PACKING_BYTES,
    MODEL_PACKING_STRING,
    MODEL_PACKING_INT16,
    MODEL_PACKING_INT32,
    MODEL_PACKING_INT64,
    MODEL_PACKING_FLOAT,
    MODEL_PACKING_DOUBLE,
    MODEL_PACKING_COMPLEX, /* of doubles */
    MODEL_PACKING_TYPES
};

enum model_packing_way {
    MODEL_PACKING_PACK,         /* a message is made, an array is copied into it */
    MODEL_PACKING_PACK_STRIDED, /* the same of every other element of an array */
    MODEL_PACKING_UNPACK,       /* an array is copied out of a message */
    MODEL_PACKING_UNPACK_STRIDED,
    MODEL_PACKING_CONVERT, /* unpacked from a message of a host of the other byte order */
    MODEL_PACKING_WAYS
};

/* T_pack = alpha + beta N of section 2.3, on one host; beta 0: not known. */
struct model_packing {
    struct model_line lines[MODEL_PACKING_TYPES][MODEL_PACKING_WAYS];
};

/* Of a host's processor. */
enum model_order { MODEL_ORDER_UNKNOWN, MODEL_ORDER_LITTLE, MODEL_ORDER_BIG };

/* What messages between hosts do to computations, and these to them: two hosts that compute and
 * send to each other, and all of them, each sending to the next. The two differ where hosts share
 * more than they show: a medium, or a machine whose kernel has the network's work done by whoever
 * runs. */
struct model_load {
    double drag_s;     /* processor time that a byte takes at either end */
    double busy_s;     /* time of a byte then; 0: as long as without computing */
    double all_drag_s; /* the same of all_hosts hosts; all_hosts 0: not known */
    double all_busy_s;
    double all_hosts;
    double spread, all_spread; /* of what messages take then: standard deviation over mean */
};

/* The machine that a program runs on. */
struct model_machine {
    const struct model_host *hosts; /* the program's, in its order */
    int host_count;
    double
        together; /* tasks at full speed on all hosts at once, where they share a machine; 0: all */
    struct model_line inside;  /* between tasks of one host */
    double inside_drag_s;      /* processor time of a byte at either end */
    bool inside_streams;       /* these pass through memory of the system, as those between hosts */
    struct model_line between; /* between hosts */
    struct model_load load;    /* of those */
    /* What packing takes on each host; NULL: not known, on that host or on any. */
    const struct model_packing *const *packing;
    const enum model_order *order; /* of each host; NULL: not known of any */
};

/* Where the time of the mean task goes (section 3): the three sum up to the total. Communication is
 * alpha + beta N of its messages between hosts (of both kinds where there is one host), as far as
 * nothing is computed meanwhile, and what it packs and unpacks; idle is what it waits besides. */
struct model_time {
    int tasks;
    double total_s;
    double computation_s;
    double communication_s;
    double idle_s;
};

/* What packing so many bytes takes on that host; 0: it is not known. */
double model_packing_s(const struct model_machine *machine, int host, enum model_packing_type type,
                       enum model_packing_way way, double bytes);

/* What a message from host `from` takes host `to` besides, when their byte orders differ: the
 * receiver turns its arrays, in place, before they are copied out of it if they are. 0: the orders
 * are the same, or something is not known. */
double model_convert_s(const struct model_machine *machine, int from, int to,
                       enum model_packing_type type, double bytes);

/* T_mult + T_add in a product of blocks of about so many rows and columns: between the measured
 * sizes by the logarithm of the size. */
double model_madd(const struct model_host *host, double block);

/* The others return 0, or -1: memory is exhausted, or the figures needed are not known (0). */

/* ---- The paper's equations ---------------------------------------------------------------- */

/* Section 3.1: pipe-multiply-roll of N x N elements of `element` bytes on `tasks` = P x P tasks. */
struct model_time model_paper_matmul(double n, int tasks, double element, double madd_s,
                                     const struct model_line *line);

/* Section 3.2: split-sort-merge of so many keys of `element` bytes on a power of two of tasks. */
struct model_time model_paper_sort(double keys, int tasks, double element, double oper_s,
                                   const struct model_line *line);

/* What a master and its workers exchange: so many times a request and an answer. */
struct model_strips {
    double count, request_bytes, answer_bytes;
};

/* Section 3.3: T_total = T_comp + T_comm, all exchanges one after the other. */
struct model_time model_paper_mandel(double computation_s, int tasks,
                                     const struct model_strips *strips,
                                     const struct model_line *line);

/* ---- The programs of apps/ ---------------------------------------------------------------- */

#define MODEL_PANEL 256 /* of matmul: columns of a panel that travels and is multiplied at once */
#define MODEL_ROLL_AHEAD 2 /* panels of B that go before their turn */

/* The grid that matmul makes of so many hosts when it is not told: q x q tasks. */
int model_grid(int hosts);

/* Which host each of the q x q tasks is put on. */
void model_grid_place(int q, int hosts, int *host_of);

/* Pipe-multiply-roll (section 2.3) of n x n doubles on q x q tasks. */
int model_matmul(const struct model_machine *machine, int64_t n, int q, struct model_time *time);

/* Split-sort-merge (section 2.3) of keys of 8 bytes by `tasks` tasks, on the hosts in turn. */
int model_sort(const struct model_machine *machine, int64_t keys, int tasks,
               struct model_time *time);

/* Pipe-multiply-roll in two levels, of p x p groups; p divides q. With p = q there is one level:
 * phase by phase (Figure 3(b)), and nothing is sent ahead. */
int model_matmul_hierarchical(const struct model_machine *machine, int64_t n, int q, int p,
                              struct model_time *time);

/* The side of the grid of groups that matmul makes when q is no prime: the smallest divisor. */
int model_groups(int q);

/* By way of a bag: products of q x q blocks, by workers on the hosts in turn. `fetch`: they ask the
 * coordinator for the blocks that they do not have. */
int model_matmul_bag(const struct model_machine *machine, int64_t n, int q, bool fetch, int workers,
                     struct model_time *time);

/* By way of a bag: parts of the keys are sorted, then ranges of them merged, by workers that ask
 * the coordinator for the keys. */
int model_sort_bag(const struct model_machine *machine, int64_t keys, int workers,
                   struct model_time *time);

struct model_view {
    double centre_re, centre_im, zoom;
    int32_t width, height, iterations;
};

/* The iterations of each row of a picture, counted at one pixel of 64: what takes longest in its
 * prediction, and is the same on any machine. Free the array. NULL: memory is exhausted. */
double *model_mandel_rows(const struct model_view *view);

/* Mandelbrot (section 2.3) by `tasks` workers, on the hosts in turn; the master is on the first one
 * and guides the sizes of strips, or (strip > 0) hands out so many rows at a time. `rows` is what
 * model_mandel_rows() counted. */
int model_mandel(const struct model_machine *machine, const struct model_view *view,
                 const double *rows, int tasks, int strip, struct model_time *time);

/* ---- All-to-all ----------------------------------------------------------------------------- */

struct model_alltoall {
    double bound_s;     /* Faraj & Yuan, section 3: load of the bottleneck link times msize / B */
    double scheduled_s; /* these three as in model_exchange.h */
    double ring_s;
    double pairwise_s;
    uint32_t phases; /* of the schedule */
};

/* Blocks of so many bytes between all ranks of a network. */
int model_alltoall(const struct network *network, const struct net_config *config, double bytes,
                   struct model_alltoall *result);

/* ---- How many hosts ------------------------------------------------------------------------- */

struct model_best {
    int break_even; /* section 2.4: beyond it no time is gained; position in the array */
    int efficient;  /* section 4.1: the last before the slope falls below the tolerance */
};

/* The share of the time that more hosts save, over the share by which they are more: 1 is linear
 * speed-up, 0 none. */
double model_slope(int fewer, double fewer_s, int more, double more_s);

/* total_s[i] is for hosts[i], increasing. */
struct model_best model_best(const int *hosts, const double *total_s, int n, double tolerance);

#endif
