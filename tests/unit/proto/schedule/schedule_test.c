/* links: proto/schedule/schedule.c proto/schedule/schedule_tree.c proto/schedule/schedule_pack.c proto/schedule/schedule_sync.c proto/schedule/schedule_proof.c proto/network/network.c proto/network/topology.c tests/unit/proto/schedule/random_tree.c */
/*
 * Schedules of all-to-all: thousands of random trees, each schedule proven by
 * proto/schedule/schedule_proof, which is itself tried on schedules that were spoilt in every way
 * it must see.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/schedule/schedule_pack.h"
#include "proto/schedule/schedule_proof.h"
#include "proto/schedule/schedule_tree.h"
#include "tests/unit/proto/schedule/random_tree.h"
#include "tests/unit/runner.h"

/* A topology with its schedule. */
struct plan {
    struct topology topology;
    struct network network;
    struct schedule schedule;
};

static void plan_of(struct plan *p, const char *text)
{
    char error[TOPOLOGY_ERROR_BYTES];
    CU_ASSERT_EQUAL_FATAL(topology_parse(&p->topology, text, strlen(text), "net", error), 0);
    CU_ASSERT_EQUAL_FATAL(network_create(&p->network, &p->topology, NULL, 0), 0);
    CU_ASSERT_EQUAL_FATAL(schedule_create(&p->schedule, &p->network, 1), 0);
}

static void plan_random(struct plan *p, uint64_t seed, int most, enum tree_rates rates)
{
    tree_make(&p->topology, seed, most, rates);
    CU_ASSERT_EQUAL_FATAL(network_create(&p->network, &p->topology, NULL, 0), 0);
    CU_ASSERT_EQUAL_FATAL(schedule_create(&p->schedule, &p->network, seed), 0);
}

static void plan_free(struct plan *p)
{
    schedule_destroy(&p->schedule);
    network_destroy(&p->network);
    topology_destroy(&p->topology);
}

static void proven(const struct plan *p, uint64_t seed)
{
    char why[SCHEDULE_PROOF_BYTES];
    int result = schedule_proof(&p->schedule, &p->network, why);

    CU_ASSERT_EQUAL(result, 0);
    if (result != 0)
        printf("seed %llu: %s\n", (unsigned long long)seed, why);
}

static uint64_t trees(void)
{
    return getenv("SOAK") ? 10000 : 1500;
}

static void equal_rates_reach_the_bound(void)
{
    for (uint64_t seed = 0; seed < trees(); seed++) {
        struct plan p;
        plan_random(&p, seed, 64, TREE_EQUAL);
        proven(&p, seed);
        CU_ASSERT_EQUAL(p.schedule.phases, schedule_tree_load(&p.network));
        CU_ASSERT_EQUAL(p.schedule.slots, 1);
        plan_free(&p);
    }
}

/* ---- Unequal rates: what the phases take, and what they must, from the messages alone ----- */

/* Counts messages by directed edge; returns the longest time that an edge needs for its messages,
 * in messages of a link of 1 bit per second. */
static double longest(const struct plan *p, size_t first, size_t end)
{
    const struct network *n = &p->network;
    int *path = calloc((size_t)n->path_max + 1, sizeof *path);
    double *count = calloc(2 * (size_t)n->node_count, sizeof *count), most = 0;

    for (size_t i = first; i < end; i++) {
        const struct schedule_message *m = &p->schedule.messages[i];
        int length = network_path(n, m->from, m->to, path);
        for (int k = 0; k < length; k++) {
            const struct network_node *node = &n->nodes[path[k] / 2];
            double time = ++count[path[k]] / (double)node->rate;
            most = time > most ? time : most;
        }
    }
    free(path);
    free(count);
    return most;
}

static double time_of_phases(const struct plan *p)
{
    const struct schedule *s = &p->schedule;
    double time = 0;

    for (size_t first = 0, end; first < s->message_count; first = end) {
        for (end = first + 1; end < s->message_count; end++) {
            if (s->messages[end].phase != s->messages[first].phase)
                break;
        }
        time += longest(p, first, end);
    }
    return time;
}

