/*
 * vm_sim.c - see vm_sim.h. Time moves from event to event: the next datagram, the next deadline of
 * a node. A life that stands still gets its datagrams when it goes on, all at once, as a socket
 * buffer gives them to a process that was stopped.
 */
#include "tests/sim/vm_sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/node/node_state.h"
#include "proto/wire/ether.h"
#include "tests/sim/deadlines.h"
#include "tests/sim/nonce_watch.h"

#define REIGNS_MAX 1024
#define VERSIONS_MAX 65536 /* a power of two */
#define TABLES_WHOLE 128   /* tables of so many rows are compared at every version */
#define MAILBOX_MAX 4096
#define QUEUE_BYTES_MAX (64u << 20)
#define ETHER_BYTES_MAX 1492
#define GENERATIONS_MAX 32
#define COMMANDS_MAX 4096

struct mailbox { /* of a life that stands still */
    struct network_datagram *datagrams[MAILBOX_MAX];
    size_t count;
};

/* One generation of the agreed state. */
struct generation {
    uint64_t generation; /* 0: none */
    uint64_t hash[COMMANDS_MAX];
};

/* Who coordinated in an epoch. */
struct reign {
    uint64_t epoch;
    uint32_t coordinator;
};

/* What a version of the host table says of the hosts that live. */
struct version {
    uint64_t epoch, version, hash; /* epoch 0: none */
};

struct vm_sim {
    struct vm_sim_config config;
    struct network *network;
    uint64_t random;
    uint64_t now_us;
    struct life *lives[VM_SIM_INDEX_MAX + 1];
    uint32_t highest;            /* index of a life */
    struct deadlines *deadlines; /* of the lives that run, by index */
    uint32_t differed;           /* the life that was not as all must be after quiet; 0: none */
    struct life **on;            /* life on each host */
    struct mailbox **boxes;      /* of each host */
    struct reign reigns[REIGNS_MAX];
    struct version versions[VERSIONS_MAX];
    uint64_t gone_epoch[VM_SIM_INDEX_MAX + 1]; /* in which a life was declared gone; 0: was not */
    uint8_t *generation;                       /* of each host's address */
    bool ether_cut;
    bool *way_cut[MEDIA]; /* from each host to each; NULL: none ever was */
    vm_sim_tap *tap;
    void *tap_context;
    const char *counted_text;
    uint64_t counted;
    struct generation truths[GENERATIONS_MAX];
    uint64_t commands;
    char failure[512];
};

/* ---- small things ---- */

const char *vm_sim_failure(const struct vm_sim *sim)
{
    return sim->failure[0] ? sim->failure : NULL;
}

void vm_sim_fail(struct vm_sim *sim, const char *format, ...)
{
    va_list arguments;

    if (sim->failure[0])
        return;
    va_start(arguments, format);
    vsnprintf(sim->failure, sizeof sim->failure, format, arguments);
    va_end(arguments);
    if (sim->config.trace)
        printf("%12.6f FAILURE %s\n", (double)sim->now_us / 1e6, sim->failure);
}

uint64_t vm_sim_now(const struct vm_sim *sim)
{
    return sim->now_us;
}

uint64_t *vm_sim_random(struct vm_sim *sim)
{
    return &sim->random;
}

struct network *vm_sim_network(struct vm_sim *sim)
{
    return sim->network;
}

struct life *vm_sim_on(struct vm_sim *sim, uint32_t host)
{
    struct life *life = sim->on[host];

    return life && life->running ? life : NULL;
}

struct life *vm_sim_life(struct vm_sim *sim, uint32_t index)
{
    return index <= VM_SIM_INDEX_MAX ? sim->lives[index] : NULL;
}

uint64_t vm_sim_epoch(const struct life *life)
{
    return member_table(life->node->member)->epoch;
}

size_t vm_sim_running(struct vm_sim *sim)
{
    size_t running = 0;

    for (uint32_t i = 1; i <= sim->highest; i++)
        running += sim->lives[i] && sim->lives[i]->running;
    return running;
}

static bool coordinates(const struct life *life)
{
    return life->running && life->joined && node_coordinator(life->node) == life->index;
}

struct life *vm_sim_coordinator(struct vm_sim *sim)
{
    struct life *best = NULL;

    for (uint32_t i = 1; i <= sim->highest; i++) {
        struct life *life = sim->lives[i];

        if (life && coordinates(life) && (!best || vm_sim_epoch(life) > vm_sim_epoch(best)))
            best = life;
    }
    return best;
}

/* ---- addresses: 10.0.0.generation and the host as port; a MAC of the host ---- */

static struct address host_address(uint32_t host, uint8_t generation)
{
    struct address a = {.family = ADDRESS_IPV4, .size = 6, .bytes = {10, 0, 0, generation}};

    a.bytes[4] = (uint8_t)(host >> 8);
    a.bytes[5] = (uint8_t)host;
    return a;
}

