/*
 * The agreed state. Files:
 *   command.h      commands, questions and events as bytes; every kind once, in COMMAND_KINDS
 *   state.h        apply, query, save and load; state_engine.h: what an engine is
 *   origin.c       one daemon's session: which command is its turn, which events it has not taken
 *   lock.c ...     the engines, one noun each; names.c, waiters.c: what they are made of
 *
 * A command passes three gates, each of which leaves everything as it is: it is well formed
 * (command_get), its session lives and it is its turn (origin_turn). Then it counts as applied,
 * also when its engine refuses it: the refusal is its answer.
 *
 * Owners: the state owns its origins and engines; an engine owns what it keeps. Events are owned by
 * the origin that they are for.
 *
 * Memory that is exhausted in the middle of a command would leave this replica different from the
 * others: it is then broken, applies nothing any more, and its owner gives it up.
 */
#include "proto/state/state.h"

#include <stdlib.h>

#include "proto/state/origin.h"
#include "proto/state/state_engine.h"

#define SNAPSHOT_VERSION 3u

enum engine_number {
#define ENGINE_ENUM(name, engine) ENGINE_##name,
    STATE_ENGINES(ENGINE_ENUM)
#undef ENGINE_ENUM
        ENGINES
};
#define ENGINE_STATE ENGINES /* commands about daemons and tasks are carried out here */

static const struct state_engine *const engines[] = {
#define ENGINE_ROW(name, engine) &engine,
    STATE_ENGINES(ENGINE_ROW)
#undef ENGINE_ROW
};

struct state {
    state_event_fn *on_event;
    void *context;
    uint64_t index, fence;
    uint64_t base; /* all numbers are larger */
    bool broken;
    bool full;         /* when it was looked at last */
    size_t kept_bytes; /* of events that were not taken yet */
    struct origin *origins[HOST_INDEX_MAX + 1];
    void *parts[ENGINES];
};

static int engine_of(uint8_t kind)
{
    static const uint8_t owner[] = {
#define OWNER(number, name, engine, party, effect) [number] = ENGINE_##engine,
        COMMAND_KINDS(OWNER)
#undef OWNER
    };
    return owner[kind];
}

/* ---- create and destroy ---- */

struct state *state_create(state_event_fn *on_event, void *context)
{
    struct state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->on_event = on_event;
    s->context = context;
    for (int i = 0; i < ENGINES; i++) {
        s->parts[i] = engines[i]->create(s);
        if (s->parts[i] == NULL) {
            state_destroy(s);
            return NULL;
        }
    }
    return s;
}

void state_destroy(struct state *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < ENGINES; i++)
        if (s->parts[i] != NULL)
            engines[i]->destroy(s->parts[i]);
    for (uint32_t host = 0; host <= HOST_INDEX_MAX; host++) {
        if (s->origins[host] != NULL)
            origin_taken(s->origins[host], UINT64_MAX);
        free(s->origins[host]);
    }
    free(s);
}

/* ---- for engines ---- */

static void state_tell(struct state *s, const struct event *event)
{
    struct origin *o = s->origins[tid_host(event->task)];
    if (o == NULL || o->session == 0)
        return; /* its host is gone, and it with it */
    const struct event *told = origin_tell(o, event);
    if (told == NULL)
        state_exhausted(s);
    else
        s->on_event(s->context, told);
}

void state_answer(struct state *s, const struct state_request *to, int32_t status,
                  const uint8_t *body, size_t size)
{
    state_tell(s, &(struct event){.kind = EVENT_ANSWER,
                                  .task = to->task,
                                  .request = to->request,
                                  .status = status,
                                  .body = body,
                                  .size = size});
}

void state_notice(struct state *s, uint32_t task, uint32_t about, const uint8_t *body, size_t size)
{
    state_tell(
        s, &(struct event){
               .kind = EVENT_NOTICE, .task = task, .request = about, .body = body, .size = size});
}

void state_begin(struct state *s, uint64_t base)
{
    s->fence = s->base = base;
}

uint64_t state_base(const struct state *s)
{
    return s->base;
}

uint64_t state_fence(struct state *s)
{
    return ++s->fence;
}

bool state_reaches_host(const struct state *s, uint32_t host)
{
    const struct origin *o = host <= HOST_INDEX_MAX ? s->origins[host] : NULL;
    return o != NULL && o->session != 0;
}

