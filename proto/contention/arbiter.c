/*
 * arbiter.c - who may use which contention domain; see contention.h.
 *
 * All claims stand in one list, those that are granted among them. One pass over it grants: a claim
 * may go when none before it has, or wants, a domain of its own. A new claim goes to the end of the
 * list, but where its task has others there (it spreads something to several receivers) before
 * those of tasks that have one: when it ends its receiver goes on and, with the last of them, its
 * sender too, so that more tasks compute while the rest wait. tests/sim/segment_test.c shows what
 * that is worth.
 *
 * A claim is overtaken so at most CONTENTION_OVERTAKEN_MAX times, and each is granted when all
 * before it have ended, which a lease bounds: no order of ends starves anybody, and no cycle can
 * form, for a claim gets all its domains at once.
 */
#include "proto/contention/contention.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "proto/wire/frame.h"

#define CLAIMS_MAX 4096

struct entry {
    TAILQ_ENTRY(entry) link; /* of the claims in their order, or of what is spare */
    struct arbiter_claim claim;
    bool granted;
    bool spreads; /* its task asked for another one meanwhile */
    unsigned overtaken;
    uint64_t granted_us;
};

TAILQ_HEAD(entry_list, entry);

struct arbiter {
    arbiter_answer_fn *answer;
    void *context;
    uint64_t from_us;
    struct entry_list claims, spare;
    unsigned waiting, held;
    struct arbiter_counters counters;
    struct entry entries[CLAIMS_MAX];
};

struct arbiter *arbiter_create(uint64_t from_us, arbiter_answer_fn *answer, void *context)
{
    struct arbiter *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->answer = answer;
    a->context = context;
    a->from_us = from_us;
    TAILQ_INIT(&a->claims);
    TAILQ_INIT(&a->spare);
    for (int i = 0; i < CLAIMS_MAX; i++)
        TAILQ_INSERT_HEAD(&a->spare, &a->entries[i], link);
    return a;
}

void arbiter_destroy(struct arbiter *a)
{
    free(a);
}

unsigned arbiter_waiting(const struct arbiter *a)
{
    return a->waiting;
}

const struct arbiter_counters *arbiter_counters(const struct arbiter *a)
{
    return &a->counters;
}

/* ---- the list ---- */

static struct entry *arbiter_find(const struct arbiter *a, uint32_t task, uint32_t number)
{
    struct entry *e;
    TAILQ_FOREACH(e, &a->claims, link)
    {
        if (e->claim.ask.task == task && e->claim.ask.number == number)
            break;
    }
    return e;
}

static struct entry *arbiter_add(struct arbiter *a, const struct arbiter_claim *claim)
{
    struct entry *e = TAILQ_FIRST(&a->spare);
    if (e == NULL)
        return NULL;
    TAILQ_REMOVE(&a->spare, e, link);
    *e = (struct entry){.claim = *claim};
    TAILQ_INSERT_TAIL(&a->claims, e, link);
    a->waiting++;
    return e;
}

static void arbiter_drop(struct arbiter *a, struct entry *e)
{
    assert((e->granted ? a->held : a->waiting) > 0);
    TAILQ_REMOVE(&a->claims, e, link);
    a->waiting -= !e->granted;
    a->held -= e->granted;
    TAILQ_INSERT_HEAD(&a->spare, e, link);
}

/* ---- who spreads goes first ---- */

static bool share(const struct entry *a, const struct entry *b)
{
    return (a->claim.domains & b->claim.domains) != 0;
}

static bool may_overtake(const struct entry *e, const struct entry *other)
{
    return !share(e, other) ||
           (!other->granted && !other->spreads && other->overtaken < CONTENTION_OVERTAKEN_MAX);
}

static void overtake(struct arbiter *a, struct entry *e)
{
    struct entry *before = TAILQ_PREV(e, entry_list, link);
    for (; before != NULL && may_overtake(e, before); before = TAILQ_PREV(before, entry_list, link))
        before->overtaken += share(e, before);
    TAILQ_REMOVE(&a->claims, e, link);
    if (before != NULL)
        TAILQ_INSERT_AFTER(&a->claims, before, e, link);
    else
        TAILQ_INSERT_HEAD(&a->claims, e, link);
}

/* ---- answers ---- */

