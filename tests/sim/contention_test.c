/* links: proto/wire/contention_config.c proto/contention/contention.c proto/contention/arbiter.c proto/contention/claim.c proto/wire/cursor.c */
/*
 * contention_test.c - claims and arbiters under seeded faults: frames are lost, doubled and late,
 * tasks end or are stopped in the middle, hosts die, the arbiter is replaced, and an old one goes
 * on for a while without knowing. Clocks of hosts differ. At every moment a domain has one claim
 * that may send, or one of each arbiter while there are two; who asked first goes first, but for a
 * few claims of tasks that have several; and when the faults end, all that is still wanted is sent
 * within a bound.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/contention/contention.h"
#include "proto/wire/frame.h"
#include "proto/wire/splitmix.h"
#include "tests/unit/runner.h"

#define HOSTS_MAX 6
#define CLAIMS 16
#define FRAMES_MAX 4096
#define LOG_MAX 8192
#define TICK_US 500u
#define FAULTS_US 12000000u
#define QUANTUM (2u << 20)
#define BYTES_TICK 6250u /* of 100 Mbit/s */

enum frame_to { TO_ARBITER, TO_CLAIM };

struct wire_frame {
    uint64_t at_us;
    enum frame_to to;
    int host, claim; /* the arbiter's host, or the claim */
    bool end;
    uint32_t task, number;
    uint64_t domains;
    struct contention_ask ask;
    struct contention_answer answer;
};

/* What an arbiter was asked, in order. */
struct asked {
    uint32_t task, number;
    uint64_t domains;
    bool granted, over;
    unsigned overtaken;
};

struct sim_host {
    bool alive;
    int leader; /* that it knows of */
    uint64_t clock_us;
    struct arbiter *arbiter;
    struct world *world;
    struct asked log[LOG_MAX];
    int logged;
};

struct sim_claim {
    struct claim claim;
    int host;
    uint32_t task;
    uint64_t domains, todo, frozen_until;
    bool dead;
};

struct world {
    uint64_t random, now;
    int hosts, leader, old;                  /* old: a leader that does not know; -1 */
    uint64_t old_until, two_from, two_until; /* two arbiters' grants at once */
    struct sim_host host[HOSTS_MAX];
    struct sim_claim claim[CLAIMS];
    struct wire_frame frame[FRAMES_MAX];
    int frames;
    bool calm;
    uint32_t numbers;
    uint64_t sent, most_held, regenerated, overtaken;
    const char *failure;
};

static uint64_t draw(struct world *w)
{
    return splitmix_next(&w->random);
}

static uint64_t below(struct world *w, uint64_t limit)
{
    return (draw(w) >> 32) * limit >> 32;
}

static bool chance(struct world *w, unsigned in_million)
{
    return !w->calm && below(w, 1000000) < in_million;
}

static uint64_t clock_of(const struct world *w, int host)
{
    return w->now + w->host[host].clock_us;
}

/* ---- frames ------------------------------------------------------------------------------ */

static void put(struct world *w, struct wire_frame frame)
{
    frame.at_us = w->now + 50 + below(w, chance(w, 20000) ? 700000 : 3000);
    if (chance(w, 10000))
        return;
    if (w->frames == FRAMES_MAX) {
        w->failure = "more frames than expected are under way";
        return;
    }
    w->frame[w->frames++] = frame;
}

static void put_maybe_twice(struct world *w, const struct wire_frame *frame)
{
    put(w, *frame);
    if (chance(w, 10000))
        put(w, *frame);
}

static void send_ask(struct world *w, int i)
{
    const struct sim_claim *c = &w->claim[i];
    struct wire_frame frame = {.to = TO_ARBITER, .host = w->host[c->host].leader};
    frame.ask = (struct contention_ask){
        .task = c->task, .number = c->claim.number, .asked_us = c->claim.asked_us};
    frame.domains = c->domains;
    put_maybe_twice(w, &frame);
}

static void send_end(struct world *w, int host, uint32_t task, uint32_t number)
{
    struct wire_frame frame = {.to = TO_ARBITER, .host = w->host[host].leader, .end = true};
    frame.task = task;
    frame.number = number;
    put_maybe_twice(w, &frame);
}

