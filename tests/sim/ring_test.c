/* links: lib/link/shared_memory.c */
/*
 * ring_test.c - the ring of lib/link/ring.c, and all orders in which its two ends can act: none
 * loses a wake-up.
 *
 * The file itself is compiled here, with loads, stores and fences that are steps of a model: a
 * processor whose stores wait in a buffer, and are seen by the other end one by one, later ("total
 * store order", as x86 has it: Sewell and others, "x86-TSO", 2010). At each step any end may go on,
 * or a buffer give up its first store. A search in depth goes through all choices, and leaves out
 * what it has seen: a state is the memory, the buffers, and all that each end has read, for an end
 * does what follows from that.
 *
 * Where nothing can move any more, and an end still waits for its doorbell, a wake-up is lost. The
 * model that leaves out fences or barriers finds such an end: that is tested, too.
 */
#include <stdatomic.h>

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "lib/link/barrier.h"
#include "lib/link/ring.h"
#include "tests/unit/runner.h"

static uint64_t model_load(const void *at);
static void model_store(void *at, uint64_t value, int order);
static void model_fence(void);
static uint64_t model_and(void *at, uint64_t mask);
static void model_or(void *at, uint64_t bits);

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_thread_fence
#undef atomic_signal_fence
#undef atomic_fetch_and_explicit
#undef atomic_fetch_or_explicit
#define atomic_load_explicit(at, order)                                                            \
    _Generic(*(at), uint64_t                                                                       \
             : model_load((const void *)(at)), uint32_t                                            \
             : (uint32_t)model_load((const void *)(at)))
#define atomic_store_explicit(at, value, order) model_store((void *)(at), value, order)
#define atomic_thread_fence(order) model_fence()
#define atomic_signal_fence(order) ((void)0)
#define atomic_fetch_and_explicit(at, mask, order) model_and((void *)(at), mask)
#define atomic_fetch_or_explicit(at, bits, order) model_or((void *)(at), bits)

#include "lib/link/ring.c"

enum { WRITER, READER, ENDS };
enum { STACK_BYTES = 64 * 1024, BUFFER_MAX = 8, DEPTH_MAX = 400, SEEN_MAX = 1 << 21 };

struct buffer {
    struct {
        void *at;
        uint64_t value;
    } stores[BUFFER_MAX];
    int count;
};

/* What an end wants to do next. */
enum wants { ANYTHING, EMPTY_BUFFER, EMPTY_BUFFERS, BELL, NOTHING };

struct end {
    ucontext_t context;
    uint8_t *stack;
    enum wants wants;
    struct buffer buffer;
    uint64_t history; /* of all that it read */
    bool bell;
    struct ring ring;
};

/* Of what the kernel and the program leave out. */
struct world {
    bool joined, barriers;     /* membarrier(2) is there for the writer; for the reader */
    bool no_fence, no_barrier; /* they do nothing */
    void (*acts[ENDS])(void);
    uint64_t written, announced; /* before anybody acts; */
    unsigned reads;              /* then, too */
    bool pays;                   /* the reader has said so, */
};

static struct {
    struct world world;
    struct end ends[ENDS];
    int at; /* who acts */
    ucontext_t scheduler;
    struct ring_shared *shared;
    int choices[DEPTH_MAX], counts[DEPTH_MAX], depth;
    uint64_t *seen;
    size_t states;
} m;

/* ---- steps ----------------------------------------------------------------------------------- */

static void note(uint64_t value)
{
    struct end *end = &m.ends[m.at];
    end->history = (end->history ^ value) * 0x9e3779b97f4a7c15u;
    end->history ^= end->history >> 29;
}

/* Lets others act before the next step. */
static void pause_for(enum wants wants)
{
    struct end *end = &m.ends[m.at];
    end->wants = wants;
    swapcontext(&end->context, &m.scheduler);
}

static bool is_wide(const void *at)
{
    return at != (const void *)&m.shared->reader_waiting &&
           at != (const void *)&m.shared->writer_waiting && at != (const void *)&m.shared->format;
}

