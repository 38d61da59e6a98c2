#include "tests/sim/cast_sim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/cast/cast_state.h"
#include "tests/sim/network.h"

#define HOSTS CAST_SIM_HOSTS
#define SETS 40
#define SETS_FEW 3
#define MESSAGES_MAX 400
#define ACTIVE_US 400000 /* messages and faults happen within */
#define PATIENCE_US 120000000
#define STEPS_MAX 3000000
#define NEVER UINT64_MAX
#define HEAD_BYTES 16
#define NARROW_BYTES 600
#define DYING_US 20000 /* before its death a host may already break off between two copies */

/* A control frame under way: those of one pair of hosts arrive in order. */
struct transit {
    struct transit *next;
    uint64_t at_us;
    size_t size;
    uint8_t bytes[];
};

struct pair {
    struct transit *first, *last;
};

struct sent {
    uint32_t sender;
    bool total;
    unsigned set;
    uint64_t order; /* counts those of its sender to that set, or in total order */
    size_t size;
    uint64_t content;
    bool given[HOSTS + 1]; /* to which host */
    bool meant[HOSTS + 1];
};

struct node {
    struct cast *cast;
    struct sim *sim;
    struct host host;
    bool started, dead;
    bool silent; /* it died in the middle of what it does now */
    bool narrow;
    size_t datagram_bytes;
    uint64_t segment_us; /* when its way over the segment is open */
    uint64_t start_us, death_us, cut_us, heal_us;
    uint64_t up_us[HOSTS + 1], gone_us[HOSTS + 1]; /* when it is told; NEVER, or told already */
    bool knows[HOSTS + 1], buried[HOSTS + 1];
    uint64_t due_us;
    uint64_t next_order[SETS], next_total;
    uint64_t last[HOSTS + 1][SETS]; /* order of the last message given out */
    unsigned log[MESSAGES_MAX];     /* totally ordered ones */
    unsigned log_count;
};

struct sim {
    struct cast_sim_config config;
    struct network *network;
    uint64_t random, now_us;
    uint64_t crisis_us; /* when deaths and messages meet */
    unsigned host_count;
    struct node nodes[HOSTS + 1];
    struct pair pairs[HOSTS + 1][HOSTS + 1];
    struct host_set sets[SETS];
    struct sent sent[MESSAGES_MAX];
    uint64_t send_us[MESSAGES_MAX];
    unsigned sent_count;
    struct cast_sim_result *result;
    bool failed;
};

static char failure[256];

static void fail(struct sim *s, const char *format, ...)
{
    va_list arguments;
    if (s->failed)
        return;
    s->failed = true;
    int used = snprintf(failure, sizeof failure,
                        "seed %" PRIu64 " at %" PRIu64 " us: ", s->config.seed, s->now_us);
    va_start(arguments, format);
    vsnprintf(failure + used, sizeof failure - (size_t)used, format, arguments);
    va_end(arguments);
}

static void trace(const struct sim *s, const char *format, ...)
{
    va_list arguments;
    if (!s->config.trace)
        return;
    fprintf(stderr, "%10" PRIu64 "  ", s->now_us);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static bool is_alive(const struct node *n)
{
    return n->started && !n->dead;
}

/* ---- what a message holds -------------------------------------------------------------------- */

static void content_make(uint64_t seed, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (i % 8 == 0)
            random_next(&seed);
        bytes[i] = (uint8_t)(seed >> (i % 8 * 8));
    }
}

static size_t message_make(const struct sim *s, unsigned number, uint8_t *bytes)
{
    const struct sent *m = &s->sent[number];
    struct cursor c = cursor_writer(bytes, HEAD_BYTES);
    cursor_put_u32(&c, number);
    cursor_put_u32(&c, m->sender);
    cursor_put_u64(&c, m->content);
    content_make(m->content, bytes + HEAD_BYTES, m->size - HEAD_BYTES);
    return m->size;
}

/* ---- deliveries ------------------------------------------------------------------------------ */

static void check_fifo(struct sim *s, struct node *n, unsigned number)
{
    const struct sent *m = &s->sent[number];
    uint64_t *last = &n->last[m->sender][m->set];
    if (m->order != *last + 1 && (*last > 0 || n->start_us == 0))
        fail(s,
             "host %u got message %u of host %u to set %u as its number %" PRIu64 " after %" PRIu64,
             n->host.index, number, m->sender, m->set, m->order, *last);
    *last = m->order;
}

