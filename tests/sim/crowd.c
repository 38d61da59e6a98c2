#include "tests/sim/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/client.h"
#include "proto/state/state.h"
#include "proto/wire/frame.h"

#define TICK_US 1000
#define RETRY_TICKS 50
#define LOOK_TICKS 100 /* the last event may be lost: nothing after it tells */
#define NAMES 3        /* of each kind */
#define MEET 3         /* so many meet, or wait at a barrier */
#define MEETINGS 64
#define HOSTS_MAX VOTERS_HOST_MAX
#define TASKS_MAX 16
#define CALM_TICKS 20000

enum want { LOCK, TOKEN, MEETING, GROUP, BARRIER, CREATE };
enum doing { IDLE, ASKED, HOLDS, LETS_GO };

struct task {
    uint32_t tid;
    enum doing doing;
    enum want want;
    unsigned which;
    uint32_t request;
    uint64_t number;
    uint64_t act_at; /* when it does the next thing by itself */
    bool in_group, wants_claim;
};

struct member_host {
    bool lives;
    uint32_t index, local;
    uint64_t session, sent_at, resent_at, back_at;
    unsigned leader;
    struct client client;
    struct task tasks[TASKS_MAX];
};

/* What the tasks believe of a lock or a token. */
struct belief {
    uint32_t holder;
    uint64_t number;
};

struct meeting {
    uint64_t key, hash;
};

struct crowd {
    struct crowd_config config;
    struct crowd_stats stats;
    struct network *network;
    struct voters *voters;
    uint64_t random, now;
    bool calm;
    struct member_host hosts[HOSTS_MAX + 1];
    struct belief beliefs[2][NAMES];
    struct meeting meetings[MEETINGS];
    unsigned meeting_next;
    char failure[320];
};

static void fail(struct crowd *w, const char *what, const struct task *t, int status)
{
    if (w->failure[0] == '\0')
        snprintf(w->failure, sizeof w->failure, "tick %llu: %s: t%x, want %d.%u, status %d",
                 (unsigned long long)w->now, what, t->tid, (int)t->want, t->which, status);
}

const char *crowd_failure(const struct crowd *w)
{
    return w->failure[0] != '\0' ? w->failure : voters_failure(w->voters);
}

const struct crowd_stats *crowd_stats(const struct crowd *w)
{
    return &w->stats;
}

static uint64_t below(struct crowd *w, uint64_t bound)
{
    return random_below(&w->random, bound);
}

static bool chance(struct crowd *w, uint32_t ppm)
{
    return ppm > 0 && !w->calm && random_chance(&w->random, ppm);
}

/* ---- what a task asks for ---- */

static const char *name_of(enum want want, unsigned which)
{
    static const char *const names[][NAMES] = {
        [LOCK] = {"lock0", "lock1", "lock2"},    [TOKEN] = {"token0", "token1", "token2"},
        [MEETING] = {"meet0", "meet1", "meet2"}, [GROUP] = {"group", "group", "group"},
        [BARRIER] = {"group", "group", "group"}, [CREATE] = {"token0", "token1", "token2"}};
    return names[want][which];
}

struct asking {
    struct command command;
    struct cursor c;
    uint8_t body[128];
};

static void ask_begin(struct asking *a, struct task *t, uint8_t kind)
{
    a->command =
        (struct command){.kind = kind, .task = t->tid, .request = ++t->request, .body = a->body};
    a->c = cursor_writer(a->body, sizeof a->body);
    cursor_put_text(&a->c, name_of(t->want, t->which));
}

static void ask_end(struct member_host *h, struct asking *a)
{
    a->command.size = (size_t)(a->c.at - a->body);
    client_put(&h->client, &a->command);
}

