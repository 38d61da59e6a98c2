/* links: tests/conformance/story.c libcovey */
/*
 * exchange.c - unstructured exchange: what every member sends arrives where it should, whole, and
 * nothing else does.
 *
 *   exchange MEMBERS          spawns the others, and tests teams of 1 .. 9 and of all members
 *   exchange member MEMBERS   is what it spawns
 *
 * All members make the same pattern from a seed, so that each knows what must come; to the library
 * each gives its own row alone.
 */
#include <covey.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/story.h"

#define MEMBERS_MAX STORY_MEMBERS_MAX
#define NOTHING (-1)
#define TAG_NONE 7 /* of no message */

/* ---- patterns ---- */

enum shape { SPARSE, DENSE, TO_ONE, FROM_ONE, OWN, EMPTY, EQUAL, SHAPES };

static uint32_t below(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % limit);
}

static long size_of(uint64_t *seed)
{
    static const uint32_t limits[] = {1, 2, 100, 5000, 60000};
    return (long)below(seed, limits[below(seed, 5)]);
}

static long cell(enum shape shape, uint64_t *seed, int from, int to)
{
    long count = size_of(seed);
    int some = below(seed, 4) == 0;

    switch (shape) {
    case SPARSE:
        return some ? count : NOTHING;
    case DENSE:
        return from == 1 ? NOTHING : count / 8;
    case TO_ONE:
        return to == 0 ? count : NOTHING;
    case FROM_ONE:
        return from == 0 ? count : NOTHING;
    case OWN:
        return from == to ? count : NOTHING;
    case EQUAL:
        return some ? 9000 : NOTHING;
    default:
        return NOTHING;
    }
}

struct pattern {
    int size;
    long counts[MEMBERS_MAX][MEMBERS_MAX]; /* elements from, to; NOTHING */
};

static void pattern_make(struct pattern *p, int size, enum shape shape, uint64_t seed)
{
    p->size = size;
    for (int from = 0; from < size; from++) {
        for (int to = 0; to < size; to++)
            p->counts[from][to] = cell(shape, &seed, from, to);
    }
}

/* The elements are 32 bits wide. */
static int32_t element(int from, int to, long at, int round)
{
    return (int32_t)(from * 1000003 + to * 10007 + at * 31 + round * 7);
}

/* ---- one member's side ---- */

struct side {
    int rank, n;
    struct covey_parcel parcels[MEMBERS_MAX];
    int32_t *arrays[MEMBERS_MAX];
};

static void side_make(struct side *s, const struct pattern *p, int rank)
{
    *s = (struct side){.rank = rank};
    /* in falling order: parcels need no order */
    for (int to = p->size - 1; to >= 0; to--) {
        if (p->counts[rank][to] == NOTHING)
            continue;
        s->arrays[s->n] = calloc((size_t)p->counts[rank][to] + 1, sizeof(int32_t));
        s->parcels[s->n] = (struct covey_parcel){
            .rank = to, .base = s->arrays[s->n], .count = (size_t)p->counts[rank][to]};
        s->n++;
    }
}

static void side_fill(struct side *s, int round)
{
    for (int i = 0; i < s->n; i++) {
        for (long at = 0; at < (long)s->parcels[i].count; at++)
            s->arrays[i][at] = element(s->rank, s->parcels[i].rank, at, round);
    }
}

static void side_free(struct side *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->arrays[i]);
}

/* Whether exactly those came that the pattern has for the rank. */
static int all_came(const struct pattern *p, int rank, const struct covey_parcel *in, int n,
                    int round)
{
    int at = 0;
    for (int from = 0; from < p->size; from++) {
        long count = p->counts[from][rank];
        if (count == NOTHING)
            continue;
        if (at == n || in[at].rank != from || (long)in[at].count != count)
            return 0;
        const int32_t *elements = in[at++].base;
        for (long k = 0; k < count; k++) {
            if (elements[k] != element(from, rank, k, round))
                return 0;
        }
    }
    return at == n;
}

/* ---- at once ---- */

static void exchange_at_once(covey_team_t *team, const struct pattern *p, int round)
{
    struct side side;
    struct covey_parcel *in = NULL;
    side_make(&side, p, covey_team_rank(team));
    side_fill(&side, round);
    int n = covey_exchange(team, COVEY_INT32, side.parcels, side.n, &in);
    check("covey_exchange()", n >= 0 && all_came(p, side.rank, in, n, round));
    check("nothing is NULL", n != 0 || in == NULL);
    covey_free(in);
    side_free(&side);
}

