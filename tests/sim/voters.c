#include "tests/sim/voters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/state.h"
#include "proto/wire/frame.h"
#include "tests/sim/network.h"

#define SNAPSHOT_BYTES (1u << 20)
#define ROWS_MAX 16
#define WAITERS_MAX 64
#define COMMIT_PPM 700000
#define SNAPSHOT_PPM 2000
#define COMPARE_PPM 2000

struct entry {
    struct entry *next;
    uint64_t index;
    size_t size;
    uint8_t bytes[];
};

struct voter {
    struct voters *voters;
    unsigned number;
    struct state *state;
    struct entry *applied; /* the last one, NULL: none */
    struct entry *snapshot_at;
    uint8_t *snapshot;
    size_t snapshot_size;
    uint32_t told;
};

/* A lock or a token as it was before a command. */
struct row {
    char name[64];
    uint32_t holder, count;
    uint64_t number;
    uint32_t waiters[WAITERS_MAX];
};
struct rows {
    struct row at[ROWS_MAX];
    size_t count;
};

struct voters {
    uint64_t random;
    voters_send *send;
    void *context;
    struct entry *first, *last;           /* agreed */
    struct entry *pending, **pending_end; /* the leader's, not agreed */
    unsigned leader;
    struct voter voter[VOTERS];
    struct state *auditor;
    struct rows rows[2];
    uint64_t largest; /* number granted so far */
    bool dead[VOTERS_HOST_MAX + 1];
    char failure[256];
};

static void fail(struct voters *v, const char *what, const char *name)
{
    if (v->failure[0] == '\0')
        snprintf(v->failure, sizeof v->failure, "after command %llu: %s %s",
                 (unsigned long long)(v->last == NULL ? 0 : v->last->index), what, name);
}

const char *voters_failure(const struct voters *v)
{
    return v->failure[0] == '\0' ? NULL : v->failure;
}

uint64_t voters_agreed(const struct voters *v)
{
    return v->last == NULL ? 0 : v->last->index;
}

unsigned voters_leader(const struct voters *v)
{
    return v->leader;
}

/* ---- the auditor ---- */

static void ignore(void *context, const struct event *event)
{
    (void)context;
    (void)event;
}

static void rows_read(const struct voters *v, uint8_t kind, struct rows *rows)
{
    static uint8_t bytes[65536];
    struct cursor out = cursor_writer(bytes, sizeof bytes), none = cursor_reader(bytes, 0);
    rows->count = 0;
    state_query(v->auditor, kind, tid_make(1, 1), &none, &out);
    struct cursor c = cursor_reader(bytes, (size_t)(out.at - bytes));
    while (cursor_left(&c) > 0 && rows->count < ROWS_MAX) {
        struct row *row = &rows->at[rows->count++];
        cursor_get_text(&c, row->name, sizeof row->name);
        row->holder = cursor_get_u32(&c);
        row->number = cursor_get_u64(&c);
        row->count = cursor_get_u32(&c);
        for (uint32_t i = 0; i < row->count && i < WAITERS_MAX; i++)
            row->waiters[i] = cursor_get_u32(&c);
    }
}

static const struct row *row_find(const struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->at[i].name, name) == 0)
            return &rows->at[i];
    return NULL;
}

static uint32_t place(const struct row *row, uint32_t task)
{
    uint32_t i = 0;
    while (i < row->count && row->waiters[i] != task)
        i++;
    return i;
}

/* Those who wait stay in their order, and a new holder was before all who still wait. */
static void check_order(struct voters *v, const struct row *old, const struct row *new, bool named)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < new->count; i++) {
        uint32_t at = place(old, new->waiters[i]);
        if (at < last)
            fail(v, "the order of those who wait changed:", new->name);
        last = at;
    }
    bool passed = new->holder != old->holder &&new->holder != 0;
    if (passed && !named && new->count > 0 && place(old, new->holder) > place(old, new->waiters[0]))
        fail(v, "somebody was granted it before his turn:", new->name);
}

static void check_row(struct voters *v, const struct row *old, const struct row *new, bool named)
{
    bool granted = new->holder != 0 && (old == NULL || old->number != new->number);
    if (granted && new->number <= v->largest)
        fail(v, "a number did not grow:", new->name);
    if (!granted && old != NULL && new->holder != 0 && new->holder != old->holder)
        fail(v, "another holder under the same number:", new->name);
    if (new->holder == 0 && new->count > 0)
        fail(v, "nobody has what others wait for:", new->name);
    if (place(new, new->holder) < new->count)
        fail(v, "a holder waits:", new->name);
    if (old != NULL)
        check_order(v, old, new, named);
}

