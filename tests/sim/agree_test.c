/* links: tests/sim/replica_sim.c tests/sim/network.c proto/session/fault.c proto/state/client.c proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * agree_test.c - sessions, election and consensus under everything that can happen to the commands
 * that carry them (replica_sim.h), with tasks and hosts that die, are cut off and come back. Some
 * hundreds of seeds; SOAK=1: 10,000; SEED=N: that one alone.
 *
 * A ledger holds what any task was told first; whatever is told later must agree with it:
 *   sessions   one change a number, and one roster: so all members see the same sequence of views.
 *              A member sees the numbers one by one, or a whole roster that is newer; who is told
 *              that it was excluded left, was expelled, or was declared gone
 *   values     one author and content a version, and each version follows one put that was taken
 *   election   one leader a term; each task sees terms grow
 *   consensus  one value and proposer a number for ever (agreement, integrity), who did propose it
 *              (validity)
 * At the end, when all is at rest: the members are who joined and neither left nor died, nobody
 * waits for what is there, and who leads lives.
 *
 * slow: hundreds of seeds of whole VMs; make quick leaves it out.
 */
#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/view.h"
#include "proto/wire/frame.h"
#include "tests/sim/network.h"
#include "tests/sim/replica_sim.h"
#include "tests/unit/runner.h"

#define TASKS 96   /* that ever live in one run */
#define VIEWS 1024 /* numbers in a ledger */
#define ROSTER 96
#define NUMBERS 64  /* of a series */
#define REQUESTS 32 /* of one task, remembered */
#define STEPS 4000

enum standing { OUT, JOINING, MEMBER, LEAVING };

struct roster {
    uint32_t count;
    uint32_t tasks[ROSTER];
};

struct request {
    uint32_t number;
    uint8_t kind; /* 0: answered */
    uint64_t argument;
};

/* A task as it sees itself. */
struct player {
    uint32_t task;
    bool lives;
    bool cut_off; /* its host was declared gone while it lived */
    struct request requests[REQUESTS];
    uint32_t last_request;

    enum standing standing;
    bool expelled; /* somebody asked for it, and it may be carried out at any time */
    uint64_t seen;
    struct roster roster;
    uint64_t version; /* of the value, as last heard */

    bool stands, resigning;
    uint64_t term;
};

struct ledger_view {
    uint8_t kind;
    uint32_t task;
    bool has_roster;
    struct roster roster;
};

struct ledger_decision {
    uint32_t proposer;
    uint64_t value;
};

struct world {
    struct replica_sim *sim;
    uint64_t *random;
    bool restless; /* tasks come and go */
    struct player players[TASKS];
    uint32_t players_count;
    bool host_lives[REPLICA_SIM_HOSTS], host_cut_off[REPLICA_SIM_HOSTS];
    uint32_t local[REPLICA_SIM_HOSTS]; /* the last local number given out */

    struct ledger_view views[VIEWS];
    uint32_t authors[4 * VIEWS];  /* of the versions of the value */
    uint64_t replaced[4 * VIEWS]; /* by which version */
    uint32_t leaders[4 * VIEWS];
    struct ledger_decision decisions[NUMBERS];
    uint64_t floor; /* numbers below it may be forgotten */
};

/* How often each interesting thing happened, over all seeds. */
static struct {
    uint64_t views, rosters, excluded, expelled, hosts, puts, lost_puts, terms, decisions, late,
        forgotten;
} seen;

/* A value says who proposed it for which number. */
static uint64_t value_of(uint32_t task, uint64_t number)
{
    return (uint64_t)task << 32 | number;
}

static struct player *player_of(struct world *w, uint32_t task)
{
    for (uint32_t i = 0; i < w->players_count; i++)
        if (w->players[i].task == task)
            return &w->players[i];
    return NULL;
}

/* ---- asking ---- */

static struct request *request_slot(struct player *p, uint8_t kind)
{
    for (int i = 0; i < REQUESTS; i++)
        if (p->requests[i].kind == kind)
            return &p->requests[i];
    return NULL;
}

static void ask(struct world *w, struct player *p, uint8_t kind, const struct cursor *c,
                const uint8_t *body)
{
    struct request *r = request_slot(p, 0);
    struct command command = {.kind = kind, .host = tid_host(p->task), .task = p->task};

    if (r == NULL)
        return;
    r->kind = kind;
    r->number = command.request = ++p->last_request;
    command.body = body;
    command.size = (size_t)(c->at - body);
    replica_sim_ask(w->sim, &command);
}

