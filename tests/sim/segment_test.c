/* links: proto/wire/contention_config.c proto/contention/contention.c proto/contention/arbiter.c proto/contention/claim.c proto/wire/cursor.c */
/*
 * segment_test.c - what tokens are worth on a shared segment, in virtual time: pipe-multiply-roll
 * of Schmidt & Sunderam (Figure 3(b)) on a mesh of 3 x 3 hosts, without tokens and with those of
 * claim.c and arbiter.c. A phase begins when what a task sends and gets in the one before has come
 * and gone. Without tokens messages share the medium by weights that differ as those of TCP
 * streams do (a log-normal distribution with a deviation of one half gives the totals measured in
 * a lab); with them it belongs to holders of claims, and to the last bytes of who held one.
 *
 * Time is counted in messages: a message takes one when it has the medium alone, a product of two
 * blocks `ratio`, the way of a frame to the arbiter `way`. 45 messages go in all.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/contention/contention.h"
#include "proto/wire/splitmix.h"
#include "tests/unit/runner.h"

#define Q 3
#define TASKS (Q * Q)
#define MESSAGES_MAX (Q * (TASKS + Q * (Q - 1)))
#define FRAMES_MAX 256
#define TICK_US 1000u
#define MESSAGE_US 400000u /* 4.7 MB at 100 Mbit/s */
#define MESSAGE_BYTES 4700000.0
#define QUANTUM (8u << 20)
#define SEEDS 12

enum doing { BEGIN, PIPE, MULTIPLY, ROLL, DONE };

struct message {
    int from, to, phase;
    bool pipe, tail, gone;
    double left, weight;
    struct claim claim;
};

struct task {
    enum doing doing;
    int phase;
    uint64_t until_us, idle_us;
};

enum frame_kind { ASK, END, ANSWER };

struct wire_frame {
    uint64_t at_us;
    enum frame_kind kind;
    struct contention_ask ask; /* and END: whose */
    struct contention_answer answer;
};

struct settings {
    bool token;
    double ratio, way;
    uint64_t seed;
};

struct segment {
    struct settings settings;
    uint64_t random, now_us;
    struct arbiter *arbiter;
    struct task task[TASKS];
    struct message message[MESSAGES_MAX];
    int messages, frames;
    struct wire_frame frame[FRAMES_MAX];
    uint32_t claims;
};

/* A number from 0 to 1. */
static double draw(struct segment *s)
{
    return ((double)(splitmix_next(&s->random) >> 11) + 0.5) / (double)(1ull << 53);
}

/* ---- the tasks --------------------------------------------------------------------------- */

static int at(int row, int column)
{
    return (row + Q) % Q * Q + (column + Q) % Q;
}

static void send(struct segment *s, int from, int to, bool pipe)
{
    double normal = sqrt(-2 * log(draw(s))) * cos(2 * 3.14159265 * draw(s));
    s->message[s->messages++] = (struct message){.from = from,
                                                 .to = to,
                                                 .phase = s->task[from].phase,
                                                 .pipe = pipe,
                                                 .left = MESSAGE_BYTES,
                                                 .weight = exp(normal / 2)};
}

/* Whether all messages of this phase from `from` (or any: -1) to `to` (or any) are through, and
 * there are some. */
static bool through(const struct segment *s, int phase, bool pipe, int from, int to)
{
    int found = 0, gone = 0;
    for (int i = 0; i < s->messages; i++) {
        const struct message *m = &s->message[i];
        bool match = m->phase == phase && m->pipe == pipe && (from < 0 || m->from == from) &&
                     (to < 0 || m->to == to);
        found += match;
        gone += match && m->gone;
    }
    return found > 0 && found == gone;
}

static bool is_root(int i, int phase)
{
    return i % Q == (i / Q + phase) % Q;
}

static void pipe_begin(struct segment *s, int i)
{
    s->task[i].doing = PIPE;
    for (int step = 1; is_root(i, s->task[i].phase) && step < Q; step++)
        send(s, i, at(i / Q, i % Q + step), true);
}

static bool pipe_ended(const struct segment *s, int i)
{
    int phase = s->task[i].phase;
    return is_root(i, phase) ? through(s, phase, true, i, -1) : through(s, phase, true, -1, i);
}