static void act(struct world *w, int i, enum claim_act what)
{
    const struct sim_claim *c = &w->claim[i];
    if (what == CLAIM_ASK)
        send_ask(w, i);
    else if (what == CLAIM_END)
        send_end(w, c->host, c->task, c->claim.number);
}

/* ---- the arbiters ------------------------------------------------------------------------ */

static struct asked *log_find(struct sim_host *h, uint32_t task, uint32_t number)
{
    for (int i = h->logged - 1; i >= 0; i--)
        if (h->log[i].task == task && h->log[i].number == number && !h->log[i].over)
            return &h->log[i];
    return NULL;
}

/* Whoever asked before for something of the same is granted, or over, or was not overtaken too
 * often. */
static void check_order(struct sim_host *h, const struct asked *granted)
{
    for (struct asked *a = h->log; a < granted; a++) {
        if (a->over || a->granted || (a->domains & granted->domains) == 0)
            continue;
        h->world->overtaken++;
        if (++a->overtaken > CONTENTION_OVERTAKEN_MAX)
            h->world->failure = "a claim was granted before one that was asked for earlier";
    }
}

static void on_answer(void *context, const struct contention_answer *answer)
{
    struct sim_host *h = context;
    struct world *w = h->world;
    struct asked *asked = log_find(h, answer->task, answer->number);
    if (answer->verdict == CONTENTION_GRANTED && asked != NULL && !asked->granted) {
        asked->granted = true;
        check_order(h, asked);
    }
    put_maybe_twice(w, &(struct wire_frame){.to = TO_CLAIM,
                                            .claim = (int)(answer->number % CLAIMS),
                                            .answer = *answer});
}

static void take_ask(struct world *w, int host, const struct wire_frame *frame)
{
    struct sim_host *h = &w->host[host];
    const struct arbiter_claim claim = {
        .ask = frame->ask, .domains = frame->domains, .quantum_bytes = QUANTUM};
    if (log_find(h, frame->ask.task, frame->ask.number) == NULL && h->logged < LOG_MAX)
        h->log[h->logged++] = (struct asked){
            .task = frame->ask.task, .number = frame->ask.number, .domains = frame->domains};
    arbiter_ask(h->arbiter, &claim, clock_of(w, host));
}

static void take_end(struct world *w, int host, const struct wire_frame *frame)
{
    struct sim_host *h = &w->host[host];
    for (int i = 0; i < h->logged; i++) {
        struct asked *a = &h->log[i];
        bool all = frame->number == 0 &&
                   (a->task == frame->task ||
                    (tid_local(frame->task) == 0 && tid_host(a->task) == tid_host(frame->task)));
        a->over = a->over || all || (a->task == frame->task && a->number == frame->number);
    }
    arbiter_end(h->arbiter, frame->task, frame->number, clock_of(w, host));
}

static bool take(struct world *w, const struct wire_frame *frame)
{
    if (frame->to == TO_ARBITER) {
        struct sim_host *h = frame->host < 0 ? NULL : &w->host[frame->host];
        if (h == NULL || !h->alive || h->arbiter == NULL)
            return true;
        if (frame->end)
            take_end(w, frame->host, frame);
        else
            take_ask(w, frame->host, frame);
        return true;
    }
    struct sim_claim *c = &w->claim[frame->claim];
    if (c->dead)
        return true;
    if (w->now < c->frozen_until)
        return false; /* waits in its socket */
    if (claim_on_answer(&c->claim, &frame->answer, clock_of(w, c->host)) == CLAIM_END)
        send_end(w, c->host, c->task, frame->answer.number);
    return true;
}

static void deliver(struct world *w)
{
    int kept = 0, there = w->frames;
    for (int i = 0; i < there; i++) {
        struct wire_frame frame = w->frame[i];
        if (frame.at_us > w->now || !take(w, &frame))
            w->frame[kept++] = frame;
    }
    int added = w->frames - there;
    for (int i = 0; i < added; i++)
        w->frame[kept + i] = w->frame[there + i];
    w->frames = kept + added;
}

/* ---- faults ------------------------------------------------------------------------------ */