static void ask(struct member_host *h, struct task *t)
{
    static const uint8_t kinds[] = {COMMAND_LOCK_ACQUIRE,  COMMAND_TOKEN_REQUEST,
                                    COMMAND_RENDEZVOUS,    COMMAND_GROUP_JOIN,
                                    COMMAND_GROUP_BARRIER, COMMAND_TOKEN_CREATE};
    struct asking a;
    ask_begin(&a, t, kinds[t->want]);
    if (t->want == LOCK || t->want == TOKEN)
        cursor_put_u8(&a.c, 0);
    if (t->want == MEETING || t->want == BARRIER)
        cursor_put_u32(&a.c, MEET);
    if (t->want == MEETING) {
        cursor_put_u8(&a.c, 8);
        cursor_put_u32(&a.c, t->tid);
        cursor_put_u32(&a.c, t->request);
    }
    ask_end(h, &a);
    t->doing = ASKED;
}

/* Half of them give up some time, if those they wait for may never come. */
static void begin(struct crowd *w, struct member_host *h, struct task *t)
{
    bool tokens = w->config.tokens_only || w->calm;
    t->want = tokens ? TOKEN : (enum want)below(w, BARRIER + 1);
    if (!tokens && t->want == GROUP && t->in_group)
        t->want = BARRIER;
    if (t->want == BARRIER && !t->in_group)
        t->want = GROUP;
    t->which = w->config.tokens_only ? 0 : (unsigned)below(w, NAMES);
    bool patient = tokens || (t->want < MEETING && below(w, 2) == 0);
    t->act_at = patient ? UINT64_MAX : w->now + below(w, 400);
    ask(h, t);
}

static void give_up(struct crowd *w, struct member_host *h, struct task *t)
{
    uint8_t body[4];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u32(&c, t->request++); /* an answer to it is ignored from now on */
    client_put(&h->client,
               &(struct command){
                   .kind = COMMAND_CANCEL, .task = t->tid, .body = body, .size = sizeof body});
    if (t->want == GROUP)
        t->in_group = true; /* the answer is lost, not the membership */
    w->stats.timeouts++;
    t->doing = IDLE;
    t->act_at = w->now + below(w, 50);
}

static struct belief *belief_of(struct crowd *w, const struct task *t)
{
    return &w->beliefs[t->want == LOCK ? 0 : 1][t->which];
}

static uint32_t pass_target(struct crowd *w, const struct task *t)
{
    if (w->config.tokens_only || w->calm || below(w, 4) != 0)
        return 0;
    const struct member_host *h = &w->hosts[1 + below(w, w->config.hosts)];
    uint32_t tid = h->tasks[below(w, w->config.tasks)].tid;
    if (below(w, 8) == 0) /* one that never was, perhaps on no host at all */
        tid = tid_make(1 + (uint32_t)below(w, w->config.hosts + 1), 100000);
    return tid == t->tid ? 0 : tid;
}

static void let_go(struct crowd *w, struct member_host *h, struct task *t)
{
    struct asking a;
    bool destroys = t->want == TOKEN && !w->config.tokens_only && !w->calm && below(w, 40) == 0;
    uint8_t kind = t->want == LOCK ? COMMAND_LOCK_RELEASE
                   : destroys      ? COMMAND_TOKEN_DESTROY
                                   : COMMAND_TOKEN_PASS;
    ask_begin(&a, t, kind);
    cursor_put_u64(&a.c, t->number);
    if (kind == COMMAND_TOKEN_PASS)
        cursor_put_u32(&a.c, pass_target(w, t));
    ask_end(h, &a);
    belief_of(w, t)->holder = 0;
    t->doing = LETS_GO;
    t->act_at = UINT64_MAX;
}

/* ---- what a task is told ---- */

static void rest(struct crowd *w, struct task *t)
{
    t->doing = IDLE;
    t->act_at = w->now + (w->config.tokens_only ? 0 : below(w, 50));
}

static void granted(struct crowd *w, struct task *t, const struct event *e)
{
    struct belief *b = belief_of(w, t);
    struct cursor c = cursor_reader(e->body, e->size);
    t->number = cursor_get_u64(&c);
    if (b->holder != 0)
        fail(w, "two hold it", t, (int)b->holder);
    if (t->number <= b->number)
        fail(w, "the number did not grow", t, 0);
    *b = (struct belief){.holder = t->tid, .number = t->number};
    w->stats.grants++;
    t->wants_claim = false;
    t->doing = HOLDS;
    t->act_at = w->now + (w->config.tokens_only ? 0 : below(w, 30));
}