static void unequal_rates_come_near_the_bound(void)
{
    static const enum tree_rates rates[] = {TREE_ANY_RATES, TREE_TRUNKS, TREE_ODD_RATES};
    static const int most[] = {16, 24, 40, 64};
    double worst = 0;

    for (uint64_t seed = 0; seed < (getenv("SOAK") ? 60000 : 600); seed++) {
        struct plan p;
        plan_random(&p, seed, most[seed % 4], rates[seed % 3]);
        proven(&p, seed);
        double bound = longest(&p, 0, p.schedule.message_count);
        double over = time_of_phases(&p) / bound;
        CU_ASSERT(over <= 1.05 + 1e-9);
        worst = over > worst ? over : worst;
        if (over > 1.05 + 1e-9)
            printf("seed %llu: %.4f times the bound\n", (unsigned long long)seed, over);
        plan_free(&p);
    }
    printf("at most %.4f times the bound\n", worst);
}

/* Trees of two switches where whole phases would take 7 to 10 % more than is needed. */
static void a_last_phase_may_be_short(void)
{
    static const int sides[][2] = {{3, 9}, {4, 7}, {4, 8}};

    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        char text[1024] = "switch a b\nlink a b 2.5G\n";
        struct plan p;
        for (int k = 0; k < sides[i][0] + sides[i][1]; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "host h%d %s 1G\n", k,
                     k < sides[i][0] ? "a" : "b");
        plan_of(&p, text);
        proven(&p, i);
        CU_ASSERT(time_of_phases(&p) <= 1.05 * longest(&p, 0, p.schedule.message_count));
        plan_free(&p);
    }
}

/* Tasks fall on hosts as they like; the schedule is that of a tree with a switch in each host. */
static void several_tasks_share_a_host(void)
{
    for (uint64_t seed = 0; seed < trees() / 5; seed++) {
        struct plan p;
        int hosts[48];
        uint64_t random = seed + 1;
        tree_make(&p.topology, seed, 16, seed % 3 ? TREE_EQUAL : TREE_ANY_RATES);
        int count = 1 + (int)tree_below(&random, 48);
        for (int i = 0; i < count; i++) {
            do
                hosts[i] = (int)tree_below(&random, (uint32_t)p.topology.node_count);
            while (p.topology.nodes[hosts[i]].is_switch);
        }
        CU_ASSERT_EQUAL_FATAL(network_create(&p.network, &p.topology, hosts, count), 0);
        CU_ASSERT_EQUAL_FATAL(schedule_create(&p.schedule, &p.network, seed), 0);
        proven(&p, seed);
        plan_free(&p);
    }
}

static void the_smallest_networks_work(void)
{
    struct plan p;

    plan_of(&p, "switch s\nhost a s\n");
    CU_ASSERT_EQUAL(p.schedule.message_count, 0);
    CU_ASSERT_EQUAL(p.schedule.phases, 0);
    proven(&p, 0);
    plan_free(&p);
    plan_of(&p, "switch s t u\nlink s t 10M\nlink t u\nhost a s\nhost b u\n");
    CU_ASSERT_EQUAL(p.schedule.message_count, 2);
    CU_ASSERT_EQUAL(p.schedule.phases, 1);
    CU_ASSERT_EQUAL(p.schedule.sync_count, 0);
    proven(&p, 1);
    plan_free(&p);
}

static const char figure_1[] = "switch s0 s1 s2 s3\nhost n0 s0\nhost n1 s0\nhost n2 s2\n"
                               "host n3 s3\nhost n4 s3\nhost n5 s1\n"
                               "link s0 s1\nlink s0 s2\nlink s1 s3\n";

/* Table 4 of the paper: the messages of each phase of its Figure 1. t_1 -> t_2 is step 6's choice,
 * the broadcast pattern there too. */
