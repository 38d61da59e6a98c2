/*
 * network.c - alpha and beta of a team: measured, or out of a calibration.
 *
 * Members are measured while all send and receive at once, as they do in the algorithms that are
 * chosen: what several tasks of one host, one link or one switch take from each other is in the
 * numbers. Each one sends to a member of another host and then to one of its own; a message to a
 * member, whichever it is, is the mean of both, weighted by how many members are there and here.
 * Long messages come from and go to arrays beyond the first caches, as arrays of programs do. The
 * median of the rounds counts, of the slowest member. Last, one member alone sends to rank 0, as
 * happens where rank 0 gathers, and both send a short message to and fro, as happens where members
 * wait for one another.
 *
 * Short messages go round the ring one way and the other by turns: so nobody gets ahead, where else
 * several messages would lie there when a member is woken, and a message seem to take what its
 * handling takes. Many rounds of them are needed, for the first ones are disturbed: of sixteen
 * rounds eight hosts of one machine had medians from 10 to 390 us. Of few long ones the median
 * leaves one out that was lost and sent again, which takes ten times as long.
 *
 * Where messages are fast, hundreds of rounds are over in less than the kernel takes to see that
 * two members share a processor while another one is idle: of twenty measurements one was of that,
 * 23 us where 0.7 are usual. So what takes little time is measured some times; the least counts.
 */
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAG_RING 0x646f6d /* messages by rank are the team's alone: any tag will do */
#define ROUNDS_MOST 256
#define ROUNDS_LEAST 5
#define ENOUGH_S 0.02 /* of rounds of one kind */
#define PASSES 3
#define PASSES_S 0.1 /* of all kinds: there is another pass until then */
#define LONG_BYTES ((size_t)256 << 10)
#define PLACES 4 /* of a long message in each array */

/* Where members are: in the order of their hosts, and of each host those that are on it. */
struct ring {
    covey_team_t *team;
    int size, rank, hosts;
    int most;               /* members of a host */
    int to, from;           /* on other hosts, if there are any */
    int near_to, near_from; /* on the own host; the own rank: it has no other member */
    char *out, *in;
};

enum { SHORT_FAR, LONG_FAR, SHORT_NEAR, LONG_NEAR, LONG_ONE, SHORT_ONE, KINDS };

static int is_short(int kind)
{
    return kind == SHORT_FAR || kind == SHORT_NEAR || kind == SHORT_ONE;
}

struct spot {
    int host, rank;
};

static int compare_spots(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    return x->host != y->host ? (x->host > y->host) - (x->host < y->host)
                              : (x->rank > y->rank) - (x->rank < y->rank);
}

static void ring_init(struct ring *r, covey_team_t *team)
{
    *r = (struct ring){.team = team, .size = covey_team_size(team), .rank = covey_team_rank(team)};
    int at = 0, first = 0, count = 0, size = r->size;
    struct spot *spots = calloc((size_t)size, sizeof *spots);
    if (spots == NULL)
        return;
    for (int i = 0; i < size; i++)
        spots[i] = (struct spot){covey_tid_host(covey_team_tid(team, i)), i};
    qsort(spots, (size_t)size, sizeof *spots, compare_spots);
    for (int begin = 0, end; begin < size; begin = end) {
        for (end = begin; end < size && spots[end].host == spots[begin].host; end++)
            if (spots[end].rank == r->rank) {
                at = end;
                first = begin;
            }
        if (first == begin)
            count = end - begin;
        r->most = end - begin > r->most ? end - begin : r->most;
        r->hosts++;
    }
    int step = r->hosts > 1 ? r->most : 1;
    r->to = spots[(at + step) % size].rank;
    r->from = spots[(at + size - step) % size].rank;
    r->near_to = spots[first + (at - first + 1) % count].rank;
    r->near_from = spots[first + (at - first + count - 1) % count].rank;
    free(spots);
    r->out = calloc(2 * PLACES, LONG_BYTES);
    r->in = r->out == NULL ? NULL : r->out + PLACES * LONG_BYTES;
    if (r->out != NULL) /* calloc() may give what is not there yet */
        memset(r->out, 1, 2 * PLACES * LONG_BYTES);
}

