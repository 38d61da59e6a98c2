/* links: tests/sim/raft_sim.c proto/raft/raft*.c proto/wire/cursor.c */
/*
 * raft_test.c - the engine of agreement in its simulator (raft_sim.h): some stories, and seeds of
 * random weather, after each of which the group must go on.
 *
 *   raft_test                      all of it (SOAK=1: 10,000 seeds)
 *   raft_test --seed N             one seed, with every line of every engine
 *
 * slow: thousands of seeds; make quick leaves it out.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/raft_sim.h"
#include "tests/unit/runner.h"

#define SECOND RAFT_SIM_SECOND

enum { SEEDS = 500, SEEDS_SOAK = 10000, GUSTS = 150 };

static struct raft_sim *create(uint64_t seed)
{
    struct raft_sim_config config = {.seed = seed,
                                     .delay_us = 200,
                                     .jitter_us = 100,
                                     .log_bytes = 2048,
                                     .command_bytes = 200,
                                     .trace = getenv("TRACE") != NULL};

    return raft_sim_create(&config);
}

static void finish(struct raft_sim *sim)
{
    if (raft_sim_failure(sim))
        printf("%s\n", raft_sim_failure(sim));
    CU_ASSERT_PTR_NULL(raft_sim_failure(sim));
    raft_sim_destroy(sim);
}

/* The owners of leaders, also of deposed and of new ones, want these lives, by bits. */
static void want(struct raft_sim *sim, uint64_t lives)
{
    struct raft_id voters[RAFT_VOTERS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < RAFT_SIM_LIVES_MAX && count < RAFT_VOTERS_MAX; i++)
        if (lives >> i & 1 && raft_sim_life(sim, i))
            voters[count++] = raft_sim_life(sim, i)->id;
    for (size_t i = 0; i < raft_sim_births(sim) && count > 0; i++) {
        struct raft_life *life = raft_sim_life(sim, i);

        if (life && raft_want_voters(life->raft, voters, count) == 0)
            raft_sim_touch(sim, life);
    }
}

static size_t voters_of(const struct raft_life *life)
{
    size_t voters = 0;

    for (uint8_t i = 0; i < raft_configuration(life->raft)->count; i++)
        voters += raft_configuration(life->raft)->members[i].voter;
    return voters;
}

/* A group of n voters, lives 0 .. n - 1; life 0 leads. */
static struct raft_sim *create_up(uint64_t seed, unsigned n)
{
    struct raft_sim *sim = create(seed);

    for (unsigned i = 0; i < n; i++)
        raft_sim_birth(sim);
    want(sim, (UINT64_C(1) << n) - 1);
    raft_sim_run(sim, SECOND);
    CU_ASSERT_PTR_EQUAL(raft_sim_leader(sim), raft_sim_life(sim, 0));
    for (unsigned i = 0; i < n; i++)
        CU_ASSERT_EQUAL(voters_of(raft_sim_life(sim, i)), n);
    return sim;
}

/* ---- stories ---- */

static void alone(void)
{
    struct raft_sim *sim = create(1);
    struct raft_life *life = raft_sim_birth(sim);

    CU_ASSERT_PTR_EQUAL(raft_sim_leader(sim), life);
    for (int i = 0; i < 200; i++)
        CU_ASSERT(raft_sim_propose(sim, life) > 0);
    CU_ASSERT_EQUAL(life->commands, 200);
    CU_ASSERT_EQUAL(life->deadline_us, UINT64_MAX); /* it needs no timer */
    finish(sim);
}