static struct address host_mac(uint32_t host)
{
    return ether_address(
        (uint8_t[ETHER_MAC_BYTES]){2, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host});
}

static uint32_t address_host(const struct address *a)
{
    return (uint32_t)(a->bytes[4] << 8 | a->bytes[5]);
}

void vm_sim_move(struct vm_sim *sim, uint32_t host)
{
    if (sim->config.trace)
        printf("%12.6f host%u MOVES\n", (double)sim->now_us / 1e6, host);
    sim->generation[host]++;
}

void vm_sim_cut_ether(struct vm_sim *sim, bool cut)
{
    sim->ether_cut = cut;
}

void vm_sim_cut_way(struct vm_sim *sim, enum node_medium medium, uint32_t from, uint32_t to,
                    bool cut)
{
    size_t hosts = sim->config.network.ports;

    if (!sim->way_cut[medium])
        sim->way_cut[medium] = calloc(hosts * hosts, sizeof(bool));
    if (!sim->way_cut[medium])
        abort();
    sim->way_cut[medium][from * hosts + to] = cut;
}

static bool way_is_cut(const struct vm_sim *sim, enum node_medium medium, uint32_t from,
                       uint32_t to)
{
    return sim->way_cut[medium] &&
           sim->way_cut[medium][(size_t)from * sim->config.network.ports + to];
}

/* ---- what a node asks of its daemon ---- */

/* Both media share the network: the first byte of what it carries says by which a datagram goes. */
static void carry(struct life *life, uint32_t host, enum node_medium medium, const uint8_t *bytes,
                  size_t size)
{
    uint8_t carried[1 + DATAGRAM_BYTES_MAX];

    carried[0] = (uint8_t)medium;
    memcpy(carried + 1, bytes, size);
    network_send(life->sim->network, life->host, host, carried, 1 + size);
}

static void on_send(void *context, const struct address *to, const uint8_t *bytes, size_t size)
{
    struct life *life = context;
    struct vm_sim *sim = life->sim;
    uint32_t host = address_host(to);
    enum node_medium medium = node_medium_of(to);

    if (nonce_watch_repeats() > 0)
        vm_sim_fail(sim, "host %u used a nonce twice under one key", life->index);
    if (medium == MEDIUM_ETHER && size > ETHER_BYTES_MAX)
        vm_sim_fail(sim, "host %u sent %zu bytes in one Ethernet frame", life->index, size);
    if (sim->tap && medium == MEDIUM_IP)
        sim->tap(sim->tap_context, life->host, host, bytes, size);
    if (way_is_cut(sim, medium, life->host, host))
        return;
    if (medium == MEDIUM_ETHER ? !sim->ether_cut : to->bytes[3] == sim->generation[host])
        carry(life, host, medium, bytes, size);
}

/* Payload: sequence, then bytes that follow from sender, receiver and sequence. */
static uint8_t pattern(uint32_t from, uint32_t to, uint32_t sequence, uint32_t i)
{
    return (uint8_t)(from * 31 + to * 17 + sequence * 7 + i * (1 + sequence % 5) + (i >> 8));
}

static struct life_frames *frames_of(struct life *life)
{
    if (!life->frames)
        life->frames = calloc(1, sizeof *life->frames);
    if (!life->frames)
        abort();
    return life->frames;
}

uint32_t vm_sim_received(const struct life *life, uint32_t from, enum node_medium medium)
{
    return life->frames ? life->frames->received[medium][from] : 0;
}

static uint32_t sent_to(const struct life *life, uint32_t to)
{
    const struct life_frames *f = life->frames;

    return f ? f->sent[MEDIUM_IP][to] + f->sent[MEDIUM_ETHER][to] : 0;
}

static uint32_t received_from(const struct life *life, uint32_t from)
{
    return vm_sim_received(life, from, MEDIUM_IP) + vm_sim_received(life, from, MEDIUM_ETHER);
}

static void on_frame(void *context, uint32_t host, const struct frame *frame,
                     const uint8_t *payload)
{
    struct life *life = context;
    struct cursor c = cursor_reader(payload, frame->length);
    uint32_t sequence = cursor_get_u32(&c);
    enum node_medium medium = frame->flags & FRAME_ETHER ? MEDIUM_ETHER : MEDIUM_IP;
    uint32_t *expected = &frames_of(life)->received[medium][host];

    if (frame->kind == FRAME_GONE && cursor_ok(&c)) { /* see vm_sim_send_behind() */
        if (vm_sim_received(life, host, MEDIUM_ETHER) < sequence)
            vm_sim_fail(life->sim, "host %u got what was to come behind frame %u of host %u",
                        life->index, sequence, host);
        life->behind++;
        return;
    }
    if (frame->kind != FRAME_DATA || !cursor_ok(&c) || sequence != *expected) {
        vm_sim_fail(life->sim, "host %u got frame %u of host %u, expected %u", life->index,
                    sequence, host, *expected);
        return;
    }
    ++*expected;
    for (uint32_t i = 4; i < frame->length; i++)
        if (payload[i] != pattern(host, life->index, sequence, i)) {
            vm_sim_fail(life->sim, "host %u got frame %u of host %u corrupted at %u", life->index,
                        sequence, host, i);
            return;
        }
}

