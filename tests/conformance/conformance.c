/* links: libcovey */
/*
 * conformance.c - what every route promises, tried with real tasks.
 *
 *   conformance [--route R] [--host HOST] [--case NAME] [--gib N] [--mib N]
 *
 * --gib 0 keeps to sizes for which the memory of a sanitizer build lasts; with --mib N no array is
 * larger than N MiB and fewer messages are sent, for routes that are made slow by faults.
 *
 * The program enrols, spawns itself as the other task (on HOST, otherwise where the VM puts it) and
 * runs the cases below one after the other; each is two functions, one a side, that talk over the
 * route. Nothing depends on time but a limit for the whole (the script's). Prints a line a case and
 * `N passed, N failed, N skipped`.
 */
#include <covey.h>

#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG_CASE 1 /* which case comes next */
#define TAG_DATA 2
#define TAG_BACK 3
#define TAG_OTHER 4
#define TAG_NOTICE 9

#define MIB ((size_t)1024 * 1024)

struct side {
    covey_t *vm;
    covey_tid_t peer;
    const char *host; /* where the peers go, NULL: anywhere */
    const char *program;
    int route;
    int gib;
    int mib; /* 0: no limit */
    bool failed;
};

/* As much as is wanted, or as the limit allows. */
static size_t bounded(const struct side *s, size_t bytes)
{
    return s->mib > 0 && bytes > (size_t)s->mib * MIB ? (size_t)s->mib * MIB : bytes;
}

/* Fails the case, says where, and leaves the function. */
#define CHECK(s, condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail(s, #condition, __LINE__);                                                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static void fail(struct side *s, const char *what, int line)
{
    s->failed = true;
    fprintf(stderr, "  t%x line %d: %s (%s)\n", (unsigned)covey_mytid(s->vm), line, what,
            covey_error_text());
}

static uint8_t pattern(size_t i, size_t seed)
{
    return (uint8_t)(i * 131 + (i >> 8) * 7 + (i >> 16) + seed);
}

static uint8_t *pattern_new(size_t size, size_t seed)
{
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    for (size_t i = 0; bytes != NULL && i < size; i++)
        bytes[i] = pattern(i, seed);
    return bytes;
}

/* By rows of which the compiler knows the length: it compares many bytes at once. */
static bool pattern_ok(const uint8_t *bytes, size_t size, size_t seed)
{
    enum { ROW = 256 };
    size_t i = 0;
    for (; i + ROW <= size; i += ROW) {
        uint8_t differ = 0;
        for (size_t j = 0; j < ROW; j++)
            differ |= bytes[i + j] ^ pattern(j, pattern(i, seed));
        if (differ != 0)
            return false;
    }
    for (; i < size; i++) {
        if (bytes[i] != pattern(i, seed))
            return false;
    }
    return true;
}

static int send_number(struct side *s, int tag, int64_t value)
{
    return covey_send_array(s->vm, s->peer, tag, COVEY_INT64, &value, 1);
}

static int recv_number(struct side *s, int tag, int64_t *value)
{
    return covey_recv_array(s->vm, s->peer, tag, COVEY_FOREVER, COVEY_INT64, value, 1, NULL, NULL);
}

/* The most memory that was resident since peak_reset(), in MiB. */
static long peak_mib(void)
{
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && kib < 0 && fgets(line, sizeof line, f) != NULL)
        sscanf(line, "VmHWM: %ld", &kib);
    if (f != NULL)
        fclose(f);
    return kib / 1024;
}

static long peak_reset(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f != NULL) {
        fputs("5", f);
        fclose(f);
    }
    return peak_mib();
}

/* ---- sizes: 0 B to 256 MiB, there and back --------------------------------------------------- */