/* From one member to the other, and back. */
static int to_and_fro(const struct ring *r, int peer, int is_first)
{
    size_t count;
    int error = 0;
    for (int turn = 0; error >= 0 && turn < 2; turn++)
        error = is_first == (turn == 0)
                    ? covey_team_send_array(r->team, peer, TAG_RING, COVEY_BYTES, r->out, 1)
                    : covey_team_recv_array(r->team, peer, TAG_RING, COVEY_FOREVER, COVEY_BYTES,
                                            r->in, 1, &count);
    return error;
}

/* One round; a member that has no part in it has no time. */
static int ring_round(const struct ring *r, int kind, int round, double *seconds)
{
    int is_near = kind == SHORT_NEAR || kind == LONG_NEAR;
    int is_one = kind == LONG_ONE || kind == SHORT_ONE;
    size_t bytes = is_short(kind) ? 1 : LONG_BYTES, count;
    size_t at = (size_t)(round % PLACES) * LONG_BYTES;
    int to = is_near ? r->near_to : r->to, from = is_near ? r->near_from : r->from;
    *seconds = 0;
    if (is_short(kind) && round % 2) {
        to = is_near ? r->near_from : r->from;
        from = is_near ? r->near_to : r->to;
    }
    if (is_one) { /* from the member that sends to rank 0 in the ring */
        to = r->to == 0 ? 0 : COVEY_NO_RANK;
        from = r->rank == 0 ? r->from : COVEY_NO_RANK;
    }
    if ((is_near && to == r->rank) || (to == COVEY_NO_RANK && from == COVEY_NO_RANK))
        return 0;
    double begin = domain_now_s();
    int error =
        kind == SHORT_ONE
            ? to_and_fro(r, to == 0 ? 0 : from, to == 0)
            : covey_team_sendrecv_array(r->team, to, from, TAG_RING, COVEY_FOREVER, COVEY_BYTES,
                                        r->out + at, bytes, r->in + at, LONG_BYTES, &count);
    *seconds = (domain_now_s() - begin) / (kind == SHORT_ONE ? 2 : 1);
    return error < 0 ? domain_fail_of(error, "measuring the network") : 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first round is not counted: links are made in it. After the least number of rounds the
 * slowest member says how many more there is time for; of many the first half is not counted. */
static int ring_median(const struct ring *r, int kind, double *median)
{
    double seconds[ROUNDS_MOST + 1], least = 0, most = 0;
    int rounds = ROUNDS_LEAST, error = 0;
    for (int i = 0; error == 0 && i <= rounds; i++) {
        error = ring_round(r, kind, i, &seconds[i]);
        if (error == 0 && i == ROUNDS_LEAST) {
            least = seconds[1];
            for (int k = 2; k <= ROUNDS_LEAST; k++)
                least = fmin(least, seconds[k]);
            error = covey_allreduce(r->team, COVEY_OP_MAX, COVEY_DOUBLE, &least, &most, 1);
            double more = most > 0 ? ENOUGH_S / most : 0;
            rounds = (int)fmin(fmax(more, ROUNDS_LEAST), ROUNDS_MOST);
            if (error < 0)
                return domain_fail_of(error, "measuring the network");
        }
    }
    int skipped = rounds >= 2 * ROUNDS_LEAST ? rounds / 2 : 0;
    int first = 1 + skipped, count = rounds - skipped;
    if (error < 0)
        return error;
    qsort(seconds + first, (size_t)count, sizeof *seconds, compare);
    *median = seconds[first + count / 2];
    return 0;
}

/* All kinds once, of the slowest member; what is less than before counts. */
static int ring_pass(const struct ring *r, double times[KINDS])
{
    double mine[KINDS] = {0}, most[KINDS];
    int error = 0;
    for (int kind = 0; error == 0 && kind < KINDS; kind++) {
        int has_near = r->hosts > 1 && r->most > 1;
        if (has_near || (kind != SHORT_NEAR && kind != LONG_NEAR))
            error = ring_median(r, kind, &mine[kind]);
    }
    if (error < 0)
        return domain_break(r->team, error);
    error = covey_allreduce(r->team, COVEY_OP_MAX, COVEY_DOUBLE, mine, most, KINDS);
    for (int kind = 0; error == 0 && kind < KINDS; kind++)
        times[kind] = fmin(times[kind], most[kind]);
    return error < 0 ? domain_fail_of(error, "measuring the network") : 0;
}

/* Rank 0 says whether there is time for another pass. */
static int ring_measure(const struct ring *r, double times[KINDS])
{
    double begin = domain_now_s();
    int32_t again = 1;
    for (int kind = 0; kind < KINDS; kind++)
        times[kind] = INFINITY;
    for (int pass = 1; again; pass++) {
        int error = ring_pass(r, times);
        if (error < 0)
            return error;
        again = pass < PASSES && domain_now_s() - begin < PASSES_S;
        error = covey_bcast(r->team, 0, COVEY_INT32, &again, 1);
        if (error < 0)
            return domain_fail_of(error, "measuring the network");
    }
    return 0;
}

static double line(double short_s, double long_s)
{
    return fmax(0, long_s - short_s) / (double)(LONG_BYTES - 1);
}

int covey_domain_network(covey_team_t *team, struct covey_domain_network *network)
{
    double times[KINDS] = {0};
    struct ring r;
    int error = 0;
    if (team == NULL || network == NULL)
        return domain_fail(COVEY_EINVAL, "the team or the network is NULL");
    ring_init(&r, team);
    if (r.out == NULL)
        return domain_break(team, domain_fail(COVEY_ENOMEM, "no memory to measure the network"));
    if (r.size > 1)
        error = ring_measure(&r, times);
    free(r.out);
    if (error < 0)
        return error;
    double near = r.hosts > 1 && r.size > 1 ? (double)(r.most - 1) / (r.size - 1) : 0;
    *network = (struct covey_domain_network){
        .members = r.size,
        .hosts = r.hosts,
        .alpha_s = (1 - near) * times[SHORT_FAR] + near * times[SHORT_NEAR],
        .beta_s = (1 - near) * line(times[SHORT_FAR], times[LONG_FAR]) +
                  near * line(times[SHORT_NEAR], times[LONG_NEAR]),
        .one_beta_s = line(times[SHORT_ONE], times[LONG_ONE]),
        .one_alpha_s = times[SHORT_ONE]};
    return 0;
}

int covey_domain_network_of(const struct covey_calibration *calibration, int route, int members,
                            int hosts, struct covey_domain_network *network)
{
    int routes = (int)(sizeof calibration->routes / sizeof *calibration->routes);
    if (calibration == NULL || network == NULL || route < 0 || route >= routes || hosts < 1 ||
        members < hosts)
        return domain_fail(COVEY_EINVAL, "NULL, no such route, or fewer members than hosts");
    const struct covey_calibration_route *r = &calibration->routes[route];
    int inside = hosts == 1;
    if (inside ? !r->inside_known : !r->known)
        return domain_fail(COVEY_ENOHOST, "route %d was not calibrated %s", route,
                           inside ? "inside a host" : "between hosts");
    const struct covey_line *line = inside ? &r->inside : &r->line;
    *network = (struct covey_domain_network){.members = members,
                                             .hosts = hosts,
                                             .alpha_s = line->alpha_s,
                                             .beta_s = line->beta_s,
                                             .one_beta_s = line->beta_s,
                                             .one_alpha_s = line->alpha_s};
    return 0;
}