static void trace(struct life *life, const char *line)
{
    if (life->sim->config.trace)
        printf("%12.6f host%u/%u %s\n", (double)life->sim->now_us / 1e6, life->host, life->index,
               line);
}

static void on_host(void *context, const struct host *host, int event)
{
    static const char *const NAMES[] = {"?", "ADDED", "SUSPECT", "ALIVE", "GONE"};
    struct life *life = context;
    char line[128];

    if (life->sim->config.trace) {
        snprintf(line, sizeof line, "event %s host %u", NAMES[event], host->index);
        trace(life, line);
    }
    if (!life->joined)
        vm_sim_fail(life->sim, "host %u hears of host %u before it joined", life->index,
                    host->index);
    life->added += event == NODE_HOST_ADDED;
    life->gone += event == NODE_HOST_GONE;
    if (event == NODE_HOST_GONE) {
        life->gone_changes += life->gone_us != life->sim->now_us;
        life->gone_us = life->sim->now_us;
    }
    life->suspected += event == NODE_HOST_SUSPECT;
}

static void on_joined(void *context)
{
    struct life *life = context;

    trace(life, "joined");
    life->joined = true;
}

static void on_ended(void *context, int why, const char *text)
{
    static const char *const NAMES[] = {"?", "REMOVED", "SHUTDOWN", "CUT_OFF", "JOIN_FAILED"};
    struct life *life = context;
    char line[256];

    snprintf(line, sizeof line, "ended %s: %s", NAMES[why], text);
    trace(life, line);
    life->ended = why;
}

static void on_log(void *context, const char *line)
{
    struct life *life = context;

    trace(life, line);
    if (life->sim->counted_text && strstr(line, life->sim->counted_text))
        life->sim->counted++;
}

/* ---- what the VM agrees on: a hash over all commands ---- */

/* The state after a command of a generation is the same wherever it is applied. */
static uint64_t *truth_at(struct vm_sim *sim, uint64_t generation, uint64_t index)
{
    static uint64_t nowhere;
    size_t i = 0;

    while (i < GENERATIONS_MAX && sim->truths[i].generation != 0 &&
           sim->truths[i].generation != generation)
        i++;
    if (i == GENERATIONS_MAX || index >= COMMANDS_MAX) {
        vm_sim_fail(sim, "too many generations or commands for the simulator");
        return &nowhere;
    }
    sim->truths[i].generation = generation;
    return &sim->truths[i].hash[index];
}

static void on_agreed(void *context, uint64_t index, const uint8_t *bytes, size_t size)
{
    struct life *life = context;
    struct cursor c = cursor_reader(bytes, size);
    uint64_t *truth = truth_at(life->sim, node_generation(life->node), index);

    if (index <= life->state.index)
        vm_sim_fail(life->sim, "host %u applies a command again", life->index);
    life->state.index = index;
    life->state.commands++;
    life->state.hash = (life->state.hash ^ cursor_get_u64(&c) ^ index) * UINT64_C(0x100000001b3);
    if (*truth == 0)
        *truth = life->state.hash;
    else if (*truth != life->state.hash)
        vm_sim_fail(life->sim, "host %u has another state than others after command %llu",
                    life->index, (unsigned long long)index);
}

static bool on_save(void *context, uint8_t **bytes, size_t *size)
{
    struct life *life = context;

    *size = sizeof life->state;
    *bytes = malloc(*size);
    memcpy(*bytes, &life->state, *size);
    return true;
}

static bool on_load(void *context, const uint8_t *bytes, size_t size)
{
    struct life *life = context;

    if (size != sizeof life->state)
        return false;
    memcpy(&life->state, bytes, size);
    return true;
}

static void on_reset(void *context)
{
    struct life *life = context;

    life->state = (struct life_state){0};
}

static void on_leader(void *context, uint32_t leader, uint64_t generation)
{
    struct life *life = context;
    char line[64];

    snprintf(line, sizeof line, "leader %u of generation %llu", leader,
             (unsigned long long)generation);
    trace(life, line);
    if (generation < life->generation)
        vm_sim_fail(life->sim, "host %u goes back to an earlier generation", life->index);
    life->generation = generation;
}

static void on_random(void *context, void *bytes, size_t size)
{
    struct life *life = context;
    uint8_t *b = bytes;

    for (size_t i = 0; i < size; i++)
        b[i] = (uint8_t)random_next(&life->sim->random);
}

/* ---- lives ---- */