static const size_t sizes[] = {
    0,     1,     7,     8,     15,     16,     17,     100, 4095,        4096,     65503,    65504,
    65520, 65535, 65536, 65537, 131072, 524287, 524288, MIB, 3 * MIB + 5, 16 * MIB, 256 * MIB};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void sizes_ask(struct side *s)
{
    for (size_t i = 0; i < SIZES && sizes[i] == bounded(s, sizes[i]); i++) {
        size_t got = 0;
        uint8_t *bytes = pattern_new(sizes[i], i);
        CHECK(s, bytes != NULL);
        CHECK(s, covey_send_array(s->vm, s->peer, TAG_DATA, COVEY_UINT8, bytes, sizes[i]) == 0);
        memset(bytes, 0, sizes[i]);
        CHECK(s, covey_recv_array(s->vm, s->peer, TAG_BACK, COVEY_FOREVER, COVEY_UINT8, bytes,
                                  sizes[i], &got, NULL) == 0);
        CHECK(s, got == sizes[i] && pattern_ok(bytes, got, i));
        free(bytes);
    }
}

static void sizes_answer(struct side *s)
{
    for (size_t i = 0; i < SIZES && sizes[i] == bounded(s, sizes[i]); i++) {
        covey_msg_t *msg;
        const void *view;
        size_t count;
        CHECK(s, covey_recv(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, &msg) == 0);
        CHECK(s, covey_unpack_view(msg, COVEY_UINT8, &view, &count) == 0);
        CHECK(s, count == sizes[i] && pattern_ok(view, count, i));
        CHECK(s, covey_send_array(s->vm, s->peer, TAG_BACK, COVEY_UINT8, view, count) == 0);
        covey_msg_free(msg);
    }
}

/* ---- types: every type, with strides, nested, in place --------------------------------------- */

struct all_types {
    int8_t i8[3];
    int16_t i16[3];
    int32_t i32[4];
    int64_t i64[2];
    uint8_t u8[5];
    uint16_t u16[3];
    uint32_t u32[3];
    uint64_t u64[2];
    float f[3];
    double d[3];
    float cf[4];
    double cd[4];
    int32_t every_third[9];
};

static const struct all_types example = {
    {-1, 2, -128},
    {-1, 300, -32768},
    {-5, 70000, 1, INT32_MIN},
    {-5, INT64_MIN},
    {1, 2, 3, 4, 255},
    {1, 2, 65535},
    {1, 2, UINT32_MAX},
    {1, UINT64_MAX},
    {1.5f, -2.25f, 1e30f},
    {1.5, -2.25, 1e300},
    {1, 2, 3, 4},
    {1, 2, 3, 4},
    {10, 11, 12, 13, 14, 15, 16, 17, 18},
};

static int types_pack(covey_msg_t *m, const struct all_types *t)
{
    return covey_pack_int8(m, t->i8, 3, 1) | covey_pack_int16(m, t->i16, 3, 1) |
           covey_pack_int32(m, t->i32, 4, 1) | covey_pack_int64(m, t->i64, 2, 1) |
           covey_pack_uint8(m, t->u8, 5, 1) | covey_pack_uint16(m, t->u16, 3, 1) |
           covey_pack_uint32(m, t->u32, 3, 1) | covey_pack_uint64(m, t->u64, 2, 1) |
           covey_pack_float(m, t->f, 3, 1) | covey_pack_inplace(m, COVEY_DOUBLE, t->d, 3) |
           covey_pack_complex_float(m, t->cf, 2, 1) | covey_pack_complex_double(m, t->cd, 2, 1) |
           covey_pack_int32(m, t->every_third, 3, 3) | covey_pack_string(m, "a string") |
           covey_pack_bytes(m, "\1\2\0\3", 4);
}

static int types_unpack(covey_msg_t *m, struct all_types *t, char *text, size_t size,
                        uint8_t bytes[4])
{
    return covey_unpack_int8(m, t->i8, 3, 1) | covey_unpack_int16(m, t->i16, 3, 1) |
           covey_unpack_int32(m, t->i32, 1, 1) | covey_unpack_int32(m, t->i32 + 1, 3, 1) |
           covey_unpack_int64(m, t->i64, 2, 1) | covey_unpack_uint8(m, t->u8, 5, 1) |
           covey_unpack_uint16(m, t->u16, 3, 1) | covey_unpack_uint32(m, t->u32, 3, 1) |
           covey_unpack_uint64(m, t->u64, 2, 1) | covey_unpack_float(m, t->f, 3, 1) |
           covey_unpack_double(m, t->d, 3, 1) | covey_unpack_complex_float(m, t->cf, 2, 1) |
           covey_unpack_complex_double(m, t->cd, 2, 1) |
           covey_unpack_int32(m, t->every_third, 3, 3) | covey_unpack_string(m, text, size) |
           covey_unpack_bytes(m, bytes, 4);
}