/* ---- plans ---- */

struct arrays {
    const struct covey_parcel *list; /* the plan's */
    int n;
    struct covey_parcel parcels[MEMBERS_MAX];
    void *in[MEMBERS_MAX];
};

static void arrays_make(struct arrays *a, const covey_exchange_plan_t *plan)
{
    a->n = covey_exchange_incoming(plan, &a->list);
    for (int i = 0; i < a->n; i++) {
        a->in[i] = calloc(a->list[i].count + 1, sizeof(int32_t));
        a->parcels[i] = a->list[i];
        a->parcels[i].base = a->in[i];
    }
}

static int run_plan(covey_exchange_plan_t *plan, const void *const *out, void *const *in, int round)
{
    covey_req_t *req = NULL;
    if (round % 2 == 0)
        return covey_exchange_run(plan, out, in);
    int error = covey_exchange_start(plan, out, in, &req);
    if (error == 0)
        error = covey_wait(req, STORY_PATIENCE_US);
    covey_req_free(&req);
    return error;
}

static void run_rounds(covey_exchange_plan_t *plan, struct side *side, const struct pattern *p)
{
    struct arrays arrays;
    arrays_make(&arrays, plan);
    for (int round = 0; round < 3; round++) {
        side_fill(side, round);
        int error = run_plan(plan, (const void *const *)side->arrays, arrays.in, round);
        check("a run of a plan",
              error == 0 && all_came(p, side->rank, arrays.parcels, arrays.n, round));
    }
    for (int i = 0; i < arrays.n; i++)
        free(arrays.in[i]);
}

static void exchange_by_plan(covey_team_t *team, const struct pattern *p,
                             const struct covey_exchange_options *options)
{
    struct side side;
    covey_exchange_plan_t *plan = NULL;
    struct covey_exchange_info info = {0};
    side_make(&side, p, covey_team_rank(team));
    int error = covey_exchange_plan(team, COVEY_INT32, side.parcels, side.n, options, &plan);
    check("covey_exchange_plan()", error == 0);
    if (error == 0) {
        run_rounds(plan, &side, p);
        covey_exchange_info(plan, &info);
        check("the plan counts its runs", info.runs == 3 && info.ranks == p->size);
        check("the algorithm that was asked for",
              options->algorithm == 0 || info.algorithm == options->algorithm);
        check("colouring takes as many phases as the density",
              info.algorithm != COVEY_EXCHANGE_COLOUR || info.phases == info.density);
    }
    covey_exchange_free(&plan);
    side_free(&side);
}

/* Two switches with a slow link between them; NULL for one member. */
static covey_topology_t *make_topology(int size)
{
    char text[2048] = "switch s t\nlink s t 100M\n";
    covey_topology_t *topology = NULL;
    for (int i = 0; i < size; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "host n%d %c 1G\n", i,
                 i < size / 2 ? 's' : 't');
    check("the topology", covey_topology_parse(text, strlen(text), "net", &topology) == 0);
    return topology;
}

static void every_algorithm(covey_team_t *team, const struct pattern *p, uint64_t seed)
{
    covey_topology_t *topology = p->size > 1 ? make_topology(p->size) : NULL;
    for (int algorithm = 0; algorithm <= COVEY_EXCHANGE_LONGEST; algorithm++) {
        for (int synchrony = 0; synchrony <= COVEY_EXCHANGE_S2; synchrony++) {
            struct covey_exchange_options options = {
                .algorithm = algorithm, .synchrony = synchrony, .seed = seed};
            if (algorithm == COVEY_EXCHANGE_RS_NL || seed % 2)
                options.topology = topology;
            if (algorithm != COVEY_EXCHANGE_RS_NL || topology)
                exchange_by_plan(team, p, &options);
        }
    }
    covey_topology_free(&topology);
}

/* ---- stories ---- */

static void patterns_of(covey_team_t *team)
{
    struct pattern p;
    for (int shape = 0; shape < SHAPES; shape++) {
        pattern_make(&p, covey_team_size(team), (enum shape)shape, (uint64_t)shape + 5);
        every_algorithm(team, &p, (uint64_t)shape);
        exchange_at_once(team, &p, 0);
        exchange_at_once(team, &p, 1);
    }
}

