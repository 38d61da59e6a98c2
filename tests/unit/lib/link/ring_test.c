/* links: lib/link/ring.c lib/link/barrier.c lib/link/shared_memory.c */
/*
 * ring_test.c - the byte ring in shared memory: wrap-around, wake-ups, hostile positions, two
 * threads that pump and a writer that is killed at any instant.
 */
#include "lib/link/ring.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE_MAX = 200000, WAIT_MS = 30000 };

/* Both ends of one ring in memory that a forked process shares. */
struct ends {
    struct ring_shared *shared;
    struct ring writer, reader;
    int writer_bell, reader_bell; /* eventfds */
};

static struct ends ends_create(void)
{
    struct ends e;
    e.shared =
        mmap(NULL, sizeof *e.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(e.shared != MAP_FAILED);
    ring_begin_writer(&e.writer, e.shared);
    ring_begin_reader(&e.reader, e.shared);
    e.writer_bell = eventfd(0, 0);
    e.reader_bell = eventfd(0, 0);
    CU_ASSERT_FATAL(e.writer_bell >= 0 && e.reader_bell >= 0);
    return e;
}

static void ends_destroy(struct ends *e)
{
    munmap(e->shared, sizeof *e->shared);
    close(e->writer_bell);
    close(e->reader_bell);
}

/* Moves both positions to `at`, as if so much had flowed. */
static void ends_move(struct ends *e, uint64_t at)
{
    e->writer.position = e->writer.other = at;
    e->reader.position = e->reader.other = e->reader.told = at;
    atomic_store(&e->shared->written, at);
    atomic_store(&e->shared->read, at);
}

/* The byte that stands at an offset of the stream. */
static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)((offset * 2654435761u) >> 13);
}

static void fill(uint8_t *bytes, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(offset + i);
}

static bool filled(const uint8_t *bytes, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != byte_at(offset + i))
            return false;
    }
    return true;
}

static uint32_t random_below(uint32_t *seed, uint32_t bound)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % bound;
}

static ptrdiff_t write_bytes(struct ring *ring, const void *bytes, size_t size, bool *wake)
{
    union {
        const void *from;
        void *base;
    } u = {.from = bytes};
    struct iovec iov = {u.base, size};
    return ring_write(ring, &iov, 1, wake);
}

/* ---- one thread ---- */

static void pieces_cross_the_end_anywhere(void)
{
    uint8_t in[64], out[64];
    struct ends e = ends_create();
    bool wake;
    for (uint64_t before = 0; before <= sizeof in; before++) {
        ends_move(&e, 3 * (uint64_t)RING_BYTES - before);
        fill(in, before, sizeof in);
        CU_ASSERT_EQUAL(write_bytes(&e.writer, in, sizeof in, &wake), (ptrdiff_t)sizeof in);
        memset(out, 0, sizeof out);
        CU_ASSERT_EQUAL(ring_read(&e.reader, out, sizeof out, &wake), (ptrdiff_t)sizeof out);
        CU_ASSERT(memcmp(in, out, sizeof in) == 0);
    }
    ends_destroy(&e);
}

static void positions_may_overflow(void)
{
    static uint8_t bytes[RING_BYTES], out[RING_BYTES];
    struct ends e = ends_create();
    bool wake;
    ends_move(&e, UINT64_MAX - 1000);
    fill(bytes, 0, sizeof bytes);
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, sizeof bytes, &wake), RING_BYTES);
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, 1, &wake), 0);
    CU_ASSERT_EQUAL(ring_read(&e.reader, out, sizeof out, &wake), RING_BYTES);
    CU_ASSERT(memcmp(bytes, out, sizeof out) == 0);
    CU_ASSERT_EQUAL(ring_read(&e.reader, out, 1, &wake), 0);
    ends_destroy(&e);
}

static void a_vector_is_taken_as_far_as_it_fits(void)
{
    static uint8_t big[RING_BYTES - 5];
    char out[8] = "";
    bool wake;
    struct ends e = ends_create();
    struct iovec iov[] = {{big, sizeof big}, {NULL, 0}, {"abc", 3}, {"defg", 4}, {"h", 1}};
    CU_ASSERT_EQUAL(ring_write(&e.writer, iov, 5, &wake), RING_BYTES);
    CU_ASSERT_EQUAL(ring_write(&e.writer, iov, 5, &wake), 0);
    CU_ASSERT_EQUAL(ring_read(&e.reader, big, sizeof big, &wake), (ptrdiff_t)sizeof big);
    CU_ASSERT_EQUAL(ring_read(&e.reader, out, sizeof out, &wake), 5);
    CU_ASSERT_STRING_EQUAL(out, "abcde");
    CU_ASSERT_EQUAL(ring_write(&e.writer, NULL, 0, &wake), 0);
    CU_ASSERT_EQUAL(ring_write(&e.writer, iov + 1, 1, &wake), 0);
    CU_ASSERT_EQUAL(ring_read(&e.reader, out, sizeof out, &wake), 0);
    CU_ASSERT_EQUAL(ring_read(&e.reader, out, 0, &wake), 0);
    ends_destroy(&e);
}