static bool types_same(const struct all_types *t)
{
    return memcmp(t->i8, example.i8, sizeof t->i8) == 0 &&
           memcmp(t->i16, example.i16, sizeof t->i16) == 0 &&
           memcmp(t->i32, example.i32, sizeof t->i32) == 0 &&
           memcmp(t->i64, example.i64, sizeof t->i64) == 0 &&
           memcmp(t->u8, example.u8, sizeof t->u8) == 0 &&
           memcmp(t->u16, example.u16, sizeof t->u16) == 0 &&
           memcmp(t->u32, example.u32, sizeof t->u32) == 0 &&
           memcmp(t->u64, example.u64, sizeof t->u64) == 0 &&
           memcmp(t->f, example.f, sizeof t->f) == 0 && memcmp(t->d, example.d, sizeof t->d) == 0 &&
           memcmp(t->cf, example.cf, sizeof t->cf) == 0 &&
           memcmp(t->cd, example.cd, sizeof t->cd) == 0 && t->every_third[0] == 10 &&
           t->every_third[3] == 13 && t->every_third[6] == 16 && t->every_third[1] == 0;
}

static void types_ask(struct side *s)
{
    covey_msg_t *inner = covey_msg_new(), *outer = covey_msg_new();
    CHECK(s, inner != NULL && outer != NULL);
    CHECK(s, types_pack(inner, &example) == 0);
    CHECK(s, types_pack(outer, &example) == 0 && covey_pack_msg(outer, inner) == 0);
    CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, outer) == 0);
    covey_msg_free(inner);
    covey_msg_free(outer);
    int64_t good;
    CHECK(s, recv_number(s, TAG_BACK, &good) == 0 && good == 1);
}

static void types_answer(struct side *s)
{
    struct all_types t = {0}, u = {0};
    char text[16], text2[16];
    uint8_t bytes[4], bytes2[4];
    covey_msg_t *outer, *inner;
    int32_t one;
    CHECK(s, covey_recv(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, &outer) == 0);
    CHECK(s, types_unpack(outer, &t, text, sizeof text, bytes) == 0);
    CHECK(s, types_same(&t) && strcmp(text, "a string") == 0 && memcmp(bytes, "\1\2\0\3", 4) == 0);
    CHECK(s, covey_unpack_int32(outer, &one, 1, 1) == COVEY_ETYPE);
    CHECK(s, covey_unpack_msg(outer, &inner) == 0);
    CHECK(s, covey_unpack_int32(outer, &one, 1, 1) == COVEY_EEND);
    CHECK(s, types_unpack(inner, &u, text2, sizeof text2, bytes2) == 0 && types_same(&u));
    covey_msg_free(inner);
    covey_msg_free(outer);
    CHECK(s, send_number(s, TAG_BACK, 1) == 0);
}

/* ---- order: small and larger messages, with the route changing in mid-stream ----------------- */

static size_t order_count(const struct side *s)
{
    return s->mib > 0 ? 4000 : 20000;
}

static size_t order_size(size_t i)
{
    return i % 500 == 499 ? 40000 : i % 50 == 49 ? 3000 : 1 + i % 7;
}

static void order_ask(struct side *s)
{
    const int cycle[] = {COVEY_ROUTE_UDP, COVEY_ROUTE_TCP, COVEY_ROUTE_AUTO, COVEY_ROUTE_SHM};
    bool one_host = covey_tid_host(s->peer) == covey_tid_host(covey_mytid(s->vm));
    int64_t *numbers = calloc(40000, sizeof *numbers);
    CHECK(s, numbers != NULL);
    for (size_t i = 0; i < order_count(s); i++) {
        if (i % 97 == 96) {
            int route = cycle[i / 97 % (one_host ? 4 : 3)];
            CHECK(s, covey_set_route(s->vm, s->peer, route) == 0);
        }
        numbers[0] = (int64_t)i;
        numbers[order_size(i) - 1] = (int64_t)i;
        CHECK(s,
              covey_send_array(s->vm, s->peer, TAG_DATA, COVEY_INT64, numbers, order_size(i)) == 0);
    }
    free(numbers);
    CHECK(s, covey_set_route(s->vm, s->peer, s->route) == 0);
    int64_t good;
    CHECK(s, recv_number(s, TAG_BACK, &good) == 0 && good == (int64_t)order_count(s));
}