/* What the last request was about. */
static void numbered(struct player *p, uint64_t argument)
{
    for (int i = 0; i < REQUESTS; i++)
        if (p->requests[i].kind != 0 && p->requests[i].number == p->last_request)
            p->requests[i].argument = argument;
}

static void ask_name(struct world *w, struct player *p, uint8_t kind, const char *name)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);

    cursor_put_text(&c, name);
    ask(w, p, kind, &c, body);
}

static void ask_number(struct world *w, struct player *p, uint8_t kind, const char *name,
                       uint64_t number)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);

    cursor_put_text(&c, name);
    cursor_put_u64(&c, number);
    ask(w, p, kind, &c, body);
}

static void ask_expel(struct world *w, struct player *p, struct player *other)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);

    cursor_put_text(&c, "session");
    cursor_put_u32(&c, other->task);
    other->expelled = true;
    ask(w, p, COMMAND_VIEW_EXPEL, &c, body);
}

static void ask_put(struct world *w, struct player *p)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);

    cursor_put_text(&c, "session");
    cursor_put_u64(&c, p->version);
    cursor_put_u32(&c, p->task);
    ask(w, p, COMMAND_VIEW_PUT, &c, body);
    numbered(p, p->version);
}

static void ask_propose(struct world *w, struct player *p, uint64_t number)
{
    uint8_t body[128];
    struct cursor c = cursor_writer(body, sizeof body);

    cursor_put_text(&c, "series");
    cursor_put_u64(&c, number);
    cursor_put_u64(&c, value_of(p->task, number));
    ask(w, p, COMMAND_CONSENSUS_PROPOSE, &c, body);
}

/* ---- sessions ---- */

static bool roster_equal(const struct roster *a, const struct roster *b)
{
    return a->count == b->count && memcmp(a->tasks, b->tasks, a->count * sizeof a->tasks[0]) == 0;
}

static bool roster_has(const struct roster *r, uint32_t task)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->tasks[i] == task)
            return true;
    return false;
}

static void roster_change(struct roster *r, uint8_t kind, uint32_t task)
{
    uint32_t kept = 0;

    if (kind == VIEW_JOINED) {
        r->tasks[r->count++] = task;
        return;
    }
    for (uint32_t i = 0; i < r->count; i++)
        if (kind == VIEW_HOST_LOST ? tid_host(r->tasks[i]) != tid_host(task) : r->tasks[i] != task)
            r->tasks[kept++] = r->tasks[i];
    r->count = kept;
}

/* The first to tell fixes the roster of a number. */
static void roster_check(struct world *w, const struct player *p)
{
    struct ledger_view *v = &w->views[p->seen % VIEWS];

    if (!v->has_roster)
        v->roster = p->roster;
    v->has_roster = true;
    if (!roster_equal(&v->roster, &p->roster))
        replica_sim_fail(w->sim, "t%x sees another roster in view %" PRIu64, p->task, p->seen);
    if (!roster_has(&p->roster, p->task))
        replica_sim_fail(w->sim, "t%x is told a view that it is not in", p->task);
}

static void take_change(struct world *w, struct player *p, uint8_t kind, uint32_t task)
{
    struct ledger_view *v = &w->views[++p->seen % VIEWS];

    if (v->kind == 0)
        *v = (struct ledger_view){
            .kind = kind, .task = task, .has_roster = v->has_roster, .roster = v->roster};
    if (v->kind != kind || v->task != task)
        replica_sim_fail(w->sim, "t%x sees another change in view %" PRIu64, p->task, p->seen);
    roster_change(&p->roster, kind, task);
    roster_check(w, p);
    seen.views++;
    seen.expelled += kind == VIEW_EXPELLED;
    seen.hosts += kind == VIEW_HOST_LOST;
}

static void take_roster(struct world *w, struct player *p, uint64_t first, struct cursor *c,
                        uint32_t count)
{
    if (p->standing == MEMBER && first <= p->seen)
        replica_sim_fail(w->sim, "t%x is given a roster that is not newer", p->task);
    seen.rosters += p->standing == MEMBER;
    p->seen = first;
    p->roster.count = count;
    for (uint32_t i = 0; i < count && i < ROSTER; i++)
        p->roster.tasks[i] = cursor_get_u32(c);
    roster_check(w, p);
}

