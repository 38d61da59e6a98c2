/* links: libcovey */
/*
 * window.c - one-sided put and get among the members of a run: what windows promise, and what they
 * refuse. The last member dies in the last case.
 *
 * Each case is a function that all members run. The first member prints a line a case; whoever
 * finds a mistake prints a line of its own.
 */
#include <covey.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_US ((int64_t)250000000)
#define LONG (((size_t)3 << 20) + 5) /* bytes: many orders, and the last one is short */
#define ROUNDS 50

static covey_t *vm;
static covey_team_t *world;
static int rank, size, failures;

static void expect(int good, const char *what, int line)
{
    if (good)
        return;
    failures++;
    printf("not ok rank %d line %d: %s (%s)\n", rank, line, what, covey_error_text());
    fflush(stdout);
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define SAYS(text) EXPECT(strstr(covey_error_text(), text) != NULL)

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

static covey_window_t *make(size_t bytes, int signals, void *base)
{
    covey_window_t *w = NULL;
    EXPECT(covey_window_create(world, bytes, signals, base, &w) == 0);
    return w;
}

static void end(covey_window_t **w)
{
    EXPECT(covey_window_free(w) == 0);
    EXPECT(*w == NULL);
}

/* What member `from` puts at byte i. */
static uint8_t byte_of(int from, size_t i)
{
    return (uint8_t)(31 * (unsigned)from + 7 * i + i / 256 + 1);
}

static int same(const uint8_t *bytes, int from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != byte_of(from, i))
            return 0;
    }
    return 1;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void arrays_of_all_sizes(void)
{
    static const size_t sizes[] = {0, 1, 8, 4095, (size_t)256 << 10, LONG};
    uint8_t *mine, *out = malloc(LONG + 1), *in = malloc(LONG + 1);
    covey_window_t *w = make(LONG + 2, 0, &mine);
    EXPECT(mine[0] == 0 && mine[LONG + 1] == 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        for (size_t k = 0; k < n; k++)
            out[k] = byte_of(rank, k);
        mine[n + 1] = 99;
        memset(in, 0, LONG + 1);
        EXPECT(covey_window_fence(w) == 0);
        EXPECT(covey_window_put(w, right(), 1, COVEY_BYTES, out, n) == 0);
        memset(out, 0, LONG); /* the caller's again */
        EXPECT(covey_window_fence(w) == 0);
        EXPECT(same(mine + 1, left(), n) && mine[n + 1] == 99 && mine[0] == 0);
        in[n] = 77;
        EXPECT(covey_window_get(w, right(), 1, COVEY_BYTES, in, n) == 0);
        EXPECT(covey_window_flush(w, right()) == 0);
        EXPECT(same(in, rank, n) && in[n] == 77);
        EXPECT(covey_window_fence(w) == 0);
    }
    end(&w);
    free(out);
    free(in);
}

/* Each member puts into all, and gets from all, with parts of different sizes; one has none. */
static void all_with_all(void)
{
    double *mine, got[16] = {0};
    size_t bytes = 0;
    covey_window_t *w = make((size_t)rank * sizeof *mine * (size_t)size, 0, &mine);
    EXPECT(size <= 16);
    EXPECT(covey_window_fence(w) == 0);
    for (int i = 1; i < size; i++) {
        double value = 100 * rank + i;
        EXPECT(covey_window_put(w, i, (size_t)rank * sizeof value, COVEY_DOUBLE, &value, 1) == 0);
    }
    EXPECT(covey_window_fence(w) == 0);
    for (int i = 0; rank > 0 && i < size; i++)
        EXPECT(mine[i] == 100 * i + rank);
    for (int i = 1; i < size; i++)
        EXPECT(covey_window_get(w, i, (size_t)left() * 8, COVEY_DOUBLE, &got[i], 1) == 0);
    EXPECT(covey_window_flush(w, COVEY_ALL_RANKS) == 0);
    for (int i = 1; i < size; i++)
        EXPECT(got[i] == 100 * left() + i);
    EXPECT(covey_window_part(w, rank, &bytes) == mine && bytes == (size_t)(8 * rank * size));
    EXPECT(covey_window_part(w, size, NULL) == NULL);
    double *next = covey_window_part(w, right(), &bytes);
    EXPECT(bytes == (size_t)(8 * right() * size));
    EXPECT(next == NULL || right() == 0 || next[rank] == 100 * rank + right());
    end(&w);
}