static void order_answer(struct side *s)
{
    int64_t *numbers = calloc(40000, sizeof *numbers);
    CHECK(s, numbers != NULL);
    for (size_t i = 0; i < order_count(s); i++) {
        size_t got = 0;
        CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_INT64, numbers,
                                  40000, &got, NULL) == 0);
        CHECK(s,
              got == order_size(i) && numbers[0] == (int64_t)i && numbers[got - 1] == (int64_t)i);
    }
    free(numbers);
    CHECK(s, send_number(s, TAG_BACK, (int64_t)order_count(s)) == 0);
}

/* ---- matching: any source, any tag, by tag out of order, probe ------------------------------- */

static void matching_ask(struct side *s)
{
    for (int64_t i = 0; i < 10; i++)
        CHECK(s, send_number(s, i % 2 == 0 ? TAG_DATA : TAG_OTHER, i) == 0);
    int64_t done;
    CHECK(s, recv_number(s, TAG_BACK, &done) == 0);
}

static void matching_answer(struct side *s)
{
    int64_t value;
    struct covey_info info;
    size_t count;
    for (int64_t i = 1; i < 10; i += 2)
        CHECK(s, recv_number(s, TAG_OTHER, &value) == 0 && value == i);
    CHECK(s, covey_probe(s->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, &info) == 0);
    CHECK(s, info.source == s->peer && info.tag == TAG_DATA && info.bytes == 24);
    for (int64_t i = 0; i < 10; i += 2) {
        CHECK(s, covey_recv_array(s->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_FOREVER, COVEY_INT64,
                                  &value, 1, &count, &info) == 0);
        CHECK(s, value == i && count == 1 && info.source == s->peer && info.tag == TAG_DATA);
    }
    CHECK(s, covey_probe(s->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_POLL, NULL) == COVEY_ETIMEOUT);
    CHECK(s, send_number(s, TAG_BACK, 0) == 0);
}

/* ---- wrong: a receive that does not fit leaves the message ----------------------------------- */

static void wrong_ask(struct side *s)
{
    const double numbers[3] = {1, 2, 3};
    CHECK(s, covey_send_array(s->vm, s->peer, TAG_DATA, COVEY_DOUBLE, numbers, 3) == 0);
    CHECK(s, covey_send_array(s->vm, 0, TAG_DATA, COVEY_DOUBLE, numbers, 3) == COVEY_EINVAL);
    CHECK(s, covey_send_array(s->vm, s->peer, -3, COVEY_DOUBLE, numbers, 3) == COVEY_EINVAL);
    CHECK(s, covey_send_array(s->vm, s->peer, 1, 99, numbers, 3) == COVEY_EINVAL);
    CHECK(s, covey_send_array(s->vm, s->peer, 1, COVEY_DOUBLE, numbers, SIZE_MAX / 16) ==
                 COVEY_ETOOBIG);
    int64_t done;
    CHECK(s, recv_number(s, TAG_BACK, &done) == 0);
}

static void wrong_answer(struct side *s)
{
    double numbers[3] = {0};
    int64_t other[3];
    size_t count = 77;
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_INT64, other, 3,
                              &count, NULL) == COVEY_ETYPE);
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_DOUBLE, numbers, 2,
                              &count, NULL) == COVEY_ETRUNC);
    CHECK(s, count == 77);
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_DOUBLE, numbers, 3,
                              &count, NULL) == 0);
    CHECK(s, count == 3 && numbers[2] == 3);
    CHECK(s, send_number(s, TAG_BACK, 0) == 0);
}

/* ---- cancel and timeout ---------------------------------------------------------------------- */