static void arbiter_answer(struct arbiter *a, const struct entry *e,
                           enum contention_verdict verdict)
{
    const struct contention_answer out = {.task = e->claim.ask.task,
                                          .number = e->claim.ask.number,
                                          .asked_us = e->claim.ask.asked_us,
                                          .verdict = (uint8_t)verdict,
                                          .quantum_bytes = e->claim.quantum_bytes};
    a->answer(a->context, &out);
}

static void grant_all(struct arbiter *a, uint64_t now_us)
{
    uint64_t wanted = 0;
    if (now_us < a->from_us)
        return;
    for (struct entry *e = TAILQ_FIRST(&a->claims); e != NULL && a->waiting > 0;
         e = TAILQ_NEXT(e, link)) {
        if (!e->granted && (e->claim.domains & wanted) == 0) {
            e->granted = true;
            e->granted_us = now_us;
            a->waiting--;
            a->held++;
            a->counters.granted++;
            arbiter_answer(a, e, CONTENTION_GRANTED);
        }
        wanted |= e->claim.domains;
    }
}

/* ---- what happens ---- */

static void regenerate(struct arbiter *a, uint64_t now_us)
{
    for (struct entry *e = TAILQ_FIRST(&a->claims), *next; e != NULL && a->held > 0; e = next) {
        next = TAILQ_NEXT(e, link);
        if (!e->granted || now_us < e->granted_us + CONTENTION_LEASE_US)
            continue;
        arbiter_drop(a, e);
        a->counters.regenerated++;
    }
}

void arbiter_ask(struct arbiter *a, const struct arbiter_claim *claim, uint64_t now_us)
{
    regenerate(a, now_us);
    struct entry *e = arbiter_find(a, claim->ask.task, claim->ask.number);
    if (e != NULL) {
        /* The lease of a grant is counted from the question that it named: a later one changes
         * nothing. */
        if (!e->granted && claim->ask.asked_us > e->claim.ask.asked_us)
            e->claim.ask.asked_us = claim->ask.asked_us;
        arbiter_answer(a, e, e->granted ? CONTENTION_GRANTED : CONTENTION_WAIT);
        grant_all(a, now_us);
        return;
    }
    a->counters.asked++;
    e = arbiter_add(a, claim);
    if (e == NULL) {
        const struct entry none = {.claim = *claim};
        a->counters.refused++;
        arbiter_answer(a, &none, CONTENTION_FREE);
        return;
    }
    /* e has just been asked for; others of its task stand before it, in their order. */
    for (struct entry *other = TAILQ_FIRST(&a->claims), *next; other != e; other = next) {
        assert(other != NULL);
        next = TAILQ_NEXT(other, link);
        if (other->claim.ask.task != e->claim.ask.task)
            continue;
        e->spreads = true;
        if (!other->granted && !other->spreads)
            overtake(a, other);
        other->spreads = true;
    }
    if (e->spreads)
        overtake(a, e);
    grant_all(a, now_us);
    if (!e->granted)
        arbiter_answer(a, e, CONTENTION_WAIT);
}

static bool is_of(const struct entry *e, uint32_t task, uint32_t number)
{
    const struct contention_ask *ask = &e->claim.ask;
    if (number != 0)
        return ask->task == task && ask->number == number;
    return tid_local(task) == 0 ? tid_host(ask->task) == tid_host(task) : ask->task == task;
}

void arbiter_end(struct arbiter *a, uint32_t task, uint32_t number, uint64_t now_us)
{
    for (struct entry *e = TAILQ_FIRST(&a->claims), *next; e != NULL; e = next) {
        next = TAILQ_NEXT(e, link);
        if (!is_of(e, task, number))
            continue;
        a->counters.ended += e->granted;
        arbiter_drop(a, e);
    }
    regenerate(a, now_us);
    grant_all(a, now_us);
}

uint64_t arbiter_step(struct arbiter *a, uint64_t now_us)
{
    uint64_t next_us = a->waiting > 0 && now_us < a->from_us ? a->from_us : UINT64_MAX;
    regenerate(a, now_us);
    grant_all(a, now_us);
    for (const struct entry *e = a->held > 0 ? TAILQ_FIRST(&a->claims) : NULL; e != NULL;
         e = TAILQ_NEXT(e, link)) {
        if (e->granted && e->granted_us + CONTENTION_LEASE_US < next_us)
            next_us = e->granted_us + CONTENTION_LEASE_US;
    }
    return next_us;
}