/* Founders' logs begin alike, so those of hosts alive agree place by place. */
static void check_total(struct sim *s, struct node *n, unsigned number)
{
    unsigned at = n->log_count++;
    n->log[at] = number;
    if (n->start_us > 0)
        return; /* at the end */
    for (unsigned i = 1; i <= s->host_count; i++) {
        const struct node *other = &s->nodes[i];
        if (is_alive(other) && other->start_us == 0 && other->log_count > at &&
            other->log[at] != number)
            fail(s, "host %u got message %u in place %u, host %u got %u", n->host.index, number, at,
                 i, other->log[at]);
    }
}

static bool on_deliver(void *context, const struct cast_message *message)
{
    static uint8_t expected[CAST_MESSAGE_MAX];
    struct node *n = context;
    struct sim *s = n->sim;
    struct cursor c = cursor_reader(message->bytes, message->size);
    unsigned number = cursor_get_u32(&c);
    if (random_chance(&s->random, s->config.refuse_ppm))
        return false;
    if (!cursor_ok(&c) || number >= s->sent_count) {
        fail(s, "host %u got nonsense of host %u", n->host.index, message->sender);
        return true;
    }
    struct sent *m = &s->sent[number];
    bool total = message->order == CAST_TOTAL;
    trace(s, "%u: message %u of %u%s", n->host.index, number, m->sender, total ? ", total" : "");
    if (message->size != message_make(s, number, expected) ||
        memcmp(expected, message->bytes, message->size) != 0 || message->sender != m->sender ||
        total != m->total)
        fail(s, "host %u got message %u damaged", n->host.index, number);
    if (m->given[n->host.index])
        fail(s, "host %u got message %u twice", n->host.index, number);
    if (!m->total && !m->meant[n->host.index])
        fail(s, "host %u got message %u, which is not for it", n->host.index, number);
    m->given[n->host.index] = true;
    if (m->total)
        check_total(s, n, number);
    else
        check_fifo(s, n, number);
    s->result->delivered++;
    s->result->delivered_total += m->total;
    return true;
}

/* ---- the wires ------------------------------------------------------------------------------- */

static bool is_cut(const struct node *n, uint64_t now_us)
{
    return now_us >= n->cut_us && now_us < n->heal_us;
}

static void on_unicast(void *context, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct node *n = context;
    struct sim *s = n->sim;
    if (n->silent || is_cut(n, s->now_us) || is_cut(&s->nodes[to], s->now_us))
        return;
    if (s->nodes[to].narrow && size > NARROW_BYTES)
        return;
    network_send(s->network, n->host.index, to, bytes, size);
}

static bool on_segment(const struct node *a, const struct node *b)
{
    uint64_t now_us = a->sim->now_us;
    return a->segment_us <= now_us && b->segment_us <= now_us;
}

/* Whether it dies before the next copy. */
static bool breaks_off(struct node *n)
{
    struct sim *s = n->sim;
    if (n->death_us > s->now_us + DYING_US || !random_chance(&s->random, 50000))
        return n->silent;
    s->result->broken_off += !n->silent;
    n->silent = true;
    n->death_us = s->now_us;
    return true;
}

/* Now and then nobody on the segment gets it: it is lost before the switch. */
static void on_multicast(void *context, const struct host_set *to, const uint8_t *bytes,
                         size_t size)
{
    struct node *n = context;
    bool lost = random_chance(&n->sim->random, n->sim->config.loss_ppm / 4);
    for (uint32_t host = 0; (host = host_set_next(to, host)) != 0;) {
        bool shared = on_segment(n, &n->sim->nodes[host]);
        if (!shared && breaks_off(n))
            return;
        if (!shared || !lost)
            on_unicast(context, host, bytes, size);
    }
}

static size_t on_datagram_bytes(void *context, const struct host_set *to)
{
    struct node *n = context;
    size_t size = n->datagram_bytes;
    for (uint32_t host = 0; (host = host_set_next(to, host)) != 0;)
        size = on_segment(n, &n->sim->nodes[host]) || size < 700 ? size : 700;
    return size;
}