/* All who met were told the same, of each what it brought. */
static void met(struct crowd *w, struct task *t, const struct event *e)
{
    struct cursor c = cursor_reader(e->body, e->size);
    uint64_t hash = 14695981039346656037u, key = 0;
    bool here = false;
    for (size_t i = 0; i < e->size; i++)
        hash = (hash ^ e->body[i]) * 1099511628211u;
    for (int i = 0; i < MEET; i++) {
        uint32_t tid = cursor_get_u32(&c);
        uint8_t size = cursor_get_u8(&c);
        uint32_t said = cursor_get_u32(&c), request = cursor_get_u32(&c);
        if (size != 8 || said != tid)
            fail(w, "a meeting mixed up what was brought", t, i);
        here |= tid == t->tid && request == t->request;
        key = i == 0 ? (uint64_t)tid << 32 | request : key;
    }
    if (!cursor_done(&c) || !here)
        fail(w, "a meeting without those who met", t, 0);
    for (int i = 0; i < MEETINGS; i++)
        if (w->meetings[i].key == key && w->meetings[i].hash != hash)
            fail(w, "those who met were told different things", t, i);
    w->meetings[w->meeting_next++ % MEETINGS] = (struct meeting){key, hash};
    w->stats.meetings++;
}

static void on_asked(struct crowd *w, struct member_host *h, struct task *t, const struct event *e)
{
    bool may_fail = e->status == ERROR_ENOTASK && (t->want == MEETING || t->want == BARRIER);
    if (e->status == ERROR_ENOENT && t->want == TOKEN) {
        t->want = CREATE;
        t->act_at = UINT64_MAX;
        ask(h, t);
        return;
    }
    if (e->status == ERROR_OK && t->want == CREATE)
        t->want = TOKEN;
    if (e->status == ERROR_OK && (t->want == LOCK || t->want == TOKEN)) {
        granted(w, t, e);
        return;
    }
    if (e->status == ERROR_OK && t->want == MEETING)
        met(w, t, e);
    w->stats.barriers += e->status == ERROR_OK && t->want == BARRIER;
    t->in_group |= t->want == GROUP;
    if (e->status == ERROR_EEXIST && t->want == CREATE)
        may_fail = true;
    if (e->status == ERROR_EEXIST && t->want == GROUP)
        may_fail = t->in_group;
    if (e->status != ERROR_OK && !may_fail)
        fail(w, "refused", t, e->status);
    rest(w, t);
}

static void on_let_go(struct crowd *w, struct task *t, const struct event *e)
{
    if (e->status == ERROR_ENOTASK && t->want == TOKEN) { /* it keeps it */
        belief_of(w, t)->holder = t->tid;
        t->doing = HOLDS;
        t->act_at = w->now;
        return;
    }
    if (e->status != ERROR_OK)
        fail(w, "a holder could not let go", t, e->status);
    w->stats.passes += t->want == TOKEN;
    rest(w, t);
}

static struct task *task_find(struct member_host *h, uint32_t tid, uint32_t tasks)
{
    for (uint32_t i = 0; i < tasks; i++)
        if (h->tasks[i].tid == tid)
            return &h->tasks[i];
    return NULL;
}

static void event_take(struct crowd *w, struct member_host *h, const struct event *e)
{
    struct task *t = task_find(h, e->task, w->config.tasks);
    if (t == NULL)
        client_put(&h->client, &(struct command){.kind = COMMAND_TASK_GONE, .task = e->task});
    else if (e->kind == EVENT_NOTICE)
        t->wants_claim = true;
    else if (e->request == t->request && t->doing == ASKED)
        on_asked(w, h, t, e);
    else if (e->request == t->request && t->doing == LETS_GO)
        on_let_go(w, t, e);
}