static void multiply_begin(struct segment *s, int i)
{
    double took = s->settings.ratio * (0.95 + 0.1 * draw(s));
    s->task[i].doing = MULTIPLY;
    s->task[i].until_us = s->now_us + (uint64_t)(took * MESSAGE_US);
}

static void roll_begin(struct segment *s, int i)
{
    s->task[i].doing = ROLL;
    send(s, i, at(i / Q - 1, i % Q), false);
}

static bool roll_ended(const struct segment *s, int i)
{
    int phase = s->task[i].phase;
    return through(s, phase, false, i, -1) && through(s, phase, false, -1, i);
}

static void run_task(struct segment *s, int i)
{
    struct task *t = &s->task[i];
    if (t->doing == BEGIN && s->now_us >= t->until_us)
        pipe_begin(s, i);
    else if (t->doing == PIPE && pipe_ended(s, i))
        multiply_begin(s, i);
    else if (t->doing == MULTIPLY && s->now_us >= t->until_us)
        roll_begin(s, i);
    else if (t->doing == ROLL && roll_ended(s, i))
        t->doing = ++t->phase < Q ? BEGIN : DONE;
    t->idle_us += t->doing == PIPE || t->doing == ROLL ? TICK_US : 0;
}

/* ---- claims ------------------------------------------------------------------------------ */

static void put(struct segment *s, struct wire_frame frame)
{
    frame.at_us = s->now_us + (uint64_t)(s->settings.way * MESSAGE_US);
    if (s->frames == FRAMES_MAX)
        abort();
    s->frame[s->frames++] = frame;
}

static void on_answer(void *context, const struct contention_answer *answer)
{
    put(context, (struct wire_frame){.kind = ANSWER, .answer = *answer});
}

static void act(struct segment *s, const struct message *m, enum claim_act what)
{
    const struct contention_ask ask = {
        .task = (uint32_t)m->from + 1, .number = m->claim.number, .asked_us = m->claim.asked_us};
    if (what != CLAIM_REST)
        put(s, (struct wire_frame){.kind = what == CLAIM_END ? END : ASK, .ask = ask});
}

static void take(struct segment *s, const struct wire_frame *frame)
{
    const struct arbiter_claim claim = {.ask = frame->ask, .domains = 1, .quantum_bytes = QUANTUM};
    if (frame->kind == ASK)
        arbiter_ask(s->arbiter, &claim, s->now_us);
    if (frame->kind == END)
        arbiter_end(s->arbiter, frame->ask.task, frame->ask.number, s->now_us);
    for (int i = 0; i < s->messages && frame->kind == ANSWER; i++) {
        struct message *m = &s->message[i];
        if (m->claim.number == frame->answer.number)
            act(s, m, claim_on_answer(&m->claim, &frame->answer, s->now_us));
    }
}

static void deliver(struct segment *s)
{
    int kept = 0, there = s->frames;
    for (int i = 0; i < there; i++) {
        struct wire_frame frame = s->frame[i];
        if (frame.at_us <= s->now_us)
            take(s, &frame);
        else
            s->frame[kept++] = frame;
    }
    for (int i = there; i < s->frames; i++)
        s->frame[kept++] = s->frame[i];
    s->frames = kept;
}

/* As lib/engine/bulk.c: the last sixteenth goes while the next one hears of it. */
static void pursue(struct segment *s, struct message *m)
{
    uint64_t next_us;
    if (m->tail || m->gone)
        return;
    if (m->claim.state == CLAIM_HELD && m->left <= MESSAGE_BYTES / 16) {
        m->tail = true;
        act(s, m, claim_drop(&m->claim));
        return;
    }
    if (m->claim.state == CLAIM_NONE)
        act(s, m, claim_want(&m->claim, ++s->claims, s->now_us));
    act(s, m, claim_step(&m->claim, QUANTUM, s->now_us, &next_us));
}

/* ---- the medium -------------------------------------------------------------------------- */

static bool may_send(const struct segment *s, const struct message *m)
{
    return !m->gone && (!s->settings.token || m->tail || claim_may_send(&m->claim, s->now_us));
}