bool state_reaches(const struct state *s, uint32_t task)
{
    return state_reaches_host(s, tid_host(task)) && tid_local(task) != 0;
}

void state_exhausted(struct state *s)
{
    s->broken = true;
}

/* ---- daemons and tasks ---- */

static void gone(struct state *s, struct state_gone what)
{
    for (int i = 0; i < ENGINES; i++)
        engines[i]->gone(s->parts[i], &what);
}

static struct origin *origin_get(struct state *s, uint32_t host)
{
    if (s->origins[host] == NULL) {
        s->origins[host] = calloc(1, sizeof *s->origins[host]);
        if (s->origins[host] != NULL)
            *s->origins[host] = (struct origin){.host = host, .kept_bytes = &s->kept_bytes};
        else
            state_exhausted(s);
    }
    return s->origins[host];
}

/* The session is no more before anything of it is freed: its tasks are told nothing of that. */
static void session_end(struct state *s, struct origin *o, uint64_t session)
{
    bool lived = o->session != 0 && o->session <= session;
    origin_end(o, session);
    if (lived)
        gone(s, (struct state_gone){.host = o->host});
}

static bool host_gone(struct state *s, struct cursor *body)
{
    uint32_t host = cursor_get_u32(body);
    uint64_t session = cursor_get_u64(body);
    if (!cursor_done(body) || host == 0 || host > HOST_INDEX_MAX)
        return false;
    struct origin *o = origin_get(s, host);
    if (o != NULL)
        session_end(s, o, session);
    return true;
}

static bool cancel(struct state *s, uint32_t task, struct cursor *body)
{
    uint32_t request = cursor_get_u32(body);
    if (!cursor_done(body))
        return false;
    for (int i = 0; i < ENGINES; i++)
        engines[i]->cancel(s->parts[i], task, request);
    return true;
}

static bool state_command(struct state *s, const struct command *command, struct cursor *body)
{
    switch (command->kind) {
    case COMMAND_TASK_GONE:
        gone(s, (struct state_gone){.task = command->task});
        return true;
    case COMMAND_HOST_GONE:
        return host_gone(s, body);
    case COMMAND_CANCEL:
        return cancel(s, command->task, body);
    default:
        return true; /* OPEN, ACK: their heads say it all */
    }
}

/* ---- commands ---- */

static void carry_out(struct state *s, const struct command *command)
{
    const struct state_request request = {command->kind, command->task, command->request,
                                          command->host};
    struct cursor body = cursor_reader(command->body, command->size);
    int engine = engine_of(command->kind);
    if (state_is_full(s) && command_effect(command->kind) == COMMAND_ADDS) {
        state_answer(s, &request, ERROR_ERESOURCE, NULL, 0);
        return;
    }
    bool good = engine == ENGINE_STATE ? state_command(s, command, &body)
                                       : engines[engine]->apply(s->parts[engine], &request, &body);
    if (!good && command->task != 0 && engine != ENGINE_STATE)
        state_answer(s, &request, ERROR_EPROTO, NULL, 0);
}

/* A daemon's command, if it is its turn. */
static enum state_verdict take_turn(struct state *s, const struct command *command)
{
    struct origin *o = origin_get(s, command->host);
    if (o == NULL)
        return STATE_BROKEN;
    enum state_verdict verdict = origin_turn(o, command);
    if (verdict != STATE_APPLIED)
        return verdict;
    if (command->session > o->session) {
        if (o->session != 0)
            session_end(s, o, o->session);
        origin_open(o, command->session);
    }
    o->applied = command->number;
    origin_taken(o, command->taken);
    return STATE_APPLIED;
}

static void save(const struct state *s, struct cursor *c);

enum state_verdict state_apply(struct state *s, uint64_t index, const uint8_t *bytes, size_t size)
{
    struct command command;
    struct cursor c = cursor_reader(bytes, size);
    if (s->broken)
        return STATE_BROKEN;
    if (index <= s->index)
        return STATE_REPEATED;
    /* The log has other entries, too, so that not every index comes here. */
    if (index / STATE_LOOK_EVERY != s->index / STATE_LOOK_EVERY) {
        struct cursor counter = cursor_counter();
        save(s, &counter);
        s->full = counter.counted > STATE_BYTES_MAX;
    }
    s->index = index;
    command_get(&c, &command);
    if (!cursor_ok(&c))
        return STATE_BAD;
    enum state_verdict verdict = command.host == 0 ? STATE_APPLIED : take_turn(s, &command);
    if (verdict == STATE_APPLIED)
        carry_out(s, &command);
    return s->broken ? STATE_BROKEN : verdict;
}