static void table_4_comes_out(void)
{
    static const char *const phases[9] = {"0>4 1>0 3>5 5>1", "1>3 2>1 4>5 5>2", "0>2 2>4 5>0",
                                          "0>3 2>0 3>2",     "0>1 1>4 3>0 4>3", "1>2 2>3 3>1",
                                          "0>5 4>0",         "1>5 3>4 4>1 5>3", "2>5 4>2 5>4"};
    struct plan p;
    plan_of(&p, figure_1);
    const struct schedule *s = &p.schedule;
    size_t i = 0;

    CU_ASSERT_STRING_EQUAL(p.topology.nodes[schedule_tree_root(&p.network)].name, "s1");
    CU_ASSERT_EQUAL_FATAL(s->phases, 9);
    for (uint32_t phase = 0; phase < 9; phase++) {
        char said[64] = "";
        for (; i < s->message_count && s->messages[i].phase == phase; i++)
            snprintf(said + strlen(said), sizeof said - strlen(said), "%s%u>%u", *said ? " " : "",
                     s->messages[i].from, s->messages[i].to);
        CU_ASSERT_STRING_EQUAL(said, phases[phase]);
    }
    proven(&p, 0);
    plan_free(&p);
}

/* ---- What the proof must see -------------------------------------------------------------- */

static void spoil_swap(struct schedule *s)
{
    struct schedule_message *last = &s->messages[s->message_count - 1], held = s->messages[0];
    s->messages[0] = (struct schedule_message){held.phase, last->from, last->to};
    *last = (struct schedule_message){last->phase, held.from, held.to};
}

static void spoil_drop(struct schedule *s)
{
    s->message_count--;
}

static void spoil_twice(struct schedule *s)
{
    s->messages[1].from = s->messages[0].from;
    s->messages[1].to = s->messages[0].to;
}

static void spoil_self(struct schedule *s)
{
    s->messages[3].to = s->messages[3].from;
}

static void spoil_order(struct schedule *s)
{
    s->messages[2].phase = s->phases - 1;
}

static void spoil_phases(struct schedule *s)
{
    s->phases++;
}

static void spoil_bound(struct schedule *s)
{
    s->bound--;
}

static void spoil_phase_of_last(struct schedule *s)
{
    s->messages[s->message_count - 1].phase = s->phases;
}

static void spoil_rank(struct schedule *s)
{
    s->messages[2].to = (uint16_t)s->ranks;
}

/* Everything of the last phase in the phase before it. */
static void spoil_merge(struct schedule *s)
{
    for (size_t i = s->message_count; s->messages[i - 1].phase == s->phases - 1; i--)
        s->messages[i - 1].phase--;
}

static void spoil_backwards(struct schedule *s)
{
    uint32_t before = s->syncs[0].before;
    s->syncs[0].before = s->syncs[0].after;
    s->syncs[0].after = before;
}

static void spoil_sync_twice(struct schedule *s)
{
    s->syncs[s->sync_count - 1] = s->syncs[s->sync_count - 2];
}

static void the_proof_sees_what_is_spoilt(void)
{
    static void (*const ways[])(struct schedule *) = {
        spoil_swap,  spoil_drop,   spoil_twice,     spoil_self,
        spoil_order, spoil_phases, spoil_bound,     spoil_phase_of_last,
        spoil_rank,  spoil_merge,  spoil_backwards, spoil_sync_twice};
    static const char *const texts[] = {
        figure_1, "switch a b\nlink a b 10G\nhost c a 1G\nhost d a 1G\nhost e b 1G\nhost f b 1G\n"
                  "host g b 1G\nhost h b 1G\n"};
    char why[SCHEDULE_PROOF_BYTES];

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        for (size_t k = 0; k < 2; k++) {
            struct plan p;
            plan_of(&p, texts[k]);
            if (k == 1 && (ways[i] == spoil_swap || ways[i] == spoil_phases)) {
                plan_free(&p); /* allowed where rates differ */
                continue;
            }
            ways[i](&p.schedule);
            CU_ASSERT_EQUAL(schedule_proof(&p.schedule, &p.network, why), 1);
            CU_ASSERT(why[0] != '\0');
            plan_free(&p);
        }
    }
}

