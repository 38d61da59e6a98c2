/* links: lib/collective/collective_hosts.c lib/collective/collective_bcast.c lib/collective/collective_allgather.c lib/collective/collective_reduce.c lib/collective/collective_reduce_scatter.c lib/collective/collective_cast.c lib/collective/collective_choice.c lib/exchange/alltoall_hosts.c lib/msg/error.c */
/*
 * collective_hosts_test.c - the circle in which the members of a host stand in a row, and how many
 * bytes cross between hosts in the calls that go round in it.
 *
 * The steps that algorithms add to a collective are defined here: they carry nothing, and count
 * what each member sends to and expects from each other. A call is planned for all members one
 * after another; nothing runs.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/shared.h"
#include "lib/exchange/alltoall.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 16
#define BLOCKS_MAX 16
#define CAST_STEP 1000 /* other steps are told apart by their ranks */
#define MIB ((size_t)1 << 20)

struct collective {
    struct covey_team *team;
    void *blocks[BLOCKS_MAX];
    int block_count;
};

static struct {
    struct covey_team team; /* of the member whose turn it is */
    struct choice_table choices;
    int lead[MEMBERS_MAX];
    int casts, before[MEMBERS_MAX]; /* by caster: whose it waits for */
    bool ordered;                   /* operations do not commute */
    size_t sent[MEMBERS_MAX][MEMBERS_MAX], expected[MEMBERS_MAX][MEMBERS_MAX]; /* from, to: bytes */
    uint8_t array[2 * MIB], other[2 * MIB];
} the;

/* ---- what a collective is made of ----
 */

covey_req_t *const collective_waits = NULL;

size_t covey_type_size(int type)
{
    CU_ASSERT_EQUAL_FATAL(type, COVEY_BYTES);
    return 1;
}

int collective_check(const covey_team_t *team, const char *name, int root, const struct array *a)
{
    (void)name, (void)a;
    return root < team->size ? COVEY_OK : COVEY_EINVAL;
}

int vector_check(const covey_team_t *team, const char *name, int root, const struct vector *v)
{
    (void)team, (void)name, (void)root, (void)v;
    return COVEY_OK;
}

bool vector_place(struct collective *c, struct vector *v)
{
    size_t *starts = collective_memory(c, MEMBERS_MAX * sizeof *starts), start = 0;
    for (int i = 0; v->uneven && i < c->team->size; start += v->counts[i++])
        starts[i] = start;
    v->starts = v->uneven ? starts : NULL;
    return true;
}

int collective_create(struct covey_team *team, const char *name, struct collective **c)
{
    (void)name;
    *c = calloc(1, sizeof **c);
    (*c)->team = team;
    return COVEY_OK;
}

int collective_start(int error, struct collective *c, covey_req_t **req)
{
    (void)req;
    while (c->block_count > 0)
        free(c->blocks[--c->block_count]);
    free(c);
    return error;
}

struct covey_team *collective_team(const struct collective *c)
{
    return c->team;
}

void *collective_memory(struct collective *c, size_t bytes)
{
    CU_ASSERT_FATAL(c->block_count < BLOCKS_MAX);
    return c->blocks[c->block_count++] = malloc(bytes);
}

int collective_send(struct collective *c, int rank, int type, const void *base, size_t count)
{
    (void)type, (void)base;
    the.sent[c->team->rank][rank] += count;
    return 0;
}

int collective_receive(struct collective *c, int rank, int type, void *base, size_t count)
{
    (void)type, (void)base;
    the.expected[rank][c->team->rank] += count;
    return rank;
}

int collective_cast(struct collective *c, const int *ranks, int n, int type, const void *base,
                    size_t count)
{
    for (int i = 0; i < n; i++)
        collective_send(c, ranks[i], type, base, count);
    the.casts++;
    the.before[c->team->rank] = -1;
    return CAST_STEP;
}

/* No team here has memory in common. */
bool shared_suits(const struct covey_team *team, size_t bytes)
{
    (void)team, (void)bytes;
    return false;
}

int shared_place(const struct covey_team *team, int rank)
{
    (void)team;
    return rank;
}

int collective_shared(struct collective *c, const struct shared_call *call, int part)
{
    (void)c, (void)call, (void)part;
    abort();
}

bool shared_chosen(const struct covey_team *team, const struct shared_call *call)
{
    (void)team, (void)call;
    return false;
}

int shared_start(struct covey_team *team, const struct shared_call *call, covey_req_t **req)
{
    (void)team, (void)call, (void)req;
    abort();
}