static void five_agree(void)
{
    struct raft_sim *sim = create_up(2, 5);

    for (int i = 0; i < 300; i++) {
        CU_ASSERT(raft_sim_propose(sim, raft_sim_life(sim, 0)) > 0);
        raft_sim_run(sim, 1000);
    }
    CU_ASSERT_EQUAL(raft_sim_propose(sim, raft_sim_life(sim, 1)), -EPERM);
    raft_sim_run(sim, SECOND);
    for (size_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(raft_sim_life(sim, i)->commands, 300);
    CU_ASSERT_EQUAL(raft_sim_count(sim).elections, 1);
    finish(sim);
}

static void leader_dies(void)
{
    struct raft_sim *sim = create_up(3, 5);

    for (int i = 0; i < 10; i++)
        raft_sim_propose(sim, raft_sim_life(sim, 0));
    raft_sim_run(sim, 10000);
    raft_sim_crash(sim, raft_sim_life(sim, 0));
    raft_sim_run(sim, SECOND);
    CU_ASSERT_PTR_NOT_NULL_FATAL(raft_sim_leader(sim));
    CU_ASSERT_EQUAL(raft_sim_leader(sim)->commands, 10);
    raft_sim_birth(sim);
    want(sim, 0x3e);
    raft_sim_run(sim, 2 * SECOND);
    CU_ASSERT_EQUAL(voters_of(raft_sim_leader(sim)), 5);
    CU_ASSERT_EQUAL(raft_sim_life(sim, 5)->commands, 10);
    finish(sim);
}

/* A minority cannot decide, steps down (6.2), and disturbs nobody when it comes back (9.6). */
static void minority_waits(void)
{
    struct raft_sim *sim = create_up(4, 5);
    struct raft_life *old = raft_sim_life(sim, 0), *leader;
    uint64_t term;

    old->side = raft_sim_life(sim, 1)->side = 1;
    CU_ASSERT(raft_sim_propose(sim, old) > 0);
    raft_sim_run(sim, 5 * SECOND);
    leader = raft_sim_leader(sim);
    CU_ASSERT_PTR_NOT_NULL_FATAL(leader);
    CU_ASSERT_NOT_EQUAL(leader->side, 1);
    CU_ASSERT_EQUAL(old->commands, 0);
    CU_ASSERT_EQUAL(old->leads_term, 0);
    CU_ASSERT(raft_sim_propose(sim, leader) > 0);
    term = raft_term(leader->raft);
    raft_sim_heal(sim);
    raft_sim_run(sim, 2 * SECOND);
    CU_ASSERT_PTR_EQUAL(raft_sim_leader(sim), leader);
    CU_ASSERT_EQUAL(raft_term(leader->raft), term);
    CU_ASSERT_EQUAL(old->commands, 1);
    finish(sim);
}

/* A leader that is cut off does not answer, also while it does not know yet that others have
 * elected another one and gone on. */
static void who_is_cut_off_answers_nothing(void)
{
    struct raft_sim *sim = create_up(6, 5);
    struct raft_life *old = raft_sim_life(sim, 0);

    raft_sim_ask(sim, old);
    raft_sim_run(sim, 10000);
    CU_ASSERT_EQUAL(old->question, 0);
    CU_ASSERT_EQUAL(raft_sim_count(sim).answers, 1);
    old->side = 1;
    raft_sim_ask(sim, old);
    CU_ASSERT_NOT_EQUAL(old->question, 0);
    raft_sim_run(sim, 5 * SECOND);
    CU_ASSERT_EQUAL(old->question, 0);
    CU_ASSERT_EQUAL(raft_sim_count(sim).answers, 1);
    finish(sim);
}

/* Who does not hear the leader, but is heard, gets no vote of those who do (4.2.3). */
static void deaf_one_is_not_elected(void)
{
    struct raft_sim *sim = create_up(8, 3);
    uint64_t term = raft_term(raft_sim_life(sim, 0)->raft);

    raft_sim_life(sim, 2)->deaf = 1;
    raft_sim_run(sim, 5 * SECOND);
    CU_ASSERT_EQUAL(raft_term(raft_sim_life(sim, 0)->raft), term);
    CU_ASSERT_PTR_EQUAL(raft_sim_leader(sim), raft_sim_life(sim, 0));
    CU_ASSERT_EQUAL(raft_sim_count(sim).elections, 1);
    finish(sim);
}

/* Who is removed, and does not know it, does not disturb either (4.2.3). */
static void voters_are_replaced(void)
{
    struct raft_sim *sim = create_up(5, 3);

    for (int i = 0; i < 100; i++) /* more than the log holds */
        raft_sim_propose(sim, raft_sim_life(sim, 0));
    raft_sim_run(sim, SECOND);
    raft_sim_birth(sim);
    raft_sim_birth(sim);
    want(sim, 0x19); /* 0, 3, 4 */
    raft_sim_run(sim, 2 * SECOND);
    CU_ASSERT_EQUAL(voters_of(raft_sim_leader(sim)), 3);
    CU_ASSERT(raft_is_voter(raft_sim_leader(sim)->raft, &raft_sim_life(sim, 4)->id));
    CU_ASSERT_EQUAL(raft_sim_life(sim, 4)->commands, 100);
    CU_ASSERT_EQUAL(voters_of(raft_sim_life(sim, 1)), 3); /* it was told */
    CU_ASSERT(!raft_is_voter(raft_sim_life(sim, 1)->raft, &raft_sim_life(sim, 1)->id));
    CU_ASSERT_EQUAL(raft_sim_count(sim).elections, 1);
    CU_ASSERT(raft_sim_count(sim).snapshots_loaded >= 2);
    want(sim, 0x06); /* the leader itself goes, and those that left come back */
    raft_sim_run(sim, 2 * SECOND);
    want(sim, 0x06);
    raft_sim_run(sim, 2 * SECOND);
    CU_ASSERT_PTR_NOT_NULL_FATAL(raft_sim_leader(sim));
    CU_ASSERT_EQUAL(voters_of(raft_sim_leader(sim)), 2);
    CU_ASSERT_EQUAL(raft_sim_life(sim, 2)->commands, 100);
    finish(sim);
}

static void leadership_is_handed_over(void)
{
    struct raft_sim *sim = create_up(6, 3);
    struct raft_life *old = raft_sim_life(sim, 0), *new = raft_sim_life(sim, 2);
    struct raft_id nobody = {.host = 99};

    CU_ASSERT_EQUAL(raft_transfer(old->raft, &nobody, raft_sim_now(sim)), -ENOENT);
    CU_ASSERT_EQUAL(raft_transfer(old->raft, &new->id, raft_sim_now(sim)), 0);
    CU_ASSERT_EQUAL(raft_transfer(old->raft, &new->id, raft_sim_now(sim)), -EALREADY);
    CU_ASSERT_EQUAL(raft_sim_propose(sim, old), -EPERM);
    raft_sim_run(sim, 20000);
    CU_ASSERT_PTR_EQUAL(raft_sim_leader(sim), new);
    CU_ASSERT(raft_sim_propose(sim, new) > 0);
    CU_ASSERT_EQUAL(raft_transfer(old->raft, &new->id, raft_sim_now(sim)), -EPERM);
    /* to one that is dead: it goes on after a while */
    raft_sim_crash(sim, old);
    CU_ASSERT_EQUAL(raft_transfer(new->raft, &old->id, raft_sim_now(sim)), 0);
    raft_sim_run(sim, SECOND);
    CU_ASSERT_PTR_EQUAL(raft_sim_leader(sim), new);
    CU_ASSERT(raft_sim_propose(sim, new) > 0);
    finish(sim);
}

static void refusals(void)
{
    static uint8_t large[RAFT_COMMAND_BYTES_MAX + 1];
    struct raft_sim *sim = create_up(7, 3);
    struct raft_life *life = raft_sim_life(sim, 0);
    struct raft_id many[RAFT_VOTERS_MAX + 1] = {{0}};
    int64_t index = 0;

    CU_ASSERT_EQUAL(raft_propose(life->raft, large, sizeof large, raft_sim_now(sim)), -EMSGSIZE);
    CU_ASSERT_EQUAL(raft_want_voters(life->raft, many, RAFT_VOTERS_MAX + 1), -EINVAL);
    CU_ASSERT_EQUAL(raft_want_voters(life->raft, many, 0), -EINVAL);
    CU_ASSERT_EQUAL(raft_want_voters(raft_sim_life(sim, 1)->raft, many, 1), -EPERM);
    for (int i = 0; i < 200 && index >= 0; i++)
        index = raft_propose(life->raft, large, RAFT_COMMAND_BYTES_MAX, raft_sim_now(sim));
    CU_ASSERT_EQUAL(index, -ENOBUFS);
    CU_ASSERT_PTR_NULL(raft_sim_failure(sim));
    raft_sim_destroy(sim);
}

/* ---- weather ---- */

/* Owners want the oldest of the lives, an odd number of them; now and then any. */
static void choose_voters(struct raft_sim *sim)
{
    uint64_t lives = 0, chosen = 0;
    unsigned count = 0, most;
    bool any = raft_sim_random(sim, 2) == 0;

    for (size_t i = 0; i < raft_sim_births(sim); i++)
        count += raft_sim_life(sim, i) != NULL;
    most = count >= 5 ? 5 : count >= 3 ? 3 : 1;
    for (size_t i = 0; i < raft_sim_births(sim) && chosen < most; i++)
        if (raft_sim_life(sim, i) && !(any && raft_sim_random(sim, 3) == 0)) {
            lives |= UINT64_C(1) << i;
            chosen++;
        }
    want(sim, lives);
}

static struct raft_life *any_life(struct raft_sim *sim)
{
    struct raft_life *life = NULL;

    while (!life)
        life = raft_sim_life(sim, raft_sim_random(sim, raft_sim_births(sim)));
    return life;
}

static void cut(struct raft_sim *sim)
{
    for (size_t i = 0; i < raft_sim_births(sim); i++)
        if (raft_sim_life(sim, i))
            raft_sim_life(sim, i)->side = (unsigned)raft_sim_random(sim, 2);
}

static void hand_over(struct raft_sim *sim)
{
    struct raft_life *leader = raft_sim_leader(sim);

    if (!leader)
        return;
    raft_transfer(leader->raft, &any_life(sim)->id, raft_sim_now(sim));
    raft_sim_touch(sim, leader);
}

static void propose_some(struct raft_sim *sim)
{
    for (uint64_t n = raft_sim_random(sim, 8); n > 0; n--) {
        struct raft_life *life = any_life(sim);

        raft_sim_propose(sim, raft_sim_leader(sim) ? raft_sim_leader(sim) : life);
        raft_sim_propose(sim, life);
    }
}

static void ask_all(struct raft_sim *sim)
{
    for (size_t i = 0; i < raft_sim_births(sim); i++)
        if (raft_sim_life(sim, i))
            raft_sim_ask(sim, raft_sim_life(sim, i));
}

static void crash_one(struct raft_sim *sim)
{
    struct raft_life *life =
        raft_sim_leader(sim) && raft_sim_random(sim, 2) ? raft_sim_leader(sim) : any_life(sim);

    if (raft_sim_can_spare(sim, life))
        raft_sim_crash(sim, life);
}

static void gust(struct raft_sim *sim)
{
    switch (raft_sim_random(sim, 16)) {
    case 0:
        cut(sim);
        break;
    case 1:
    case 2:
        raft_sim_heal(sim);
        break;
    case 3:
        crash_one(sim);
        break;
    case 4:
        raft_sim_birth(sim);
        break;
    case 5:
        hand_over(sim);
        break;
    case 6:
        raft_sim_stop(sim, any_life(sim), raft_sim_random(sim, 2 * SECOND));
        break;
    case 7:
    case 8:
        choose_voters(sim);
        break;
    default:
        propose_some(sim);
    }
}

/* A death right before a change of members may take the group its majority: it is lost then, and
 * that is all right, if it is rare. */
static bool is_lost(struct raft_sim *sim)
{
    return !raft_sim_can_spare(sim, NULL);
}

/* When the network is well again there is a leader, and what it is given is applied by all voters.
 */
static void check_liveness(struct raft_sim *sim)
{
    struct raft_life *leader;
    uint64_t commands;

    raft_sim_heal(sim);
    raft_sim_set_loss(sim, 0, 0);
    raft_sim_run(sim, 10 * SECOND);
    leader = raft_sim_leader(sim);
    if (is_lost(sim))
        return;
    if (!leader || raft_sim_propose(sim, leader) < 0) {
        raft_sim_fail(sim, "nobody leads, or takes a command, after the weather");
        return;
    }
    raft_sim_ask(sim, leader);
    raft_sim_run(sim, SECOND);
    if (leader->question != 0)
        raft_sim_fail(sim, "the leader does not answer, after the weather");
    commands = leader->commands;
    for (size_t i = 0; i < raft_sim_births(sim); i++) {
        struct raft_life *life = raft_sim_life(sim, i);

        if (life && raft_is_voter(leader->raft, &life->id) && life->commands < commands)
            raft_sim_fail(sim, "voter %zu did not apply what the others did", i);
    }
}

/* Adds to *sum what happened; false: something failed, which was printed. */
static bool weather(uint64_t seed, bool trace, struct raft_sim_count *sum)
{
    struct raft_sim_config config = {
        .seed = seed, .log_bytes = 2048, .command_bytes = 200, .trace = trace};
    struct raft_sim *sim;
    bool good;

    config.loss = (double)(seed % 5) * 0.05;
    config.duplication = (double)(seed % 3) * 0.05;
    config.delay_us = 100 + seed % 7 * 3000;
    config.jitter_us = seed % 4 * 10000;
    if (seed % 16 == 3) { /* one or two fit into a message */
        config.command_bytes = 40000;
        config.log_bytes = 400000;
    }
    sim = raft_sim_create(&config);
    for (unsigned i = 0; i < 1 + seed % 6; i++)
        raft_sim_birth(sim);
    choose_voters(sim);
    for (int i = 0; i < GUSTS && !raft_sim_failure(sim); i++) {
        raft_sim_run(sim, raft_sim_random(sim, SECOND / 4));
        gust(sim);
        ask_all(sim);
    }
    if (!raft_sim_failure(sim))
        check_liveness(sim);
    sum->steps += raft_sim_count(sim).steps;
    sum->elections += raft_sim_count(sim).elections;
    sum->snapshots_loaded += raft_sim_count(sim).snapshots_loaded;
    sum->lost += is_lost(sim);
    sum->commits += raft_sim_count(sim).commits;
    sum->answers += raft_sim_count(sim).answers;
    good = !raft_sim_failure(sim);
    if (!good)
        printf("%s\n", raft_sim_failure(sim));
    raft_sim_destroy(sim);
    return good;
}

static void seeds(void)
{
    uint64_t count = getenv("SOAK") ? SEEDS_SOAK : SEEDS;
    struct raft_sim_count sum = {0};

    for (uint64_t seed = 1; seed <= count; seed++)
        CU_ASSERT(weather(seed, false, &sum));
    printf("%llu seeds: %llu steps, %llu elections, %llu snapshots loaded, %llu commits, %llu "
           "answers, "
           "%llu lost\n",
           (unsigned long long)count, (unsigned long long)sum.steps,
           (unsigned long long)sum.elections, (unsigned long long)sum.snapshots_loaded,
           (unsigned long long)sum.commits, (unsigned long long)sum.answers,
           (unsigned long long)sum.lost);
    CU_ASSERT(sum.lost * 50 < count);
    CU_ASSERT(sum.elections > 3 * count);
    CU_ASSERT(sum.snapshots_loaded > count);
    CU_ASSERT(sum.commits > 50 * count);
    CU_ASSERT(sum.answers > 20 * count);
}

int main(int argc, char **argv)
{
    struct raft_sim_count sum = {0};
    static const struct test_case cases[] = {
        {"alone", alone},
        {"five agree", five_agree},
        {"leader dies", leader_dies},
        {"minority waits", minority_waits},
        {"who is cut off answers nothing", who_is_cut_off_answers_nothing},
        {"deaf one is not elected", deaf_one_is_not_elected},
        {"voters are replaced", voters_are_replaced},
        {"leadership is handed over", leadership_is_handed_over},
        {"refusals", refusals},
        {"seeds of weather", seeds},
    };

    if (argc == 3 && strcmp(argv[1], "--seed") == 0)
        return !weather(strtoull(argv[2], NULL, 10), true, &sum);
    return covey_test_main("raft", cases, sizeof cases / sizeof cases[0]);
}