static void check_rows(struct voters *v, int which, uint8_t kind, bool named)
{
    struct rows new;
    uint64_t largest = v->largest;
    rows_read(v, kind, &new);
    for (size_t i = 0; i < new.count; i++) {
        check_row(v, row_find(&v->rows[which], new.at[i].name), &new.at[i], named);
        if (new.at[i].number > largest)
            largest = new.at[i].number;
    }
    v->largest = largest;
    v->rows[which] = new;
}

static void audit(struct voters *v, const struct entry *entry)
{
    struct command command = {.kind = 0};
    struct cursor c = cursor_reader(entry->bytes, entry->size);
    command_get(&c, &command);
    if (state_apply(v->auditor, entry->index, entry->bytes, entry->size) >= STATE_BAD)
        fail(v, "the auditor could not apply", command_name(command.kind));
    check_rows(v, 0, COMMAND_LOCK_LIST, false);
    check_rows(v, 1, COMMAND_TOKEN_LIST, command.kind == COMMAND_TOKEN_PASS);
}

bool voters_row(const struct voters *v, int kind, size_t i, struct voters_row *row)
{
    if (i >= v->rows[kind].count)
        return false;
    const struct row *from = &v->rows[kind].at[i];
    *row =
        (struct voters_row){.holder = from->holder, .number = from->number, .waiting = from->count};
    memcpy(row->name, from->name, sizeof row->name);
    return true;
}

/* ---- voters ---- */

static void on_event(void *context, const struct event *event)
{
    static uint8_t bytes[EVENT_HEAD_BYTES + EVENT_BODY_MAX];
    struct voter *voter = context;
    struct voters *v = voter->voters;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    if (v->leader != voter->number)
        return;
    voter->told = event->host;
    event_put(&c, event);
    v->send(v->context, voter->number, event->host, VOTERS_EVENT, bytes, (size_t)(c.at - bytes));
}

static void confirm(struct voter *voter, uint32_t host)
{
    uint8_t bytes[16];
    uint64_t applied, session = state_session(voter->state, host, &applied);
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u64(&c, session);
    cursor_put_u64(&c, applied);
    voter->voters->send(voter->voters->context, voter->number, host, VOTERS_APPLIED, bytes,
                        sizeof bytes);
}

static bool apply_next(struct voter *voter)
{
    struct voters *v = voter->voters;
    struct entry *entry = voter->applied == NULL ? v->first : voter->applied->next;
    struct command command = {.host = 0};
    if (entry == NULL)
        return false;
    struct cursor c = cursor_reader(entry->bytes, entry->size);
    command_get(&c, &command);
    voter->told = 0;
    state_apply(voter->state, entry->index, entry->bytes, entry->size);
    voter->applied = entry;
    if (v->leader == voter->number && command.host != 0 && command.host != voter->told)
        confirm(voter, command.host);
    return true;
}

static void snapshot(struct voter *voter)
{
    voter->snapshot_size = state_save(voter->state, voter->snapshot, SNAPSHOT_BYTES);
    voter->snapshot_at = voter->applied;
    if (voter->snapshot_size == 0)
        fail(voter->voters, "a snapshot does not fit", "");
}

void voters_crash(struct voters *v, unsigned number)
{
    struct voter *voter = &v->voter[number];
    if (number == v->leader)
        return;
    state_destroy(voter->state);
    voter->state = voter->snapshot_size == 0
                       ? state_create(on_event, voter)
                       : state_load(on_event, voter, voter->snapshot, voter->snapshot_size);
    voter->applied = voter->snapshot_at;
    if (voter->state == NULL) {
        fail(v, "a snapshot could not be loaded", "");
        voter->state = state_create(on_event, voter);
    }
}

/* Whoever has applied the same is the same, byte for byte. */
static void compare(struct voters *v, const struct voter *voter)
{
    static uint8_t a[SNAPSHOT_BYTES], b[SNAPSHOT_BYTES];
    if (voter->applied != v->last)
        return;
    size_t size = state_save(v->auditor, a, sizeof a);
    if (state_save(voter->state, b, sizeof b) != size || memcmp(a, b, size) != 0)
        fail(v, "a voter's state differs", "");
}

/* ---- the log ---- */

static struct entry *entry_create(const uint8_t *bytes, size_t size)
{
    struct entry *entry = malloc(sizeof *entry + size);
    if (entry == NULL)
        abort();
    entry->next = NULL;
    entry->size = size;
    memcpy(entry->bytes, bytes, size);
    return entry;
}