static void on_control(void *context, uint32_t to, const uint8_t *payload, size_t size)
{
    struct node *n = context;
    struct sim *s = n->sim;
    struct pair *pair = &s->pairs[n->host.index][to];
    if (s->nodes[to].dead || n->silent)
        return;
    struct transit *t = calloc(1, sizeof *t + size);
    memcpy(t->bytes, payload, size);
    t->size = size;
    t->at_us = s->now_us + s->config.delay_us + random_below(&s->random, s->config.jitter_us + 1);
    if (random_chance(&s->random, s->config.loss_ppm)) /* the window had to repair it */
        t->at_us += random_below(&s->random, 20000);
    if (s->config.together && random_below(&s->random, 4) == 0)
        t->at_us += random_below(&s->random, 40000);
    if (pair->last != NULL)
        pair->last->next = t;
    else
        pair->first = t;
    pair->last = t;
}

static void pair_cut(struct pair *pair, unsigned kept)
{
    struct transit **at = &pair->first;
    pair->last = NULL;
    for (; *at != NULL && kept > 0; kept--) {
        pair->last = *at;
        at = &(*at)->next;
    }
    while (*at != NULL) {
        struct transit *t = *at;
        *at = t->next;
        free(t);
    }
}

static unsigned pair_count(const struct pair *pair)
{
    unsigned count = 0;
    for (const struct transit *t = pair->first; t != NULL; t = t->next)
        count++;
    return count;
}

/* When the first frame of a pair can be handed over. */
static uint64_t pair_due(const struct sim *s, unsigned from, unsigned to)
{
    const struct transit *t = s->pairs[from][to].first;
    const struct node *a = &s->nodes[from], *b = &s->nodes[to];
    if (t == NULL || !b->knows[from] || !is_alive(b))
        return NEVER;
    uint64_t at = t->at_us;
    if (is_cut(a, at) && at < a->heal_us)
        at = a->heal_us;
    if (is_cut(b, at) && at < b->heal_us)
        at = b->heal_us;
    return at;
}

static void pair_take(struct sim *s, unsigned from, unsigned to)
{
    struct pair *pair = &s->pairs[from][to];
    struct transit *t = pair->first;
    pair->first = t->next;
    if (pair->first == NULL)
        pair->last = NULL;
    struct node *n = &s->nodes[to];
    const char *refused = cast_on_control(n->cast, from, t->bytes, t->size, s->now_us);
    if (refused != NULL)
        fail(s, "host %u refused a control frame of host %u: %s", to, from, refused);
    n->due_us = 0;
    free(t);
}

/* ---- life of hosts --------------------------------------------------------------------------- */

static void node_told_up(struct sim *s, struct node *n, unsigned host)
{
    n->up_us[host] = NEVER;
    n->knows[host] = true;
    cast_host_up(n->cast, &s->nodes[host].host, s->now_us);
    n->due_us = 0;
}

static void node_start(struct sim *s, struct node *n)
{
    struct cast_config config = {.vm = "sim",
                                 .encrypt = s->config.encrypt,
                                 .self = n->host,
                                 .buffer_bytes = 1,
                                 .seed = random_next(&s->random)};
    struct cast_owner owner = {.context = n,
                               .multicast = on_multicast,
                               .unicast = on_unicast,
                               .datagram_bytes = on_datagram_bytes,
                               .control = on_control,
                               .deliver = on_deliver};
    memset(config.key, 7, sizeof config.key);
    n->cast = cast_create(&config, &owner);
    n->cast->next_id = s->config.first_id;
    n->started = true;
    trace(s, "host %u starts", n->host.index);
    for (unsigned i = 1; i <= s->host_count; i++) {
        struct node *other = &s->nodes[i];
        if (other == n || !is_alive(other))
            continue;
        node_told_up(s, n, i); /* a joiner gets the table */
        if (n->start_us == 0)
            node_told_up(s, other, n->host.index);
        else
            other->up_us[n->host.index] = s->now_us + random_below(&s->random, 20000);
    }
}

/* What it had under way arrives up to some point; the others are told after a while. */
static void node_die(struct sim *s, struct node *n)
{
    unsigned self = n->host.index;
    n->dead = true;
    trace(s, "host %u dies", self);
    for (unsigned i = 1; i <= s->host_count; i++) {
        struct pair *pair = &s->pairs[self][i];
        pair_cut(pair, (unsigned)random_below(&s->random, pair_count(pair) + 1));
        pair_cut(&s->pairs[i][self], 0);
        if (is_alive(&s->nodes[i]))
            s->nodes[i].gone_us[self] = s->now_us + random_below(&s->random, 30000);
    }
}

