/*
 * cost.h - what each algorithm is expected to take.
 */
#ifndef COVEY_LIB_DOMAIN_SORT_COST_H
#define COVEY_LIB_DOMAIN_SORT_COST_H

#include <stddef.h>

#include "lib/domain/covey_domain/base.h"

/* What a member does with elements. */
enum sort_work {
    SORT_SORT,
    SORT_MERGE, /* of two arrays; elements of the result */
    SORT_COPY,  /* and turned into keys */
    SORT_WORKS
};

/* Sizes of which it is measured: 2^10, 2^12 ... elements, as far as caches matter. */
#define SORT_CLASSES 6
#define SORT_CLASS_LOG2(i) (10 + 2 * (i))

/* Seconds of the processor an element (of a sort of records divided by log2 of their number), of
 * one member alone on its host and of as many as compute there at once; 0: not measured. */
struct sort_speeds {
    double alone[SORT_WORKS][SORT_CLASSES], all[SORT_WORKS][SORT_CLASSES];
};

struct sort_cost {
    double total, bytes; /* elements, bytes of an element */
    int is_record;
    int keeps_counts; /* the result is to be as the elements came */
    double kept;      /* bytes that a member has from an earlier run, and need not write first */
    struct covey_domain_place place;
    struct sort_speeds speeds;
};

/* The class next to so many elements of so many bytes. */
int cost_class(double elements, double bytes);

/* Seconds of that work on n elements at a member, while all members do it or rank 0 alone. */
double cost_work(const struct sort_cost *c, int work, int is_all, double n);

/* Samples of a member in sample sort. */
size_t cost_samples(int members);

/* Elements that a member shows in rounds of histogram sort: in the first one of all borders, and of
 * each border in the next ones. Those with which the rounds are expected to take the least. */
struct sort_probes {
    size_t first, next;
};
struct sort_probes cost_probes(const struct sort_cost *c);

double cost_local(const struct sort_cost *c);
double cost_tree(const struct sort_cost *c);
double cost_sample(const struct sort_cost *c);
double cost_histogram(const struct sort_cost *c);
double cost_hypercube(const struct sort_cost *c);

#endif
