/*
 * covey/model.h - predicting how long programs take, from what covey calibrate measured.
 */
#ifndef COVEY_MODEL_H
#define COVEY_MODEL_H

#include "calibration.h"
#include "topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The models of Schmidt & Sunderam, section 3: how long the demo programs take on a number of
 * hosts, from what `covey calibrate` measured. Times are seconds, sizes bytes. These calls need no
 * VM; see covey_predict(3), covey_calibration(5). */

/* How a program does it. */
enum covey_form {
    COVEY_FORM_USUAL = 0,        /* as enum covey_model says */
    COVEY_FORM_BAG = 1,          /* items of a bag */
    COVEY_FORM_BAG_FETCH = 2,    /* matmul: the same, and tasks fetch the blocks that they need */
    COVEY_FORM_HIERARCHICAL = 3, /* matmul: pipe-multiply-roll in two levels */
    COVEY_FORM_PHASES = 4,       /* matmul: the same in one, and nothing is sent ahead */
};

enum covey_model {
    COVEY_MODEL_MATMUL = 1, /* pipe-multiply-roll */
    COVEY_MODEL_SORT = 2,   /* split-sort-merge */
    COVEY_MODEL_MANDEL = 3  /* Mandelbrot from a task queue */
};

/* What is to be computed. Fields that a model does not name may be 0. */
struct covey_problem {
    int32_t model; /* enum covey_model */
    int32_t tasks; /* 0: as many as the program starts when it is not told */
    int32_t route; /* between hosts; AUTO: the calibrated one with the least beta */
    int32_t paper; /* 1: the paper's equations as they stand, one task a host */
    int32_t form;  /* enum covey_form */
    int32_t grid;  /* matmul by a bag: so many rows of blocks; 0: as many as the program has */
    int64_t size;  /* matmul: N; sort: keys */
    int32_t width, height, iterations; /* mandel */
    int32_t strip;                     /* mandel: rows of a strip; 0: guided */
    double centre_re, centre_im, zoom; /* mandel */
};

/* The three parts sum up to the total. */
struct covey_prediction {
    int32_t hosts, tasks;
    double total_s;
    double computation_s;
    double communication_s;
    double idle_s;
};

/* Predicts for so many hosts; names[i] is the name of each, NULL: those of the calibration in their
 * order, again from the first when there are more. Errors: EINVAL (the problem, the number of
 * hosts), ENOHOST (a host, a route or an operation was not calibrated), ENOMEM. */
int covey_predict(const struct covey_calibration *calibration, const struct covey_problem *problem,
                  const char *const *names, int hosts, struct covey_prediction *prediction);

/* Of total times for increasing numbers of hosts, the positions of: the number beyond which no time
 * is gained (break-even, section 2.4), and the most efficient one (section 4.1), the last before
 * the slope falls below the tolerance. The slope is the share of the time that more hosts save over
 * the share by which they are more: 1 is linear speed-up, 0 none. Errors: EINVAL. */
int covey_predict_best(const int *hosts, const double *total_s, int n, double tolerance,
                       int *break_even, int *efficient);

/* What one number of hosts takes. */
struct covey_choice_row {
    struct covey_prediction predicted; /* with the number of tasks that suits these hosts */
    double
        slope; /* as of covey_predict_best(), between these hosts and the chosen ones; 0: those */
};

/* How many tasks are worth it, on how many hosts, and on which. */
struct covey_choice {
    int32_t tasks;
    int32_t host_count;
    int32_t hosts[COVEY_MODEL_HOSTS_MAX]; /* positions in the list of names, the fastest first */
    int32_t left_out;                     /* hosts of the list that were not calibrated */
    int32_t row_count;
    int32_t row;                                         /* the chosen one */
    struct covey_choice_row rows[COVEY_MODEL_HOSTS_MAX]; /* hosts increase */
    char why[160];                                       /* one line */
};

/* The tolerance of the demos: twice the hosts must save an eighth of the time. A prediction may be
 * off by that much, so less may be no gain at all. */
#define COVEY_CHOICE_TOLERANCE 0.25

/* Chooses among hosts, which are names[0] .. names[hosts - 1] (NULL: those of the calibration), by
 * least predicted time, but no more hosts than pay (section 4.1): the most efficient number of
 * covey_predict_best() with that tolerance. Hosts are taken the fastest first, and on each number
 * of them the number of tasks is chosen by the same rule, up to one a processor; where
 * problem->tasks is set, only the hosts are chosen. Sets *choice (free with covey_free()). Errors:
 * as of covey_predict(), and EINVAL (the tolerance). */
int covey_predict_choose(const struct covey_calibration *calibration,
                         const struct covey_problem *problem, const char *const *names, int hosts,
                         double tolerance, struct covey_choice **choice);

/* All-to-all of blocks of `bytes` between all hosts of a topology: the bound, and three algorithms
 * of covey_collectives(5), played frame by frame: TCP, and links with queues of 128 KiB, which drop
 * what exceeds them. */
struct covey_alltoall_prediction {
    double bound_s; /* the load of the bottleneck link times size / B (Faraj & Yuan, section 3) */
    double scheduled_s; /* `scheduled`: their phases, each message as soon as it may */
    double ring_s;      /* `linear`: to the next rank, the one after it and so on, all at once */
    double pairwise_s;  /* `pairwise`: to one rank and from one at a time, of small blocks more */
    uint32_t phases;    /* of the schedule */
    uint32_t ranks;
};

/* hosts[i] is where rank i runs, as in covey_schedule_create(), NULL: one rank a host. Rates are
 * taken net of Ethernet's and TCP's headers. alpha_s is what a short message takes from task to
 * task; skew_s: tasks begin within so long of each other, and the time is that from the first one's
 * beginning. Takes a second for some hundred thousand frames of 1448 bytes. Errors: EINVAL, ENOMEM.
 */
int covey_predict_alltoall(const covey_topology_t *topology, const int32_t *hosts, int ranks,
                           double bytes, double alpha_s, double skew_s,
                           struct covey_alltoall_prediction *prediction);

#ifdef __cplusplus
}
#endif
#endif