/* What would not be within the part is refused before anything is done. */
static void what_is_refused(void)
{
    uint8_t *mine, byte = 1;
    covey_window_t *w = NULL, *none = NULL;
    void *base;
    EXPECT(covey_window_create(NULL, 1, 0, &base, &w) == COVEY_EINVAL);
    EXPECT(covey_window_create(world, 1, -1, &base, &w) == COVEY_EINVAL && w == NULL);
    EXPECT(covey_window_create(world, 1, COVEY_WINDOW_SIGNALS_MAX + 1, &base, &w) == COVEY_EINVAL);
    w = make(64, 2, &mine);
    EXPECT(covey_window_put(none, 0, 0, COVEY_BYTES, &byte, 1) == COVEY_EINVAL);
    EXPECT(covey_window_put(w, size, 0, COVEY_BYTES, &byte, 1) == COVEY_EINVAL);
    SAYS("there is no rank");
    EXPECT(covey_window_put(w, -1, 0, COVEY_BYTES, &byte, 1) == COVEY_EINVAL);
    for (int i = 0; i < size; i++) {
        EXPECT(covey_window_put(w, i, 64, COVEY_BYTES, &byte, 1) == COVEY_EINVAL);
        SAYS("are not within the 64 bytes");
        EXPECT(covey_window_put(w, i, 64, COVEY_BYTES, &byte, 0) == 0);
        EXPECT(covey_window_put(w, i, 65, COVEY_BYTES, &byte, 0) == COVEY_EINVAL);
        EXPECT(covey_window_put(w, i, SIZE_MAX, COVEY_BYTES, &byte, 2) == COVEY_EINVAL);
        EXPECT(covey_window_put(w, i, 8, COVEY_DOUBLE, &byte, SIZE_MAX / 8 + 2) == COVEY_EINVAL);
        EXPECT(covey_window_get(w, i, 60, COVEY_DOUBLE, &byte, 1) == COVEY_EINVAL);
        EXPECT(covey_window_get(w, i, 0, COVEY_BYTES, NULL, 1) == COVEY_EINVAL);
        EXPECT(covey_window_put(w, i, 0, COVEY_STRING, &byte, 1) == COVEY_EINVAL);
        EXPECT(covey_window_put(w, i, 0, 77, &byte, 1) == COVEY_EINVAL);
        EXPECT(covey_window_unlock(w, i) == COVEY_EINVAL);
        EXPECT(covey_window_lock(w, i, 3) == COVEY_EINVAL);
        EXPECT(covey_window_signal(w, i, 2) == COVEY_EINVAL);
        SAYS("has no signal 2 among 2");
    }
    EXPECT(covey_window_wait(w, -1, 1, COVEY_POLL) == COVEY_EINVAL);
    EXPECT(covey_window_wait(w, 0, 1, -7) == COVEY_EINVAL);
    EXPECT(covey_window_flush(w, -2) == COVEY_EINVAL);
    EXPECT(covey_window_lock(w, rank, COVEY_LOCK_EXCLUSIVE) == 0);
    EXPECT(covey_window_lock(w, rank, COVEY_LOCK_SHARED) == COVEY_EINVAL);
    EXPECT(covey_window_unlock(w, rank) == 0);
    EXPECT(covey_window_fence(w) == 0);
    for (int i = 0; i < 64; i++)
        EXPECT(mine[i] == 0);
    end(&w);
    EXPECT(covey_window_free(&w) == 0 && covey_window_free(NULL) == 0);
    EXPECT(covey_window_fence(w) == COVEY_EINVAL);
}

/* Read, add, write: without the lock increments would be lost. */
static void increments_under_a_lock(void)
{
    int64_t *mine, value = 0;
    covey_window_t *w = make(sizeof *mine, 0, &mine);
    for (int k = 0; k < ROUNDS; k++) {
        int at = k % 2 == 0 ? 0 : size - 1;
        EXPECT(covey_window_lock(w, at, COVEY_LOCK_EXCLUSIVE) == 0);
        EXPECT(covey_window_get(w, at, 0, COVEY_INT64, &value, 1) == 0);
        EXPECT(covey_window_flush(w, at) == 0);
        value++;
        EXPECT(covey_window_put(w, at, 0, COVEY_INT64, &value, 1) == 0);
        EXPECT(covey_window_unlock(w, at) == 0);
    }
    EXPECT(covey_window_fence(w) == 0);
    if (rank == 0 || rank == size - 1)
        EXPECT(*mine == size * ROUNDS / 2);
    end(&w);
}