static void propose(struct voters *v, const uint8_t *bytes, size_t size)
{
    struct entry *entry = entry_create(bytes, size);
    *v->pending_end = entry;
    v->pending_end = &entry->next;
}

static struct entry *pending_take(struct voters *v)
{
    struct entry *entry = v->pending;
    v->pending = entry->next;
    if (v->pending == NULL)
        v->pending_end = &v->pending;
    entry->next = NULL;
    return entry;
}

static void agree(struct voters *v)
{
    struct entry *entry = pending_take(v);
    entry->index = voters_agreed(v) + 1;
    if (v->last != NULL)
        v->last->next = entry;
    else
        v->first = entry;
    v->last = entry;
    audit(v, entry);
}

static void propose_gone(struct voters *v, uint32_t host)
{
    uint8_t body[12], bytes[128];
    uint64_t applied, session = state_session(v->voter[v->leader].state, host, &applied);
    struct cursor c = cursor_writer(body, sizeof body), w = cursor_writer(bytes, sizeof bytes);
    if (session == 0)
        return;
    cursor_put_u32(&c, host);
    cursor_put_u64(&c, session);
    command_put(&w,
                &(struct command){.kind = COMMAND_HOST_GONE, .body = body, .size = sizeof body});
    propose(v, bytes, (size_t)(w.at - bytes));
}

/* ---- what happens ---- */

void voters_take(struct voters *v, unsigned voter, uint32_t host, enum voters_frame kind,
                 const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_reader(bytes, size);
    if (voter != v->leader)
        return;
    if (kind == VOTERS_PROPOSE) {
        propose(v, bytes, size);
        return;
    }
    uint64_t session = cursor_get_u64(&c), taken = cursor_get_u64(&c), applied;
    if (state_session(v->voter[voter].state, host, &applied) == session)
        state_resend(v->voter[voter].state, host, taken);
}

void voters_host(struct voters *v, uint32_t host, bool lives)
{
    v->dead[host] = !lives;
    if (!lives)
        propose_gone(v, host);
}

void voters_tick(struct voters *v)
{
    while (v->pending != NULL && random_chance(&v->random, COMMIT_PPM))
        agree(v);
    for (unsigned i = 0; i < VOTERS; i++) {
        struct voter *voter = &v->voter[i];
        unsigned many = i == v->leader ? 1000 : (unsigned)random_below(&v->random, 8);
        while (many-- > 0 && apply_next(voter)) {
        }
        if (random_chance(&v->random, SNAPSHOT_PPM))
            snapshot(voter);
        if (random_chance(&v->random, COMPARE_PPM))
            compare(v, voter);
    }
    for (uint32_t host = 1; host <= VOTERS_HOST_MAX; host++)
        if (v->dead[host] && random_chance(&v->random, 50000))
            propose_gone(v, host);
}

/* Of what was not agreed the new leader has the beginning. It applies what is agreed, tells what
 * the last one may have told nobody, and goes on. */
void voters_depose(struct voters *v)
{
    while (v->pending != NULL && random_chance(&v->random, 500000))
        agree(v);
    while (v->pending != NULL)
        free(pending_take(v));
    unsigned next = (v->leader + 1 + (unsigned)random_below(&v->random, VOTERS - 1)) % VOTERS;
    v->leader = VOTERS;
    while (apply_next(&v->voter[next])) {
    }
    v->leader = next;
    for (uint32_t host = 1; host <= VOTERS_HOST_MAX; host++) {
        state_resend(v->voter[next].state, host, 0);
        if (v->dead[host])
            propose_gone(v, host);
    }
}

struct voters *voters_create(uint64_t seed, voters_send *send, void *context)
{
    struct voters *v = calloc(1, sizeof *v);
    if (v == NULL)
        abort();
    v->random = seed;
    v->send = send;
    v->context = context;
    v->pending_end = &v->pending;
    v->auditor = state_create(ignore, NULL);
    for (unsigned i = 0; i < VOTERS; i++) {
        v->voter[i] = (struct voter){.voters = v, .number = i};
        v->voter[i].state = state_create(on_event, &v->voter[i]);
        v->voter[i].snapshot = malloc(SNAPSHOT_BYTES);
    }
    return v;
}

void voters_destroy(struct voters *v)
{
    while (v->pending != NULL)
        free(pending_take(v));
    while (v->first != NULL) {
        struct entry *next = v->first->next;
        free(v->first);
        v->first = next;
    }
    for (unsigned i = 0; i < VOTERS; i++) {
        state_destroy(v->voter[i].state);
        free(v->voter[i].snapshot);
    }
    state_destroy(v->auditor);
    free(v);
}
