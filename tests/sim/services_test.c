/* links: tests/sim/crowd.c tests/sim/voters.c tests/sim/network.c proto/session/fault.c proto/state/client.c proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * services_test.c - locks, tokens, meetings and barriers of a VM in which everything fails: frames
 * are lost, doubled and overtake each other, leaders change and forget, voters crash and load
 * snapshots, tasks and hosts die while they hold or wait (crowd.h).
 *
 *   services_test              all of it (SOAK=1: 10,000 seeds and 1,000,000 passes)
 *   services_test --seed N     one seed
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/crowd.h"
#include "tests/unit/runner.h"

enum { SEEDS = 2000, SEEDS_SOAK = 10000, TICKS = 1500 };
enum { PASSES = 100000, PASSES_SOAK = 1000000, PASSES_TICKS_MAX = 30 };

/* Weather of all kinds: what does not happen in one seed happens in another. */
static struct crowd_config weather(uint64_t seed)
{
    uint64_t r = seed;
    return (struct crowd_config){
        .seed = seed,
        .hosts = 2 + (uint32_t)random_below(&r, 5),
        .tasks = 1 + (uint32_t)random_below(&r, 6),
        .loss_ppm = (uint32_t)random_below(&r, 4) * 60000,
        .duplicate_ppm = (uint32_t)random_below(&r, 3) * 50000,
        .reorder_ppm = (uint32_t)random_below(&r, 3) * 100000,
        .task_death_ppm = (uint32_t)random_below(&r, 3) * 10000,
        .host_death_ppm = (uint32_t)random_below(&r, 3) * 2000,
        .depose_ppm = (uint32_t)random_below(&r, 3) * 5000,
        .crash_ppm = (uint32_t)random_below(&r, 3) * 5000,
    };
}

/* Adds up what happened; false: a promise was broken. */
static bool run_seed(uint64_t seed, struct crowd_stats *sum)
{
    struct crowd_config config = weather(seed);
    struct crowd *crowd = crowd_create(&config);
    bool good = true;
    for (int tick = 0; tick < TICKS && good; tick++)
        good = crowd_tick(crowd);
    good = good && crowd_calm(crowd);
    if (!good)
        printf("seed %llu: %s\n", (unsigned long long)seed, crowd_failure(crowd));
    const struct crowd_stats *s = crowd_stats(crowd);
    sum->grants += s->grants;
    sum->passes += s->passes;
    sum->meetings += s->meetings;
    sum->barriers += s->barriers;
    sum->timeouts += s->timeouts;
    sum->task_deaths += s->task_deaths;
    sum->host_deaths += s->host_deaths;
    sum->deposed += s->deposed;
    crowd_destroy(crowd);
    return good;
}

static void print(const struct crowd_stats *s)
{
    printf("%llu grants, %llu passes, %llu told of meetings, %llu of barriers, %llu gave up;"
           " %llu tasks and %llu hosts died, %llu leaders were deposed\n",
           (unsigned long long)s->grants, (unsigned long long)s->passes,
           (unsigned long long)s->meetings, (unsigned long long)s->barriers,
           (unsigned long long)s->timeouts, (unsigned long long)s->task_deaths,
           (unsigned long long)s->host_deaths, (unsigned long long)s->deposed);
}

static void all_weathers(void)
{
    uint64_t seeds = getenv("SOAK") != NULL ? SEEDS_SOAK : SEEDS;
    struct crowd_stats sum = {.grants = 0};
    bool good = true;
    for (uint64_t seed = 1; seed <= seeds && good; seed++)
        good = run_seed(seed, &sum);
    CU_ASSERT(good);
    print(&sum);
    CU_ASSERT(sum.grants > seeds && sum.passes > seeds && sum.meetings > seeds);
    CU_ASSERT(sum.barriers > 0 && sum.timeouts > seeds && sum.task_deaths > seeds);
    CU_ASSERT(sum.host_deaths > seeds / 2 && sum.deposed > seeds / 2);
}

/* 16 contenders under 5 % loss, and whoever holds the token is killed again and again. */
static void a_token_passes_on(void)
{
    uint64_t passes = getenv("SOAK") != NULL ? PASSES_SOAK : PASSES;
    struct crowd *crowd = crowd_create(&(struct crowd_config){.seed = 16,
                                                              .hosts = 4,
                                                              .tasks = 4,
                                                              .loss_ppm = 50000,
                                                              .tokens_only = true,
                                                              .kill_holder_ppm = 60000,
                                                              .depose_ppm = 100,
                                                              .crash_ppm = 100});
    const struct crowd_stats *s = crowd_stats(crowd);
    uint64_t ticks = 0;
    while (s->passes < passes && ticks < passes * PASSES_TICKS_MAX && crowd_tick(crowd))
        ticks++;
    CU_ASSERT(s->passes >= passes);
    CU_ASSERT(crowd_calm(crowd));
    if (crowd_failure(crowd) != NULL)
        printf("%s\n", crowd_failure(crowd));
    print(s);
    printf("%.1f ticks a pass\n", (double)ticks / (double)(s->passes + 1));
    CU_ASSERT(s->task_deaths > passes / 100);
    crowd_destroy(crowd);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"never two holders, no turn taken, nobody waits for ever: in all weathers", all_weathers},
        {"a token with 16 contenders, 5 % loss and dying holders", a_token_passes_on},
    };
    if (argc == 3 && strcmp(argv[1], "--seed") == 0) {
        struct crowd_stats sum = {.grants = 0};
        bool good = run_seed(strtoull(argv[2], NULL, 10), &sum);
        print(&sum);
        return good ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    return covey_test_main("services", cases, sizeof cases / sizeof cases[0]);
}