/* ---- frames ---- */

static void on_voter_send(void *context, unsigned voter, uint32_t host, enum voters_frame kind,
                          const uint8_t *bytes, size_t size)
{
    uint8_t frame[1 + EVENT_HEAD_BYTES + EVENT_BODY_MAX];
    struct crowd *w = context;
    frame[0] = (uint8_t)kind;
    memcpy(frame + 1, bytes, size);
    network_send(w->network, voter, VOTERS - 1 + host, frame, 1 + size);
}

static void host_send(struct crowd *w, struct member_host *h, enum voters_frame kind,
                      const struct cursor *c, uint8_t *frame)
{
    frame[0] = (uint8_t)kind;
    network_send(w->network, VOTERS - 1 + h->index, h->leader, frame, (size_t)(c->at - frame));
}

static void resend_ask(struct crowd *w, struct member_host *h)
{
    uint8_t frame[17];
    struct cursor c = cursor_writer(frame + 1, sizeof frame - 1);
    if (h->resent_at + 5 > w->now)
        return;
    h->resent_at = w->now;
    cursor_put_u64(&c, h->client.session);
    cursor_put_u64(&c, h->client.taken);
    host_send(w, h, VOTERS_RESEND, &c, frame);
}

static void host_take(struct crowd *w, struct member_host *h, const struct network_datagram *d)
{
    struct cursor c = cursor_reader(d->bytes + 1, d->size - 1);
    struct event e;
    if (d->bytes[0] == VOTERS_APPLIED) {
        uint64_t session = cursor_get_u64(&c), applied = cursor_get_u64(&c);
        client_applied(&h->client, session, applied);
        return;
    }
    event_get(&c, &e);
    enum client_verdict verdict = client_event(&h->client, &e);
    if (verdict == CLIENT_TAKE)
        event_take(w, h, &e);
    else if (verdict == CLIENT_GAP)
        resend_ask(w, h);
}

static void frames_take(struct crowd *w)
{
    struct network_datagram *d;
    while ((d = network_take(w->network)) != NULL) {
        struct member_host *h = d->to < VOTERS ? NULL : &w->hosts[d->to - VOTERS + 1];
        if (h == NULL)
            voters_take(w->voters, d->to, d->from - VOTERS + 1, (enum voters_frame)d->bytes[0],
                        d->bytes + 1, d->size - 1);
        else if (h->lives)
            host_take(w, h, d);
        free(d);
    }
}

static void commands_send(struct crowd *w, struct member_host *h)
{
    uint8_t frame[1 + COMMAND_BYTES_MAX];
    const struct command *next;
    if (client_wants_ack(&h->client))
        client_put(&h->client, &(struct command){.kind = COMMAND_ACK});
    if (h->leader != voters_leader(w->voters) && below(w, 10) == 0) {
        h->leader = voters_leader(w->voters);
        client_again(&h->client);
    }
    if (h->client.first != NULL && w->now >= h->sent_at + RETRY_TICKS)
        client_again(&h->client);
    if (w->now >= h->resent_at + LOOK_TICKS)
        resend_ask(w, h);
    while ((next = client_next(&h->client)) != NULL) {
        struct cursor c = cursor_writer(frame + 1, sizeof frame - 1);
        command_put(&c, next);
        host_send(w, h, VOTERS_PROPOSE, &c, frame);
        h->sent_at = w->now;
    }
}

/* ---- life and death ---- */

static void task_start(struct crowd *w, struct member_host *h, struct task *t)
{
    *t = (struct task){.tid = tid_make(h->index, ++h->local), .act_at = w->now + below(w, 20)};
}

static void belief_end(struct crowd *w, uint32_t tid)
{
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < NAMES; i++)
            if (w->beliefs[kind][i].holder == tid)
                w->beliefs[kind][i].holder = 0;
}