static uint64_t memory_get(const void *at)
{
    return is_wide(at) ? *(const uint64_t *)at : *(const uint32_t *)at;
}

static void memory_put(void *at, uint64_t value)
{
    if (is_wide(at))
        *(uint64_t *)at = value;
    else
        *(uint32_t *)at = (uint32_t)value;
}

static uint64_t model_load(const void *at)
{
    pause_for(ANYTHING);
    const struct buffer *b = &m.ends[m.at].buffer;
    uint64_t value = memory_get(at);
    for (int i = 0; i < b->count; i++) {
        if (b->stores[i].at == at)
            value = b->stores[i].value;
    }
    note(value);
    return value;
}

static void model_store(void *at, uint64_t value, int order)
{
    pause_for(ANYTHING);
    struct buffer *b = &m.ends[m.at].buffer;
    CU_ASSERT_FATAL(b->count < BUFFER_MAX);
    b->stores[b->count].at = at;
    b->stores[b->count++].value = value;
    note(1);
    if (order == memory_order_seq_cst)
        pause_for(EMPTY_BUFFER);
}

static void model_fence(void)
{
    pause_for(m.world.no_fence ? ANYTHING : EMPTY_BUFFER);
    note(2);
}

static uint64_t model_and(void *at, uint64_t mask)
{
    pause_for(EMPTY_BUFFER);
    uint64_t value = memory_get(at);
    memory_put(at, value & mask);
    note(value);
    return value;
}

static void model_or(void *at, uint64_t bits)
{
    pause_for(EMPTY_BUFFER);
    memory_put(at, memory_get(at) | bits);
    note(7);
}

bool barrier_join(void)
{
    return m.world.joined;
}

/* At one moment of it the buffers of both are empty, of those who take part. */
bool barrier_all(void)
{
    if (m.world.barriers)
        pause_for(m.world.no_barrier ? ANYTHING : m.world.joined ? EMPTY_BUFFERS : EMPTY_BUFFER);
    note(3);
    return m.world.barriers;
}

static void ring_bell(int end)
{
    pause_for(ANYTHING);
    m.ends[end].bell = true;
    note(4);
}

static void wait_for_bell(void)
{
    pause_for(BELL);
    m.ends[m.at].bell = false;
    note(5);
}

/* ---- what the ends do ------------------------------------------------------------------------ */

#define PIECES 2

static ptrdiff_t write_byte(int number, bool *wake)
{
    char byte = (char)(number + 1);
    struct iovec iov = {&byte, 1};
    return ring_write(&m.ends[WRITER].ring, &iov, 1, wake);
}

static void writes(void)
{
    for (int i = 0; i < PIECES; i++) {
        bool wake;
        CU_ASSERT_EQUAL(write_byte(i, &wake), 1);
        if (wake)
            ring_bell(READER);
    }
}

