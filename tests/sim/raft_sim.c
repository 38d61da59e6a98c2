#include "tests/sim/raft_sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/cursor.h"
#include "proto/wire/splitmix.h"

enum {
    ELECTION_US = 500000,
    HEARTBEAT_US = 50000,
    INDEX_MAX = 20000,
    TERM_MAX = 20000,
    STATE_BYTES = 24
};

/* A message on its way. */
struct letter {
    uint64_t at_us, order;
    size_t from, to;
    size_t size;
    uint8_t *bytes;
};

/* What was seen of an index: the first that is committed, or applied, there is the truth. */
struct truth {
    uint64_t term;     /* of the entry; 0: not committed */
    uint64_t known_in; /* the term in which that became known */
    uint64_t hash;     /* of the state after it; 0: not applied */
};

struct raft_sim {
    struct raft_sim_config config;
    uint64_t now_us, random, order;
    struct raft_life lives[RAFT_SIM_LIVES_MAX];
    size_t births;
    struct letter *letters; /* a heap by (at_us, order) */
    size_t letter_count, letter_capacity;
    struct truth truth[INDEX_MAX];
    uint64_t committed; /* the highest index known to be */
    size_t leader_of[TERM_MAX];
    uint64_t commands;
    struct raft_sim_count count;
    char failure[256];
};

/* ---- small things ---- */

void raft_sim_fail(struct raft_sim *sim, const char *format, ...)
{
    va_list arguments;
    int size;

    if (sim->failure[0])
        return;
    size = snprintf(sim->failure, sizeof sim->failure,
                    "seed %llu, %llu us: ", (unsigned long long)sim->config.seed,
                    (unsigned long long)sim->now_us);
    va_start(arguments, format);
    vsnprintf(sim->failure + size, sizeof sim->failure - (size_t)size, format, arguments);
    va_end(arguments);
}

const char *raft_sim_failure(const struct raft_sim *sim)
{
    return sim->failure[0] ? sim->failure : NULL;
}

uint64_t raft_sim_now(const struct raft_sim *sim)
{
    return sim->now_us;
}

uint64_t raft_sim_random(struct raft_sim *sim, uint64_t below)
{
    return splitmix_next(&sim->random) % below;
}

static bool chance(struct raft_sim *sim, double probability)
{
    return (double)raft_sim_random(sim, 1000000) < probability * 1000000;
}