static void cancel_ask(struct side *s)
{
    int64_t value = 0;
    covey_req_t *req = NULL, *second = NULL;
    covey_msg_t *msg;
    CHECK(s, covey_recv(s->vm, s->peer, TAG_BACK, 20000, &msg) == COVEY_ETIMEOUT);
    CHECK(s, covey_irecv_array(s->vm, s->peer, TAG_BACK, COVEY_INT64, &value, 1, &req) == 0);
    CHECK(s, covey_test(req) == 0);
    CHECK(s, covey_wait(req, 1000) == COVEY_ETIMEOUT);
    CHECK(s, covey_cancel(req) == 1 && covey_test(req) == COVEY_ECANCELED);
    covey_req_free(&req);
    CHECK(s, covey_irecv(s->vm, s->peer, TAG_BACK, &req) == 0);
    CHECK(s, covey_irecv(s->vm, s->peer, TAG_OTHER, &second) == 0);
    CHECK(s, send_number(s, TAG_DATA, 5) == 0);
    covey_req_t *const both[3] = {NULL, req, second};
    CHECK(s, covey_wait_any(both, 3, COVEY_FOREVER) == 1);
    CHECK(s, covey_cancel(req) == 0);
    CHECK(s, covey_req_result(req, NULL, &msg, NULL) == 0);
    CHECK(s, covey_unpack_int64(msg, &value, 1, 1) == 0 && value == 6);
    covey_msg_free(msg);
    covey_req_free(&req);
    covey_req_free(&second);
}

static void cancel_answer(struct side *s)
{
    int64_t value;
    CHECK(s, recv_number(s, TAG_DATA, &value) == 0 && value == 5);
    CHECK(s, send_number(s, TAG_BACK, 6) == 0);
}

/* ---- crossing: both send 1 GiB before either receives (256 MiB with --gib 1, 64 with 0) ---- */

static void crossing(struct side *s)
{
    const size_t size = bounded(s, s->gib > 1 ? 1024 * MIB : s->gib > 0 ? 256 * MIB : 64 * MIB);
    uint8_t *bytes = malloc(size);
    size_t got = 0;
    CHECK(s, bytes != NULL);
    memset(bytes, 0x5a, size);
    bytes[size / 3] = 7;
    CHECK(s, covey_send_array(s->vm, s->peer, TAG_DATA, COVEY_UINT8, bytes, size) == 0);
    memset(bytes, 0, size);
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_UINT8, bytes, size,
                              &got, NULL) == 0);
    CHECK(s, got == size && bytes[size / 3] == 7);
    bytes[size / 3] = 0x5a;
    CHECK(s, bytes[0] == 0x5a && memcmp(bytes, bytes + 1, size - 1) == 0);
    free(bytes);
}

/* ---- sleeper: sleeps while 10 GiB are offered to it (256 MiB with --gib 0) ---- */

#define SLEEPER_PIECE (64 * MIB)

static size_t sleeper_pieces(const struct side *s)
{
    return s->gib > 0 && s->mib == 0 ? (size_t)s->gib * 1024 * MIB / SLEEPER_PIECE : 4;
}

static void sleeper_ask(struct side *s)
{
    size_t pieces = sleeper_pieces(s), piece = bounded(s, SLEEPER_PIECE);
    covey_req_t **reqs = calloc(pieces, sizeof *reqs);
    uint8_t *bytes = pattern_new(piece, 1);
    int64_t peer_peak, started;
    CHECK(s, reqs != NULL && bytes != NULL);
    CHECK(s, recv_number(s, TAG_BACK, &started) == 0);
    long before = peak_reset();
    for (size_t i = 0; i < pieces; i++)
        CHECK(s, covey_isend_array(s->vm, s->peer, TAG_DATA, COVEY_UINT8, bytes, piece, &reqs[i]) ==
                     0);
    CHECK(s, send_number(s, TAG_OTHER, 0) == 0); /* waits behind all of it */
    for (size_t i = 0; i < pieces; i++) {
        CHECK(s, covey_wait(reqs[i], COVEY_FOREVER) == 0);
        covey_req_free(&reqs[i]);
    }
    free(reqs);
    free(bytes);
    CHECK(s, recv_number(s, TAG_BACK, &peer_peak) == 0);
    printf("  %zu MiB offered: the sender grew by %ld MiB, the sleeping receiver by %lld MiB\n",
           pieces * (piece / MIB), peak_mib() - before, (long long)peer_peak);
    CHECK(s, s->gib == 0 || (peak_mib() - before < 64 && peer_peak < 64));
}