/* A life that stands still does nothing before it goes on, one that is gone nothing at all. */
static void set_deadline(struct life *life, uint64_t deadline_us)
{
    life->deadline_us = deadline_us;
    if (deadline_us < life->stopped_until_us)
        deadline_us = life->stopped_until_us;
    deadlines_set(life->sim->deadlines, life->index, life->running ? deadline_us : UINT64_MAX);
}

void vm_sim_touch(struct life *life)
{
    set_deadline(life, life->sim->now_us);
}

static struct life *create_life(struct vm_sim *sim, uint32_t host, uint32_t index)
{
    static const uint8_t KEY[VM_KEY_BYTES] = {1, 2, 3};
    struct life *life = calloc(1, sizeof *life);
    struct node_config config = {.fail_timeout_us = sim->config.fail_timeout_us,
                                 .join_timeout_us = sim->config.join_timeout_us,
                                 .datagram_bytes_min = 1200,
                                 .datagram_bytes_max = 8900,
                                 .encrypt = sim->config.encrypt,
                                 .seed = random_next(&sim->random),
                                 .random = on_random};
    struct node_owner owner = {.context = life,
                               .send = on_send,
                               .frame = on_frame,
                               .host = on_host,
                               .joined = on_joined,
                               .ended = on_ended,
                               .log = on_log,
                               .agreed = sim->config.mute ? NULL : on_agreed,
                               .state_save = on_save,
                               .state_load = on_load,
                               .state_reset = on_reset,
                               .leader = on_leader};

    if (!life)
        abort();
    life->sim = sim;
    life->host = host;
    life->index = index;
    life->running = true;
    strcpy(config.vm, "sim");
    memcpy(config.key, KEY, sizeof KEY);
    struct host_room room = {.arch = "sim"};
    snprintf(room.name, sizeof room.name, "h%u", host);
    config.self = host_in(&room);
    config.self.index = index;
    config.self.representation = REPRESENTATION_LITTLE;
    config.self.cores = 1;
    room.addresses[config.self.address_count++] = host_address(host, 0);
    if (sim->config.ether) {
        config.ether_bytes_min = config.ether_bytes_max = ETHER_BYTES_MAX;
        config.ether_services = sim->config.services;
        room.addresses[config.self.address_count++] = host_mac(host);
    }
    on_random(life, config.self.id, HOST_ID_BYTES);
    life->node = node_create(&config, &owner);
    if (!life->node)
        abort();
    sim->on[host] = life;
    sim->lives[index] = life;
    sim->gone_epoch[index] = 0;
    set_deadline(life, 0);
    if (index > sim->highest)
        sim->highest = index;
    return life;
}

void vm_sim_bootstrap(struct vm_sim *sim, uint32_t host)
{
    struct life *life = create_life(sim, host, 1);

    node_bootstrap(life->node, sim->now_us);
}

static void destroy_life(struct life *life)
{
    if (!life)
        return;
    node_destroy(life->node);
    free(life->frames);
    free(life);
}

/* The index may belong to a host that never joined, for the coordinator that gave it died; or to
 * one of a later epoch, of which a coordinator that stood still does not know yet. */
static void bury(struct vm_sim *sim, uint32_t index, uint64_t epoch)
{
    struct life *life = sim->lives[index];

    if (!life)
        return;
    if (life->joined && vm_sim_epoch(life) <= epoch)
        vm_sim_fail(sim, "index %u was given again", index);
    trace(life, "BURIED");
    if (sim->on[life->host] == life)
        sim->on[life->host] = NULL;
    sim->lives[index] = NULL;
    life->running = false;
    set_deadline(life, UINT64_MAX);
    destroy_life(life);
}

bool vm_sim_launch(struct vm_sim *sim, uint32_t host)
{
    struct life *through = vm_sim_coordinator(sim), *life;
    uint64_t incarnation;
    char name[32];
    int index;

    if (!through || vm_sim_on(sim, host))
        return false;
    snprintf(name, sizeof name, "h%u", host);
    index = node_invite(through->node, name, &incarnation, sim->now_us);
    if (index < 0)
        return false;
    if ((uint32_t)index > VM_SIM_INDEX_MAX)
        abort();
    bury(sim, (uint32_t)index, vm_sim_epoch(through));
    life = create_life(sim, host, (uint32_t)index);
    life->inviter = through->index;
    node_join(life->node, node_self(through->node), sim->now_us);
    return true;
}

/* The process is gone. Its launcher, on the host that invited it, sees that. */
static void exit_life(struct life *life)
{
    struct life *inviter = vm_sim_life(life->sim, life->inviter);

    life->running = false;
    set_deadline(life, UINT64_MAX);
    if (life->joined || !inviter || !inviter->running)
        return;
    node_uninvite(inviter->node, life->index);
    vm_sim_touch(inviter);
}

void vm_sim_crash(struct vm_sim *sim, uint32_t host)
{
    struct life *life = vm_sim_on(sim, host);

    if (!life)
        return;
    trace(life, "CRASH");
    exit_life(life);
}