static void take_changes(struct world *w, struct player *p, uint64_t first, struct cursor *c,
                         uint32_t count)
{
    if (first != p->seen + 1 || count == 0)
        replica_sim_fail(w->sim, "t%x saw view %" PRIu64 " and is told %" PRIu64 " next", p->task,
                         p->seen, first);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t kind = cursor_get_u8(c);

        take_change(w, p, kind, cursor_get_u32(c));
    }
}

static void take_excluded(struct world *w, struct player *p)
{
    if (!p->expelled && p->standing != LEAVING && p->standing != OUT && !p->cut_off)
        replica_sim_fail(w->sim, "t%x is told that it was excluded, and was not", p->task);
    seen.excluded++;
    if (p->standing == LEAVING)
        return; /* the answer to that comes, too */
    p->standing = OUT;
}

static void take_views(struct world *w, struct player *p, struct cursor *c)
{
    uint64_t first = cursor_get_u64(c);
    uint8_t form = cursor_get_u8(c);
    uint32_t count = cursor_get_u32(c);

    if (form == VIEWS_EXCLUDED)
        take_excluded(w, p);
    else if (form == VIEWS_ROSTER)
        take_roster(w, p, first, c, count);
    else
        take_changes(w, p, first, c, count);
    if (!cursor_ok(c))
        replica_sim_fail(w->sim, "t%x cannot read its views", p->task);
}

static void on_join(struct world *w, struct player *p, const struct event *e, struct cursor *c)
{
    if (e->status != ERROR_OK) {
        replica_sim_fail(w->sim, "t%x cannot join: %d", p->task, e->status);
        return;
    }
    take_views(w, p, c);
    p->standing = MEMBER;
    p->version = 0; /* what it knows of the value may be of a session before this one */
}

/* Each version has one author and is replaced once. */
static void version_check(struct world *w, const struct player *p, uint64_t replaces,
                          uint64_t version)
{
    uint32_t *author = &w->authors[version % (4 * VIEWS)];
    uint64_t *next = &w->replaced[replaces % (4 * VIEWS)];

    if (version <= replaces || *author != 0)
        replica_sim_fail(w->sim, "t%x is told of version %" PRIu64 ", which was there", p->task,
                         version);
    if (replaces != 0 && *next != 0)
        replica_sim_fail(w->sim, "t%x replaced a version that was replaced", p->task);
    *author = p->task;
    *next = version;
}

static void on_put(struct world *w, struct player *p, const struct event *e, uint64_t replaces,
                   struct cursor *c)
{
    uint8_t taken = cursor_get_u8(c);
    uint64_t version = cursor_get_u64(c);

    if (e->status == ERROR_ENOGROUP)
        return;
    p->version = version;
    seen.puts += taken;
    seen.lost_puts += !taken;
    if (taken)
        version_check(w, p, replaces, version);
}

/* ---- election ---- */

static void take_leader(struct world *w, struct player *p, struct cursor *c)
{
    uint32_t leader = cursor_get_u32(c);
    uint64_t term = cursor_get_u64(c);
    uint32_t *known = &w->leaders[term % (4 * VIEWS)];

    if (leader == 0 || term == 0)
        replica_sim_fail(w->sim, "t%x is told that nobody leads", p->task);
    if (*known != 0 && *known != leader)
        replica_sim_fail(w->sim, "term %" PRIu64 " has two leaders", term);
    if (term < p->term)
        replica_sim_fail(w->sim, "t%x sees terms go back", p->task);
    seen.terms += *known == 0;
    *known = leader;
    p->term = term;
}

/* ---- consensus ---- */

static void take_decision(struct world *w, struct player *p, uint64_t number, struct cursor *c)
{
    struct ledger_decision d = {.proposer = cursor_get_u32(c)};
    struct ledger_decision *known = &w->decisions[number % NUMBERS];

    d.value = cursor_get_u64(c);
    if (d.value != value_of(d.proposer, number) || player_of(w, d.proposer) == NULL)
        replica_sim_fail(w->sim, "number %" PRIu64 " has a value that nobody proposed", number);
    if (known->proposer != 0 && (known->proposer != d.proposer || known->value != d.value))
        replica_sim_fail(w->sim, "number %" PRIu64 " is decided twice", number);
    seen.decisions += known->proposer == 0;
    seen.late += known->proposer != 0 && d.proposer != p->task;
    *known = d;
}