static void lead(struct world *w, int host, uint64_t pause_us)
{
    struct sim_host *h = &w->host[host];
    w->leader = host;
    h->logged = 0;
    h->arbiter = arbiter_create(clock_of(w, host) + pause_us, on_answer, h);
    if (h->arbiter == NULL)
        abort();
}

static void stop_leading(struct world *w, int host)
{
    struct sim_host *h = &w->host[host];
    if (h->arbiter != NULL)
        w->regenerated += arbiter_counters(h->arbiter)->regenerated;
    arbiter_destroy(h->arbiter);
    h->arbiter = NULL;
    if (w->old == host)
        w->old = -1;
}

static void kill_host(struct world *w, int host)
{
    w->host[host].alive = false;
    stop_leading(w, host);
    for (int i = 0; i < CLAIMS; i++)
        w->claim[i].dead = w->claim[i].dead || w->claim[i].host == host;
    for (int h = 0; h < w->hosts; h++)
        if (w->host[h].alive && w->host[h].leader != host)
            send_end(w, h, tid_make((uint32_t)host + 1, 0), 0);
}

static int another_host(struct world *w)
{
    int host = (int)below(w, (uint64_t)w->hosts);
    for (int i = 0; i < w->hosts && (!w->host[host].alive || host == w->leader); i++)
        host = (host + 1) % w->hosts;
    return w->host[host].alive ? host : -1;
}

/* The leader dies, or is cut off and goes on for those who have not heard. */
static void replace_leader(struct world *w)
{
    int next = another_host(w), before = w->leader;
    if (next < 0 || next == before || w->old >= 0 || w->now < w->two_until)
        return;
    if (chance(w, 300000)) {
        kill_host(w, before);
    } else {
        w->old = before;
        w->old_until = w->now + below(w, 4000000);
        w->two_from = w->now;
        w->two_until = w->old_until + CONTENTION_LEASE_US;
    }
    lead(w, next, CONTENTION_LEASE_US);
}

static void spread_news(struct world *w)
{
    if (w->old >= 0 && w->now >= w->old_until)
        stop_leading(w, w->old);
    for (int h = 0; h < w->hosts; h++)
        if (w->host[h].leader != w->leader && (below(w, 150) == 0 || w->calm))
            w->host[h].leader = w->leader;
}

static void harm_task(struct world *w)
{
    struct sim_claim *c = &w->claim[below(w, CLAIMS)];
    if (chance(w, 700000)) {
        c->frozen_until = w->now + below(w, 4000000);
        return;
    }
    if (!c->dead && w->host[c->host].alive)
        send_end(w, c->host, c->task, 0); /* its daemon sees the end */
    for (int i = 0; i < CLAIMS; i++)
        w->claim[i].dead = w->claim[i].dead || w->claim[i].task == c->task;
}

static void harm(struct world *w)
{
    if (chance(w, 300))
        harm_task(w);
    if (chance(w, 200))
        replace_leader(w);
    spread_news(w);
}

/* ---- the senders ------------------------------------------------------------------------- */

static void step_claim(struct world *w, int i)
{
    struct sim_claim *c = &w->claim[i];
    uint64_t next, now = clock_of(w, c->host);
    if (c->dead || w->now < c->frozen_until)
        return;
    if (chance(w, 300))
        c->todo += below(w, 2 * QUANTUM);
    if (c->todo > 0)
        act(w, i, claim_want(&c->claim, ++w->numbers * CLAIMS + (uint32_t)i, now));
    if (c->todo > 0 && claim_may_send(&c->claim, now)) {
        uint64_t part = c->todo < BYTES_TICK ? c->todo : BYTES_TICK;
        claim_sent(&c->claim, part, now);
        c->todo -= part;
        w->sent += part;
    }
    act(w, i, c->todo == 0 ? claim_drop(&c->claim) : claim_step(&c->claim, QUANTUM, now, &next));
}

static void check_holders(struct world *w)
{
    for (uint64_t domain = 1; domain <= 4; domain <<= 1) {
        uint64_t held = 0, two = w->now >= w->two_from && w->now <= w->two_until;
        for (int i = 0; i < CLAIMS; i++) {
            const struct sim_claim *c = &w->claim[i];
            held += !c->dead && (c->domains & domain) != 0 && c->claim.state == CLAIM_HELD &&
                    claim_may_send(&c->claim, clock_of(w, c->host));
        }
        w->most_held = held > w->most_held ? held : w->most_held;
        if (held > 1 + two)
            w->failure = "two claims may send in one domain";
    }
}

