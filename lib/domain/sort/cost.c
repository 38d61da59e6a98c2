/*
 * cost.c - the algorithms in terms of n elements of s bytes, P members, alpha and beta of the
 * network and the seconds S(m) of sorting m elements, M of one that is merged and C of one that is
 * copied; L is log2 P, rounded up. The formulas stand in covey_sort(3).
 *
 * Speeds are those of the size next to that of the arrays. Memory that is written for the first
 * time counts, as far as the handle has none from an earlier run.
 *
 * Shares are taken as equal. That a member has more, or that a sample divides badly, is not in
 * them.
 */
#include "lib/domain/sort/cost.h"

#include "lib/domain/place/place.h"

#include <math.h>

#define SAMPLES_LEAST 32
#define PROBES_LEAST 8
#define PROBES_MOST 512
#define PROBE_S 1e-7   /* a probe in the order of the others, about */
#define MORE 1.25      /* than the mean */
#define PROBE_BYTES 24 /* what the hypercube sends of one besides its key */
#define OPEN_BYTES 16  /* of a member and border: where what is open lies */
#define SKETCH 32      /* probes of a message of the hypercube */
#define NEARLY 1e-9    /* hosts whose last bits differ shall come to the same numbers of probes */
#define ARRAY_MOST (8.0 * 1024 * 1024) /* bytes of an array that is measured */

size_t cost_samples(int members)
{
    size_t wanted = 4 * (size_t)members;
    return wanted > SAMPLES_LEAST ? wanted : SAMPLES_LEAST;
}

int cost_class(double elements, double bytes)
{
    double most = fmax(log2(ARRAY_MOST / bytes), SORT_CLASS_LOG2(0));
    double log2_n = fmin(elements > 1 ? log2(elements) : 0, most);
    double at = floor((log2_n - SORT_CLASS_LOG2(0)) / 2 + 0.5);
    while (at > 0 && SORT_CLASS_LOG2(at) > most)
        at--;
    return (int)fmin(fmax(at, 0), SORT_CLASSES - 1);
}

/* Of the next class that was measured. */
static double unit_s(const double of[SORT_CLASSES], int at)
{
    for (int off = 0; off < SORT_CLASSES; off++) {
        if (at - off >= 0 && of[at - off] > 0)
            return of[at - off];
        if (at + off < SORT_CLASSES && of[at + off] > 0)
            return of[at + off];
    }
    return 0;
}

double cost_work(const struct sort_cost *c, int work, int is_all, double n)
{
    int at = cost_class(n, c->bytes);
    double depth = work == SORT_SORT && c->is_record && n > 2 ? log2(n) : 1;
    double one = unit_s((is_all ? c->speeds.all : c->speeds.alone)[work], at);
    return n * depth * one * (is_all ? domain_slower : domain_slower_root)(&c->place);
}

static double members(const struct sort_cost *c)
{
    return c->place.network.members;
}

static double levels(const struct sort_cost *c)
{
    return ceil(log2(members(c)));
}

/* Of a call in which members wait for each other. */
static double latency(const struct sort_cost *c)
{
    return levels(c) * (c->place.network.alpha_s + domain_wait_s(&c->place));
}

static double share(const struct sort_cost *c)
{
    return c->total / members(c);
}

/* The first write of memory for so many elements, at all members or at rank 0: the most that an
 * algorithm has at any time. */
static double touch(const struct sort_cost *c, int is_all, double elements)
{
    double bytes = fmax(0, elements * c->bytes - c->kept);
    return bytes * c->place.touch_s * (is_all ? domain_slower : domain_slower_root)(&c->place);
}

/* To the keys that are sorted, and back. */
static double turn(const struct sort_cost *c)
{
    return 2 * cost_work(c, SORT_COPY, 1, share(c));
}

/* All elements but one member's own pass the link of rank 0. */
static double through_root(const struct sort_cost *c)
{
    const struct covey_domain_network *n = &c->place.network;
    double beta_s = n->one_beta_s > 0 ? n->one_beta_s : n->beta_s;
    if (n->members < 2)
        return 0;
    return levels(c) * n->alpha_s + domain_wait_s(&c->place) +
           (c->total - share(c)) * c->bytes * beta_s + cost_work(c, SORT_COPY, 0, share(c));
}

/* To neighbours, and a few elements: a part of the share; all others are copied. */
static double shift(const struct sort_cost *c)
{
    const struct covey_domain_network *n = &c->place.network;
    if (!c->keeps_counts || n->members < 2)
        return 0;
    return latency(c) + 2 * n->alpha_s + share(c) / 8 * c->bytes * n->beta_s +
           cost_work(c, SORT_COPY, 1, share(c));
}