/* Each synchronisation is needed: without it the proof fails. With one rate that is so for every
 * one; where an edge carries several messages another lane might do, so not there. */
static void the_proof_sees_a_missing_synchronisation(void)
{
    char why[SCHEDULE_PROOF_BYTES];

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct plan p;
        plan_random(&p, seed, 12, TREE_EQUAL);
        struct schedule *s = &p.schedule;
        struct schedule_sync *all = s->syncs, *fewer = calloc(s->sync_count + 1, sizeof *fewer);
        for (size_t i = 0; i < s->sync_count; i++) {
            memcpy(fewer, all, sizeof *all * i);
            memcpy(fewer + i, all + i + 1, sizeof *all * (s->sync_count - i - 1));
            struct schedule without = *s;
            without.syncs = fewer;
            without.sync_count--;
            CU_ASSERT_EQUAL(schedule_proof(&without, &p.network, why), 1);
        }
        free(fewer);
        plan_free(&p);
    }
}

/* Any order between two messages that is not there yet is one too many. */
static void the_proof_sees_one_too_many(void)
{
    char why[SCHEDULE_PROOF_BYTES];
    uint64_t random = 7;

    for (uint64_t seed = 100; seed < 300; seed++) {
        struct plan p;
        plan_random(&p, seed, 12, seed % 2 ? TREE_EQUAL : TREE_ANY_RATES);
        struct schedule *s = &p.schedule;
        uint32_t n = (uint32_t)s->message_count, a = tree_below(&random, n),
                 b = tree_below(&random, n);
        struct schedule_sync sync = {a < b ? a : b, a < b ? b : a};
        size_t at = 0;
        while (at < s->sync_count &&
               (s->syncs[at].after < sync.after ||
                (s->syncs[at].after == sync.after && s->syncs[at].before < sync.before)))
            at++;
        struct schedule_sync *more = calloc(s->sync_count + 1, sizeof *more);
        for (size_t k = 0; k < s->sync_count; k++)
            more[k < at ? k : k + 1] = s->syncs[k];
        more[at] = sync;
        free(s->syncs);
        s->syncs = more;
        s->sync_count++;
        CU_ASSERT_EQUAL(schedule_proof(s, &p.network, why), 1);
        plan_free(&p);
    }
}

/* Nothing is random but by the seed. */
static void one_seed_makes_one_schedule(void)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct plan a, b;
        plan_random(&a, seed, 40, TREE_TRUNKS);
        plan_random(&b, seed, 40, TREE_TRUNKS);
        CU_ASSERT_EQUAL_FATAL(a.schedule.message_count, b.schedule.message_count);
        CU_ASSERT_EQUAL_FATAL(a.schedule.sync_count, b.schedule.sync_count);
        CU_ASSERT_EQUAL(memcmp(a.schedule.messages, b.schedule.messages,
                               sizeof *a.schedule.messages * a.schedule.message_count),
                        0);
        CU_ASSERT_EQUAL(memcmp(a.schedule.syncs, b.schedule.syncs,
                               sizeof *a.schedule.syncs * a.schedule.sync_count),
                        0);
        plan_free(&a);
        plan_free(&b);
    }
}

static const struct test_case cases[] = {
    {"equal rates: as many phases as the bottleneck's load", equal_rates_reach_the_bound},
    {"unequal rates: within 5 % of the bound", unequal_rates_come_near_the_bound},
    {"unequal rates: a last phase may be short", a_last_phase_may_be_short},
    {"several tasks share a host", several_tasks_share_a_host},
    {"one and two hosts", the_smallest_networks_work},
    {"Table 4 of the paper", table_4_comes_out},
    {"the proof sees what is spoilt", the_proof_sees_what_is_spoilt},
    {"the proof sees a missing synchronisation", the_proof_sees_a_missing_synchronisation},
    {"the proof sees one synchronisation too many", the_proof_sees_one_too_many},
    {"one seed makes one schedule", one_seed_makes_one_schedule},
};

int main(void)
{
    return covey_test_main("schedule", cases, sizeof cases / sizeof cases[0]);
}