/* At places that are no multiples of a word, over the end, and up to the last byte of room. */
static void words_are_written_whole_or_not_at_all(void)
{
    static const uint64_t places[] = {0, 5, RING_BYTES - 20, RING_BYTES - 24, UINT64_MAX - 10};
    const uint64_t words[] = {0x0102030405060708, 2, 3, 4, 5, 6, 7}, *noted;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct ends e = ends_create();
        uint64_t back[3];
        size_t size;
        bool wake;
        ends_move(&e, places[i]);
        CU_ASSERT_PTR_NULL(ring_noted(&e.reader, &size));
        CU_ASSERT_FALSE(ring_write_words(&e.writer, words, 7, &wake)); /* more than a note has */
        CU_ASSERT(ring_write_words(&e.writer, words, 3, &wake) && !wake);
        CU_ASSERT_EQUAL(ring_there(&e.reader, 1), sizeof back);
        noted = ring_noted(&e.reader, &size);
        CU_ASSERT(noted != NULL && size == sizeof back && memcmp(noted, words, size) == 0);
        CU_ASSERT(ring_write_words(&e.writer, words + 3, 3, &wake));
        ring_peek(&e.reader, 0, back, sizeof back);
        CU_ASSERT(memcmp(back, words, sizeof back) == 0);
        ring_skip(&e.reader, sizeof back, &wake);
        CU_ASSERT_PTR_NULL(ring_noted(&e.reader, &size)); /* of what was read */
        CU_ASSERT_EQUAL(ring_there(&e.reader, 1), sizeof back);
        CU_ASSERT_PTR_NOT_NULL(ring_noted(&e.reader, &size));
        ring_skip(&e.reader, 8, &wake);
        CU_ASSERT_PTR_NULL(ring_noted(&e.reader, &size)); /* of more than is left */
        ring_peek(&e.reader, 0, back, 16);
        CU_ASSERT(memcmp(back, words + 4, 16) == 0);
        ends_destroy(&e);
    }
}

static void words_that_have_no_room_are_refused(void)
{
    static uint8_t most[RING_BYTES - 16];
    const uint64_t words[] = {1, 2, 3};
    struct ends e = ends_create();
    bool wake;
    CU_ASSERT_EQUAL(ring_write(&e.writer, &(struct iovec){most, sizeof most}, 1, &wake),
                    (ptrdiff_t)sizeof most);
    CU_ASSERT_FALSE(ring_write_words(&e.writer, words, 3, &wake));
    CU_ASSERT_EQUAL(ring_written(&e.reader), sizeof most);
    CU_ASSERT(ring_write_words(&e.writer, words, 2, &wake));
    atomic_store(&e.shared->read, UINT64_MAX / 2); /* of no place that was written */
    CU_ASSERT_FALSE(ring_write_words(&e.writer, words, 1, &wake));
    ends_destroy(&e);
}

static void a_reader_that_sleeps_is_woken_once(void)
{
    uint8_t byte = 1;
    bool wake = true;
    struct ends e = ends_create();
    CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && !wake); /* nobody sleeps */
    CU_ASSERT(ring_reader_sleeps(&e.reader));                         /* there is a byte */
    while (ring_read(&e.reader, &byte, 1, &wake) == 1)
        ;
    CU_ASSERT_FALSE(ring_reader_sleeps(&e.reader));
    CU_ASSERT(ring_write(&e.writer, NULL, 0, &wake) == 0 && !wake); /* no progress */
    CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && wake);
    CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && !wake);
    ends_destroy(&e);
}

static void a_reader_that_is_awake_again_is_not_woken(void)
{
    uint8_t byte = 1;
    bool wake = true;
    struct ends e = ends_create();
    CU_ASSERT_FALSE(ring_reader_sleeps(&e.reader));
    ring_reader_awake(&e.reader);
    CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && !wake);
    ends_destroy(&e);
}