void vm_sim_stop(struct vm_sim *sim, uint32_t host, uint64_t duration_us)
{
    struct life *life = vm_sim_on(sim, host);

    if (!life)
        return;
    trace(life, "STOP");
    life->stopped_until_us = sim->now_us + duration_us;
    set_deadline(life, life->deadline_us);
}

void vm_sim_leave(struct vm_sim *sim, struct life *life)
{
    if (life->leaving)
        return;
    trace(life, "LEAVE");
    life->leaving = true;
    life->leave_end_us = sim->now_us + 4 * sim->config.fail_timeout_us;
    node_leave(life->node, sim->now_us);
    vm_sim_touch(life);
}

void vm_sim_heal(struct vm_sim *sim)
{
    uint32_t hosts = sim->config.network.ports;

    if (sim->config.trace)
        printf("%12.6f HEAL\n", (double)sim->now_us / 1e6);
    for (uint32_t a = 0; a < hosts; a++)
        for (uint32_t b = a + 1; b < hosts; b++)
            network_cut(sim->network, a, b, false);
}

int vm_sim_send(struct vm_sim *sim, struct life *from, uint32_t to, uint32_t size)
{
    bool ether = sim->config.ether && random_below(&sim->random, 2) == 1;

    return vm_sim_send_over(from, to, size, ether ? MEDIUM_ETHER : MEDIUM_IP);
}

int vm_sim_send_behind(struct life *from, uint32_t to)
{
    struct frame frame = {.length = 4,
                          .kind = FRAME_GONE,
                          .source = tid_make(from->index, 0),
                          .destination = tid_make(to, 1)};
    uint8_t payload[4];
    struct cursor c = cursor_writer(payload, sizeof payload);

    cursor_put_u32(&c, frames_of(from)->sent[MEDIUM_ETHER][to]);
    vm_sim_touch(from);
    return node_send_behind(from->node, to, &frame, payload, from->sim->now_us);
}

int vm_sim_send_over(struct life *from, uint32_t to, uint32_t size, enum node_medium medium)
{
    struct frame frame = {.length = size,
                          .kind = FRAME_DATA,
                          .flags = medium == MEDIUM_ETHER ? FRAME_ETHER : 0,
                          .source = tid_make(from->index, 1),
                          .destination = tid_make(to, 1)};
    uint8_t *payload = malloc(size);
    struct cursor c = cursor_writer(payload, size);
    uint32_t *sequence;
    int sent;

    if (!payload)
        abort();
    if (medium == MEDIUM_ETHER && node_ether_state(from->node, to) == NODE_ETHER_NONE)
        medium = MEDIUM_IP;
    sequence = &frames_of(from)->sent[medium][to];
    cursor_put_u32(&c, *sequence);
    for (uint32_t i = 4; i < size; i++)
        payload[i] = pattern(from->index, to, *sequence, i);
    sent = node_send(from->node, to, &frame, payload, from->sim->now_us);
    *sequence += sent == 0;
    vm_sim_touch(from);
    free(payload);
    return sent;
}

/* ---- time ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

/* Of those that live, in any order. What a host knows by itself (ROW_LEFT) is not agreed, and
 * nobody suspects itself. */
static uint64_t hash_table(const struct table *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct row *row = table_at(t, i);
        uint64_t id;

        memcpy(&id, row->host.id, sizeof id);
        if (row_is_agreed(row) && row_is_living(row))
            sum += mix(mix(mix(row->host.index, row_is_up(row)), id),
                       row->flags & (ROW_CONDEMNED | ROW_VOTER));
    }
    return sum;
}

/* The slot of that version, perhaps a new one. */
static struct version *find_version(struct vm_sim *sim, uint64_t epoch, uint64_t version)
{
    size_t i = (size_t)(mix(mix(1, epoch), version) % VERSIONS_MAX);

    while (sim->versions[i].epoch != 0 &&
           (sim->versions[i].epoch != epoch || sim->versions[i].version != version))
        i = (i + 1) % VERSIONS_MAX;
    return &sim->versions[i];
}

static void check_gone(struct vm_sim *sim, struct life *life, const struct row *row)
{
    struct life *other = vm_sim_life(sim, row->host.index);

    if (!other || !row_is_agreed(row) ||
        memcmp(node_self(other->node)->id, row->host.id, HOST_ID_BYTES) != 0)
        return;
    if (!row_is_living(row) && sim->gone_epoch[row->host.index] == 0)
        sim->gone_epoch[row->host.index] = vm_sim_epoch(life);
    else if (row_is_up(row) && sim->gone_epoch[row->host.index] != 0 &&
             vm_sim_epoch(life) > sim->gone_epoch[row->host.index])
        vm_sim_fail(sim, "host %u has host %u up again in a later epoch", life->index,
                    row->host.index);
}