/* All have the lock at once, for they meet while they have it. Then one alone has it, and what it
 * wrote in two steps none sees half done. */
static void readers_and_writers(void)
{
    int32_t *mine, pair[2] = {0};
    covey_window_t *w = make(2 * sizeof *mine, 0, &mine);
    EXPECT(covey_window_lock(w, 0, COVEY_LOCK_SHARED) == 0);
    EXPECT(covey_barrier(world) == 0);
    EXPECT(covey_window_unlock(w, 0) == 0);
    for (int k = 1; k <= ROUNDS; k++) {
        int writes = k % size == rank;
        EXPECT(covey_window_lock(w, 0, writes ? COVEY_LOCK_EXCLUSIVE : COVEY_LOCK_SHARED) == 0);
        for (int i = 0; i < 2 && writes; i++) {
            EXPECT(covey_window_put(w, 0, sizeof k * (size_t)i, COVEY_INT32, &k, 1) == 0);
            EXPECT(covey_window_flush(w, 0) == 0);
        }
        EXPECT(covey_window_get(w, 0, 0, COVEY_INT32, pair, 2) == 0);
        EXPECT(covey_window_flush(w, 0) == 0);
        EXPECT(pair[0] == pair[1] && (!writes || pair[0] == k));
        EXPECT(covey_window_unlock(w, 0) == 0);
    }
    end(&w);
}

/* A token goes round, with an array in front of it. */
static void signals_follow_puts(void)
{
    uint8_t *mine, *out = malloc(LONG);
    covey_window_t *w = make(LONG, 3, &mine);
    EXPECT(covey_window_wait(w, 1, 0, COVEY_POLL) == 0);
    EXPECT(covey_window_wait(w, 1, 1, COVEY_POLL) == COVEY_ETIMEOUT);
    SAYS("is not yet 1");
    EXPECT(covey_barrier(world) == 0);
    for (uint64_t k = 1; k <= 5; k++) {
        size_t n = k < 5 ? 1000 * k : LONG;
        for (size_t i = 0; i < n; i++)
            out[i] = byte_of(rank + (int)k, i);
        if (rank > 0)
            EXPECT(covey_window_wait(w, 1, k, PATIENCE_US) == 0 &&
                   same(mine, rank - 1 + (int)k, n));
        EXPECT(covey_window_put(w, right(), 0, COVEY_BYTES, out, n) == 0);
        EXPECT(covey_window_signal(w, right(), 1) == 0);
        if (rank == 0)
            EXPECT(covey_window_wait(w, 1, k, PATIENCE_US) == 0 &&
                   same(mine, size - 1 + (int)k, n));
    }
    EXPECT(covey_window_wait(w, 0, 1, COVEY_POLL) == COVEY_ETIMEOUT);
    /* all to one */
    EXPECT(covey_window_signal(w, 0, 2) == 0);
    if (rank == 0)
        EXPECT(covey_window_wait(w, 2, (uint64_t)size, PATIENCE_US) == 0);
    end(&w);
    free(out);
}

static volatile sig_atomic_t told;

static void be_told(int number)
{
    (void)number;
    told = 1;
}

/* The target makes no call of the library until a signal of the system tells that its part has been
 * written and read. */
static void a_target_that_computes(void)
{
    int32_t *mine, value = 1, got = 0, pid = (int32_t)getpid();
    int last = size - 1;
    covey_window_t *w = make(2 * sizeof *mine, 0, &mine);
    signal(SIGUSR1, be_told);
    EXPECT(covey_window_fence(w) == 0);
    if (rank == 0) {
        EXPECT(covey_team_send_array(world, last, 1, COVEY_INT32, &pid, 1) == 0);
        time_t end_s = time(NULL) + PATIENCE_US / 1000000;
        while (!told && time(NULL) < end_s)
            ;
        EXPECT(told);
    } else if (rank == last) {
        EXPECT(covey_team_recv_array(world, 0, 1, PATIENCE_US, COVEY_INT32, &pid, 1, NULL) == 0);
        EXPECT(covey_window_put(w, 0, sizeof value, COVEY_INT32, &value, 1) == 0);
        EXPECT(covey_window_get(w, 0, sizeof value, COVEY_INT32, &got, 1) == 0);
        EXPECT(covey_window_flush(w, 0) == 0 && got == 1);
        kill(pid, SIGUSR1);
    }
    EXPECT(covey_window_fence(w) == 0);
    EXPECT(rank != 0 || (mine[0] == 0 && mine[1] == 1));
    end(&w);
}