/* The reader has not slept for so long that it pays for the next sleep; false: it cannot. */
static bool read_until_it_pays(struct ends *e)
{
    for (int i = 0; i < RING_PAYS_AFTER; i++) {
        uint8_t byte = 1;
        bool wake;
        CU_ASSERT_FALSE((atomic_load(&e->shared->reader_waiting) & RING_PAYS) != 0);
        CU_ASSERT(write_bytes(&e->writer, &byte, 1, &wake) == 1 && !wake);
        CU_ASSERT(ring_read(&e->reader, &byte, 1, &wake) == 1 && !wake);
    }
    CU_ASSERT_EQUAL(atomic_load(&e->shared->reader_waiting), e->reader.may_pay ? RING_PAYS : 0);
    if (!e->reader.may_pay)
        covey_test_skip("no barriers in other programs");
    return e->reader.may_pay;
}

static void a_reader_that_does_not_sleep_pays_for_the_next_time(void)
{
    uint8_t byte = 1;
    bool wake = true;
    struct ends e = ends_create();
    CU_ASSERT_FALSE(ring_reader_asks(&e.reader));
    ring_reader_awake(&e.reader);
    if (read_until_it_pays(&e)) {
        CU_ASSERT(ring_reader_asks(&e.reader));
        CU_ASSERT_FALSE(ring_reader_looks(&e.reader, true));
        CU_ASSERT_EQUAL(atomic_load(&e.shared->reader_waiting), RING_ASLEEP);
        CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && wake);
        CU_ASSERT_FALSE(ring_reader_asks(&e.reader)); /* it slept */
    }
    ends_destroy(&e);
}

/* A sandbox that was entered later refuses what was had before. */
static void a_reader_that_cannot_pay_any_more_looks_again_and_does_without(void)
{
    uint8_t byte = 1;
    bool wake = true;
    struct ends e = ends_create();
    if (read_until_it_pays(&e)) {
        CU_ASSERT(ring_reader_asks(&e.reader));
        CU_ASSERT(ring_reader_looks(&e.reader, false)); /* it was refused */
        CU_ASSERT_FALSE(ring_reader_asks(&e.reader));
        CU_ASSERT_FALSE(ring_reader_looks(&e.reader, true));
        CU_ASSERT_EQUAL(atomic_load(&e.shared->reader_waiting), RING_ASLEEP);
        CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && wake);
        CU_ASSERT_EQUAL(atomic_load(&e.shared->reader_waiting), 0);
        CU_ASSERT_FALSE(e.reader.may_pay);
    }
    ends_destroy(&e);
}

/* One that looks while another thread of its task sleeps leaves what that said as it is. */
static void a_reader_asks_once(void)
{
    uint8_t byte = 1;
    bool wake = true;
    struct ends e = ends_create();
    CU_ASSERT_FALSE(ring_reader_sleeps(&e.reader));
    CU_ASSERT_FALSE(ring_reader_asks(&e.reader));
    CU_ASSERT(write_bytes(&e.writer, &byte, 1, &wake) == 1 && wake);
    CU_ASSERT_EQUAL(atomic_load(&e.shared->reader_waiting), 0);
    CU_ASSERT_FALSE(ring_reader_asks(&e.reader));
    CU_ASSERT_EQUAL(atomic_load(&e.shared->reader_waiting), RING_ASLEEP);
    CU_ASSERT(ring_reader_looks(&e.reader, true));
    ends_destroy(&e);
}

static void a_writer_that_sleeps_is_woken_once(void)
{
    static uint8_t bytes[RING_BYTES];
    bool wake = true;
    struct ends e = ends_create();
    CU_ASSERT(ring_writer_sleeps(&e.writer)); /* there is room */
    CU_ASSERT(ring_read(&e.reader, bytes, 1, &wake) == 0 && !wake);
    atomic_store(&e.shared->writer_waiting, 0);
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, sizeof bytes, &wake), RING_BYTES);
    CU_ASSERT_FALSE(ring_writer_sleeps(&e.writer));
    const ptrdiff_t told = RING_TOLD_BYTES;
    CU_ASSERT(ring_read(&e.reader, bytes, RING_TOLD_BYTES - 1, &wake) == told - 1 && !wake);
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, 1, &wake), 0);
    CU_ASSERT(ring_read(&e.reader, bytes, 1, &wake) == 1 && wake);
    CU_ASSERT(ring_read(&e.reader, bytes, RING_TOLD_BYTES, &wake) == told && !wake);
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, sizeof bytes, &wake), 2 * told);
    ends_destroy(&e);
}