static void sleeper_answer(struct side *s)
{
    size_t pieces = sleeper_pieces(s), piece = bounded(s, SLEEPER_PIECE);
    uint8_t *bytes = malloc(piece);
    int64_t last;
    CHECK(s, bytes != NULL);
    memset(bytes, 0, piece);
    long before = peak_reset();
    CHECK(s, send_number(s, TAG_BACK, 0) == 0);
    sleep(2); /* the case itself: not in the library for a while */
    long asleep = peak_mib() - before;
    for (size_t i = 0; i < pieces; i++)
        CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_UINT8, bytes,
                                  piece, NULL, NULL) == 0);
    CHECK(s, pattern_ok(bytes, piece, 1));
    free(bytes);
    CHECK(s, recv_number(s, TAG_OTHER, &last) == 0);
    CHECK(s, send_number(s, TAG_BACK, asleep) == 0);
}

/* ---- progress: transfers go on while neither side is inside the library ---------------------- */

static void progress_ask(struct side *s)
{
    char path[64];
    const size_t size = bounded(s, 64 * MIB);
    covey_req_t *req = NULL;
    uint8_t *bytes = pattern_new(size, 3);
    CHECK(s, bytes != NULL);
    snprintf(path, sizeof path, "/tmp/covey-conformance-%d", (int)getpid());
    covey_msg_t *msg = covey_msg_new();
    CHECK(s, covey_pack_string(msg, path) == 0);
    CHECK(s, covey_send(s->vm, s->peer, TAG_OTHER, msg) == 0);
    covey_msg_free(msg);
    CHECK(s, covey_isend_array(s->vm, s->peer, TAG_DATA, COVEY_UINT8, bytes, size, &req) == 0);
    while (access(path, F_OK) != 0)
        usleep(1000); /* computes, as far as the library can tell */
    unlink(path);
    CHECK(s, covey_wait(req, COVEY_FOREVER) == 0);
    covey_req_free(&req);
    free(bytes);
}

static void progress_answer(struct side *s)
{
    char path[64];
    const size_t size = bounded(s, 64 * MIB);
    covey_msg_t *msg;
    uint8_t *bytes = malloc(size);
    CHECK(s, bytes != NULL);
    CHECK(s, covey_recv(s->vm, s->peer, TAG_OTHER, COVEY_FOREVER, &msg) == 0);
    CHECK(s, covey_unpack_string(msg, path, sizeof path) == 0);
    covey_msg_free(msg);
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, COVEY_FOREVER, COVEY_UINT8, bytes, size,
                              NULL, NULL) == 0);
    FILE *f = fopen(path, "w");
    CHECK(s, f != NULL && pattern_ok(bytes, size, 3));
    fclose(f);
    free(bytes);
}

/* ---- threads: two threads of one task talk at once ------------------------------------------- */

static int64_t thread_rounds(const struct side *s)
{
    return s->mib > 0 ? 300 : 2000;
}

struct talk {
    struct side *side;
    int tag;
    bool good;
};

static void *talk_main(void *context)
{
    struct talk *talk = context;
    struct side *s = talk->side;
    for (int64_t i = 0, back; i < thread_rounds(s); i++) {
        if (send_number(s, talk->tag, i) != 0 || recv_number(s, talk->tag + 100, &back) != 0 ||
            back != i + talk->tag)
            return NULL;
    }
    talk->good = true;
    return NULL;
}