static void step(struct world *w)
{
    w->now += TICK_US;
    deliver(w);
    harm(w);
    for (int h = 0; h < w->hosts; h++)
        if (w->host[h].arbiter != NULL)
            arbiter_step(w->host[h].arbiter, clock_of(w, h));
    for (int i = 0; i < CLAIMS; i++)
        step_claim(w, i);
    check_holders(w);
}

static bool all_sent(const struct world *w)
{
    for (int i = 0; i < CLAIMS; i++)
        if (!w->claim[i].dead && w->claim[i].todo > 0)
            return false;
    return true;
}

static void begin(struct world *w, uint64_t seed)
{
    *w = (struct world){.random = seed, .now = 10000000, .old = -1};
    w->hosts = 2 + (int)below(w, HOSTS_MAX - 1);
    for (int h = 0; h < w->hosts; h++) {
        w->host[h].alive = true;
        w->host[h].world = w;
        w->host[h].clock_us = below(w, 1u << 30);
    }
    for (int i = 0; i < CLAIMS; i++) {
        struct sim_claim *c = &w->claim[i];
        bool second = i % 4 == 1; /* of the task before */
        c->host = second ? c[-1].host : (int)below(w, (uint64_t)w->hosts);
        c->task = second ? c[-1].task : tid_make((uint32_t)c->host + 1, (uint32_t)i + 1);
        c->domains = 1 + below(w, 7);
    }
    lead(w, 0, 0);
}

static const char *run(struct world *w, uint64_t seed)
{
    begin(w, seed);
    while (w->now < 10000000 + FAULTS_US && w->failure == NULL)
        step(w);
    w->calm = true;
    uint64_t bound = w->now + CONTENTION_PATIENCE_US + 2 * CONTENTION_LEASE_US + 40000000;
    while (!all_sent(w) && w->now < bound && w->failure == NULL)
        step(w);
    if (w->failure == NULL && !all_sent(w))
        w->failure = "somebody waits for ever";
    for (int h = 0; h < w->hosts; h++)
        stop_leading(w, h);
    return w->failure;
}

static void domains_have_one_holder_whatever_fails(void)
{
    struct world *w = malloc(sizeof *w);
    uint64_t seeds = getenv("SOAK") != NULL ? 10000 : 60, sent = 0, most = 0, regenerated = 0,
             overtaken = 0;
    for (uint64_t seed = 1; w != NULL && seed <= seeds; seed++) {
        const char *failure = run(w, seed);
        if (failure != NULL)
            printf("seed %llu: %s\n", (unsigned long long)seed, failure);
        CU_ASSERT_PTR_NULL(failure);
        sent += w->sent;
        regenerated += w->regenerated;
        overtaken += w->overtaken;
        most = w->most_held > most ? w->most_held : most;
    }
    CU_ASSERT(sent > seeds * 8 * 1024 * 1024); /* and the medium is used */
    CU_ASSERT(regenerated > 0);
    CU_ASSERT(overtaken > seeds);
    CU_ASSERT_EQUAL(most, 2); /* two arbiters do happen */
    free(w);
}

/* ---- single rules ------------------------------------------------------------------------ */

struct said {
    struct contention_answer last;
    int count;
};

static void note(void *context, const struct contention_answer *answer)
{
    struct said *said = context;
    said->last = *answer;
    said->count++;
}

static struct arbiter_claim asks(uint32_t task, uint64_t domains, uint64_t at_us)
{
    return (struct arbiter_claim){.ask = {.task = task, .number = 1, .asked_us = at_us},
                                  .domains = domains,
                                  .quantum_bytes = 1000};
}

