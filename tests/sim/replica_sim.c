/* replica_sim.c - see replica_sim.h. */
#include "tests/sim/replica_sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/client.h"
#include "tests/sim/network.h"

#define REPLICAS 3
#define SAVED_BYTES_MAX (1u << 20)
#define MESSAGES_MAX 4096
#define RETRIED 4 /* commands at once */
#define LEADER ((uint32_t)0)

struct bytes {
    size_t size;
    uint8_t *bytes;
};

/* To the leader: a command, or host, session and taken; to a host: an event. */
enum message_kind { COMMAND, EVENT, RESEND };
struct message {
    enum message_kind kind;
    uint32_t to; /* LEADER or a host */
    uint32_t host;
    uint64_t session, taken;
    struct bytes bytes;
};

struct entry {
    struct bytes bytes;
    uint64_t hash; /* of the state after it; 0: not known */
};

struct replica {
    struct replica_sim *sim;
    struct state *state;
    struct bytes snapshot; /* size 0: none; then it begins from nothing */
};

struct daemon {
    bool lives;
    struct client client;
};

struct replica_sim {
    struct replica_sim_config config;
    uint64_t random, sessions;
    struct entry *log;
    size_t log_count, log_capacity;
    struct replica replicas[REPLICAS];
    int leader;
    bool replaying; /* what a replica applies again is told to nobody */
    struct daemon daemons[REPLICA_SIM_HOSTS];
    struct message messages[MESSAGES_MAX];
    size_t messages_count;
    uint8_t *scratch;
    char failure[256];
};