/* The second plan of one pattern costs no ordering; one of another pattern does. */
static void orders_are_kept(covey_team_t *team)
{
    struct pattern p;
    struct side side;
    covey_exchange_plan_t *first = NULL, *second = NULL;
    struct covey_exchange_info info = {0};
    pattern_make(&p, covey_team_size(team), DENSE, 77);
    side_make(&side, &p, covey_team_rank(team));
    const struct covey_exchange_options options = {.algorithm = COVEY_EXCHANGE_LONGEST, .seed = 1};
    int error = covey_exchange_plan(team, COVEY_INT32, side.parcels, side.n, &options, &first);
    if (error == 0)
        error = covey_exchange_plan(team, COVEY_INT32, side.parcels, side.n, &options, &second);
    check("two plans", error == 0);
    if (error == 0) {
        covey_exchange_info(second, &info);
        check("the second one was known", info.schedule_s == 0);
        run_rounds(second, &side, &p);
        run_rounds(first, &side, &p);
    }
    covey_exchange_free(&first);
    covey_exchange_free(&second);
    side_free(&side);
}

/* What AUTO takes: the team's table says it, or who forces it. */
static int chosen(covey_team_t *team, const covey_topology_t *topology, long count)
{
    struct side side;
    struct pattern p = {.size = covey_team_size(team)};
    covey_exchange_plan_t *plan = NULL;
    struct covey_exchange_info info = {0};
    const struct covey_exchange_options options = {.topology = topology};
    for (int i = 0; i < MEMBERS_MAX * MEMBERS_MAX; i++)
        p.counts[i / MEMBERS_MAX][i % MEMBERS_MAX] = count;
    side_make(&side, &p, covey_team_rank(team));
    int error = covey_exchange_plan(team, COVEY_INT32, side.parcels, side.n, &options, &plan);
    check("a plan of AUTO", error == 0);
    if (error == 0)
        covey_exchange_info(plan, &info);
    covey_exchange_free(&plan);
    side_free(&side);
    return info.algorithm;
}

/* Everything crosses the link of two switches, which is the limit. */
static void the_table_decides(covey_team_t *team)
{
    covey_topology_t *t = make_topology(covey_team_size(team));
    check("small messages all at once", chosen(team, t, 10) == COVEY_EXCHANGE_AC);
    check("large ones the longest first", chosen(team, t, 9000) == COVEY_EXCHANGE_LONGEST);
    check("but not between ports", chosen(team, NULL, 9000) == COVEY_EXCHANGE_AC);
    check("an exchange can be forced", covey_team_force(team, "exchange", "RS_N") == 0);
    check("what is forced is taken", chosen(team, t, 9001) == COVEY_EXCHANGE_RS_N);
    check("and no longer", covey_team_force(team, "exchange", NULL) == 0);
    covey_topology_free(&t);
}

/* What is wrong at one member is an error at all, and the team goes on. */
static void members_differ(covey_team_t *team)
{
    int last = covey_team_rank(team) == covey_team_size(team) - 1;
    const struct covey_exchange_options options = {.algorithm = last ? 1 : 2};
    struct covey_parcel own = {.rank = 0, .base = "x", .count = 1}, twice[2] = {own, own};
    struct covey_parcel *in;
    covey_exchange_plan_t *plan = NULL;
    check("other types",
          covey_exchange(team, last ? COVEY_INT8 : COVEY_UINT8, &own, 1, &in) == COVEY_ETYPE);
    check("other options",
          covey_exchange_plan(team, COVEY_UINT8, &own, 1, &options, &plan) == COVEY_EINVAL);
    check("a rank twice", covey_exchange(team, COVEY_UINT8, twice, 2, &in) == COVEY_EINVAL);
    own.rank = covey_team_size(team);
    check("no such rank", covey_exchange(team, COVEY_UINT8, &own, 1, &in) == COVEY_EINVAL);
}

/* One member ends while the others exchange with it, or wait in the barrier for its last word: all
 * get an error, soon. */