static void task_die(struct crowd *w, struct member_host *h, struct task *t)
{
    w->stats.task_deaths++;
    belief_end(w, t->tid);
    client_put(&h->client, &(struct command){.kind = COMMAND_TASK_GONE, .task = t->tid});
    task_start(w, h, t);
}

static void host_start(struct crowd *w, struct member_host *h)
{
    h->lives = true;
    client_open(&h->client, h->index, ++h->session);
    h->sent_at = w->now;
    h->leader = voters_leader(w->voters);
    for (uint32_t i = 0; i < w->config.tasks; i++)
        task_start(w, h, &h->tasks[i]);
    voters_host(w->voters, h->index, true);
}

static void host_die(struct crowd *w, struct member_host *h)
{
    w->stats.host_deaths++;
    h->lives = false;
    h->back_at = w->now + below(w, 300);
    for (uint32_t i = 0; i < w->config.tasks; i++)
        belief_end(w, h->tasks[i].tid);
    client_fini(&h->client);
    voters_host(w->voters, h->index, false);
}

static struct task *holder_find(struct crowd *w, struct member_host **host)
{
    uint32_t tid = w->beliefs[1][0].holder;
    *host = &w->hosts[tid_host(tid)];
    return tid == 0 ? NULL : task_find(*host, tid, w->config.tasks);
}

static void misfortunes(struct crowd *w)
{
    struct member_host *h = &w->hosts[1 + below(w, w->config.hosts)], *at;
    if (chance(w, w->config.host_death_ppm) && h->lives)
        host_die(w, h);
    if (chance(w, w->config.task_death_ppm) && h->lives)
        task_die(w, h, &h->tasks[below(w, w->config.tasks)]);
    if (chance(w, w->config.kill_holder_ppm)) {
        struct task *holder = holder_find(w, &at);
        if (holder != NULL)
            task_die(w, at, holder);
    }
    if (chance(w, w->config.depose_ppm)) {
        voters_depose(w->voters);
        w->stats.deposed++;
    }
    if (chance(w, w->config.crash_ppm))
        voters_crash(w->voters, (unsigned)below(w, VOTERS));
}

/* ---- a tick ---- */

static void task_act(struct crowd *w, struct member_host *h, struct task *t)
{
    if (t->doing == HOLDS)
        let_go(w, h, t);
    else if (t->doing == ASKED)
        give_up(w, h, t);
    else if (t->doing == IDLE && !w->calm)
        begin(w, h, t);
}

static void host_act(struct crowd *w, struct member_host *h)
{
    if (!h->lives && w->now >= h->back_at)
        host_start(w, h);
    if (!h->lives)
        return;
    for (uint32_t i = 0; i < w->config.tasks; i++)
        if (w->now >= h->tasks[i].act_at)
            task_act(w, h, &h->tasks[i]);
    commands_send(w, h);
}

bool crowd_tick(struct crowd *w)
{
    w->now++;
    network_advance(w->network, w->now * TICK_US);
    frames_take(w);
    misfortunes(w);
    for (uint32_t i = 1; i <= w->config.hosts; i++)
        host_act(w, &w->hosts[i]);
    voters_tick(w->voters);
    return crowd_failure(w) == NULL;
}

/* ---- calm ---- */

static bool asks_for(const struct task *t, unsigned token)
{
    return t->doing == ASKED && t->want == TOKEN && t->which == token;
}

/* A token that was passed to a task by name is still to be claimed by it: before it waits for
 * something else, which may be held by one that waits for this. */
static void claim(struct crowd *w, struct member_host *h, struct task *t, unsigned token)
{
    if (t->doing == ASKED && !asks_for(t, token))
        give_up(w, h, t);
    if (t->doing != IDLE)
        return;
    t->want = TOKEN;
    t->which = token;
    t->act_at = UINT64_MAX;
    ask(h, t);
}

/* One may have been given several: one after the other. */
static bool is_first_of_holder(struct crowd *w, size_t i, uint32_t holder)
{
    struct voters_row row;
    for (size_t j = 0; j < i; j++)
        if (voters_row(w->voters, 1, j, &row) && row.holder == holder)
            return false;
    return true;
}