/* Each look at what the other end publishes is a miss of the cache, and so is each change of it. */
static void positions_are_looked_at_and_published_when_they_must(void)
{
    static uint8_t bytes[RING_BYTES];
    bool wake;
    struct ends e = ends_create();
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, 300, &wake), 300);
    CU_ASSERT_EQUAL(ring_read(&e.reader, bytes, 100, &wake), 100);
    CU_ASSERT_EQUAL(atomic_load(&e.shared->read), 0);
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, 300, &wake), 300);
    CU_ASSERT_EQUAL(ring_read(&e.reader, bytes, sizeof bytes, &wake), 200); /* those it knew of */
    CU_ASSERT_EQUAL(ring_read(&e.reader, bytes, sizeof bytes, &wake), 300);
    atomic_store(&e.shared->read, UINT64_MAX); /* nonsense, but there is room without it */
    CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, 300, &wake), 300);
    ends_destroy(&e);
}

/* What the other end publishes is nonsense: refused, and nothing outside of the ring is touched. */
static void hostile_positions_are_refused(void)
{
    static const uint64_t nonsense[] = {1,          2,         RING_BYTES, UINT64_MAX - RING_BYTES,
                                        1ull << 63, 1ull << 32};
    uint8_t bytes[16];
    bool wake = true;
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        struct ends e = ends_create();
        ends_move(&e, 12345);
        atomic_store(&e.shared->read, 12345 + nonsense[i]); /* read more than was written */
        e.writer.other = 12345 - (uint64_t)RING_BYTES;      /* it was full */
        CU_ASSERT_EQUAL(write_bytes(&e.writer, bytes, 16, &wake), -1);
        CU_ASSERT_FALSE(wake);
        atomic_store(&e.shared->written, 12345 - nonsense[i]); /* written less than was read */
        CU_ASSERT_EQUAL(ring_read(&e.reader, bytes, 16, &wake), -1);
        e.reader.other = 12345;
        atomic_store(&e.shared->written, 12345 + RING_BYTES + nonsense[i]);
        CU_ASSERT_EQUAL(ring_read(&e.reader, bytes, 16, &wake), -1);
        ends_destroy(&e);
    }
}

/* A note longer than there is room for, of other bytes, or shorter than what came: what counts is
 * in the ring then. */
static void a_note_that_makes_no_sense_is_not_read(void)
{
    static const uint64_t notes[] = {12353u << 8 | 49, 12353u << 8 | 255, 12352u << 8 | 8,
                                     12353u << 8 | 0, 12353u << 8 | 4};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        uint8_t in[8], out[64] = {0};
        struct ends e = ends_create();
        bool wake;
        ends_move(&e, 12345);
        fill(in, 0, sizeof in);
        CU_ASSERT_EQUAL(write_bytes(&e.writer, in, sizeof in, &wake), 8);
        for (size_t k = 0; k < RING_NOTE_BYTES / 8; k++)
            atomic_store(&e.shared->note.words[k], UINT64_MAX);
        atomic_store(&e.shared->note.end_size, notes[i]);
        CU_ASSERT_EQUAL(ring_read(&e.reader, out, sizeof out, &wake), 8);
        CU_ASSERT(memcmp(in, out, sizeof in) == 0);
        ends_destroy(&e);
    }
}

/* ---- two threads ---- */

static bool bell_wait(int bell)
{
    uint64_t rung;
    struct pollfd p = {bell, POLLIN, 0};
    return poll(&p, 1, WAIT_MS) == 1 && read(bell, &rung, sizeof rung) == sizeof rung;
}

static bool bell_ring(int bell)
{
    const uint64_t one = 1;
    return write(bell, &one, sizeof one) == sizeof one;
}

/* Writes the stream from `offset` on as one piece, sleeping when the ring is full. */
static bool write_piece(struct ends *e, uint64_t offset, size_t size)
{
    static _Thread_local uint8_t piece[PIECE_MAX];
    fill(piece, offset, size);
    for (size_t at = 0; at < size;) {
        bool wake;
        ptrdiff_t n = write_bytes(&e->writer, piece + at, size - at, &wake);
        if (n < 0 || (wake && !bell_ring(e->reader_bell)))
            return false;
        if (n == 0 && !ring_writer_sleeps(&e->writer) && !bell_wait(e->writer_bell))
            return false;
        at += (size_t)n;
    }
    return true;
}

/* Reads a piece of at most `size` bytes, sleeping when there is nothing; < 0: not the stream. */
static ptrdiff_t read_piece(struct ends *e, size_t size)
{
    static _Thread_local uint8_t piece[PIECE_MAX];
    uint64_t offset = e->reader.position;
    bool wake;
    ptrdiff_t n = ring_read(&e->reader, piece, size, &wake);
    if (n < 0 || (wake && !bell_ring(e->writer_bell)))
        return -1;
    if (n == 0 && !ring_reader_sleeps(&e->reader) && !bell_wait(e->reader_bell))
        return -1;
    return filled(piece, offset, (size_t)n) ? n : -1;
}