static uint64_t mix(uint64_t hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

struct raft_life *raft_sim_life(struct raft_sim *sim, size_t i)
{
    return i < sim->births && sim->lives[i].raft ? &sim->lives[i] : NULL;
}

size_t raft_sim_births(const struct raft_sim *sim)
{
    return sim->births;
}

struct raft_sim_count raft_sim_count(const struct raft_sim *sim)
{
    return sim->count;
}

static size_t number_of(const struct raft_life *life)
{
    return (size_t)(life - life->sim->lives);
}

void raft_sim_set_loss(struct raft_sim *sim, double loss, double duplication)
{
    sim->config.loss = loss;
    sim->config.duplication = duplication;
}

/* ---- the network ---- */

static bool is_before(const struct letter *a, const struct letter *b)
{
    return a->at_us < b->at_us || (a->at_us == b->at_us && a->order < b->order);
}

static void swap(struct letter *a, struct letter *b)
{
    struct letter c = *a;

    *a = *b;
    *b = c;
}

static void push(struct raft_sim *sim, const struct letter *letter)
{
    size_t i = sim->letter_count;

    if (i == sim->letter_capacity) {
        sim->letter_capacity = i ? 2 * i : 256;
        sim->letters = realloc(sim->letters, sim->letter_capacity * sizeof *sim->letters);
    }
    sim->letters[sim->letter_count++] = *letter;
    for (; i > 0 && is_before(&sim->letters[i], &sim->letters[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&sim->letters[i], &sim->letters[(i - 1) / 2]);
}

static struct letter pop(struct raft_sim *sim)
{
    struct letter first = sim->letters[0];
    size_t i = 0, child;

    sim->letters[0] = sim->letters[--sim->letter_count];
    while ((child = 2 * i + 1) < sim->letter_count) {
        if (child + 1 < sim->letter_count &&
            is_before(&sim->letters[child + 1], &sim->letters[child]))
            child++;
        if (!is_before(&sim->letters[child], &sim->letters[i]))
            break;
        swap(&sim->letters[child], &sim->letters[i]);
        i = child;
    }
    return first;
}

static void post(struct raft_sim *sim, size_t from, size_t to, const uint8_t *bytes, size_t size)
{
    struct letter letter = {.order = sim->order++, .from = from, .to = to, .size = size};

    letter.at_us =
        sim->now_us + sim->config.delay_us + raft_sim_random(sim, sim->config.jitter_us + 1);
    letter.bytes = malloc(size);
    memcpy(letter.bytes, bytes, size);
    push(sim, &letter);
}

static void on_send(void *context, const struct raft_id *to, const uint8_t *bytes, size_t size)
{
    struct raft_life *life = context;
    struct raft_sim *sim = life->sim;

    if (to->host >= sim->births || size > RAFT_MESSAGE_BYTES_MAX) {
        raft_sim_fail(sim, "a message to nobody, or of %zu bytes", size);
        return;
    }
    if (chance(sim, sim->config.loss))
        return;
    post(sim, number_of(life), to->host, bytes, size);
    if (chance(sim, sim->config.duplication))
        post(sim, number_of(life), to->host, bytes, size);
}

/* ---- the owner of an engine ---- */

static struct truth *truth_at(struct raft_sim *sim, uint64_t index)
{
    if (index >= INDEX_MAX)
        raft_sim_fail(sim, "the log is longer than this test");
    return &sim->truth[index < INDEX_MAX ? index : 0];
}

static void on_apply(void *context, uint64_t index, uint64_t term, const uint8_t *bytes,
                     size_t size)
{
    struct raft_life *life = context;
    struct truth *truth = truth_at(life->sim, index);

    if (index <= life->applied)
        raft_sim_fail(life->sim, "life %zu applies %llu after %llu", number_of(life),
                      (unsigned long long)index, (unsigned long long)life->applied);
    life->applied = index;
    life->commands++;
    life->hash = mix(life->hash ^ index ^ term << 32, bytes, size);
    life->sim->count.applied++;
    if (truth->hash == 0)
        truth->hash = life->hash;
    else if (truth->hash != life->hash)
        raft_sim_fail(life->sim, "life %zu applies something else at %llu", number_of(life),
                      (unsigned long long)index);
}

static bool on_save(void *context, uint8_t **bytes, size_t *size)
{
    struct raft_life *life = context;
    struct cursor c;

    *bytes = malloc(STATE_BYTES);
    c = cursor_writer(*bytes, STATE_BYTES);
    cursor_put_u64(&c, life->applied);
    cursor_put_u64(&c, life->hash);
    cursor_put_u64(&c, life->commands);
    *size = STATE_BYTES;
    return true;
}

static bool on_load(void *context, const uint8_t *bytes, size_t size)
{
    struct raft_life *life = context;
    struct cursor c = cursor_reader(bytes, size);

    life->applied = cursor_get_u64(&c);
    life->hash = cursor_get_u64(&c);
    life->commands = cursor_get_u64(&c);
    life->sim->count.snapshots_loaded++;
    if (!cursor_done(&c) ||
        (life->applied != 0 && truth_at(life->sim, life->applied)->hash != life->hash))
        raft_sim_fail(life->sim, "life %zu loads a snapshot of no state that was", number_of(life));
    return true;
}

static void on_leader(void *context, const struct raft_id *leader, uint64_t term)
{
    struct raft_life *life = context;

    life->leads_term = leader && raft_id_equal(leader, &life->id) ? term : 0;
    for (uint64_t i = life->leads_term ? life->sim->committed : 0; i > life->applied; i--)
        if (life->sim->truth[i].hash != 0 && life->sim->truth[i].known_in < term)
            raft_sim_fail(life->sim, "life %zu leads and has not applied %llu", number_of(life),
                          (unsigned long long)i);
    life->sim->count.elections += life->leads_term != 0;
}

static void on_log(void *context, const char *line)
{
    struct raft_life *life = context;

    if (life->sim->config.trace)
        printf("%10llu life %2zu: %s\n", (unsigned long long)life->sim->now_us, number_of(life),
               line);
}

/* ---- what must always hold ---- */

static bool has_leader_role(const struct raft_life *life)
{
    const struct raft_id *leader = raft_leader(life->raft);

    return leader && raft_id_equal(leader, &life->id);
}

static void check_completeness(struct raft_sim *sim, const struct raft_life *life, uint64_t first)
{
    uint64_t term = raft_term(life->raft);

    for (uint64_t i = first; i <= sim->committed; i++) {
        uint64_t own = raft_entry_term(life->raft, i);
        bool dropped = own == 0 && i <= raft_applied_index(life->raft);

        if (sim->truth[i].term != 0 && sim->truth[i].known_in < term && !dropped &&
            own != sim->truth[i].term)
            raft_sim_fail(sim, "leader %zu of term %llu lacks entry %llu, committed in %llu",
                          number_of(life), (unsigned long long)term, (unsigned long long)i,
                          (unsigned long long)sim->truth[i].known_in);
    }
}

static void check_leader(struct raft_sim *sim, const struct raft_life *life)
{
    uint64_t term = raft_term(life->raft);
    size_t *leader = &sim->leader_of[term < TERM_MAX ? term : 0];

    if (!has_leader_role(life))
        return;
    if (*leader == 0)
        check_completeness(sim, life, 1);
    if (*leader != 0 && *leader != number_of(life) + 1)
        raft_sim_fail(sim, "term %llu has two leaders, %zu and %zu", (unsigned long long)term,
                      *leader - 1, number_of(life));
    *leader = number_of(life) + 1;
}

static void check_commit(struct raft_sim *sim, const struct raft_life *life)
{
    uint64_t commit = raft_commit_index(life->raft);

    for (uint64_t i = commit; i > 0; i--) {
        uint64_t term = raft_entry_term(life->raft, i);
        struct truth *truth = truth_at(sim, i);

        if (term == 0)
            break;
        if (truth->term == term && i < commit)
            break; /* and so on, by log matching */
        if (truth->term == 0)
            truth->known_in = raft_term(life->raft);
        if (truth->term == 0)
            truth->term = term;
        if (truth->term != term)
            raft_sim_fail(sim, "life %zu has term %llu at %llu, where %llu is committed",
                          number_of(life), (unsigned long long)term, (unsigned long long)i,
                          (unsigned long long)truth->term);
    }
    if (commit > sim->committed) {
        sim->committed = commit;
        sim->count.commits++;
    }
}

static bool same_entry(const struct raft_life *a, const struct raft_life *b, uint64_t index)
{
    size_t size_a, size_b;
    const uint8_t *bytes_a = raft_entry_bytes(a->raft, index, &size_a);
    const uint8_t *bytes_b = raft_entry_bytes(b->raft, index, &size_b);

    if (!bytes_a || !bytes_b)
        return true; /* dropped */
    return raft_entry_term(a->raft, index) == raft_entry_term(b->raft, index) && size_a == size_b &&
           memcmp(bytes_a, bytes_b, size_a) == 0;
}

static void check_matching(struct raft_sim *sim, const struct raft_life *a,
                           const struct raft_life *b)
{
    uint64_t last_a = raft_last_index(a->raft), last_b = raft_last_index(b->raft);
    uint64_t i = last_a < last_b ? last_a : last_b;

    while (i > 0 && raft_entry_term(a->raft, i) != raft_entry_term(b->raft, i))
        i--;
    for (; i > 0 && raft_entry_term(a->raft, i) != 0 && raft_entry_term(b->raft, i) != 0; i--)
        if (!same_entry(a, b, i))
            raft_sim_fail(sim, "lives %zu and %zu differ at %llu before an entry alike",
                          number_of(a), number_of(b), (unsigned long long)i);
}

static void check(struct raft_sim *sim, const struct raft_life *life)
{
    sim->count.steps++;
    check_leader(sim, life);
    check_commit(sim, life);
    for (size_t i = 0; i < sim->births; i++)
        if (sim->lives[i].raft && &sim->lives[i] != life)
            check_matching(sim, life, &sim->lives[i]);
    if (raft_memory(life->raft) > 16 * sim->config.log_bytes + 300 * sim->config.command_bytes)
        raft_sim_fail(sim, "life %zu takes %zu bytes", number_of(life), raft_memory(life->raft));
}

/* ---- questions ---- */

static uint64_t applied_anywhere(const struct raft_sim *sim)
{
    uint64_t applied = 0;

    for (size_t i = 0; i < sim->births; i++)
        if (sim->lives[i].applied > applied)
            applied = sim->lives[i].applied;
    return applied;
}

void raft_sim_ask(struct raft_sim *sim, struct raft_life *life)
{
    if (life->question != 0)
        return;
    life->question_needs = applied_anywhere(sim);
    life->question = raft_read(life->raft, sim->now_us);
    raft_sim_touch(sim, life);
}

static void answer(struct raft_sim *sim, struct raft_life *life)
{
    if (life->question != 0 && raft_read_ok(life->raft, life->question)) {
        if (life->applied < life->question_needs)
            raft_sim_fail(sim, "life %zu answers from entry %llu, when %llu was applied elsewhere",
                          number_of(life), (unsigned long long)life->applied,
                          (unsigned long long)life->question_needs);
        life->question = 0;
        sim->count.answers++;
    }
    if (!raft_leads(life->raft))
        life->question = 0; /* its asker asks another one */
}

/* ---- lives ---- */

static void step(struct raft_sim *sim, struct raft_life *life)
{
    life->deadline_us = raft_step(life->raft, sim->now_us);
    check(sim, life);
    answer(sim, life);
    if (life->deadline_us <= sim->now_us) {
        life->deadline_us = raft_step(life->raft, sim->now_us);
        if (life->deadline_us <= sim->now_us)
            raft_sim_fail(sim, "life %zu wants to be stepped without end", number_of(life));
        check(sim, life);
    }
}

struct raft_sim *raft_sim_create(const struct raft_sim_config *config)
{
    struct raft_sim *sim = calloc(1, sizeof *sim);

    sim->config = *config;
    sim->random = config->seed;
    sim->now_us = 1;
    return sim;
}

void raft_sim_destroy(struct raft_sim *sim)
{
    for (size_t i = 0; i < sim->births; i++)
        raft_destroy(sim->lives[i].raft);
    for (size_t i = 0; i < sim->letter_count; i++)
        free(sim->letters[i].bytes);
    free(sim->letters);
    free(sim);
}

struct raft_life *raft_sim_birth(struct raft_sim *sim)
{
    struct raft_life *life = &sim->lives[sim->births];
    struct raft_config config = {.election_us = ELECTION_US,
                                 .heartbeat_us = HEARTBEAT_US,
                                 .log_bytes = sim->config.log_bytes};
    struct raft_owner owner = {life, on_send, on_apply, on_save, on_load, on_leader, on_log};

    if (sim->births == RAFT_SIM_LIVES_MAX)
        return NULL;
    life->sim = sim;
    life->id.host = (uint32_t)sim->births;
    for (int i = 0; i < RAFT_ID_BYTES; i++)
        life->id.id[i] = (uint8_t)raft_sim_random(sim, 256);
    config.self = life->id;
    config.seed = raft_sim_random(sim, UINT64_MAX);
    life->raft = raft_create(&config, &owner);
    if (sim->births++ == 0)
        raft_bootstrap(life->raft, sim->now_us);
    step(sim, life);
    return life;
}

void raft_sim_crash(struct raft_sim *sim, struct raft_life *life)
{
    if (sim->config.trace)
        printf("%10llu life %2zu dies\n", (unsigned long long)sim->now_us, number_of(life));
    raft_destroy(life->raft);
    life->raft = NULL;
}

void raft_sim_stop(struct raft_sim *sim, struct raft_life *life, uint64_t duration_us)
{
    life->stopped_until_us = sim->now_us + duration_us;
}

void raft_sim_heal(struct raft_sim *sim)
{
    for (size_t i = 0; i < sim->births; i++)
        sim->lives[i].side = 0;
}

struct raft_life *raft_sim_leader(struct raft_sim *sim)
{
    struct raft_life *leader = NULL;

    for (size_t i = 0; i < sim->births; i++) {
        struct raft_life *life = &sim->lives[i];

        if (life->raft && raft_leads(life->raft) &&
            (!leader || raft_term(life->raft) > raft_term(leader->raft)))
            leader = life;
    }
    return leader;
}

static bool has_majority_without(struct raft_sim *sim, const struct raft_configuration *conf,
                                 const struct raft_life *without)
{
    size_t voters = 0, alive = 0;

    for (uint8_t i = 0; i < conf->count; i++) {
        const struct raft_life *life = &sim->lives[conf->members[i].id.host];

        voters += conf->members[i].voter;
        alive += conf->members[i].voter && life->raft && life != without;
    }
    return 2 * alive > voters;
}

bool raft_sim_can_spare(struct raft_sim *sim, const struct raft_life *life)
{
    for (size_t i = 0; i < sim->births; i++) {
        const struct raft *raft = sim->lives[i].raft;

        if (raft && raft_configuration(raft)->count > 0 &&
            !has_majority_without(sim, raft_configuration(raft), life))
            return false;
    }
    return true;
}

int64_t raft_sim_propose(struct raft_sim *sim, struct raft_life *life)
{
    static uint8_t bytes[RAFT_COMMAND_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    int64_t index;

    cursor_put_u64(&c, ++sim->commands);
    index = raft_propose(life->raft, bytes, 8 + raft_sim_random(sim, sim->config.command_bytes - 8),
                         sim->now_us);
    raft_sim_touch(sim, life);
    return index;
}

void raft_sim_touch(struct raft_sim *sim, struct raft_life *life)
{
    if (life->stopped_until_us <= sim->now_us)
        step(sim, life);
    else
        life->deadline_us = sim->now_us;
}

/* ---- time ---- */

static uint64_t due_us(const struct raft_life *life)
{
    if (!life->raft)
        return UINT64_MAX;
    return life->deadline_us > life->stopped_until_us ? life->deadline_us : life->stopped_until_us;
}

static struct raft_life *next_life(struct raft_sim *sim)
{
    struct raft_life *next = NULL;

    for (size_t i = 0; i < sim->births; i++)
        if (due_us(&sim->lives[i]) != UINT64_MAX &&
            (!next || due_us(&sim->lives[i]) < due_us(next)))
            next = &sim->lives[i];
    return next;
}

static void deliver(struct raft_sim *sim)
{
    struct letter letter = pop(sim);
    struct raft_life *from = &sim->lives[letter.from], *to = &sim->lives[letter.to];

    if (letter.at_us > sim->now_us)
        sim->now_us = letter.at_us;
    if (to->raft && to->stopped_until_us > sim->now_us) {
        letter.at_us = to->stopped_until_us; /* waits in its socket */
        push(sim, &letter);
        return;
    }
    if (to->raft && from->side == to->side && !(to->deaf >> letter.from & 1)) {
        raft_on_message(to->raft, letter.bytes, letter.size, sim->now_us);
        check(sim, to);
        step(sim, to);
    }
    free(letter.bytes);
}

void raft_sim_run(struct raft_sim *sim, uint64_t duration_us)
{
    uint64_t end_us = sim->now_us + duration_us;

    while (!sim->failure[0]) {
        struct raft_life *life = next_life(sim);
        uint64_t life_us = life ? due_us(life) : UINT64_MAX;
        uint64_t letter_us = sim->letter_count ? sim->letters[0].at_us : UINT64_MAX;

        if (life_us > end_us && letter_us > end_us)
            break;
        if (letter_us <= life_us) {
            deliver(sim);
            continue;
        }
        if (life_us > sim->now_us)
            sim->now_us = life_us;
        step(sim, life);
    }
    if (!sim->failure[0])
        sim->now_us = end_us;
}