static void on_decision(struct world *w, struct player *p, const struct event *e, uint64_t number,
                        struct cursor *c)
{
    if (e->status == ERROR_OK)
        take_decision(w, p, number, c);
    else if (e->status != ERROR_ENOENT || number >= w->floor)
        replica_sim_fail(w->sim, "number %" PRIu64 " is refused: %d", number, e->status);
    seen.forgotten += e->status == ERROR_ENOENT;
}

/* ---- what daemons hand to tasks ---- */

static void on_answer(struct world *w, struct player *p, const struct event *e,
                      const struct request *r)
{
    struct cursor c = cursor_reader(e->body, e->size);

    switch (r->kind) {
    case COMMAND_VIEW_JOIN:
        on_join(w, p, e, &c);
        break;
    case COMMAND_VIEW_NEXT:
        if (e->status == ERROR_OK && p->standing != OUT)
            take_views(w, p, &c);
        break;
    case COMMAND_VIEW_LEAVE:
        p->standing = OUT;
        break;
    case COMMAND_VIEW_PUT:
        on_put(w, p, e, r->argument, &c);
        break;
    case COMMAND_LEADER_STAND:
        p->stands = true;
        take_leader(w, p, &c);
        break;
    case COMMAND_LEADER_NEXT:
        if (e->status == ERROR_OK)
            take_leader(w, p, &c);
        break;
    case COMMAND_LEADER_RESIGN:
        p->stands = p->resigning = false;
        break;
    case COMMAND_CONSENSUS_PROPOSE:
    case COMMAND_CONSENSUS_LEARN:
        if (e->status != ERROR_ECANCELED)
            on_decision(w, p, e, r->argument, &c);
        break;
    default:
        break;
    }
}

static void on_event(void *context, const struct event *e)
{
    struct world *w = context;
    struct player *p = player_of(w, e->task);

    if (p == NULL || !p->lives)
        return;
    for (int i = 0; i < REQUESTS; i++) {
        struct request r = p->requests[i];

        if (r.kind == 0 || r.number != e->request)
            continue;
        p->requests[i].kind = 0;
        on_answer(w, p, e, &r);
        return;
    }
    replica_sim_fail(w->sim, "t%x is answered what it did not ask, or twice", e->task);
}

/* ---- what tasks do ---- */

static void cancel_one(struct world *w, struct player *p)
{
    uint8_t body[4];
    struct cursor c = cursor_writer(body, sizeof body);
    struct request *r = request_slot(p, COMMAND_LEADER_NEXT);
    struct command command = {.kind = COMMAND_CANCEL, .host = tid_host(p->task), .task = p->task};

    if (r == NULL)
        r = request_slot(p, COMMAND_CONSENSUS_LEARN);
    if (r == NULL)
        return;
    cursor_put_u32(&c, r->number);
    command.body = body;
    command.size = sizeof body;
    replica_sim_ask(w->sim, &command);
}

/* Some tasks look rarely, and find that more has changed than the history holds. */
static bool is_slow(const struct player *p)
{
    return p->task % 5 == 0;
}

static void any_member_acts(struct world *w, struct player *p)
{
    struct player *other = &w->players[random_below(w->random, w->players_count)];

    if (w->restless && !is_slow(p) && random_chance(w->random, 500000)) {
        p->standing = LEAVING;
        ask_name(w, p, COMMAND_VIEW_LEAVE, "session");
        return;
    }
    switch (random_below(w->random, is_slow(p) ? 512 : 8)) {
    case 0:
        p->standing = LEAVING;
        ask_name(w, p, COMMAND_VIEW_LEAVE, "session");
        break;
    case 1:
        if (other != p && other->task % 3 == 0) /* the others must never be excluded */
            ask_expel(w, p, other);
        break;
    case 2:
    case 3:
        if (request_slot(p, COMMAND_VIEW_PUT) == NULL)
            ask_put(w, p);
        break;
    default:
        if (request_slot(p, COMMAND_VIEW_NEXT) == NULL &&
            (!is_slow(p) || random_chance(w->random, 20000)))
            ask_number(w, p, COMMAND_VIEW_NEXT, "session", p->seen);
        break;
    }
}