static void claims_make(struct crowd *w)
{
    struct voters_row row;
    for (size_t i = 0; voters_row(w->voters, 1, i, &row); i++) {
        if (!is_first_of_holder(w, i, row.holder))
            continue;
        struct member_host *h = &w->hosts[tid_host(row.holder)];
        struct task *t = row.holder == 0 ? NULL : task_find(h, row.holder, w->config.tasks);
        if (t != NULL && h->lives)
            claim(w, h, t, (unsigned)(row.name[5] - '0'));
    }
}

static bool is_calm(struct crowd *w)
{
    struct voters_row row;
    if (voters_row(w->voters, 0, 0, &row))
        return false;
    for (size_t i = 0; voters_row(w->voters, 1, i, &row); i++)
        if (row.holder != 0 || row.waiting != 0)
            return false;
    for (uint32_t i = 1; i <= w->config.hosts; i++) {
        const struct member_host *h = &w->hosts[i];
        if (!h->lives || h->client.first != NULL)
            return false;
        for (uint32_t j = 0; j < w->config.tasks; j++)
            if (h->tasks[j].doing != IDLE)
                return false;
    }
    return true;
}

static void say_who_waits(struct crowd *w)
{
    struct voters_row row;
    for (uint32_t i = 1; i <= w->config.hosts; i++) {
        struct member_host *h = &w->hosts[i];
        for (uint32_t j = 0; j < w->config.tasks; j++)
            if (!h->lives || h->client.first != NULL || h->tasks[j].doing != IDLE)
                fail(w, h->lives ? "waits for ever" : "never came back", &h->tasks[j],
                     (int)h->tasks[j].doing);
    }
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; voters_row(w->voters, kind, i, &row); i++)
            if (row.holder != 0)
                fail(w, row.name,
                     &(struct task){.tid = row.holder, .want = kind == 0 ? LOCK : TOKEN},
                     (int)row.waiting);
}

bool crowd_calm(struct crowd *w)
{
    network_configure(w->network, &(struct network_config){.delay_us = TICK_US});
    w->calm = true;
    for (uint32_t i = 1; i <= w->config.hosts; i++) /* who waits for others who may not come */
        for (uint32_t j = 0; j < w->config.tasks; j++) {
            struct task *t = &w->hosts[i].tasks[j];
            if (t->doing == ASKED && (t->want == MEETING || t->want == BARRIER))
                t->act_at = w->now + 100;
            else if (t->doing == ASKED)
                t->act_at = UINT64_MAX;
        }
    for (uint64_t end = w->now + CALM_TICKS; w->now < end; claims_make(w)) {
        if (!crowd_tick(w))
            return false;
        if (is_calm(w))
            return true;
    }
    say_who_waits(w);
    return false;
}

/* ---- create and destroy ---- */

struct crowd *crowd_create(const struct crowd_config *config)
{
    struct crowd *w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    w->config = *config;
    w->random = config->seed * 7 + 1;
    w->voters = voters_create(config->seed, on_voter_send, w);
    w->network = network_create(&(struct network_config){.seed = config->seed,
                                                         .ports = VOTERS + config->hosts,
                                                         .loss_ppm = config->loss_ppm,
                                                         .duplicate_ppm = config->duplicate_ppm,
                                                         .reorder_ppm = config->reorder_ppm,
                                                         .reorder_us = 10 * TICK_US,
                                                         .delay_us = TICK_US,
                                                         .jitter_us = TICK_US / 2});
    for (uint32_t i = 1; i <= config->hosts; i++) {
        w->hosts[i].index = i;
        host_start(w, &w->hosts[i]);
    }
    return w;
}

void crowd_destroy(struct crowd *w)
{
    for (uint32_t i = 1; i <= w->config.hosts; i++)
        client_fini(&w->hosts[i].client);
    voters_destroy(w->voters);
    network_destroy(w->network);
    free(w);
}