#define PUMP_BYTES ((uint64_t)100 * 1000 * 1000)

static void *pump_main(void *context)
{
    struct ends *e = context;
    uint32_t seed = 77;
    bool ok = true;
    for (uint64_t offset = 0; ok && offset < PUMP_BYTES;) {
        uint32_t size = 1 + random_below(&seed, random_below(&seed, 4) == 0 ? PIECE_MAX : 300);
        if (size > PUMP_BYTES - offset)
            size = (uint32_t)(PUMP_BYTES - offset);
        ok = write_piece(e, offset, size);
        offset += size;
    }
    return ok ? e : NULL;
}

static void two_threads_pump_a_hundred_megabytes(void)
{
    struct ends e = ends_create();
    uint32_t seed = 99;
    uint64_t got = 0;
    pthread_t thread;
    void *wrote = NULL;
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, pump_main, &e) == 0);
    while (got < PUMP_BYTES) {
        ptrdiff_t n = read_piece(&e, 1 + random_below(&seed, PIECE_MAX));
        if (n < 0)
            break;
        got += (uint64_t)n;
    }
    CU_ASSERT_EQUAL(got, PUMP_BYTES);
    pthread_join(thread, &wrote);
    CU_ASSERT_PTR_NOT_NULL(wrote);
    CU_ASSERT_EQUAL(ring_read(&e.reader, &seed, 1, &(bool){false}), 0);
    ends_destroy(&e);
}

/* ---- a writer that is killed ---- */

static void write_for_ever(struct ends *e, uint32_t seed)
{
    for (;;) {
        uint32_t size = 1 + random_below(&seed, random_below(&seed, 8) == 0 ? PIECE_MAX : 2000);
        if (!write_piece(e, e->writer.position, size))
            _exit(1);
    }
}

/* Reads some of what a process writes, kills it, and reads what is left. */
static void kill_a_writer(uint32_t *seed)
{
    struct ends e = ends_create();
    uint64_t enough = random_below(seed, 3 * RING_BYTES);
    bool ok = true;
    pid_t pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (pid == 0)
        write_for_ever(&e, *seed);
    while (ok && e.reader.position < enough)
        ok = read_piece(&e, 1 + random_below(seed, PIECE_MAX)) >= 0;
    kill(pid, SIGKILL);
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    uint64_t published = atomic_load(&e.shared->written);
    CU_ASSERT(published - e.reader.position <= RING_BYTES);
    while (ok && e.reader.position < published)
        ok = read_piece(&e, PIECE_MAX) > 0;
    CU_ASSERT(ok && e.reader.position == published);
    ends_destroy(&e);
}

static void a_writer_killed_at_any_instant_leaves_whole_bytes(void)
{
    uint32_t seed = 4711;
    for (int i = 0; i < 200; i++)
        kill_a_writer(&seed);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"pieces cross the end anywhere", pieces_cross_the_end_anywhere},
        {"positions may overflow", positions_may_overflow},
        {"a vector is taken as far as it fits", a_vector_is_taken_as_far_as_it_fits},
        {"words are written whole or not at all", words_are_written_whole_or_not_at_all},
        {"words that have no room are refused", words_that_have_no_room_are_refused},
        {"a reader that sleeps is woken once", a_reader_that_sleeps_is_woken_once},
        {"a reader that is awake again is not woken", a_reader_that_is_awake_again_is_not_woken},
        {"a reader that does not sleep pays for the next time",
         a_reader_that_does_not_sleep_pays_for_the_next_time},
        {"a reader that cannot pay any more looks again and does without",
         a_reader_that_cannot_pay_any_more_looks_again_and_does_without},
        {"a reader asks once", a_reader_asks_once},
        {"a writer that sleeps is woken once", a_writer_that_sleeps_is_woken_once},
        {"positions are looked at and published when they must",
         positions_are_looked_at_and_published_when_they_must},
        {"hostile positions are refused", hostile_positions_are_refused},
        {"a note that makes no sense is not read", a_note_that_makes_no_sense_is_not_read},
        {"two threads pump a hundred megabytes", two_threads_pump_a_hundred_megabytes},
        {"a writer killed at any instant leaves whole bytes",
         a_writer_killed_at_any_instant_leaves_whole_bytes},
    };
    return covey_test_main("ring", cases, sizeof cases / sizeof cases[0]);
}