int collective_copy(struct collective *c, void *to, const void *from, size_t bytes)
{
    (void)c, (void)to, (void)from, (void)bytes;
    return 0;
}

int collective_reduce(struct collective *c, int op, int type, const struct operands *on)
{
    (void)c, (void)op, (void)type, (void)on;
    return 0;
}

int collective_call(struct collective *c, collective_fn *fn, void *arg)
{
    (void)c, (void)fn, (void)arg;
    return 0;
}

void collective_fence(struct collective *c)
{
    (void)c;
}

void collective_after(struct collective *c, int later, int earlier)
{
    if (later == CAST_STEP)
        the.before[c->team->rank] = earlier;
}

bool team_find_way(const struct covey_team *team)
{
    (void)team;
    return false;
}

int op_check(struct covey *vm, const char *name, int op, int type, size_t count)
{
    (void)vm, (void)name, (void)op, (void)type, (void)count;
    return COVEY_OK;
}

bool op_commutes(struct covey *vm, int op)
{
    (void)vm, (void)op;
    return !the.ordered;
}

size_t op_grain(struct covey *vm, int op)
{
    (void)vm, (void)op;
    return 1;
}

/* ---- a team ----
 */

/* One member for each letter, which names its host. */
static void team_on(const char *hosts)
{
    memset(&the, 0, sizeof the);
    choice_default(&the.choices);
    the.team.size = (int)strlen(hosts);
    the.team.host_lead = the.lead;
    the.team.choices = &the.choices;
    for (int i = 0; i < the.team.size; i++) {
        the.lead[i] = (int)(strchr(hosts, hosts[i]) - hosts);
        the.team.hosts += the.lead[i] == i;
    }
}

/* All members have the same circle, in which each knows its place: its ranks as digits. */
static const char *order_from(const char *hosts, int root)
{
    static char order[MEMBERS_MAX + 1];
    team_on(hosts);
    for (int rank = 0; rank < the.team.size; rank++) {
        struct collective *c;
        struct circle on;
        char own[MEMBERS_MAX + 1] = "";
        int first = root;
        the.team.rank = rank;
        collective_create(&the.team, "test", &c);
        CU_ASSERT_FATAL(circle_by_host(c, &first, &on));
        CU_ASSERT_EQUAL(on.size, the.team.size);
        CU_ASSERT_EQUAL(circle_rank(&on, on.rank), rank);
        for (int i = 0; i < on.size; i++)
            own[i] = (char)('0' + circle_rank(&on, first + i));
        CU_ASSERT(rank == 0 || strcmp(own, order) == 0);
        memcpy(order, own, sizeof own);
        collective_start(COVEY_OK, c, NULL);
    }
    return order;
}

enum call { BCAST, ALLGATHER, ALLREDUCE, REDUCE_SCATTER, ALLTOALL };

/* By leads, whatever the table says. */
static int alltoall(size_t bytes)
{
    struct collective *c;
    const struct alltoall a = {.send = {.type = COVEY_BYTES, .base = the.other, .each = bytes},
                               .recv = {.type = COVEY_BYTES, .base = the.array, .each = bytes}};
    int error = collective_create(&the.team, "alltoall", &c);
    alltoall_hosts(c, &a);
    return collective_start(error, c, NULL);
}

/* A call of all members: of the bytes that are sent, those that leave a host. All that is sent must
 * be expected. */
static size_t crossing(enum call call, int root, size_t bytes)
{
    size_t sum = 0, counts[MEMBERS_MAX];
    memset(the.sent, 0, sizeof the.sent);
    memset(the.expected, 0, sizeof the.expected);
    the.casts = 0;
    for (int i = 0; i < the.team.size; i++)
        counts[i] = bytes / (size_t)the.team.size;
    for (the.team.rank = 0; the.team.rank < the.team.size; the.team.rank++) {
        int error = call == BCAST ? covey_bcast(&the.team, root, COVEY_BYTES, the.array, bytes)
                    : call == ALLGATHER
                        ? covey_allgather(&the.team, COVEY_BYTES, the.other, the.array, bytes)
                    : call == ALLTOALL  ? alltoall(bytes)
                    : call == ALLREDUCE ? covey_allreduce(&the.team, COVEY_OP_SUM, COVEY_BYTES,
                                                          the.other, the.array, bytes)
                                        : covey_reduce_scatter(&the.team, COVEY_OP_SUM, COVEY_BYTES,
                                                               the.other, the.array, counts);
        CU_ASSERT_EQUAL(error, COVEY_OK);
    }
    for (int from = 0; from < the.team.size; from++) {
        for (int to = 0; to < the.team.size; to++) {
            CU_ASSERT_EQUAL(the.sent[from][to], the.expected[from][to]);
            sum += the.lead[from] != the.lead[to] ? the.sent[from][to] : 0;
        }
    }
    return sum;
}