/* All rows of all tables would be the square of their number: of each version of a large table some
 * lives are looked at, others of the next. */
static bool is_looked_at(const struct life *life, const struct table *t)
{
    return (t->version + life->index) % (1 + t->count / TABLES_WHOLE) == 0;
}

static void compare_table(struct vm_sim *sim, struct life *life)
{
    const struct table *t = member_table(life->node->member);
    struct version *known = find_version(sim, t->epoch, t->version);
    uint64_t hash = hash_table(t);

    if (known->epoch == 0)
        *known = (struct version){t->epoch, t->version, hash};
    if (known->hash != hash)
        vm_sim_fail(sim, "host %u has another table of version %llx.%llu than others", life->index,
                    (unsigned long long)t->epoch, (unsigned long long)t->version);
    for (size_t i = 0; i < t->count; i++)
        check_gone(sim, life, table_at(t, i));
}

/* Looks at a table whenever it has another version. */
static void check_table(struct vm_sim *sim, struct life *life)
{
    const struct table *t = member_table(life->node->member);

    if (!life->joined || (t->epoch == life->seen_epoch && t->version == life->seen_version))
        return;
    if (life->ended == NODE_END_CUT_OFF) /* a voter that had its own end from the log ends there */
        return;
    if (t->epoch < life->seen_epoch ||
        (epoch_generation(t->epoch) == epoch_generation(life->seen_epoch) &&
         t->version < life->seen_version))
        vm_sim_fail(sim, "host %u went back in the table", life->index);
    life->seen_epoch = t->epoch;
    life->seen_version = t->version;
    if (is_looked_at(life, t))
        compare_table(sim, life);
}

static void check_life(struct vm_sim *sim, struct life *life)
{
    uint64_t epoch = vm_sim_epoch(life);

    if (node_unsent(life->node) > QUEUE_BYTES_MAX)
        vm_sim_fail(sim, "host %u has %zu bytes queued", life->index, node_unsent(life->node));
    check_table(sim, life);
    if (!coordinates(life))
        return;
    for (size_t i = 0; i < REIGNS_MAX; i++) {
        struct reign *r = &sim->reigns[i];

        if (r->epoch == 0)
            *r = (struct reign){epoch, life->index};
        if (r->epoch == epoch && r->coordinator != life->index)
            vm_sim_fail(sim, "hosts %u and %u both coordinate epoch %llx", r->coordinator,
                        life->index, (unsigned long long)epoch);
        if (r->epoch == epoch)
            return;
    }
}

static void step_life(struct vm_sim *sim, struct life *life)
{
    set_deadline(life, node_step(life->node, sim->now_us));
    if (life->deadline_us <= sim->now_us)
        vm_sim_fail(sim, "host %u asks to be stepped at %llu", life->index,
                    (unsigned long long)life->deadline_us);
    check_life(sim, life);
    /* a daemon whose membership ended exits */
    if (life->ended != 0 ||
        (life->leaving && (node_has_left(life->node) || sim->now_us >= life->leave_end_us)))
        exit_life(life);
}

static bool is_stopped(const struct vm_sim *sim, const struct life *life)
{
    return life->stopped_until_us > sim->now_us;
}

static void put_in_mailbox(struct vm_sim *sim, struct network_datagram *d)
{
    struct mailbox *box = sim->boxes[d->to];

    if (!box)
        box = sim->boxes[d->to] = calloc(1, sizeof *box);
    if (!box)
        abort();
    if (box->count < MAILBOX_MAX)
        box->datagrams[box->count++] = d;
    else
        free(d);
}

static void give(struct vm_sim *sim, struct life *life, struct network_datagram *d)
{
    bool ether = d->bytes[0] == MEDIUM_ETHER;
    struct address from =
        ether ? host_mac(d->from) : host_address(d->from, sim->generation[d->from]);

    if (life && life->running) {
        node_on_datagram(life->node, &from, d->bytes + 1, d->size - 1, sim->now_us);
        set_deadline(life, sim->now_us);
    }
    free(d);
}

void vm_sim_set_tap(struct vm_sim *sim, vm_sim_tap *tap, void *context)
{
    sim->tap = tap;
    sim->tap_context = context;
}

static void inject(struct vm_sim *sim, const struct address *from, uint32_t to,
                   const uint8_t *bytes, size_t size)
{
    struct life *life = vm_sim_on(sim, to);

    if (!life)
        return;
    node_on_datagram(life->node, from, bytes, size, sim->now_us);
    vm_sim_touch(life);
}

void vm_sim_inject(struct vm_sim *sim, uint32_t from, uint32_t to, const uint8_t *bytes,
                   size_t size)
{
    struct address address = host_address(from, sim->generation[from]);

    inject(sim, &address, to, bytes, size);
}

void vm_sim_inject_ether(struct vm_sim *sim, uint32_t from, uint32_t to, const uint8_t *bytes,
                         size_t size)
{
    struct address address = host_mac(from);

    inject(sim, &address, to, bytes, size);
}