/* Counts and elements to each member, and the merges of what came. */
static double exchange(const struct sort_cost *c)
{
    const struct covey_domain_network *n = &c->place.network;
    double others = members(c) - 1, m = share(c);
    return 2 * others * n->alpha_s + m * c->bytes * n->beta_s * others / members(c) +
           levels(c) * cost_work(c, SORT_MERGE, 1, m);
}

double cost_local(const struct sort_cost *c)
{
    double back = c->keeps_counts ? through_root(c) : 0;
    double arrays = members(c) > 1 ? 2 * c->total + share(c) : 2 * c->total;
    return turn(c) + through_root(c) + cost_work(c, SORT_SORT, 0, c->total) + back +
           touch(c, 0, arrays);
}

double cost_tree(const struct sort_cost *c)
{
    const struct covey_domain_network *n = &c->place.network;
    double beta_s = n->one_beta_s > 0 ? n->one_beta_s : n->beta_s, m = share(c);
    double seconds = turn(c) + cost_work(c, SORT_SORT, 1, m), arrays = 2 * m;
    for (int have = 1; have < n->members; have *= 2) {
        double come = fmin(have, n->members - have) * m, both = have * m + come;
        seconds += n->alpha_s + come * c->bytes * beta_s + cost_work(c, SORT_COPY, 0, have * m) +
                   cost_work(c, SORT_MERGE, 0, both);
        arrays += 2 * both;
    }
    return seconds + (c->keeps_counts ? through_root(c) : 0) + touch(c, 0, arrays);
}

double cost_sample(const struct sort_cost *c)
{
    const struct covey_domain_network *n = &c->place.network;
    double m = share(c), each = fmin(m, (double)cost_samples(n->members));
    double all = each * members(c);
    double agree = latency(c) + all * c->bytes * n->beta_s +
                   log2(fmax(all, 2)) * cost_work(c, SORT_MERGE, 1, all);
    return turn(c) + cost_work(c, SORT_SORT, 1, m) + (n->members > 1 ? agree : 0) + exchange(c) +
           shift(c) + touch(c, 1, 2 * m);
}

/* Two gathers at once, and the probes in their order. */
static double probe_round(const struct sort_cost *c, double ranges, double probes)
{
    const struct covey_domain_network *n = &c->place.network;
    return latency(c) + members(c) * ranges * (probes * c->bytes + OPEN_BYTES) * n->beta_s +
           members(c) * ranges * probes * PROBE_S * domain_slower(&c->place);
}

/* About 1 / k of what was open is after a round of k probes, and somewhat more at some member,
 * until all of it is shown. */
static double probe_rounds(const struct sort_cost *c, const struct sort_probes *probes)
{
    double m = share(c), borders = members(c) - 1, rounds = 0;
    double first = (double)probes->first, next = (double)probes->next, open = MORE * m / first;
    if (borders > 0 && m > first)
        rounds = 1 + ceil(fmax(0, log2(open / next)) / log2(next) - NEARLY);
    return (borders > 0 ? probe_round(c, 1, fmin(first, m)) : 0) +
           rounds * probe_round(c, borders, next);
}

struct sort_probes cost_probes(const struct sort_cost *c)
{
    size_t least = cost_samples(c->place.network.members);
    struct sort_probes best = {least, PROBES_LEAST};
    double best_s = probe_rounds(c, &best);
    for (size_t first = least; first <= PROBES_MOST; first *= 2)
        for (size_t next = PROBES_LEAST; next <= PROBES_MOST; next *= 2) {
            struct sort_probes probes = {first, next};
            double seconds = probe_rounds(c, &probes);
            if (seconds < best_s * (1 - NEARLY)) {
                best = probes;
                best_s = seconds;
            }
        }
    return best;
}

double cost_histogram(const struct sort_cost *c)
{
    double m = share(c);
    struct sort_probes probes = cost_probes(c);
    return turn(c) + cost_work(c, SORT_SORT, 1, m) + probe_rounds(c, &probes) + exchange(c) +
           touch(c, 1, 2 * m);
}

double cost_hypercube(const struct sort_cost *c)
{
    const struct covey_domain_network *n = &c->place.network;
    double m = share(c), seconds = turn(c) + cost_work(c, SORT_SORT, 1, m);
    for (int group = n->members; group > 1; group = (group + 1) / 2) {
        double agree = n->alpha_s + SKETCH * (c->bytes + PROBE_BYTES) * n->beta_s;
        seconds += 2 * ceil(log2(group)) * agree + n->alpha_s + m / 2 * c->bytes * n->beta_s +
                   cost_work(c, SORT_COPY, 1, m / 2) + cost_work(c, SORT_MERGE, 1, m);
    }
    return seconds + shift(c) + touch(c, 1, n->members > 1 ? 2.5 * m : 2 * m);
}