/* ---- the order ----
 */

static void members_of_a_host_stand_in_a_row(void)
{
    CU_ASSERT_STRING_EQUAL(order_from("abababab", 0), "02461357");
    CU_ASSERT_STRING_EQUAL(order_from("abcabcab", 0), "03614725");
    CU_ASSERT_STRING_EQUAL(order_from("aaaabbbb", 0), "01234567");
}

static void the_root_and_its_host_come_first(void)
{
    CU_ASSERT_STRING_EQUAL(order_from("abababab", 5), "57136024");
    CU_ASSERT_STRING_EQUAL(order_from("aaaabbbb", 2), "23014567");
    CU_ASSERT_STRING_EQUAL(order_from("abcabcab", 4), "47152603");
}

static void hosts_may_have_different_numbers_of_members(void)
{
    CU_ASSERT_STRING_EQUAL(order_from("abbbab", 0), "041235");
    CU_ASSERT_STRING_EQUAL(order_from("abbbcb", 4), "405123");
    CU_ASSERT_STRING_EQUAL(order_from("aab", 2), "201");
}

static void of_one_host_or_one_member_a_host_it_is_that_of_ranks(void)
{
    CU_ASSERT_STRING_EQUAL(order_from("aaaaa", 0), "01234");
    CU_ASSERT_STRING_EQUAL(order_from("aaaaa", 3), "34012");
    CU_ASSERT_STRING_EQUAL(order_from("abcde", 3), "34012");
    CU_ASSERT_STRING_EQUAL(order_from("a", 0), "0");
}

/* ---- bytes that cross between hosts ----
 */

static void an_array_enters_each_host_once(void)
{
    static const char *const teams[] = {"abababab", "aaaabbbb", "abcabcabc", "abbbcbab"};
    for (size_t i = 0; i < sizeof teams / sizeof teams[0]; i++) {
        team_on(teams[i]);
        covey_team_force(&the.team, "bcast", "chain");
        for (int root = 0; root < the.team.size; root++)
            CU_ASSERT_EQUAL(crossing(BCAST, root, MIB), (size_t)(the.team.hosts - 1) * MIB);
    }
}

static void the_table_prefers_the_chain_between_two_hosts(void)
{
    team_on("abababab");
    CU_ASSERT_EQUAL(crossing(BCAST, 0, MIB), MIB);
    CU_ASSERT_EQUAL(crossing(BCAST, 3, MIB), MIB);
    CU_ASSERT_EQUAL(crossing(BCAST, 3, MIB / 16), MIB / 16);
    CU_ASSERT_STRING_EQUAL(covey_team_algorithm(&the.team, "bcast", MIB), "chain");
    team_on("abcabcabc");
    CU_ASSERT_STRING_EQUAL(covey_team_algorithm(&the.team, "bcast", MIB), "scatter-allgather");
    team_on("aaaaaaaa");
    CU_ASSERT_STRING_EQUAL(covey_team_algorithm(&the.team, "bcast", MIB), "scatter-allgather");
}

/* Half of the array to the other host, and 7 of 8 blocks out and back. */
static void a_scattered_array_goes_round_by_host(void)
{
    team_on("abababab");
    covey_team_force(&the.team, "bcast", "scatter-allgather");
    CU_ASSERT_EQUAL(crossing(BCAST, 0, MIB), MIB / 2 + 2 * (MIB / 8 * 7));
    CU_ASSERT_EQUAL(crossing(BCAST, 5, MIB), MIB / 2 + 2 * (MIB / 8 * 7));
    team_on("abbcbab");
    covey_team_force(&the.team, "bcast", "scatter-allgather");
    for (int root = 0; root < the.team.size; root++)
        CU_ASSERT(crossing(BCAST, root, MIB + 3) < 5 * MIB);
}

/* A ring has as many hops between hosts as there are hosts. */
static void rings_leave_each_host_once(void)
{
    team_on("abababab");
    covey_team_force(&the.team, "allreduce", "ring");
    covey_team_force(&the.team, "allgather", "ring");
    covey_team_force(&the.team, "reduce_scatter", "ring");
    CU_ASSERT_EQUAL(crossing(ALLGATHER, 0, MIB / 16), 2 * 7 * (MIB / 16));
    CU_ASSERT_EQUAL(crossing(REDUCE_SCATTER, 0, MIB), 2 * 7 * (MIB / 8));
    CU_ASSERT_EQUAL(crossing(ALLREDUCE, 0, MIB), 2 * 14 * (MIB / 8));
    team_on("abbcbab");
    covey_team_force(&the.team, "allgather", "ring");
    CU_ASSERT_EQUAL(crossing(ALLGATHER, 0, MIB / 16), 3 * 6 * (MIB / 16));
}