/* Two windows, and neither takes what is the other's; the team they were made of is gone. */
static void two_windows(void)
{
    int32_t *a, *b, value = 10 + rank, other = 20 + rank;
    covey_team_t *part = NULL;
    covey_window_t *v = NULL, *w = NULL;
    void *base;
    EXPECT(covey_team_split(world, 0, -rank, &part) == 0); /* the other way round */
    EXPECT(covey_window_create(part, sizeof *a, 1, &base, &v) == 0);
    a = base;
    EXPECT(covey_window_create(part, sizeof *b, 1, &base, &w) == 0);
    b = base;
    covey_team_free(&part);
    int next = (size - 1 - rank + 1) % size, before = (rank + 1) % size;
    EXPECT(covey_window_put(w, next, 0, COVEY_INT32, &other, 1) == 0);
    EXPECT(covey_window_put(v, next, 0, COVEY_INT32, &value, 1) == 0);
    EXPECT(covey_window_signal(w, next, 0) == 0);
    EXPECT(covey_window_wait(w, 0, 1, PATIENCE_US) == 0 && *b == 20 + before);
    EXPECT(covey_window_wait(v, 0, 1, COVEY_POLL) == COVEY_ETIMEOUT);
    EXPECT(covey_window_fence(v) == 0 && *a == 10 + before);
    end(&w);
    end(&v);
}

/* One frees at once, and others still put there: it waits for them. */
static void freeing_waits_for_all(void)
{
    uint8_t *mine, *out = calloc(1, LONG);
    covey_window_t *w = make(LONG, 1, &mine);
    for (int k = 0; rank > 0 && k < 4; k++)
        EXPECT(covey_window_put(w, 0, 0, COVEY_BYTES, out, LONG) == 0);
    end(&w);
    free(out);
    EXPECT(covey_barrier(world) == 0); /* nothing else is broken */
}

static int is_end(int error)
{
    return error == COVEY_ENOTASK || error == COVEY_ECANCELED;
}

/* The last member dies with a lock, while the others wait in four ways. */
static void a_member_dies(void)
{
    int32_t *mine, value = 0;
    int last = size - 1;
    covey_window_t *w = make(sizeof *mine, 1, &mine);
    if (rank == last) {
        EXPECT(covey_window_lock(w, last, COVEY_LOCK_EXCLUSIVE) == 0);
        EXPECT(covey_window_fence(w) == 0);
        raise(SIGKILL);
    }
    int error = covey_window_fence(w);
    EXPECT(error == 0 || is_end(error)); /* it may be dead before all have seen the fence */
    if (rank % 3 == 0)
        EXPECT(is_end(covey_window_fence(w)));
    else if (rank % 3 == 1)
        EXPECT(is_end(covey_window_lock(w, last, COVEY_LOCK_SHARED)));
    else
        EXPECT(is_end(covey_window_wait(w, 0, 1, PATIENCE_US)));
    EXPECT(is_end(covey_window_put(w, 0, 0, COVEY_INT32, &value, 1)));
    EXPECT(is_end(covey_window_get(w, last, 0, COVEY_INT32, &value, 1)));
    EXPECT(is_end(covey_window_signal(w, 0, 0)));
    EXPECT(is_end(covey_window_flush(w, COVEY_ALL_RANKS)));
    EXPECT(is_end(covey_window_free(&w)) && w == NULL);
}

/* ---- */

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(arrays_of_all_sizes),    CASE(all_with_all),
             CASE(what_is_refused),        CASE(increments_under_a_lock),
             CASE(readers_and_writers),    CASE(signals_follow_puts),
             CASE(a_target_that_computes), CASE(two_windows),
             CASE(freeing_waits_for_all),  CASE(a_member_dies)};

int main(void)
{
    if (covey_join(&vm, NULL) < 0 || covey_team_world(vm, &world) < 0) {
        printf("not ok no team of the run: %s\n", covey_error_text());
        return 1;
    }
    rank = covey_team_rank(world);
    size = covey_team_size(world);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t mine = failures, all = failures;
        cases[i].run();
        mine = failures - mine;
        if (i + 1 < sizeof cases / sizeof cases[0])
            covey_allreduce(world, COVEY_OP_SUM, COVEY_INT32, &mine, &all, 1);
        else
            all = mine;
        if (rank == 0 && all == 0)
            printf("ok %s\n", cases[i].name);
        fflush(stdout);
    }
    covey_team_free(&world);
    covey_leave(&vm);
    return failures > 0;
}