static void in_session(struct world *w, struct player *p)
{
    /* one request about membership at a time, as the library does it */
    if (p->standing == OUT && request_slot(p, COMMAND_VIEW_NEXT) == NULL) {
        p->standing = JOINING;
        ask_name(w, p, COMMAND_VIEW_JOIN, "session");
    } else if (p->standing == MEMBER) {
        any_member_acts(w, p);
    }
}

static void in_election(struct world *w, struct player *p)
{
    uint64_t what = random_below(w->random, 6);

    if (what == 0 && p->stands && !p->resigning) {
        p->stands = false;
        p->resigning = true;
        ask_name(w, p, COMMAND_LEADER_RESIGN, "election");
    } else if (what <= 2 && !p->resigning && request_slot(p, COMMAND_LEADER_STAND) == NULL) {
        ask_name(w, p, COMMAND_LEADER_STAND, "election");
    } else if (request_slot(p, COMMAND_LEADER_NEXT) == NULL) {
        ask_number(w, p, COMMAND_LEADER_NEXT, "election", p->term);
    }
}

static void in_consensus(struct world *w, struct player *p)
{
    uint64_t what = random_below(w->random, 40);
    uint64_t number = w->floor + random_below(w->random, 12);

    if (number > w->floor && random_chance(w->random, 100000))
        number -= random_below(w->random, w->floor + 1); /* an old one */
    if (what == 0 && w->floor + 14 < NUMBERS) {
        w->floor += 2;
        ask_number(w, p, COMMAND_CONSENSUS_FORGET, "series", w->floor);
    } else if (number < NUMBERS) {
        if (what < 25)
            ask_propose(w, p, number);
        else
            ask_number(w, p, COMMAND_CONSENSUS_LEARN, "series", number);
        numbered(p, number);
    }
}

static struct player *any_living(struct world *w)
{
    struct player *p = NULL;

    for (int tries = 0; tries < 8 && (p == NULL || !p->lives); tries++)
        p = &w->players[random_below(w->random, w->players_count)];
    return p;
}

static void any_task_acts(struct world *w)
{
    struct player *p = any_living(w);

    if (!p->lives || request_slot(p, 0) == NULL)
        return;
    switch (random_below(w->random, 10)) {
    case 0:
    case 1:
        in_election(w, p);
        break;
    case 2:
    case 3:
        in_consensus(w, p);
        break;
    case 4:
        cancel_one(w, p);
        break;
    default:
        in_session(w, p);
        break;
    }
}

/* ---- births and deaths ---- */

static void task_born(struct world *w, uint32_t host)
{
    if (w->players_count < TASKS && w->host_lives[host])
        w->players[w->players_count++] = (struct player){.task = tid_make(host, ++w->local[host]),
                                                         .lives = true,
                                                         .cut_off = w->host_cut_off[host]};
}

static void task_dies(struct world *w, struct player *p)
{
    struct command gone = {.kind = COMMAND_TASK_GONE, .host = tid_host(p->task), .task = p->task};

    if (!p->lives || (w->restless && is_slow(p)))
        return;
    p->lives = false;
    replica_sim_ask(w->sim, &gone);
}

static void host_comes(struct world *w, uint32_t host)
{
    replica_sim_open(w->sim, host);
    w->host_lives[host] = true;
    w->host_cut_off[host] = false;
    for (int i = 0; i < 3; i++)
        task_born(w, host);
}

static void host_ends(struct world *w, uint32_t host)
{
    replica_sim_kill(w->sim, host);
    w->host_lives[host] = false;
    for (uint32_t i = 0; i < w->players_count; i++)
        if (tid_host(w->players[i].task) == host)
            w->players[i].lives = false;
}

/* It is declared gone and goes on for a while, as one that is cut off does. */
static void host_is_cut_off(struct world *w, uint32_t host)
{
    replica_sim_declare_gone(w->sim, host);
    w->host_cut_off[host] = true;
    for (uint32_t i = 0; i < w->players_count; i++)
        if (tid_host(w->players[i].task) == host)
            w->players[i].cut_off = true;
}

static void any_host_changes(struct world *w)
{
    uint32_t host = 1 + (uint32_t)random_below(w->random, REPLICA_SIM_HOSTS - 1);

    if (!w->host_lives[host]) {
        host_comes(w, host);
    } else if (random_chance(w->random, 500000)) {
        host_ends(w, host);
        replica_sim_declare_gone(w->sim, host);
    } else {
        host_is_cut_off(w, host);
    }
}