static void who_shares_nothing_overtakes(void)
{
    struct said said = {0};
    struct arbiter *a = arbiter_create(0, note, &said);
    const struct arbiter_claim one = asks(1, 1, 0), both = asks(2, 3, 0), two = asks(3, 2, 0),
                               other = asks(4, 4, 0);
    arbiter_ask(a, &one, 1);
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_GRANTED);
    arbiter_ask(a, &both, 2);
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_WAIT);
    arbiter_ask(a, &two, 3); /* its domain is free, but promised */
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_WAIT);
    arbiter_ask(a, &other, 4);
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_GRANTED);
    arbiter_end(a, 1, 1, 5);
    CU_ASSERT_EQUAL(said.last.task, 2);
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_GRANTED);
    CU_ASSERT_EQUAL(arbiter_waiting(a), 1);
    arbiter_destroy(a);
}

static struct arbiter_claim asks_numbered(uint32_t task, uint32_t number, uint64_t domains)
{
    struct arbiter_claim claim = asks(task, domains, 0);
    claim.ask.number = number;
    return claim;
}

static void who_spreads_goes_first_but_not_for_ever(void)
{
    struct said said = {0};
    struct arbiter *a = arbiter_create(0, note, &said);
    const struct arbiter_claim holder = asks(1, 1, 0), waits = asks(2, 1, 0);
    arbiter_ask(a, &holder, 1);
    arbiter_ask(a, &waits, 2);
    for (uint32_t i = 1; i <= CONTENTION_OVERTAKEN_MAX + 2; i++) {
        const struct arbiter_claim spread = asks_numbered(3, i, 1);
        arbiter_ask(a, &spread, 3);
    }
    const struct arbiter_claim elsewhere = asks(4, 2, 0);
    arbiter_ask(a, &elsewhere, 3);
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_GRANTED);
    arbiter_end(a, 1, 1, 4);
    for (uint32_t i = 1; i <= CONTENTION_OVERTAKEN_MAX; i++) {
        CU_ASSERT_EQUAL(said.last.task, 3);
        CU_ASSERT_EQUAL(said.last.number, i);
        arbiter_end(a, 3, i, 5);
    }
    CU_ASSERT_EQUAL(said.last.task, 2);
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_GRANTED);
    arbiter_end(a, 2, 1, 6);
    CU_ASSERT_EQUAL(said.last.number, CONTENTION_OVERTAKEN_MAX + 1);
    arbiter_end(a, 3, 0, 7);
    CU_ASSERT_EQUAL(arbiter_waiting(a), 0);
    arbiter_destroy(a);
}

static void a_holder_that_is_gone_is_replaced(void)
{
    struct said said = {0};
    struct arbiter *a = arbiter_create(0, note, &said);
    const struct arbiter_claim first = asks(tid_make(1, 1), 1, 0),
                               second = asks(tid_make(2, 1), 1, 0);
    arbiter_ask(a, &first, 10);
    arbiter_ask(a, &second, 20);
    uint64_t at = arbiter_step(a, 30);
    CU_ASSERT_EQUAL(at, 10 + CONTENTION_LEASE_US);
    CU_ASSERT_EQUAL(said.count, 2);
    arbiter_step(a, at);
    CU_ASSERT_EQUAL(said.last.task, tid_make(2, 1));
    CU_ASSERT_EQUAL(said.last.verdict, CONTENTION_GRANTED);
    CU_ASSERT_EQUAL(arbiter_counters(a)->regenerated, 1);
    arbiter_end(a, tid_make(2, 0), 0, at + 1); /* its host */
    CU_ASSERT_EQUAL(arbiter_step(a, at + 2), UINT64_MAX);
    arbiter_destroy(a);
}

static void without_an_answer_a_claim_goes_on(void)
{
    struct claim claim = {0};
    uint64_t next, now = 1000;
    CU_ASSERT_EQUAL(claim_want(&claim, 1, now), CLAIM_ASK);
    CU_ASSERT_EQUAL(claim_step(&claim, 1000, now, &next), CLAIM_REST);
    for (unsigned asked = 0; !claim_may_send(&claim, now) && asked < 100; now = next)
        asked += claim_step(&claim, 1000, now, &next) == CLAIM_ASK;
    CU_ASSERT_EQUAL(claim.state, CLAIM_PASSING);
    CU_ASSERT(claim.since_us == 1000 + CONTENTION_PATIENCE_US);
    claim_sent(&claim, 1000, now);
    CU_ASSERT_FALSE(claim_may_send(&claim, now));
    CU_ASSERT_EQUAL(claim_step(&claim, 1000, now, &next), CLAIM_REST);
    CU_ASSERT_EQUAL(claim.state, CLAIM_NONE);
}