static void a_member_dies(covey_team_t *team)
{
    struct pattern p;
    struct side side;
    covey_exchange_plan_t *plan = NULL;
    struct arrays arrays;
    const struct covey_exchange_options options = {.algorithm = COVEY_EXCHANGE_LONGEST};
    int last = covey_team_rank(team) == covey_team_size(team) - 1;
    pattern_make(&p, covey_team_size(team), DENSE, 3);
    side_make(&side, &p, covey_team_rank(team));
    if (covey_exchange_plan(team, COVEY_INT32, side.parcels, side.n, &options, &plan) != 0) {
        check("a plan before death", 0);
        side_free(&side);
        return;
    }
    arrays_make(&arrays, plan);
    side_fill(&side, 0);
    covey_team_set_timeout(team, STORY_PATIENCE_US);
    int error = covey_barrier(team);
    if (last) {
        covey_req_t *req;
        covey_exchange_start(plan, (const void *const *)side.arrays, arrays.in, &req);
        raise(SIGKILL);
    }
    for (int round = 0; round < 3 && error == 0; round++)
        error = covey_exchange_run(plan, (const void *const *)side.arrays, arrays.in);
    check("a dead member is an error", error == COVEY_ENOTASK || error == COVEY_ECANCELED);
    covey_exchange_free(&plan);
    side_free(&side);
    for (int i = 0; i < arrays.n; i++)
        free(arrays.in[i]);
}

/* With at most one parcel each way. */
static int run_often(covey_exchange_plan_t *plan, int runs)
{
    int32_t out[200] = {0}, in[200], error = 0;
    const void *const from = out;
    void *const to = in;
    for (int i = 0; i < runs && error == 0; i++)
        error = covey_exchange_run(plan, &from, &to);
    return error;
}

/* Until 0 has been told of more than it keeps. A barrier does not say that all hand-overs have
 * come: between hosts others may tell 0 of it, faster than 2. */
static void wait_for_the_end_of(covey_team_t *team)
{
    int32_t none;
    for (int i = 0; i < 3000; i++)
        if (covey_team_recv_array(team, 3, TAG_NONE, 20000, COVEY_INT32, &none, 1, NULL) !=
            COVEY_ETIMEOUT)
            break;
}

/* Of four, 1 -> 2 goes before 0 -> 3 on the link of two switches, and 2 hands over to 0. So 1 and 2
 * may be ahead of 0 and 3, by as many runs as 0 can keep hand-overs of, and no further. */
static void two_run_ahead(covey_team_t *all, covey_team_t *four, int runs, int expected)
{
    int rank = covey_team_rank(four);
    covey_topology_t *topology = make_topology(4);
    const struct covey_exchange_options options = {.algorithm = COVEY_EXCHANGE_LONGEST,
                                                   .topology = topology};
    const struct covey_parcel parcel = {.rank = rank == 0 ? 3 : 2, .count = rank == 0 ? 1 : 200};
    covey_exchange_plan_t *plan = NULL;
    check("a plan of four",
          covey_exchange_plan(four, COVEY_INT32, &parcel, rank < 2, &options, &plan) == 0);
    int error = rank == 1 || rank == 2 ? run_often(plan, runs) : 0;
    check("all meet", covey_barrier(all) == 0);
    if (rank == 0 && expected != 0)
        wait_for_the_end_of(four);
    if (rank == 0 || rank == 3)
        error = run_often(plan, runs);
    check("two run ahead of two", rank != 0 ? error == 0 || expected != 0 : error == expected);
    check("all meet again", covey_barrier(all) == 0);
    covey_exchange_free(&plan);
    covey_topology_free(&topology);
}

static void some_run_ahead(covey_team_t *all)
{
    static const struct {
        int runs, expected;
    } cases[] = {{300, 0}, {66000, COVEY_ERESOURCE}};
    for (size_t i = 0; i < 2; i++) {
        covey_team_t *four = NULL;
        int rank = covey_team_rank(all);
        check("a team of four", covey_team_split(all, rank < 4 ? 0 : -1, rank, &four) == 0);
        if (four != NULL)
            two_run_ahead(all, four, cases[i].runs, cases[i].expected);
        for (int meeting = 0; meeting < 2 && four == NULL; meeting++)
            check("the others wait", covey_barrier(all) == 0);
        covey_team_free(&four);
    }
}

static void all_stories(covey_team_t *all)
{
    int size = covey_team_size(all), rank = covey_team_rank(all);
    for (int n = 1; n <= size; n = n == 9 ? size : n + 1) {
        covey_team_t *part = NULL;
        check("a part of the team", covey_team_split(all, rank < n ? 0 : -1, rank, &part) == 0);
        if (part)
            patterns_of(part);
        if (n == size)
            break;
        covey_team_free(&part);
    }
    orders_are_kept(all);
    the_table_decides(all);
    members_differ(all);
    some_run_ahead(all);
    a_member_dies(all);
}

int main(int argc, char **argv)
{
    const struct story story = {"exchange-test", MEMBERS_MAX, all_stories};
    return story_main(argc, argv, &story);
}