static void carry(struct segment *s)
{
    double weights = 0, bytes = MESSAGE_BYTES * TICK_US / MESSAGE_US;
    for (int i = 0; i < s->messages; i++)
        weights += may_send(s, &s->message[i]) ? s->message[i].weight : 0;
    for (int i = 0; i < s->messages; i++) {
        struct message *m = &s->message[i];
        if (!may_send(s, m))
            continue;
        double part = bytes * m->weight / weights;
        m->left -= part;
        claim_sent(&m->claim, (uint64_t)part, s->now_us);
        if (m->left > 0)
            continue;
        m->gone = true;
        act(s, m, claim_drop(&m->claim));
    }
}

static void step(struct segment *s)
{
    s->now_us += TICK_US;
    deliver(s);
    arbiter_step(s->arbiter, s->now_us);
    for (int i = 0; i < TASKS; i++)
        run_task(s, i);
    for (int i = 0; i < s->messages && s->settings.token; i++)
        pursue(s, &s->message[i]);
    carry(s);
}

static bool all_done(const struct segment *s)
{
    for (int i = 0; i < TASKS; i++)
        if (s->task[i].doing != DONE)
            return false;
    return true;
}

/* ---- what comes out ---------------------------------------------------------------------- */

struct outcome {
    double total, idle; /* in messages */
};

static struct outcome run(const struct settings *settings)
{
    struct segment *s = calloc(1, sizeof *s);
    if (s == NULL)
        abort();
    s->settings = *settings;
    s->random = settings->seed;
    s->arbiter = arbiter_create(0, on_answer, s);
    for (int i = 0; i < TASKS; i++)
        s->task[i].until_us = (uint64_t)(draw(s) * MESSAGE_US / 4);
    while (!all_done(s) && s->now_us < 200u * MESSAGE_US)
        step(s);
    struct outcome out = {.total = (double)s->now_us / MESSAGE_US};
    for (int i = 0; i < TASKS; i++)
        out.idle += (double)s->task[i].idle_us / MESSAGE_US / TASKS;
    arbiter_destroy(s->arbiter);
    free(s);
    return out;
}

static struct outcome mean(struct settings settings)
{
    struct outcome sum = {0};
    for (settings.seed = 1; settings.seed <= SEEDS; settings.seed++) {
        struct outcome one = run(&settings);
        sum.total += one.total / SEEDS;
        sum.idle += one.idle / SEEDS;
    }
    return sum;
}

static struct outcome print_gain(double ratio, double way, struct outcome off)
{
    struct outcome token = mean((struct settings){.token = true, .ratio = ratio, .way = way});
    printf("product %.1f, way %.3f: off %.1f (idle %.1f), token %.1f (%.1f): %.1f %%\n", ratio, way,
           off.total, off.idle, token.total, token.idle, 100 * (token.total / off.total - 1));
    return token;
}

static void tokens_save_a_seventh_where_products_take_as_long_as_messages(void)
{
    for (int ratio = 6; ratio <= 8; ratio++) {
        struct outcome off = mean((struct settings){.ratio = ratio});
        struct outcome token = print_gain(ratio, 0.03, off);
        CU_ASSERT(token.total < 0.86 * off.total);
        CU_ASSERT(token.idle < 0.75 * off.idle);
    }
}

static void where_the_medium_is_all_that_matters_they_lose_nothing(void)
{
    static const double ratios[] = {0.5, 3};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        struct outcome off = mean((struct settings){.ratio = ratios[i]});
        CU_ASSERT(print_gain(ratios[i], 0.03, off).total < 1.01 * off.total);
    }
}

static void an_arbiter_far_away_costs_little(void)
{
    struct outcome near = mean((struct settings){.token = true, .ratio = 7, .way = 0.005});
    struct outcome far = mean((struct settings){.token = true, .ratio = 7, .way = 0.05});
    printf("token, way 0.005: %.1f, 0.05: %.1f\n", near.total, far.total);
    CU_ASSERT(far.total < 1.03 * near.total);
}

static const struct test_case cases[] = {
    {"tokens save a seventh where products take as long as messages",
     tokens_save_a_seventh_where_products_take_as_long_as_messages},
    {"where the medium is all that matters they lose nothing",
     where_the_medium_is_all_that_matters_they_lose_nothing},
    {"an arbiter far away costs little", an_arbiter_far_away_costs_little},
};

int main(void)
{
    return covey_test_main("segment", cases, sizeof cases / sizeof cases[0]);
}