/* Leads give each other what their hosts have, once. */
static void blocks_cross_once_by_leads(void)
{
    static const char *const teams[] = {"abababab", "aaaabbbb", "abcabcabc", "abbbcb", "aaaa"};
    for (size_t i = 0; i < sizeof teams / sizeof teams[0]; i++) {
        team_on(teams[i]);
        covey_team_force(&the.team, "allgather", "hosts");
        size_t size = (size_t)the.team.size, hosts = (size_t)the.team.hosts, pairs = 0;
        for (size_t from = 0; from < size; from++) {
            for (size_t to = 0; to < size; to++)
                pairs += teams[i][from] != teams[i][to];
        }
        CU_ASSERT_EQUAL(crossing(ALLGATHER, 0, 1024), size * (hosts - 1) * 1024);
        CU_ASSERT_EQUAL(crossing(ALLGATHER, 0, MIB / 16), size * (hosts - 1) * (MIB / 16));
        CU_ASSERT_EQUAL(crossing(ALLTOALL, 0, 1000), pairs * 1000);
    }
}

/* What the members of a host have is cast together, to one member of each other host. */
static void each_host_casts_once(void)
{
    team_on("abcdabcd");
    covey_team_force(&the.team, "allgather", "cast");
    covey_team_force(&the.team, "allreduce", "cast");
    covey_team_force(&the.team, "reduce_scatter", "cast");
    CU_ASSERT_EQUAL(crossing(ALLGATHER, 0, 4096), (size_t)4 * 3 * 2 * 4096);
    CU_ASSERT_EQUAL(the.casts, 4);
    CU_ASSERT_EQUAL(crossing(ALLREDUCE, 0, 4096), (size_t)4 * 3 * 4096);
    CU_ASSERT_EQUAL(the.casts, 4);
    CU_ASSERT_EQUAL(crossing(REDUCE_SCATTER, 0, 4096), (size_t)4 * 3 * 4096);
    CU_ASSERT_EQUAL(the.casts, 4);
    the.ordered = true; /* each for itself, and to all */
    CU_ASSERT_EQUAL(crossing(ALLREDUCE, 0, 4096), (size_t)8 * 6 * 4096);
    CU_ASSERT_EQUAL(the.casts, 8);
    CU_ASSERT_EQUAL(crossing(REDUCE_SCATTER, 0, 4096), (size_t)8 * 6 * 4096);
    CU_ASSERT_EQUAL(the.casts, 8);
}

/* Before it casts a member has what the one so many places before has cast. */
static void few_large_casts_are_under_way_at_once(void)
{
    team_on("abcdefgh");
    covey_team_force(&the.team, "allgather", "cast");
    crossing(ALLGATHER, 0, 1024);
    for (int i = 0; i < the.team.size; i++)
        CU_ASSERT_EQUAL(the.before[i], -1);
    crossing(ALLGATHER, 0, 64 * 1024);
    for (int i = 0; i < the.team.size; i++)
        CU_ASSERT_EQUAL(the.before[i], i < 2 ? -1 : i - 2);
    crossing(ALLGATHER, 0, 200 * 1024);
    for (int i = 0; i < the.team.size; i++)
        CU_ASSERT_EQUAL(the.before[i], i - 1);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"members of a host stand in a row", members_of_a_host_stand_in_a_row},
        {"the root and its host come first", the_root_and_its_host_come_first},
        {"hosts may have different numbers of members",
         hosts_may_have_different_numbers_of_members},
        {"of one host, or of one member a host, it is the order of ranks",
         of_one_host_or_one_member_a_host_it_is_that_of_ranks},
        {"an array enters each host once", an_array_enters_each_host_once},
        {"the table prefers the chain between two hosts",
         the_table_prefers_the_chain_between_two_hosts},
        {"a scattered array goes round by host", a_scattered_array_goes_round_by_host},
        {"rings leave each host once", rings_leave_each_host_once},
        {"blocks cross once by leads", blocks_cross_once_by_leads},
        {"each host casts once", each_host_casts_once},
        {"few large casts are under way at once", few_large_casts_are_under_way_at_once},
    };
    return covey_test_main("collective_hosts", cases, sizeof cases / sizeof cases[0]);
}