uint64_t state_index(const struct state *s)
{
    return s->index;
}

bool state_is_full(const struct state *s)
{
    return s->full || s->kept_bytes > STATE_KEPT_MAX;
}

int32_t state_query(const struct state *s, uint8_t kind, uint32_t task, struct cursor *body,
                    struct cursor *out)
{
    const struct state_request request = {.kind = kind, .task = task};
    if (command_party(kind) != QUERY)
        return ERROR_EPROTO;
    int engine = engine_of(kind);
    return engines[engine]->query(s->parts[engine], &request, body, out);
}

uint64_t state_session(const struct state *s, uint32_t host, uint64_t *applied)
{
    const struct origin *o = host <= HOST_INDEX_MAX ? s->origins[host] : NULL;
    *applied = o == NULL ? 0 : o->applied;
    return o == NULL ? 0 : o->session;
}

void state_resend(struct state *s, uint32_t host, uint64_t taken)
{
    const struct origin *o = host <= HOST_INDEX_MAX ? s->origins[host] : NULL;
    for (const struct kept_event *kept = o == NULL ? NULL : o->first; kept != NULL;
         kept = kept->next)
        if (kept->event.sequence > taken)
            s->on_event(s->context, &kept->event);
}

/* ---- snapshots ----
 *   snapshot = version=u32 index=u64 base=u64 fence=u64 full=u8 count=u32 *origin *engine
 *              ; as in STATE_ENGINES
 */

static bool origins_load(struct state *s, struct cursor *c)
{
    uint32_t count = cursor_get_u32(c), last = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct cursor ahead = *c;
        uint32_t host = cursor_get_u32(&ahead);
        if (!cursor_ok(&ahead) || host <= last || host > HOST_INDEX_MAX)
            return false;
        struct origin *o = origin_get(s, host);
        if (o == NULL || !origin_load(o, c))
            return false;
        last = host;
    }
    return true;
}

static void save(const struct state *s, struct cursor *c)
{
    cursor_put_u32(c, SNAPSHOT_VERSION);
    cursor_put_u64(c, s->index);
    cursor_put_u64(c, s->base);
    cursor_put_u64(c, s->fence);
    cursor_put_u8(c, s->full);
    uint32_t count = 0;
    for (uint32_t host = 0; host <= HOST_INDEX_MAX; host++)
        count += s->origins[host] != NULL;
    cursor_put_u32(c, count);
    for (uint32_t host = 0; host <= HOST_INDEX_MAX; host++)
        if (s->origins[host] != NULL)
            origin_save(s->origins[host], c);
    for (int i = 0; i < ENGINES; i++)
        engines[i]->save(s->parts[i], c);
}

size_t state_save(const struct state *s, uint8_t *bytes, size_t capacity)
{
    struct cursor c = cursor_writer(bytes, capacity);
    save(s, &c);
    return cursor_ok(&c) ? (size_t)(c.at - bytes) : 0;
}

static bool load_snapshot(struct state *s, struct cursor *c)
{
    if (cursor_get_u32(c) != SNAPSHOT_VERSION)
        return false;
    s->index = cursor_get_u64(c);
    s->base = cursor_get_u64(c);
    s->fence = cursor_get_u64(c);
    uint8_t full = cursor_get_u8(c);
    s->full = full == 1;
    if (full > 1 || !origins_load(s, c))
        return false;
    for (int i = 0; i < ENGINES; i++)
        if (!engines[i]->load(s->parts[i], c) || !cursor_ok(c))
            return false;
    return cursor_done(c) && !s->broken;
}

struct state *state_load(state_event_fn *on_event, void *context, const uint8_t *bytes, size_t size)
{
    struct state *s = state_create(on_event, context);
    struct cursor c = cursor_reader(bytes, size);
    if (s == NULL || load_snapshot(s, &c))
        return s;
    state_destroy(s);
    return NULL;
}
