/* links: libcovey-sources */
/*
 * Hand-overs for exchanges that have not begun: kept up to a number, given out by exchange, and
 * what becomes of a team that too many are for.
 */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/collective/collective.h"
#include "lib/collective/paced.h"
#include "lib/engine/peer.h"
#include "lib/engine/req.h"
#include "lib/member/vm.h"
#include "lib/root/parts.h"
#include "tests/unit/runner.h"

#define KEPT 65536
#define CONTEXT 1000u
#define SOURCE 0x80003u

static struct covey *begin(void)
{
    struct covey *vm = calloc(1, sizeof *vm);
    CU_ASSERT_PTR_NOT_NULL_FATAL(vm);
    pthread_mutex_init(&vm->lock, NULL);
    CU_ASSERT_TRUE_FATAL(parts_create(vm));
    teams_of(vm)->context_next = CONTEXT;
    return vm;
}

static void end(struct covey *vm)
{
    paced_forget(vm, 0);
    CU_ASSERT_EQUAL(teams_of(vm)->early_count, 0);
    teams_of(vm)->first = NULL; /* a team is the test's */
    parts_destroy(vm);
    pthread_mutex_destroy(&vm->lock);
    free(vm);
}

static void keep(struct covey *vm, uint32_t context, uint32_t number, uint16_t from)
{
    const struct control_sync what = {.context = context, .number = number, .from = from};
    early_keep(vm, &what, SOURCE);
}

static int count(struct sync *syncs)
{
    int n = 0;
    for (struct sync *next; syncs != NULL; syncs = next, n++) {
        next = syncs->next;
        CU_ASSERT_EQUAL(syncs->source, SOURCE);
        free(syncs);
    }
    return n;
}

static void an_exchange_takes_its_own(void)
{
    struct covey *vm = begin();
    for (uint16_t i = 0; i < 3; i++) {
        keep(vm, CONTEXT, 7, i);
        keep(vm, CONTEXT, 8, i);
        keep(vm, CONTEXT + 1, 7, i);
    }
    CU_ASSERT_EQUAL(count(early_take(vm, CONTEXT, 8)), 3);
    CU_ASSERT_EQUAL(teams_of(vm)->early_count, 3); /* those of exchange 7 are for nobody */
    CU_ASSERT_EQUAL(count(early_take(vm, CONTEXT + 1, 6)), 0);
    CU_ASSERT_EQUAL(count(early_take(vm, CONTEXT + 1, 7)), 3);
    end(vm);
}

static void too_many_end_the_team_that_is_not_there_yet(void)
{
    struct covey *vm = begin();
    for (int i = 0; i < KEPT; i++)
        keep(vm, CONTEXT + 5, 1, 0);
    CU_ASSERT_EQUAL(teams_of(vm)->early_count, KEPT);
    CU_ASSERT_EQUAL(early_error(vm, CONTEXT + 5), COVEY_OK);
    keep(vm, CONTEXT + 5, 1, 0);
    CU_ASSERT_EQUAL(vm->home.lost, 0); /* the task stays in the VM */
    CU_ASSERT_EQUAL(teams_of(vm)->early_count, 0);
    CU_ASSERT_EQUAL(early_error(vm, CONTEXT + 5), COVEY_ERESOURCE);
    keep(vm, CONTEXT + 5, 2, 0);
    CU_ASSERT_EQUAL(teams_of(vm)->early_count, 0);
    end(vm);
}

static void other_teams_go_on(void)
{
    struct covey *vm = begin();
    for (int i = 0; i <= KEPT; i++)
        keep(vm, CONTEXT + 5, 1, 0);
    keep(vm, CONTEXT + 6, 1, 0);
    CU_ASSERT_EQUAL(early_error(vm, CONTEXT + 4), COVEY_OK);
    CU_ASSERT_EQUAL(early_error(vm, CONTEXT + 6), COVEY_OK);
    CU_ASSERT_EQUAL(count(early_take(vm, CONTEXT + 6, 1)), 1);
    end(vm);
}

static void an_exchange_of_a_refused_team_does_not_begin(void)
{
    struct covey *vm = begin();
    struct covey_team team = {.vm = vm, .context = CONTEXT + 5, .size = 1};
    struct covey_req whole = {0};
    const struct paced_job job = {0};
    for (int i = 0; i <= KEPT; i++)
        keep(vm, team.context, 1, 0);
    CU_ASSERT_EQUAL(paced_begin(&team, &job, 1, &whole), COVEY_ERESOURCE);
    CU_ASSERT_PTR_NULL(teams_of(vm)->paced);
    end(vm);
}

static void too_many_end_the_team_that_is_there(void)
{
    struct covey *vm = begin();
    covey_tid_t tids[] = {1};
    struct covey_team team = {.vm = vm, .context = CONTEXT + 5, .size = 1, .tids = tids};
    teams_of(vm)->first = &team;
    for (int i = 0; i <= KEPT; i++)
        keep(vm, team.context, 1, 0);
    CU_ASSERT_EQUAL(team.broken, COVEY_ERESOURCE);
    CU_ASSERT_EQUAL(early_error(vm, team.context), COVEY_OK);
    CU_ASSERT_EQUAL(vm->home.lost, 0);
    end(vm);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"an exchange takes its own", an_exchange_takes_its_own},
        {"too many end the team that is not there yet",
         too_many_end_the_team_that_is_not_there_yet},
        {"other teams go on", other_teams_go_on},
        {"an exchange of a refused team does not begin",
         an_exchange_of_a_refused_team_does_not_begin},
        {"too many end the team that is there", too_many_end_the_team_that_is_there},
    };
    return covey_test_main("early", cases, sizeof cases / sizeof cases[0]);
}