void vm_sim_count_lines(struct vm_sim *sim, const char *text)
{
    sim->counted_text = text;
    sim->counted = 0;
}

uint64_t vm_sim_counted(const struct vm_sim *sim)
{
    return sim->counted;
}

uint64_t vm_sim_stat(const struct life *life, const char *name)
{
    const char *at;
    uint64_t value;

    for (size_t i = 0; (at = node_stat(life->node, i, &value)) != NULL; i++)
        if (strcmp(at, name) == 0)
            return value;
    return UINT64_MAX;
}

static void empty_mailbox(struct vm_sim *sim, uint32_t host)
{
    struct mailbox *box = sim->boxes[host];

    for (size_t i = 0; box && i < box->count; i++)
        give(sim, sim->on[host], box->datagrams[i]);
    if (box)
        box->count = 0;
}

static void deliver_due(struct vm_sim *sim)
{
    struct network_datagram *d;

    while ((d = network_take(sim->network)) != NULL) {
        struct life *life = vm_sim_on(sim, d->to);

        if (life && is_stopped(sim, life))
            put_in_mailbox(sim, d);
        else
            give(sim, life, d);
    }
}

static uint64_t next_event(struct vm_sim *sim)
{
    uint64_t datagram = network_next(sim->network);
    uint32_t index;
    uint64_t life = deadlines_next(sim->deadlines, &index);

    return life < datagram ? life : datagram;
}

/* Each step ends with a later deadline. */
static void step_all(struct vm_sim *sim)
{
    uint32_t index;

    deliver_due(sim);
    while (!vm_sim_failure(sim) && deadlines_next(sim->deadlines, &index) <= sim->now_us) {
        empty_mailbox(sim, sim->lives[index]->host);
        step_life(sim, sim->lives[index]);
    }
}

bool vm_sim_run_until(struct vm_sim *sim, bool (*done)(struct vm_sim *sim), uint64_t duration_us)
{
    uint64_t end = sim->now_us + duration_us;

    while (!vm_sim_failure(sim) && !(done && done(sim))) {
        uint64_t next = next_event(sim);

        if (next > end) {
            sim->now_us = end;
            network_advance(sim->network, end);
            return false;
        }
        if (next > sim->now_us)
            sim->now_us = next;
        network_advance(sim->network, sim->now_us);
        step_all(sim);
    }
    return !vm_sim_failure(sim);
}

void vm_sim_run(struct vm_sim *sim, uint64_t duration_us)
{
    vm_sim_run_until(sim, NULL, duration_us);
}

/* ---- convergence ---- */

/* Why the table of a life is not what it must be after quiet; false: it is. */
static bool table_differs(struct vm_sim *sim, struct life *life, char *why, size_t size)
{
    const struct host *row;
    size_t living = 0;

    if (!life->joined) {
        snprintf(why, size, "host %u has not joined", life->index);
        return true;
    }
    for (size_t i = 0; (row = node_host_at(life->node, i)) != NULL; i++) {
        const struct life *other = vm_sim_life(sim, row->index);

        if (row->state == HOST_DOWN)
            continue;
        living++;
        if (row->state != HOST_UP || !other || !other->running) {
            snprintf(why, size, "host %u sees host %u in state %d", life->index, row->index,
                     row->state);
            return true;
        }
    }
    snprintf(why, size, "host %u sees %zu hosts of %zu", life->index, living, vm_sim_running(sim));
    return living != vm_sim_running(sim);
}

static bool frames_missing(struct vm_sim *sim, struct life *life, char *why, size_t size)
{
    for (uint32_t i = 1; life->frames && i <= sim->highest; i++) {
        const struct life *other = sim->lives[i];

        if (!other || !other->running || sent_to(life, i) == received_from(other, life->index))
            continue;
        snprintf(why, size, "host %u sent %u frames to host %u, which got %u", life->index,
                 sent_to(life, i), i, received_from(other, life->index));
        return true;
    }
    return false;
}

static struct life *first_running(struct vm_sim *sim)
{
    uint32_t i = 1;

    while (i < sim->highest && !(sim->lives[i] && sim->lives[i]->running))
        i++;
    return sim->lives[i];
}

static bool life_differs(struct vm_sim *sim, struct life *life, char *why, size_t size)
{
    const struct life *first = first_running(sim);

    if (table_differs(sim, life, why, size) || frames_missing(sim, life, why, size))
        return true;
    snprintf(why, size, "hosts %u and %u see different coordinators", first->index, life->index);
    return node_coordinator(first->node) != node_coordinator(life->node) ||
           vm_sim_epoch(first) != vm_sim_epoch(life);
}

/* Who differed the last time is looked at first: as long as it does, the many others need not be.
 */