static void node_told_gone(struct sim *s, struct node *n, unsigned host)
{
    if (n->up_us[host] != NEVER)
        node_told_up(s, n, host);
    n->gone_us[host] = NEVER;
    n->buried[host] = true;
    pair_cut(&s->pairs[host][n->host.index], 0);
    cast_host_gone(n->cast, host, s->now_us);
    n->due_us = 0;
}

/* ---- the story ------------------------------------------------------------------------------- */

static size_t seeded_size(struct sim *s)
{
    uint64_t most = random_below(&s->random, 8) == 0 && s->config.large ? 60000 : 3000;
    return HEAD_BYTES + (size_t)random_below(&s->random, most);
}

static void send_one(struct sim *s)
{
    static uint8_t bytes[CAST_MESSAGE_MAX];
    unsigned number = s->sent_count++;
    struct sent *m = &s->sent[number];
    unsigned sender = 1 + (unsigned)random_below(&s->random, s->host_count);
    struct node *n = &s->nodes[sender];
    *m = (struct sent){
        .sender = sender,
        .total = random_below(&s->random, 100) < s->config.total_percent,
        .set = (unsigned)random_below(&s->random, s->config.many_sets ? SETS : SETS_FEW),
        .size = seeded_size(s),
        .content = random_next(&s->random)};
    if (!is_alive(n))
        return;
    message_make(s, number, bytes);
    s->result->sent++;
    trace(s, "%u sends message %u%s, %zu bytes", sender, number, m->total ? ", total" : "",
          m->size);
    if (m->total) {
        m->meant[0] = cast_send_total(n->cast, bytes, m->size, s->now_us) == 0;
    } else {
        m->order = ++n->next_order[m->set];
        m->meant[0] = cast_send(n->cast, &s->sets[m->set], bytes, m->size, s->now_us) == 0;
        for (uint32_t i = 1; i <= s->host_count; i++)
            m->meant[i] = host_set_has(&s->sets[m->set], i) && i != sender && n->knows[i];
    }
    if (!m->meant[0])
        fail(s, "message %u was not taken", number);
    n->due_us = 0;
}

static void prepare_node(struct sim *s, unsigned i)
{
    struct node *n = &s->nodes[i];
    n->sim = s;
    n->host.index = i;
    n->host.incarnation = 100 + i; /* they come in another order than they were invited */
    memset(n->host.id, (int)i, sizeof n->host.id);
    n->death_us = n->cut_us = NEVER;
    n->segment_us = s->config.form == CAST_SIM_SEGMENT ? 0 : NEVER;
    if (s->config.form == CAST_SIM_MIXED && random_below(&s->random, 4) > 0)
        n->segment_us = random_below(&s->random, 2) * random_below(&s->random, ACTIVE_US);
    n->datagram_bytes = 576 + random_below(&s->random, 3) * 450;
    n->narrow = random_below(&s->random, 100) < s->config.narrow_percent;
    n->start_us = i <= s->config.hosts ? 0 : 1 + random_below(&s->random, ACTIVE_US);
    for (unsigned k = 0; k <= HOSTS; k++)
        n->up_us[k] = n->gone_us[k] = NEVER;
}

static void prepare_faults(struct sim *s)
{
    for (unsigned i = 0; i < s->config.deaths; i++) {
        struct node *n = &s->nodes[1 + random_below(&s->random, s->host_count)];
        n->death_us = n->start_us + 1 + random_below(&s->random, ACTIVE_US);
        if (s->config.together)
            n->death_us = s->crisis_us + random_below(&s->random, s->config.crisis_us);
    }
    for (unsigned i = 0; i < s->config.cuts; i++) {
        struct node *n = &s->nodes[1 + random_below(&s->random, s->host_count)];
        n->cut_us = random_below(&s->random, ACTIVE_US);
        n->heal_us = n->cut_us + random_below(&s->random, 100000);
    }
}