static void a_claim_ends_by_its_quantum_its_time_and_its_silence(void)
{
    struct contention_answer granted = {
        .number = 1, .asked_us = 10, .verdict = CONTENTION_GRANTED, .quantum_bytes = 100};
    struct claim claim = {0};
    uint64_t next;
    claim_want(&claim, 1, 10);
    CU_ASSERT_EQUAL(claim_on_answer(&claim, &granted, 20), CLAIM_REST);
    claim_sent(&claim, 60, 30);
    CU_ASSERT(claim_may_send(&claim, 30));
    claim_sent(&claim, 60, 40);
    CU_ASSERT_FALSE(claim_may_send(&claim, 40));
    CU_ASSERT_EQUAL(claim_step(&claim, 100, 40, &next), CLAIM_END);
    granted.number = 2;
    claim_want(&claim, 2, 50);
    claim_on_answer(&claim, &granted, 60);
    CU_ASSERT_EQUAL(claim_step(&claim, 100, 70, &next), CLAIM_REST);
    CU_ASSERT_EQUAL(next, 60 + CONTENTION_STALL_US);
    CU_ASSERT_EQUAL(claim_step(&claim, 100, next, &next), CLAIM_END);
    granted.number = 3;
    claim_want(&claim, 3, 50);
    CU_ASSERT_EQUAL(claim_on_answer(&claim, &granted, 10 + CONTENTION_LEASE_US), CLAIM_END);
    CU_ASSERT_EQUAL(claim.state, CLAIM_NONE);
}

static void bytes_come_back(void)
{
    uint8_t bytes[64];
    struct contention_config config, read;
    struct contention_answer answer = {
        .number = 7, .asked_us = 8, .verdict = CONTENTION_GRANTED, .quantum_bytes = 9, .rate = 10};
    struct contention_answer back;
    contention_config_init(&config);
    config.mode = CONTENTION_TOKEN;
    config.turns = true;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    contention_config_put(&c, &config);
    CU_ASSERT_EQUAL(c.at - bytes, CONTENTION_CONFIG_BYTES);
    c = cursor_reader(bytes, CONTENTION_CONFIG_BYTES);
    contention_config_get(&c, &read);
    CU_ASSERT(cursor_done(&c) && read.mode == config.mode && read.turns &&
              read.rate == config.rate);
    c = cursor_writer(bytes, sizeof bytes);
    contention_put_answer(&c, &answer);
    CU_ASSERT_EQUAL(c.at - bytes, CONTENTION_ANSWER_BYTES);
    c = cursor_reader(bytes, CONTENTION_ANSWER_BYTES);
    contention_get_answer(&c, &back);
    CU_ASSERT(cursor_done(&c) && back.quantum_bytes == 9 && back.rate == 10 && back.asked_us == 8);
    bytes[12] = CONTENTION_VERDICT_MAX;
    c = cursor_reader(bytes, CONTENTION_ANSWER_BYTES);
    contention_get_answer(&c, &back);
    CU_ASSERT_FALSE(cursor_ok(&c));
    CU_ASSERT_EQUAL(contention_mode_parse("token", 5), CONTENTION_TOKEN);
    CU_ASSERT_EQUAL(contention_mode_parse("toke", 4), -1);
}

static const struct test_case cases[] = {
    {"a domain has one holder, whatever fails", domains_have_one_holder_whatever_fails},
    {"who shares nothing overtakes, others do not", who_shares_nothing_overtakes},
    {"who spreads goes first, but not for ever", who_spreads_goes_first_but_not_for_ever},
    {"a holder that is gone is replaced", a_holder_that_is_gone_is_replaced},
    {"without an answer a claim goes on", without_an_answer_a_claim_goes_on},
    {"a claim ends by quantum, time and silence",
     a_claim_ends_by_its_quantum_its_time_and_its_silence},
    {"configuration and answers as bytes", bytes_come_back},
};

int main(void)
{
    return covey_test_main("contention", cases, sizeof cases / sizeof cases[0]);
}