static bool differs(struct vm_sim *sim, char *why, size_t size)
{
    struct life *last = vm_sim_life(sim, sim->differed);

    if (last && last->running && life_differs(sim, last, why, size))
        return true;
    for (uint32_t i = 1; i <= sim->highest; i++) {
        struct life *life = sim->lives[i];

        if (!life || !life->running || !life_differs(sim, life, why, size))
            continue;
        sim->differed = i;
        return true;
    }
    return false;
}

bool vm_sim_is_converged(struct vm_sim *sim)
{
    char why[256];

    return !differs(sim, why, sizeof why);
}

void vm_sim_check_converged(struct vm_sim *sim)
{
    char why[256];

    if (differs(sim, why, sizeof why))
        vm_sim_fail(sim, "not converged: %s", why);
    for (uint32_t i = 1; i <= sim->highest && !vm_sim_failure(sim); i++)
        if (sim->lives[i] && sim->lives[i]->running)
            compare_table(sim, sim->lives[i]);
}

/* ---- create and destroy ---- */

struct vm_sim *vm_sim_create(const struct vm_sim_config *config)
{
    struct vm_sim *sim = calloc(1, sizeof *sim);

    if (!sim)
        abort();
    nonce_watch_reset();
    sim->config = *config;
    if (config->network.datagram_bytes != 0)
        sim->config.network.datagram_bytes++; /* see carry() */
    sim->random = config->network.seed;
    sim->network = network_create(&sim->config.network);
    sim->deadlines = deadlines_create(VM_SIM_INDEX_MAX);
    sim->on = calloc(config->network.ports, sizeof *sim->on);
    sim->boxes = calloc(config->network.ports, sizeof *sim->boxes);
    sim->generation = calloc(config->network.ports, 1);
    if (!sim->network || !sim->on || !sim->boxes || !sim->generation)
        abort();
    return sim;
}

static void destroy_mailbox(struct mailbox *box)
{
    for (size_t i = 0; box && i < box->count; i++)
        free(box->datagrams[i]);
    free(box);
}

void vm_sim_destroy(struct vm_sim *sim)
{
    for (uint32_t i = 1; i <= sim->highest; i++)
        destroy_life(sim->lives[i]);
    deadlines_destroy(sim->deadlines);
    for (uint32_t i = 0; i < sim->config.network.ports; i++)
        destroy_mailbox(sim->boxes[i]);
    network_destroy(sim->network);
    for (int i = 0; i < MEDIA; i++)
        free(sim->way_cut[i]);
    free(sim->generation);
    free(sim->boxes);
    free(sim->on);
    free(sim);
}

/* ---- what the VM agrees on ---- */

struct life *vm_sim_leader(struct vm_sim *sim)
{
    struct life *best = NULL;

    for (uint32_t i = 1; i <= sim->highest; i++) {
        struct life *life = sim->lives[i];

        if (life && life->running && node_leads(life->node) &&
            (!best || node_generation(life->node) > node_generation(best->node) ||
             (node_generation(life->node) == node_generation(best->node) &&
              raft_term(council_raft(life->node->council)) >
                  raft_term(council_raft(best->node->council)))))
            best = life;
    }
    return best;
}

int64_t vm_sim_propose(struct vm_sim *sim, struct life *life)
{
    uint8_t bytes[64] = {0};
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    int64_t index;

    cursor_put_u64(&c, ++sim->commands);
    index = node_propose(life->node, bytes, sizeof bytes, sim->now_us);
    vm_sim_touch(life);
    return index;
}

bool vm_sim_votes(struct vm_sim *sim, const struct life *life)
{
    const struct life *leader = vm_sim_leader(sim);
    const struct raft_configuration *conf =
        leader ? raft_configuration(council_raft(leader->node->council)) : NULL;

    for (uint8_t i = 0; conf && i < conf->count; i++)
        if (conf->members[i].id.host == life->index)
            return conf->members[i].voter;
    return false;
}

void vm_sim_check_council(struct vm_sim *sim)
{
    struct life *leader = vm_sim_leader(sim);
    uint64_t commands;

    if (vm_sim_running(sim) == 0 || vm_sim_failure(sim))
        return;
    if (!leader || vm_sim_propose(sim, leader) < 0) {
        vm_sim_fail(sim, "nobody leads, or takes a command");
        return;
    }
    commands = leader->state.commands;
    vm_sim_run(sim, VM_SIM_SECOND);
    if (leader->state.commands != commands + 1)
        vm_sim_fail(sim, "host %u leads, but what it was given is not agreed on", leader->index);
    for (uint32_t i = 1; i <= sim->highest; i++) {
        struct life *life = sim->lives[i];

        if (life && life->running && node_leader(life->node) != leader->index)
            vm_sim_fail(sim, "host %u does not know that host %u leads, but says %u", i,
                        leader->index, node_leader(life->node));
    }
    if (node_coordinator(leader->node) != leader->index)
        vm_sim_fail(sim, "host %u leads, and another coordinates", leader->index);
}