static int by_time(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void prepare(struct sim *s)
{
    s->host_count = s->config.hosts + s->config.joiners;
    for (unsigned i = 1; i <= s->host_count; i++)
        prepare_node(s, i);
    for (unsigned k = 0; k < SETS; k++) {
        for (uint32_t i = 1; i <= s->host_count; i++) {
            if (k == 0 || random_below(&s->random, 2) == 0)
                host_set_add(&s->sets[k], i);
        }
    }
    s->crisis_us = 30000 + random_below(&s->random, ACTIVE_US);
    prepare_faults(s);
    for (unsigned i = 0; i < s->config.messages; i++)
        s->send_us[i] = 1000 + random_below(&s->random, ACTIVE_US);
    for (unsigned i = 0; s->config.together && i < s->config.messages * 3 / 4; i++)
        s->send_us[i] =
            s->crisis_us - s->config.crisis_us / 2 + random_below(&s->random, s->config.crisis_us);
    qsort(s->send_us, s->config.messages, sizeof s->send_us[0], by_time);
    struct network_config network = {.seed = random_next(&s->random),
                                     .ports = s->host_count + 1,
                                     .loss_ppm = s->config.loss_ppm,
                                     .duplicate_ppm = s->config.duplicate_ppm,
                                     .reorder_ppm = s->config.reorder_ppm,
                                     .corrupt_ppm = s->config.corrupt_ppm,
                                     .delay_us = s->config.delay_us,
                                     .jitter_us = s->config.jitter_us,
                                     .reorder_us = 3000};
    s->network = network_create(&network);
}

/* ---- one step of the clock ------------------------------------------------------------------- */

static void node_events(struct sim *s, struct node *n)
{
    if (!n->started && n->start_us <= s->now_us)
        node_start(s, n);
    if (!is_alive(n))
        return;
    if (n->death_us <= s->now_us) {
        node_die(s, n);
        return;
    }
    for (unsigned i = 1; i <= s->host_count; i++) {
        if (n->up_us[i] <= s->now_us)
            node_told_up(s, n, i);
        if (n->gone_us[i] <= s->now_us)
            node_told_gone(s, n, i);
    }
}

static void take_datagrams(struct sim *s)
{
    struct network_datagram *d;
    while ((d = network_take(s->network)) != NULL) {
        struct node *n = &s->nodes[d->to];
        if (is_alive(n)) {
            cast_on_datagram(n->cast, d->bytes, d->size, s->now_us);
            n->due_us = 0;
        }
        free(d);
    }
}

static void take_frames(struct sim *s)
{
    for (unsigned from = 1; from <= s->host_count; from++) {
        for (unsigned to = 1; to <= s->host_count; to++) {
            while (pair_due(s, from, to) <= s->now_us)
                pair_take(s, from, to);
        }
    }
}

static void step(struct sim *s)
{
    for (unsigned i = 1; i <= s->host_count; i++)
        node_events(s, &s->nodes[i]);
    take_datagrams(s);
    take_frames(s);
    while (s->sent_count < s->config.messages && s->send_us[s->sent_count] <= s->now_us)
        send_one(s);
    for (unsigned i = 1; i <= s->host_count; i++) {
        struct node *n = &s->nodes[i];
        if (is_alive(n) && n->due_us <= s->now_us)
            n->due_us = cast_step(n->cast, s->now_us);
    }
    if (s->result->steps++ > STEPS_MAX)
        fail(s, "it does not come to rest");
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t node_next(const struct sim *s, const struct node *n)
{
    uint64_t next = n->started ? NEVER : n->start_us;
    if (!is_alive(n))
        return next;
    next = earlier(n->due_us, n->death_us);
    for (unsigned i = 1; i <= s->host_count; i++)
        next = earlier(next, earlier(n->up_us[i], n->gone_us[i]));
    return next;
}

static uint64_t next_event(const struct sim *s)
{
    uint64_t next = network_next(s->network);
    for (unsigned i = 1; i <= s->host_count; i++) {
        next = earlier(next, node_next(s, &s->nodes[i]));
        for (unsigned k = 1; k <= s->host_count; k++)
            next = earlier(next, pair_due(s, i, k));
    }
    if (s->sent_count < s->config.messages)
        next = earlier(next, s->send_us[s->sent_count]);
    return next;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void check_fifo_message(struct sim *s, unsigned number)
{
    const struct sent *m = &s->sent[number];
    int given = -1;
    for (unsigned i = 1; i <= s->host_count; i++) {
        if (!m->meant[i] || !is_alive(&s->nodes[i]))
            continue;
        if (given >= 0 && given != m->given[i])
            fail(s, "message %u of host %u: host %u differs from another survivor", number,
                 m->sender, i);
        given = m->given[i];
        if (!m->given[i] && is_alive(&s->nodes[m->sender]))
            fail(s, "message %u of host %u never came to host %u", number, m->sender, i);
    }
}

static void check_total_message(struct sim *s, unsigned number)
{
    const struct sent *m = &s->sent[number];
    int given = -1;
    for (unsigned i = 1; i <= s->host_count; i++) {
        const struct node *n = &s->nodes[i];
        if (!is_alive(n) || n->start_us > 0)
            continue;
        if (given >= 0 && given != m->given[i])
            fail(s, "total message %u: host %u differs from another survivor", number, i);
        given = m->given[i];
        if (!m->given[i] && m->meant[0] && is_alive(&s->nodes[m->sender]))
            fail(s, "total message %u of host %u never came to host %u", number, m->sender, i);
    }
}

/* A joiner's log is the end of any other's, from some place on. */
static void check_joiner(struct sim *s, const struct node *joiner, const struct node *other)
{
    unsigned start = 0;
    if (joiner->log_count == 0 || other->log_count == 0)
        return;
    while (start < other->log_count && other->log[start] != joiner->log[0])
        start++;
    for (unsigned i = 0; start < other->log_count && start + i < other->log_count; i++) {
        if (i >= joiner->log_count || joiner->log[i] != other->log[start + i])
            fail(s, "joiner %u and host %u order messages differently", joiner->host.index,
                 other->host.index);
    }
    if (start == other->log_count && other->start_us == 0)
        fail(s, "joiner %u got a message that host %u did not", joiner->host.index,
             other->host.index);
}

static void check_end(struct sim *s)
{
    for (unsigned i = 0; i < s->sent_count; i++) {
        if (s->sent[i].total)
            check_total_message(s, i);
        else
            check_fifo_message(s, i);
    }
    for (unsigned i = 1; i <= s->host_count; i++) {
        const struct node *n = &s->nodes[i];
        for (unsigned k = 1; k <= s->host_count && is_alive(n); k++) {
            if (s->nodes[k].dead && n->buried[k] && !cast_settled(n->cast, k))
                fail(s, "host %u did not settle with host %u, which is dead", i, k);
            if (k != i && is_alive(&s->nodes[k]) && n->start_us > 0)
                check_joiner(s, n, &s->nodes[k]);
        }
        if (is_alive(n) && cast_queued(n->cast) > 0)
            fail(s, "host %u has %zu bytes queued for ever", i, cast_queued(n->cast));
    }
}

static void collect(const struct sim *s, struct cast_sim_result *r)
{
    r->at_us = s->now_us;
    for (unsigned i = 1; i <= s->host_count; i++) {
        const char *name;
        uint64_t value;
        for (size_t k = 0;
             s->nodes[i].cast != NULL && (name = cast_stat(s->nodes[i].cast, k, &value)) != NULL;
             k++) {
            r->repairs += strcmp(name, "cast.repairs_sent") == 0 ? value : 0;
            r->repairs_multicast += strcmp(name, "cast.repairs_multicast") == 0 ? value : 0;
            r->repairs_framed += strcmp(name, "cast.repairs_framed") == 0 ? value : 0;
            r->flushes += strcmp(name, "cast.flushes") == 0 ? value : 0;
            r->fragments_sent += strcmp(name, "cast.fragments_sent") == 0 ? value : 0;
        }
    }
}

static void destroy(struct sim *s)
{
    for (unsigned i = 1; i <= s->host_count; i++) {
        cast_destroy(s->nodes[i].cast);
        for (unsigned k = 1; k <= s->host_count; k++)
            pair_cut(&s->pairs[i][k], 0);
    }
    network_destroy(s->network);
    free(s);
}

const char *cast_sim_run(const struct cast_sim_config *config, struct cast_sim_result *result)
{
    struct sim *s = calloc(1, sizeof *s);
    memset(result, 0, sizeof *result);
    s->config = *config;
    if (s->config.crisis_us == 0)
        s->config.crisis_us = 40000;
    s->random = config->seed;
    s->result = result;
    prepare(s);
    for (uint64_t next; !s->failed && (next = next_event(s)) != NEVER;) {
        if (next > PATIENCE_US) {
            fail(s, "still busy");
            break;
        }
        s->now_us = next > s->now_us ? next : s->now_us;
        network_advance(s->network, s->now_us);
        step(s);
    }
    if (!s->failed)
        check_end(s);
    collect(s, result);
    bool failed = s->failed;
    destroy(s);
    return failed ? failure : NULL;
}