/* *got bytes that are there are taken. */
static bool takes(int *got)
{
    char bytes[PIECES];
    bool wake;
    ptrdiff_t n = ring_read(&m.ends[READER].ring, bytes, sizeof bytes, &wake);
    CU_ASSERT(n >= 0 && !wake);
    for (ptrdiff_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(bytes[i], *got + i + 1);
    *got += (int)n;
    return n > 0;
}

static void reads(void)
{
    struct ring *ring = &m.ends[READER].ring;
    for (int got = 0; got < PIECES;) {
        if (takes(&got) || ring_reader_sleeps(ring))
            continue;
        wait_for_bell();
        ring_reader_awake(ring);
    }
}

static void writes_words(void)
{
    for (uint64_t i = 1; i <= PIECES; i++) {
        bool wake;
        CU_ASSERT(ring_write_words(&m.ends[WRITER].ring, &i, 1, &wake));
        if (wake)
            ring_bell(READER);
    }
}

/* *got words that are there are taken; one that is noted is the one that comes next. */
static bool takes_words(int *got)
{
    struct ring *ring = &m.ends[READER].ring;
    uint64_t word;
    size_t size, there = ring_there(ring, 1);
    CU_ASSERT(there % sizeof word == 0 && there <= PIECES * sizeof word);
    for (size_t left = there; left > 0; left -= sizeof word) {
        const uint64_t *noted = ring_noted(ring, &size);
        bool wake;
        ring_peek(ring, 0, &word, sizeof word);
        CU_ASSERT_EQUAL(word, (uint64_t)*got + 1);
        CU_ASSERT(noted == NULL || (size == sizeof word && noted[0] == word));
        ring_skip(ring, sizeof word, &wake);
        ++*got;
    }
    return there > 0;
}

static void reads_words(void)
{
    struct ring *ring = &m.ends[READER].ring;
    for (int got = 0; got < PIECES;) {
        if (takes_words(&got) || ring_reader_sleeps(ring))
            continue;
        wait_for_bell();
        ring_reader_awake(ring);
    }
}

/* As two threads of a task do: one sleeps, and the other looks meanwhile, and asks anew. */
static void reads_while_another_sleeps(void)
{
    struct ring *ring = &m.ends[READER].ring;
    for (int got = 0; got < PIECES;) {
        if (takes(&got) || ring_reader_sleeps(ring) || takes(&got) || ring_reader_sleeps(ring))
            continue;
        wait_for_bell();
    }
}

static void writes_what_has_no_room(void)
{
    bool wake;
    while (write_byte(0, &wake) == 0) {
        if (!ring_writer_sleeps(&m.ends[WRITER].ring))
            wait_for_bell();
    }
    if (wake)
        ring_bell(READER);
}

static void makes_room(void)
{
    static uint8_t bytes[RING_TOLD_BYTES / 2];
    for (int i = 0; i < 4; i++) {
        bool wake;
        CU_ASSERT(ring_read(&m.ends[READER].ring, bytes, sizeof bytes, &wake) > 0);
        if (wake)
            ring_bell(WRITER);
    }
}

static void ends_an_announcement(void)
{
    bool wake;
    ring_announce(&m.ends[WRITER].ring, 0, &wake);
    if (wake)
        ring_bell(READER);
}

static void waits_for_the_end_of_an_announcement(void)
{
    struct ring *ring = &m.ends[READER].ring;
    while (ring_announced(ring) != 0) {
        if (!ring_reader_sleeps(ring))
            wait_for_bell();
        ring_reader_awake(ring);
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

static void act_main(void)
{
    note(6);
    m.world.acts[m.at]();
    pause_for(NOTHING);
}

/* Both ends are where ring_begin_writer() and ring_begin_reader() leave them. */
static void begin(void)
{
    memset(m.shared, 0, offsetof(struct ring_shared, bytes));
    for (int i = 0; i < ENDS; i++) {
        struct end *end = &m.ends[i];
        *end = (struct end){.stack = end->stack, .ring = {.shared = m.shared}};
        getcontext(&end->context);
        end->context.uc_stack.ss_sp = end->stack;
        end->context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&end->context, act_main, 0);
    }
    m.ends[WRITER].ring.trusts = m.world.joined;
    m.ends[WRITER].ring.position = m.world.written;
    m.ends[READER].ring.may_pay = m.world.barriers;
    m.ends[READER].ring.pays = m.world.barriers && m.world.pays;
    m.ends[READER].ring.reads = m.world.reads;
    m.ends[READER].ring.seen = m.world.announced;
    memory_put(&m.shared->reader_waiting, m.ends[READER].ring.pays ? RING_PAYS : 0);
    memory_put(&m.shared->written, m.world.written);
    memory_put(&m.shared->announced, m.world.announced);
}

static bool may_act(int at)
{
    const struct end *end = &m.ends[at];
    switch (end->wants) {
    case ANYTHING:
        return true;
    case EMPTY_BUFFER:
        return end->buffer.count == 0;
    case EMPTY_BUFFERS:
        return m.ends[WRITER].buffer.count == 0 && m.ends[READER].buffer.count == 0;
    case BELL:
        return end->bell;
    case NOTHING:
        break;
    }
    return false;
}

static void act(int at)
{
    m.at = at;
    swapcontext(&m.scheduler, &m.ends[at].context);
}

static void drain(int at)
{
    struct buffer *b = &m.ends[at].buffer;
    memory_put(b->stores[0].at, b->stores[0].value);
    memmove(b->stores, b->stores + 1, (size_t)--b->count * sizeof b->stores[0]);
}

/* Does the n-th thing that can be done; returns how many there were, if n is none of them. */
static int step(int n)
{
    int count = 0;
    for (int at = 0; at < ENDS; at++) {
        bool acts = may_act(at), drains = m.ends[at].buffer.count > 0;
        if (acts && count++ == n)
            act(at);
        if (drains && count++ == n)
            drain(at);
    }
    return count;
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 31;
}

/* True the first time. */
static bool is_new_state(void)
{
    uint64_t hash = 1;
    hash = mixed(hash, memory_get(&m.shared->written));
    hash = mixed(hash, memory_get(&m.shared->note.end_size));
    hash = mixed(hash, memory_get(&m.shared->note.words[0]));
    hash = mixed(hash, memory_get(&m.shared->announced));
    hash = mixed(hash, memory_get(&m.shared->read));
    hash = mixed(hash, memory_get(&m.shared->reader_waiting));
    hash = mixed(hash, memory_get(&m.shared->writer_waiting));
    for (int i = 0; i < ENDS; i++) {
        const struct end *end = &m.ends[i];
        hash = mixed(mixed(mixed(hash, end->history), end->wants), end->bell);
        for (int k = 0; k < end->buffer.count; k++)
            hash = mixed(mixed(hash, (uintptr_t)end->buffer.stores[k].at),
                         end->buffer.stores[k].value);
        hash = mixed(hash, (uint64_t)end->buffer.count);
    }
    hash += hash == 0;
    for (size_t at = hash % SEEN_MAX;; at = (at + 1) % SEEN_MAX) {
        if (m.seen[at] == hash)
            return false;
        if (m.seen[at] == 0) {
            m.seen[at] = hash;
            CU_ASSERT_FATAL(++m.states < SEEN_MAX / 2);
            return true;
        }
    }
}

/* Makes the choices, and others after them up to a state that was seen, or where nothing moves.
 * True: an end waits there for ever. */
static bool follow(void)
{
    begin();
    for (int i = 0; i < m.depth; i++)
        step(m.choices[i]);
    while (is_new_state()) {
        int count = step(-1);
        if (count == 0)
            return m.ends[WRITER].wants != NOTHING || m.ends[READER].wants != NOTHING;
        CU_ASSERT_FATAL(m.depth < DEPTH_MAX);
        m.counts[m.depth] = count;
        m.choices[m.depth++] = 0;
        step(0);
    }
    return false;
}

/* The next choices; false: all were made. */
static bool turn_back(void)
{
    while (m.depth > 0 && m.choices[m.depth - 1] + 1 == m.counts[m.depth - 1])
        m.depth--;
    if (m.depth > 0)
        m.choices[m.depth - 1]++;
    return m.depth > 0;
}

/* Whether a wake-up is lost in any order. */
static bool loses(struct world world)
{
    bool lost;
    m.world = world;
    m.depth = 0;
    m.states = 0;
    m.seen = calloc(SEEN_MAX, sizeof *m.seen);
    m.shared = aligned_alloc(64, sizeof *m.shared);
    CU_ASSERT_FATAL(m.seen != NULL && m.shared != NULL);
    for (int i = 0; i < ENDS; i++)
        m.ends[i].stack = malloc(STACK_BYTES);
    do
        lost = follow();
    while (!lost && turn_back());
    for (int i = 0; i < ENDS; i++)
        free(m.ends[i].stack);
    free(m.shared);
    free(m.seen);
    return lost;
}

/* Kernels and sandboxes that have barriers for both, for one, and for none; a reader that pays, and
 * one that will, after the first or second message. */
static bool loses_anywhere(struct world world)
{
    for (int i = 0; i < 16; i++) {
        world.joined = (i & 1) != 0;
        world.barriers = (i & 2) != 0;
        world.pays = (i & 4) != 0;
        world.reads = RING_PAYS_AFTER - ((i & 8) != 0 ? 1 : 2);
        if (loses(world))
            return true;
        CU_ASSERT(m.states > 50);
    }
    return false;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void a_reader_that_sleeps_is_woken(void)
{
    CU_ASSERT_FALSE(loses_anywhere((struct world){.acts = {writes, reads}}));
}

static void words_wake_a_reader_too(void)
{
    CU_ASSERT_FALSE(loses_anywhere((struct world){.acts = {writes_words, reads_words}}));
}

static void so_is_one_of_two_threads_that_look(void)
{
    CU_ASSERT_FALSE(loses_anywhere((struct world){.acts = {writes, reads_while_another_sleeps}}));
}

static void a_writer_that_sleeps_is_woken(void)
{
    CU_ASSERT_FALSE(loses_anywhere(
        (struct world){.acts = {writes_what_has_no_room, makes_room}, .written = RING_BYTES}));
}

static void who_waits_for_what_was_announced_hears_that_it_is_not_coming(void)
{
    CU_ASSERT_FALSE(loses_anywhere((struct world){
        .acts = {ends_an_announcement, waits_for_the_end_of_an_announcement}, .announced = 5}));
}

/* The search finds what is missing. */
static void without_barriers_a_wake_up_is_lost(void)
{
    struct world world = {.joined = true, .barriers = true, .pays = true, .no_barrier = true};
    world.acts[WRITER] = writes;
    world.acts[READER] = reads;
    CU_ASSERT(loses(world));
    world.acts[WRITER] = ends_an_announcement;
    world.acts[READER] = waits_for_the_end_of_an_announcement;
    world.announced = 5;
    CU_ASSERT(loses(world));
}

static void without_fences_a_wake_up_is_lost(void)
{
    CU_ASSERT(loses((struct world){.acts = {writes, reads}, .no_fence = true}));
    CU_ASSERT(loses((struct world){.acts = {writes_words, reads_words}, .no_fence = true}));
    CU_ASSERT(loses((struct world){.acts = {writes, reads}, .joined = true, .no_fence = true}));
    CU_ASSERT(loses((struct world){.acts = {writes, reads}, .barriers = true, .no_fence = true}));
    CU_ASSERT(loses((struct world){
        .acts = {writes_what_has_no_room, makes_room}, .written = RING_BYTES, .no_fence = true}));
}

#if defined(__SANITIZE_THREAD__)
static void contexts_are_strange_to_the_thread_sanitizer(void)
{
    covey_test_skip("makecontext() and the thread sanitizer do not go together");
}
#endif

int main(void)
{
#if defined(__SANITIZE_THREAD__)
    static const struct test_case skipped = {"all orders",
                                             contexts_are_strange_to_the_thread_sanitizer};
    return covey_test_main("ring", &skipped, 1);
#endif
    static const struct test_case cases[] = {
        {"a reader that sleeps is woken", a_reader_that_sleeps_is_woken},
        {"words wake a reader, too", words_wake_a_reader_too},
        {"so is one of two threads that look", so_is_one_of_two_threads_that_look},
        {"a writer that sleeps is woken", a_writer_that_sleeps_is_woken},
        {"who waits for what was announced hears that it is not coming",
         who_waits_for_what_was_announced_hears_that_it_is_not_coming},
        {"without barriers a wake-up is lost", without_barriers_a_wake_up_is_lost},
        {"without fences a wake-up is lost", without_fences_a_wake_up_is_lost},
    };
    return covey_test_main("ring", cases, sizeof cases / sizeof cases[0]);
}