static void any_birth_or_death(struct world *w)
{
    uint64_t what = random_below(w->random, 8);

    if (what == 0)
        any_host_changes(w);
    else if (what < 4)
        task_dies(w, &w->players[random_below(w->random, w->players_count)]);
    else
        task_born(w, 1 + (uint32_t)random_below(w->random, REPLICA_SIM_HOSTS - 1));
}

static void world_step(struct world *w)
{
    uint64_t what = random_below(w->random, 1000);

    if (what < 130)
        any_task_acts(w);
    else if (what < (w->restless ? 132 : 138))
        any_birth_or_death(w);
    else
        replica_sim_step(w->sim);
}

/* ---- at rest ---- */

static bool is_client(const struct player *p)
{
    return p->lives && !p->cut_off;
}

static void members_are_right(struct world *w, const struct roster *roster, uint64_t number)
{
    for (uint32_t i = 0; i < w->players_count; i++) {
        struct player *p = &w->players[i];
        bool is_in = roster_has(roster, p->task);
        const struct request *waits = request_slot(p, COMMAND_VIEW_NEXT);

        if (is_in && !is_client(p))
            replica_sim_fail(w->sim, "t%x is a member for ever", p->task);
        if (is_client(p) && is_in != (p->standing == MEMBER) && !p->expelled)
            replica_sim_fail(w->sim, "t%x is %s member", p->task, is_in ? "a" : "no");
        if (is_client(p) && waits != NULL && p->seen < number)
            replica_sim_fail(w->sim, "t%x waits for a view that is there", p->task);
    }
}

static const struct player *any_client(const struct world *w)
{
    for (uint32_t i = 0; i < w->players_count; i++)
        if (is_client(&w->players[i]))
            return &w->players[i];
    return NULL;
}

static void session_is_right(struct world *w)
{
    for (uint32_t i = 0; i < w->players_count; i++) {
        struct player *p = &w->players[i];
        uint8_t body[64], answer[4096];
        struct cursor b = cursor_writer(body, sizeof body),
                      a = cursor_writer(answer, sizeof answer);
        struct roster roster = {0};
        uint64_t number;

        cursor_put_text(&b, "session");
        cursor_put_u64(&b, UINT64_MAX);
        b = cursor_reader(body, (size_t)(b.at - body));
        state_query(replica_sim_state(w->sim), COMMAND_VIEW_LOOK, p->task, &b, &a);
        a = cursor_reader(answer, (size_t)(a.at - answer));
        number = cursor_get_u64(&a);
        if (cursor_get_u8(&a) != VIEWS_ROSTER)
            continue; /* no member */
        roster.count = cursor_get_u32(&a);
        for (uint32_t m = 0; m < roster.count; m++)
            roster.tasks[m] = cursor_get_u32(&a);
        members_are_right(w, &roster, number);
        return;
    }
}

static void leader_is_right(struct world *w)
{
    uint8_t body[64], answer[16];
    struct cursor b = cursor_writer(body, sizeof body), a = cursor_writer(answer, sizeof answer);
    uint32_t leader;
    uint64_t term;

    cursor_put_text(&b, "election");
    b = cursor_reader(body, (size_t)(b.at - body));
    state_query(replica_sim_state(w->sim), COMMAND_LEADER_LOOK, any_client(w)->task, &b, &a);
    a = cursor_reader(answer, sizeof answer);
    leader = cursor_get_u32(&a);
    term = cursor_get_u64(&a);
    if (leader != 0 && !is_client(player_of(w, leader)))
        replica_sim_fail(w->sim, "the dead lead");
    for (uint32_t i = 0; i < w->players_count; i++) {
        struct player *p = &w->players[i];

        if (is_client(p) && p->stands && leader == 0)
            replica_sim_fail(w->sim, "t%x stands and nobody leads", p->task);
        if (is_client(p) && leader != 0 && p->term < term &&
            request_slot(p, COMMAND_LEADER_NEXT) != NULL)
            replica_sim_fail(w->sim, "t%x waits for a leader that is there", p->task);
    }
}

/* Nothing is decided, and it is not forgotten either. */
static bool is_open(struct world *w, uint32_t task, uint64_t number)
{
    uint8_t body[64], answer[64];
    struct cursor b = cursor_writer(body, sizeof body), a = cursor_writer(answer, sizeof answer);
    const struct state *state = replica_sim_state(w->sim);

    cursor_put_text(&b, "series");
    cursor_put_u64(&b, number);
    b = cursor_reader(body, (size_t)(b.at - body));
    if (state_query(state, COMMAND_CONSENSUS_LOOK, task, &b, &a) != ERROR_OK)
        return false;
    a = cursor_reader(answer, sizeof answer);
    return cursor_get_u32(&a) == 0;
}