static void threads_ask(struct side *s)
{
    struct talk talks[2] = {{s, 1000, false}, {s, 1001, false}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(s, pthread_create(&threads[i], NULL, talk_main, &talks[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(s, talks[0].good && talks[1].good);
}

static void threads_answer(struct side *s)
{
    for (int i = 0; i < 2 * thread_rounds(s); i++) {
        int64_t value;
        struct covey_info info;
        CHECK(s, covey_recv_array(s->vm, s->peer, COVEY_ANY_TAG, COVEY_FOREVER, COVEY_INT64, &value,
                                  1, NULL, &info) == 0);
        CHECK(s, send_number(s, info.tag + 100, value + info.tag) == 0);
    }
}

/* ---- death: the other task is killed in the middle of a message ------------------------------ */

static covey_tid_t spawn_other(struct side *s);

static void death_ask(struct side *s)
{
    const covey_tid_t before = s->peer;
    covey_tid_t other = spawn_other(s);
    CHECK(s, other > 0);
    s->peer = other;
    int64_t value = -1;
    uint8_t *bytes = calloc(1, 32 * MIB);
    covey_msg_t *msg;
    struct covey_notice notice;
    CHECK(s,
          bytes != NULL && covey_notify(s->vm, COVEY_NOTIFY_TASK_EXIT, TAG_NOTICE, &other, 1) == 0);
    CHECK(s, send_number(s, TAG_CASE, -1) == 0); /* it answers once and then kills itself */
    CHECK(s, recv_number(s, TAG_BACK, &value) == 0 && value == 4711);
    CHECK(s, send_number(s, TAG_CASE, 0) == 0); /* a frame that got lost would be lost with it */
    CHECK(s, covey_recv(s->vm, other, TAG_BACK, COVEY_FOREVER, &msg) == COVEY_ENOTASK);
    CHECK(s,
          covey_send_array(s->vm, other, TAG_DATA, COVEY_UINT8, bytes, 32 * MIB) == COVEY_ENOTASK);
    CHECK(s, covey_recv(s->vm, other, TAG_NOTICE, COVEY_FOREVER, &msg) == 0);
    CHECK(s, covey_unpack_notice(msg, &notice) == 0);
    CHECK(s,
          notice.tid == other && notice.exit_kind == COVEY_EXIT_SIGNAL && notice.value == SIGKILL);
    covey_msg_free(msg);
    free(bytes);
    s->peer = before;
}

static void death_answer(struct side *s)
{
    (void)s; /* the victim is a task of its own */
}

static void die_in_the_middle(struct side *s)
{
    covey_req_t *req;
    uint8_t *bytes = calloc(1, 64 * MIB);
    int64_t go;
    send_number(s, TAG_BACK, 4711);
    recv_number(s, TAG_CASE, &go);
    if (bytes != NULL)
        covey_isend_array(s->vm, s->peer, TAG_BACK, COVEY_UINT8, bytes, 64 * MIB, &req);
    raise(SIGKILL);
}

/* ---- parting: the other task sends and ends; all that it sent is still received -------------- */

enum { PARTING_MESSAGES = 12, PARTING_BYTES = 32 * 1024 };

static void part(struct side *s)
{
    static uint8_t bytes[PARTING_BYTES];
    for (int i = 0; i < PARTING_MESSAGES; i++) {
        bytes[0] = bytes[PARTING_BYTES - 1] = (uint8_t)i;
        covey_send_array(s->vm, s->peer, TAG_BACK, COVEY_UINT8, bytes, PARTING_BYTES);
    }
}

static void parting_ask(struct side *s)
{
    static uint8_t bytes[PARTING_BYTES];
    const struct timespec a_moment = {.tv_nsec = 100000000}; /* in which the other ends */
    const covey_tid_t before = s->peer;
    covey_tid_t other = spawn_other(s);
    covey_msg_t *msg;
    size_t count;
    CHECK(s, other > 0);
    s->peer = other;
    /* what is in a ring stays there even when its sender is killed */
    CHECK(s, send_number(s, TAG_CASE, s->route == COVEY_ROUTE_SHM ? -3 : -2) == 0);
    for (int i = 0; i < PARTING_MESSAGES; i++) {
        CHECK(s, covey_recv_array(s->vm, other, TAG_BACK, COVEY_FOREVER, COVEY_UINT8, bytes,
                                  PARTING_BYTES, &count, NULL) == 0);
        CHECK(s, count == PARTING_BYTES && bytes[0] == i && bytes[count - 1] == i);
        nanosleep(&a_moment, NULL);
    }
    CHECK(s, covey_recv(s->vm, other, TAG_BACK, COVEY_FOREVER, &msg) == COVEY_ENOTASK);
    s->peer = before;
}

static void parting_answer(struct side *s)
{
    (void)s; /* the one that parts is a task of its own */
}

/* ---- the cases, in order --------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*ask)(struct side *s);
    void (*answer)(struct side *s);
} cases[] = {
    {"sizes", sizes_ask, sizes_answer},          {"types", types_ask, types_answer},
    {"matching", matching_ask, matching_answer}, {"wrong", wrong_ask, wrong_answer},
    {"cancel", cancel_ask, cancel_answer},       {"order", order_ask, order_answer},
    {"threads", threads_ask, threads_answer},    {"progress", progress_ask, progress_answer},
    {"death", death_ask, death_answer},          {"crossing", crossing, crossing},
    {"sleeper", sleeper_ask, sleeper_answer},    {"parting", parting_ask, parting_answer},
};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

static covey_tid_t spawn_other(struct side *s)
{
    char gib[16], mib[16];
    snprintf(gib, sizeof gib, "%d", s->gib);
    snprintf(mib, sizeof mib, "%d", s->mib);
    const char *const argv[] = {s->program, "--answer", "--gib", gib, "--mib", mib, NULL};
    const char *const hosts[] = {s->host, NULL};
    struct covey_spawn what = {.argv = argv,
                               .hosts = s->host != NULL ? hosts : NULL,
                               .where = s->host != NULL ? COVEY_WHERE_HOSTS : COVEY_WHERE_ANY,
                               .route = s->route,
                               .tether = 1};
    covey_tid_t tid = 0;
    if (covey_spawn(s->vm, &what, 1, &tid) != 1)
        fprintf(stderr, "spawn: %s\n", covey_error_text());
    return tid;
}

static int answer_all(struct side *s)
{
    int64_t number;
    s->peer = covey_parent(s->vm);
    while (recv_number(s, TAG_CASE, &number) == 0 && number < CASES) {
        if (number == -1)
            die_in_the_middle(s);
        if (number < -1) {
            part(s);
            return number == -3 ? raise(SIGKILL) : 0;
        }
        s->failed = false;
        cases[number].answer(s);
        if (send_number(s, TAG_CASE, !s->failed) != 0 || s->failed)
            return 1;
    }
    return 0;
}

/* 1 passed, 0 failed */
static int ask_one(struct side *s, int i)
{
    int64_t peer_good = 0;
    s->failed = false;
    bool sent = send_number(s, TAG_CASE, i) == 0;
    if (sent)
        cases[i].ask(s);
    bool good = sent && !s->failed && recv_number(s, TAG_CASE, &peer_good) == 0 && peer_good == 1;
    printf("%s %s over %s\n", good ? "ok" : "not ok", cases[i].name, covey_route_name(s->route));
    fflush(stdout);
    return good;
}

static int ask_all(struct side *s, const char *only)
{
    int passed = 0, failed = 0;
    s->peer = spawn_other(s);
    if (s->peer <= 0)
        return 1;
    for (int i = 0; i < CASES && failed == 0; i++) {
        if (only != NULL && strcmp(only, cases[i].name) != 0)
            continue;
        int good = ask_one(s, i);
        passed += good;
        failed += !good; /* the two sides may be out of step now */
    }
    send_number(s, TAG_CASE, CASES);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"route", required_argument, NULL, 'r'},
                                            {"host", required_argument, NULL, 'h'},
                                            {"case", required_argument, NULL, 'c'},
                                            {"gib", required_argument, NULL, 'g'},
                                            {"mib", required_argument, NULL, 'm'},
                                            {"answer", no_argument, NULL, 'a'},
                                            {NULL, 0, NULL, 0}};
    struct side side = {.gib = 10};
    const char *only = NULL;
    bool answer = false;
    char program[PATH_MAX];
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'r')
            side.route = covey_route_parse(optarg);
        else if (o == 'h')
            side.host = optarg;
        else if (o == 'c')
            only = optarg;
        else if (o == 'a')
            answer = true;
        else if (o == 'm')
            side.mib = atoi(optarg);
        else if (o == 'g')
            side.gib = atoi(optarg);
        else
            return 2;
    }
    struct covey_options join = {.route = side.route};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0 || covey_join(&side.vm, &join) != 0) {
        fprintf(stderr, "conformance: %s\n", covey_error_text());
        return 1;
    }
    program[length] = '\0';
    side.program = program;
    int status = answer ? answer_all(&side) : ask_all(&side, only);
    covey_leave(&side.vm);
    return status;
}