void replica_sim_fail(struct replica_sim *sim, const char *format, ...)
{
    va_list args;

    if (sim->failure[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(sim->failure, sizeof sim->failure, format, args);
    va_end(args);
}

const char *replica_sim_failure(const struct replica_sim *sim)
{
    return sim->failure[0] != '\0' ? sim->failure : NULL;
}

uint64_t *replica_sim_random(struct replica_sim *sim)
{
    return &sim->random;
}

static struct bytes bytes_copy(const void *bytes, size_t size)
{
    struct bytes b = {size, malloc(size + 1)};

    memcpy(b.bytes, bytes, size);
    return b;
}

/* ---- the network ---- */

static void message_add(struct replica_sim *sim, struct message m)
{
    if (sim->messages_count == MESSAGES_MAX || random_chance(&sim->random, sim->config.loss_ppm)) {
        free(m.bytes.bytes);
        return;
    }
    sim->messages[sim->messages_count++] = m;
}

static void message_send(struct replica_sim *sim, const struct message *m)
{
    unsigned copies = 1 + random_chance(&sim->random, sim->config.duplicate_ppm);

    for (unsigned i = 0; i < copies; i++) {
        struct message copy = *m;

        if (m->bytes.bytes != NULL)
            copy.bytes = bytes_copy(m->bytes.bytes, m->bytes.size);
        message_add(sim, copy);
    }
}

/* ---- replicas ---- */

static void log_append(struct replica_sim *sim, const struct bytes *bytes)
{
    if (sim->log_count == sim->log_capacity) {
        sim->log_capacity = sim->log_capacity == 0 ? 256 : 2 * sim->log_capacity;
        sim->log = realloc(sim->log, sim->log_capacity * sizeof *sim->log);
    }
    sim->log[sim->log_count++] =
        (struct entry){.bytes = bytes_copy(bytes->bytes, bytes->size), .hash = 0};
}

static void send_event(struct replica_sim *sim, const struct event *event)
{
    struct message m = {.kind = EVENT, .to = event->host};
    struct cursor c = cursor_writer(sim->scratch, SAVED_BYTES_MAX);

    event_put(&c, event);
    m.bytes = (struct bytes){(size_t)(c.at - sim->scratch), sim->scratch};
    message_send(sim, &m);
}

static void on_event(void *context, const struct event *event)
{
    struct replica *r = context;

    if (!r->sim->replaying && r == &r->sim->replicas[r->sim->leader])
        send_event(r->sim, event);
}

static uint64_t fnv(const uint8_t *bytes, size_t size)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash | 1;
}

static void compare(struct replica_sim *sim, const struct replica *r)
{
    uint64_t index = state_index(r->state);
    struct entry *entry = &sim->log[index - 1];
    size_t size = state_save(r->state, sim->scratch, SAVED_BYTES_MAX);
    uint64_t hash = fnv(sim->scratch, size);

    if (size == 0)
        replica_sim_fail(sim, "the state cannot be saved after %llu", (unsigned long long)index);
    if (entry->hash == 0)
        entry->hash = hash;
    else if (entry->hash != hash)
        replica_sim_fail(sim, "replica %d differs after %llu", (int)(r - sim->replicas),
                         (unsigned long long)index);
}

static bool is_behind(const struct replica_sim *sim, const struct replica *r)
{
    return state_index(r->state) < sim->log_count;
}

static void apply_next(struct replica_sim *sim, struct replica *r)
{
    uint64_t index = state_index(r->state) + 1;
    const struct bytes *bytes = &sim->log[index - 1].bytes;
    enum state_verdict verdict = state_apply(r->state, index, bytes->bytes, bytes->size);

    if (verdict == STATE_BAD || verdict == STATE_BROKEN)
        replica_sim_fail(sim, "command %llu is refused: %d", (unsigned long long)index, verdict);
    compare(sim, r);
}

static void snapshot_take(struct replica_sim *sim, struct replica *r)
{
    size_t size = state_save(r->state, sim->scratch, SAVED_BYTES_MAX);

    free(r->snapshot.bytes);
    r->snapshot = bytes_copy(sim->scratch, size);
}

/* Comes back with its own snapshot, or another's that may be newer. */
static void crash(struct replica_sim *sim, struct replica *r)
{
    const struct bytes *from = &sim->replicas[random_below(&sim->random, REPLICAS)].snapshot;

    if (r == &sim->replicas[sim->leader])
        return; /* that is a change of leader first */
    state_destroy(r->state);
    r->state = from->size == 0 ? state_create(on_event, r)
                               : state_load(on_event, r, from->bytes, from->size);
    if (r->state == NULL) {
        replica_sim_fail(sim, "a snapshot is refused");
        r->state = state_create(on_event, r);
    }
    if (state_index(r->state) > 0)
        compare(sim, r);
}

static void catch_up(struct replica_sim *sim, struct replica *r)
{
    while (is_behind(sim, r) && sim->failure[0] == '\0')
        apply_next(sim, r);
}

static void change_leader(struct replica_sim *sim)
{
    int next = (int)random_below(&sim->random, REPLICAS);

    sim->replaying = true;
    catch_up(sim, &sim->replicas[next]);
    sim->replaying = false;
    sim->leader = next;
}

const struct state *replica_sim_state(const struct replica_sim *sim)
{
    return sim->replicas[sim->leader].state;
}

/* ---- daemons ---- */

static void command_send(struct replica_sim *sim, const struct command *command)
{
    struct cursor c = cursor_writer(sim->scratch, SAVED_BYTES_MAX);
    struct message m = {.kind = COMMAND, .to = LEADER};

    command_put(&c, command);
    m.bytes = (struct bytes){(size_t)(c.at - sim->scratch), sim->scratch};
    message_send(sim, &m);
}

static void daemon_send(struct replica_sim *sim, struct daemon *d, int most)
{
    const struct command *command;

    while (most-- > 0 && (command = client_next(&d->client)) != NULL)
        command_send(sim, command);
}

void replica_sim_ask(struct replica_sim *sim, const struct command *command)
{
    struct daemon *d = &sim->daemons[command->host];

    if (d->lives && client_put(&d->client, command))
        daemon_send(sim, d, RETRIED);
}

void replica_sim_kill(struct replica_sim *sim, uint32_t host)
{
    client_fini(&sim->daemons[host].client);
    sim->daemons[host].lives = false;
}

void replica_sim_open(struct replica_sim *sim, uint32_t host)
{
    struct daemon *d = &sim->daemons[host];

    replica_sim_kill(sim, host);
    d->lives = client_open(&d->client, host, ++sim->sessions);
    daemon_send(sim, d, RETRIED);
}

void replica_sim_declare_gone(struct replica_sim *sim, uint32_t host)
{
    uint8_t body[12], bytes[COMMAND_BYTES_MAX];
    struct cursor b = cursor_writer(body, sizeof body), c = cursor_writer(bytes, sizeof bytes);

    cursor_put_u32(&b, host);
    cursor_put_u64(&b, sim->daemons[host].client.session);
    command_put(&c, &(struct command){.kind = COMMAND_HOST_GONE, .body = body, .size = 12});
    log_append(sim, &(struct bytes){(size_t)(c.at - bytes), bytes});
}

static void resend_ask(struct replica_sim *sim, const struct daemon *d)
{
    const struct message m = {.kind = RESEND,
                              .to = LEADER,
                              .host = d->client.host,
                              .session = d->client.session,
                              .taken = d->client.taken};

    message_send(sim, &m);
}

static void daemon_retry(struct replica_sim *sim, uint32_t host)
{
    struct daemon *d = &sim->daemons[host];

    client_again(&d->client);
    daemon_send(sim, d, RETRIED);
    resend_ask(sim, d);
}

static void daemon_on_event(struct replica_sim *sim, struct daemon *d, const struct event *event)
{
    uint64_t due = d->client.taken + 1;
    enum client_verdict verdict = d->lives ? client_event(&d->client, event) : CLIENT_OLD;

    if (verdict == CLIENT_GAP)
        resend_ask(sim, d);
    if (verdict != CLIENT_TAKE)
        return;
    if (event->sequence != due)
        replica_sim_fail(sim, "host %u takes event %llu out of turn", d->client.host,
                         (unsigned long long)event->sequence);
    sim->config.on_event(sim->config.context, event);
}

/* The leader says what was applied, too. */
static void resend(struct replica_sim *sim, const struct message *m)
{
    struct daemon *d = &sim->daemons[m->host];
    uint64_t applied;

    if (state_session(replica_sim_state(sim), m->host, &applied) != m->session)
        return;
    state_resend(sim->replicas[sim->leader].state, m->host, m->taken);
    if (d->lives)
        client_applied(&d->client, m->session, applied);
}

/* ---- steps ---- */

static void deliver(struct replica_sim *sim, size_t i)
{
    struct message m = sim->messages[i];
    struct event event = {0};
    struct cursor c = cursor_reader(m.bytes.bytes, m.bytes.size);

    sim->messages_count--; /* the others keep their order: without faults it is a fair network */
    memmove(&sim->messages[i], &sim->messages[i + 1],
            (sim->messages_count - i) * sizeof sim->messages[0]);
    if (m.kind == COMMAND)
        log_append(sim, &m.bytes);
    else if (m.kind == RESEND)
        resend(sim, &m);
    else
        event_get(&c, &event);
    if (m.kind == EVENT && cursor_ok(&c))
        daemon_on_event(sim, &sim->daemons[m.to], &event);
    else if (m.kind == EVENT)
        replica_sim_fail(sim, "an event is malformed");
    free(m.bytes.bytes);
}

static void any_replica_applies(struct replica_sim *sim)
{
    struct replica *r = &sim->replicas[random_below(&sim->random, REPLICAS)];

    for (uint64_t most = 1 + random_below(&sim->random, 8); most > 0 && is_behind(sim, r); most--)
        apply_next(sim, r);
}

static void any_daemon_retries(struct replica_sim *sim)
{
    uint32_t host = 1 + (uint32_t)random_below(&sim->random, REPLICA_SIM_HOSTS - 1);

    if (sim->daemons[host].lives)
        daemon_retry(sim, host);
}

void replica_sim_step(struct replica_sim *sim)
{
    uint64_t what = random_below(&sim->random, 1000);
    struct replica *any = &sim->replicas[random_below(&sim->random, REPLICAS)];

    if (what < 650 && sim->messages_count > 0)
        deliver(sim, random_below(&sim->random, sim->messages_count));
    else if (what < 940)
        any_replica_applies(sim);
    else if (what < 980)
        any_daemon_retries(sim);
    else if (what < 988)
        change_leader(sim);
    else if (what < 995)
        snapshot_take(sim, any);
    else
        crash(sim, any);
}

static bool is_settled(const struct replica_sim *sim)
{
    for (int i = 0; i < REPLICAS; i++)
        if (is_behind(sim, &sim->replicas[i]))
            return false;
    for (uint32_t host = 1; host < REPLICA_SIM_HOSTS; host++) {
        const struct daemon *d = &sim->daemons[host];
        uint64_t applied;

        if (d->lives &&
            state_session(replica_sim_state(sim), host, &applied) == d->client.session &&
            applied < d->client.number)
            return false;
    }
    return sim->messages_count == 0;
}

static void settle_round(struct replica_sim *sim)
{
    for (uint32_t host = 1; host < REPLICA_SIM_HOSTS; host++)
        if (sim->daemons[host].lives)
            daemon_retry(sim, host);
    do {
        for (int i = 0; i < REPLICAS; i++)
            catch_up(sim, &sim->replicas[i]);
        if (sim->messages_count > 0)
            deliver(sim, 0);
    } while (sim->messages_count > 0);
}

void replica_sim_settle(struct replica_sim *sim)
{
    sim->config.loss_ppm = sim->config.duplicate_ppm = 0;
    for (int rounds = 0; rounds < 1000 && sim->failure[0] == '\0'; rounds++) {
        settle_round(sim);
        if (is_settled(sim) && rounds > 0)
            return;
    }
    replica_sim_fail(sim, "it never comes to rest");
}

struct replica_sim *replica_sim_create(const struct replica_sim_config *config)
{
    struct replica_sim *sim = calloc(1, sizeof *sim);

    sim->config = *config;
    sim->random = config->seed;
    sim->scratch = malloc(SAVED_BYTES_MAX);
    for (int i = 0; i < REPLICAS; i++)
        sim->replicas[i] = (struct replica){.sim = sim};
    for (int i = 0; i < REPLICAS; i++)
        sim->replicas[i].state = state_create(on_event, &sim->replicas[i]);
    return sim;
}

void replica_sim_destroy(struct replica_sim *sim)
{
    for (uint32_t host = 1; host < REPLICA_SIM_HOSTS; host++)
        replica_sim_kill(sim, host);
    for (int i = 0; i < REPLICAS; i++) {
        state_destroy(sim->replicas[i].state);
        free(sim->replicas[i].snapshot.bytes);
    }
    for (size_t i = 0; i < sim->messages_count; i++)
        free(sim->messages[i].bytes.bytes);
    for (size_t i = 0; i < sim->log_count; i++)
        free(sim->log[i].bytes.bytes);
    free(sim->log);
    free(sim->scratch);
    free(sim);
}