static bool may_wait(struct world *w, uint32_t task, const struct request *r)
{
    switch (r->kind) {
    case 0:
    case COMMAND_VIEW_NEXT:
    case COMMAND_LEADER_NEXT:
        return true; /* looked at with what they wait for */
    case COMMAND_CONSENSUS_LEARN:
        return is_open(w, task, r->argument);
    default:
        return false;
    }
}

static void all_is_answered(struct world *w)
{
    for (uint32_t i = 0; i < w->players_count; i++) {
        struct player *p = &w->players[i];

        for (int r = 0; is_client(p) && r < REQUESTS; r++)
            if (!may_wait(w, p->task, &p->requests[r]))
                replica_sim_fail(w->sim, "t%x is never answered a %s", p->task,
                                 command_name(p->requests[r].kind));
    }
}

static void settle(struct world *w)
{
    for (uint32_t host = 1; host < REPLICA_SIM_HOSTS; host++)
        if (w->host_cut_off[host] || !w->host_lives[host])
            host_ends(w, host); /* who is cut off stops at last */
    replica_sim_settle(w->sim);
    if (any_client(w) == NULL)
        return;
    session_is_right(w);
    leader_is_right(w);
    all_is_answered(w);
}

static const char *run(uint64_t seed, char *why, size_t size)
{
    struct world *w = calloc(1, sizeof *w);
    struct replica_sim_config config = {.seed = seed, .context = w, .on_event = on_event};
    const char *failure;

    w->restless = seed % 25 == 0;
    config.loss_ppm = (uint32_t)(seed % 4 * 60000);
    config.duplicate_ppm = (uint32_t)(seed % 3 * 60000);
    w->sim = replica_sim_create(&config);
    w->random = replica_sim_random(w->sim);
    for (uint32_t host = 1; host < REPLICA_SIM_HOSTS - 2; host++)
        host_comes(w, host);
    for (int i = 0; i < (w->restless ? 8 * STEPS : STEPS) && replica_sim_failure(w->sim) == NULL;
         i++)
        world_step(w);
    if (replica_sim_failure(w->sim) == NULL)
        settle(w);
    failure = replica_sim_failure(w->sim);
    if (failure != NULL)
        snprintf(why, size, "SEED=%" PRIu64 ": %s", seed, failure);
    replica_sim_destroy(w->sim);
    free(w);
    return failure == NULL ? NULL : why;
}

static void all_agree_whatever_happens(void)
{
    const char *one = getenv("SEED"), *soak = getenv("SOAK");
    uint64_t first = one != NULL ? strtoull(one, NULL, 10) : 1;
    uint64_t count = one != NULL ? 1 : soak != NULL ? 10000 : 200;
    char why[512];

    for (uint64_t seed = first; seed < first + count; seed++) {
        const char *failure = run(seed, why, sizeof why);

        if (failure == NULL)
            continue;
        CU_FAIL("a run failed");
        printf("\n  %s\n", failure);
        return;
    }
    printf("\n  views %" PRIu64 ", rosters after a gap %" PRIu64 ", told of exclusion %" PRIu64
           ", expulsions %" PRIu64 ", hosts lost %" PRIu64 "\n",
           seen.views, seen.rosters, seen.excluded, seen.expelled, seen.hosts);
    printf("  puts %" PRIu64 " and %" PRIu64 " in vain, terms %" PRIu64 ", decisions %" PRIu64
           ", told to others %" PRIu64 ", forgotten %" PRIu64 "\n",
           seen.puts, seen.lost_puts, seen.terms, seen.decisions, seen.late, seen.forgotten);
    if (one == NULL) /* what never happened was not tested */
        CU_ASSERT(seen.views && seen.rosters && seen.excluded && seen.expelled && seen.hosts &&
                  seen.puts && seen.lost_puts && seen.terms && seen.decisions && seen.late &&
                  seen.forgotten);
}

int main(void)
{
    const struct test_case cases[] = {
        {"all agree whatever happens", all_agree_whatever_happens},
    };

    return covey_test_main("agree", cases, sizeof cases / sizeof cases[0]);
}
