/* links: libcovey */
/*
 * exchange.c - two tasks, usually of different representations, exchange every type.
 *
 *   exchange --peer PROGRAM [--host HOST] [--route R] [--refused TEXT]
 *
 * Starts PROGRAM, this program built for another machine, on HOST and sends it arrays of every type
 * in every way to pack, over that route; the peer compares them with what it computes by its own
 * arithmetic, in every way to unpack, and sends all of it back for the same. --refused: the route
 * cannot work between the two, and the error must say TEXT. Prints a line a case and `N passed,
 * N failed, N skipped`.
 */
#include <covey.h>

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_DATA 1
#define TAG_RESULT 2
#define COUNT 5      /* elements of a small array */
#define LARGE 100003 /* elements of a large one: many frames, and not a multiple of anything */
#define TYPES COVEY_COMPLEX_DOUBLE
#define PEER_WAIT_US 60000000

struct side {
    covey_t *vm;
    covey_tid_t peer;
    bool failed;
};

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

/* ---- elements that both machines compute alike ----------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 27;
}

/* Exact in a float: 24 bits by a power of two, now and then an end of the range. */
static float float_number(uint64_t x)
{
    static const float ends[] = {0.0f, -0.0f, 1e-45f, 3.40282347e38f, -INFINITY};
    if (x % 7 == 0)
        return ends[x / 7 % 5];
    return ldexpf((float)(int32_t)((int64_t)(x >> 40) - (1 << 23)), (int)(x % 90) - 45);
}

static double double_number(uint64_t x)
{
    static const double ends[] = {0.0, -0.0, 4.9e-324, 1.7976931348623157e308, INFINITY};
    if (x % 7 == 0)
        return ends[x / 7 % 5];
    return ldexp((double)((int64_t)(x >> 11) - ((int64_t)1 << 52)), (int)(x % 900) - 450);
}

static void put_integer(void *to, size_t width, uint64_t x)
{
    uint8_t u8 = (uint8_t)x;
    uint16_t u16 = (uint16_t)x;
    uint32_t u32 = (uint32_t)x;
    if (width == 1)
        memcpy(to, &u8, 1);
    else if (width == 2)
        memcpy(to, &u16, 2);
    else
        memcpy(to, width == 4 ? (void *)&u32 : (void *)&x, width);
}

/* The i-th element of the arrays of a type. */
static void element(int type, size_t i, void *to)
{
    uint64_t x = mix((uint64_t)type << 32 | i), y = mix(x);
    if (type == COVEY_FLOAT || type == COVEY_COMPLEX_FLOAT) {
        float parts[2] = {float_number(x), float_number(y)};
        memcpy(to, parts, covey_type_size(type));
    } else if (type == COVEY_DOUBLE || type == COVEY_COMPLEX_DOUBLE) {
        double parts[2] = {double_number(x), double_number(y)};
        memcpy(to, parts, covey_type_size(type));
    } else {
        put_integer(to, covey_type_size(type), x);
    }
}

static void elements_fill(int type, uint8_t *base, size_t count, ptrdiff_t stride)
{
    ptrdiff_t step = stride * (ptrdiff_t)covey_type_size(type);
    for (size_t i = 0; i < count; i++)
        element(type, i, base + step * (ptrdiff_t)i);
}

static bool elements_same(int type, const uint8_t *base, size_t count, ptrdiff_t stride)
{
    size_t width = covey_type_size(type);
    for (size_t i = 0; i < count; i++) {
        uint8_t expected[16];
        element(type, i, expected);
        if (memcmp(base + stride * (ptrdiff_t)(i * width), expected, width) != 0)
            return false;
    }
    return true;
}

/* ---- messages: each way to pack, each way to unpack ------------------------------------------ */

/* Memory for COUNT elements of any type in any of the ways, which must last as long as the message:
 * arrays in place are not copied. */
struct arrays {
    _Alignas(16) uint8_t of[TYPES + 1][16 * 2 * COUNT];
};

enum way { WAY_PLAIN, WAY_STRIDED, WAY_BACKWARD, WAY_WHOLE, WAYS };

static uint8_t *last_of(uint8_t *base, int type)
{
    return base + (COUNT - 1) * covey_type_size(type);
}

static int pack_way(covey_msg_t *msg, int type, uint8_t *base, enum way way)
{
    ptrdiff_t stride = way == WAY_STRIDED ? 2 : way == WAY_BACKWARD ? -1 : 1;
    uint8_t *first = way == WAY_BACKWARD ? last_of(base, type) : base;
    elements_fill(type, first, COUNT, stride);
    if (way == WAY_WHOLE)
        return covey_pack_inplace(msg, type, base, COUNT);
    return covey_pack(msg, type, first, COUNT, stride);
}

/* In two parts, every other place, backward, or as a view. */
static bool unpack_way(covey_msg_t *msg, int type, enum way way)
{
    _Alignas(16) uint8_t to[16 * 2 * COUNT];
    const void *view = to;
    size_t width = covey_type_size(type), count = COUNT;
    ptrdiff_t stride = way == WAY_STRIDED ? 2 : way == WAY_BACKWARD ? -1 : 1;
    const uint8_t *first = way == WAY_BACKWARD ? last_of(to, type) : to;
    int error;
    if (way == WAY_PLAIN)
        error = covey_unpack(msg, type, to, 2, 1) |
                covey_unpack(msg, type, to + 2 * width, COUNT - 2, 1);
    else if (way == WAY_WHOLE)
        error = covey_unpack_view(msg, type, &view, &count);
    else
        error = covey_unpack(msg, type, to + (first - to), COUNT, stride);
    if (way == WAY_WHOLE)
        first = view;
    return error == 0 && count == COUNT && elements_same(type, first, COUNT, stride);
}

static int pack_all(covey_msg_t *msg, struct arrays *arrays, enum way way)
{
    int error =
        covey_pack_string(msg, "h\xc3\xa9llo, world") | covey_pack_bytes(msg, "\1\2\0\3", 4);
    for (int type = 1; type <= TYPES; type++)
        error |= pack_way(msg, type, arrays->of[type], way);
    return error;
}

/* After a type and a count that are not there were refused by name. */
static bool unpack_all(covey_msg_t *msg, enum way way)
{
    char text[32];
    uint8_t bytes[4];
    if (covey_unpack(msg, COVEY_DOUBLE, bytes, 7, 1) != COVEY_ETYPE ||
        strcmp(covey_error_text(), "unpack: wanted 7 double, the message has 13 string") != 0)
        return false;
    if (covey_unpack_string(msg, text, sizeof text) != 0 ||
        strcmp(text, "h\xc3\xa9llo, world") != 0 ||
        covey_unpack_bytes(msg, bytes, sizeof bytes) != 0 || memcmp(bytes, "\1\2\0\3", 4) != 0)
        return false;
    for (int type = 1; type <= TYPES; type++) {
        if (!unpack_way(msg, type, way))
            return false;
    }
    return true;
}

static bool finished(covey_msg_t *msg)
{
    int32_t none;
    return covey_unpack_int32(msg, &none, 1, 1) == COVEY_EEND;
}

/* ---- cases: one gives, the other takes; then the other way round ----------------------------- */

static int recv_msg(struct side *s, covey_msg_t **msg)
{
    return covey_recv(s->vm, s->peer, TAG_DATA, PEER_WAIT_US, msg);
}

static void types_give(struct side *s)
{
    struct arrays arrays;
    for (enum way way = 0; way < WAYS; way++) {
        covey_msg_t *msg = covey_msg_new();
        CHECK(s, pack_all(msg, &arrays, way) == 0);
        for (enum way unpacking = 0; unpacking < WAYS; unpacking++)
            CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, msg) == 0);
        covey_msg_free(msg);
    }
}

static void types_take(struct side *s)
{
    for (int i = 0; i < WAYS * WAYS; i++) {
        covey_msg_t *msg;
        CHECK(s, recv_msg(s, &msg) == 0);
        CHECK(s, unpack_all(msg, (enum way)(i % WAYS)) && finished(msg));
        covey_msg_rewind(msg);
        CHECK(s, unpack_all(msg, (enum way)(i / WAYS)) && finished(msg));
        covey_msg_free(msg);
    }
}

/* A message in a message in a message; the middle one comes back unread in a new one. */
static void nested_give(struct side *s)
{
    struct arrays arrays[3];
    covey_msg_t *msgs[3], *back, *middle, *inner;
    for (int i = 0; i < 3; i++) {
        msgs[i] = covey_msg_new();
        CHECK(s, pack_all(msgs[i], &arrays[i], (enum way)i) == 0);
        CHECK(s, i == 0 || covey_pack_msg(msgs[i], msgs[i - 1]) == 0);
    }
    CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, msgs[2]) == 0);
    CHECK(s, recv_msg(s, &back) == 0);
    CHECK(s, unpack_all(back, WAY_PLAIN) && covey_unpack_msg(back, &middle) == 0);
    CHECK(s, unpack_all(middle, WAY_WHOLE) && covey_unpack_msg(middle, &inner) == 0);
    CHECK(s, unpack_all(inner, WAY_STRIDED) && finished(inner) && finished(middle));
    for (int i = 0; i < 3; i++)
        covey_msg_free(msgs[i]);
    covey_msg_free(back);
    covey_msg_free(middle);
    covey_msg_free(inner);
}

static void nested_take(struct side *s)
{
    struct arrays arrays;
    covey_msg_t *outer, *middle, *inner, *back = covey_msg_new();
    CHECK(s, recv_msg(s, &outer) == 0);
    CHECK(s, unpack_all(outer, WAY_WHOLE) && covey_unpack_msg(outer, &middle) == 0);
    CHECK(s, pack_all(back, &arrays, WAY_PLAIN) == 0 && covey_pack_msg(back, middle) == 0);
    CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, back) == 0);
    CHECK(s, unpack_all(middle, WAY_BACKWARD) && covey_unpack_msg(middle, &inner) == 0);
    CHECK(s, unpack_all(inner, WAY_PLAIN) && finished(inner) && finished(middle));
    covey_msg_free(outer);
    covey_msg_free(middle);
    covey_msg_free(inner);
    covey_msg_free(back);
}

/* A received message that is read, packed on and sent on: it then has the second machine's order.
 */
static void forward_give(struct side *s)
{
    struct arrays arrays;
    covey_msg_t *msg = covey_msg_new(), *back;
    CHECK(s, pack_all(msg, &arrays, WAY_PLAIN) == 0);
    CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, msg) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(s, recv_msg(s, &back) == 0);
        CHECK(s, unpack_all(back, WAY_PLAIN) && (i == 0 || unpack_all(back, WAY_BACKWARD)));
        CHECK(s, finished(back));
        covey_msg_free(back);
    }
    covey_msg_free(msg);
}

static void forward_take(struct side *s)
{
    struct arrays arrays;
    covey_msg_t *msg;
    CHECK(s, recv_msg(s, &msg) == 0);
    CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, msg) == 0); /* unread: as it came */
    CHECK(s, pack_all(msg, &arrays, WAY_WHOLE) == 0);
    CHECK(s, covey_send(s->vm, s->peer, TAG_DATA, msg) == 0);
    CHECK(s, unpack_all(msg, WAY_STRIDED) && unpack_all(msg, WAY_PLAIN) && finished(msg));
    covey_msg_free(msg);
}

/* Large arrays, which go straight from array to array. */
static void arrays_give(struct side *s)
{
    uint8_t *base = malloc(16 * LARGE);
    CHECK(s, base != NULL);
    for (int type = 1; type <= TYPES; type++) {
        elements_fill(type, base, LARGE, 1);
        CHECK(s, covey_send_array(s->vm, s->peer, TAG_DATA, type, base, LARGE) == 0);
    }
    free(base);
}

/* One of a wrong type and one that is too small are refused and leave the message. */
static void refuse_one(struct side *s, int type, uint8_t *base)
{
    int other = type == COVEY_INT8 ? COVEY_INT16 : COVEY_INT8;
    char text[120];
    snprintf(text, sizeof text, "receive: wanted %s, the message has %d %s", covey_type_name(other),
             LARGE, covey_type_name(type));
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, PEER_WAIT_US, other, base, LARGE, NULL,
                              NULL) == COVEY_ETYPE);
    CHECK(s, strcmp(covey_error_text(), text) == 0);
    CHECK(s, covey_recv_array(s->vm, s->peer, TAG_DATA, PEER_WAIT_US, type, base, 3, NULL, NULL) ==
                 COVEY_ETRUNC);
}

static void arrays_take(struct side *s)
{
    uint8_t *base = calloc(LARGE, 16);
    covey_req_t *req;
    CHECK(s, base != NULL);
    for (int type = 1; type <= TYPES; type++) {
        size_t count = 0;
        if (type % 2 == 0)
            refuse_one(s, type, base);
        CHECK(s, covey_irecv_array(s->vm, s->peer, TAG_DATA, type, base, LARGE, &req) == 0);
        CHECK(s, covey_wait(req, PEER_WAIT_US) == 0);
        CHECK(s, covey_req_result(req, NULL, NULL, &count) == 0 && count == LARGE);
        CHECK(s, elements_same(type, base, LARGE, 1));
        covey_req_free(&req);
    }
    free(base);
}

/* ---- the two sides --------------------------------------------------------------------------- */

typedef void role(struct side *s);

static const struct {
    const char *name;
    role *give, *take;
} cases[] = {{"types", types_give, types_take},
             {"nested", nested_give, nested_take},
             {"forward", forward_give, forward_take},
             {"arrays", arrays_give, arrays_take}};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

/* Whether both sides did their part. */
static bool agree(struct side *s)
{
    int32_t mine = !s->failed, theirs = 0;
    return covey_send_array(s->vm, s->peer, TAG_RESULT, COVEY_INT32, &mine, 1) == 0 &&
           covey_recv_array(s->vm, s->peer, TAG_RESULT, PEER_WAIT_US, COVEY_INT32, &theirs, 1, NULL,
                            NULL) == 0 &&
           mine && theirs;
}

static int answer_all(struct side *s)
{
    s->peer = covey_parent(s->vm);
    for (int i = 0; i < CASES; i++) {
        cases[i].take(s);
        if (!agree(s))
            return 1;
        cases[i].give(s);
        if (!agree(s))
            return 1;
    }
    return 0;
}

static int ask_all(struct side *s, const char *peer)
{
    int passed = 0, failed = 0;
    for (int i = 0; i < 2 * CASES && failed == 0; i++) {
        (i % 2 == 0 ? cases[i / 2].give : cases[i / 2].take)(s);
        bool good = agree(s);
        printf("%s %s %s %s over %s\n", good ? "ok" : "not ok", cases[i / 2].name,
               i % 2 == 0 ? "to" : "from", peer, covey_route_name(covey_route(s->vm, s->peer)));
        passed += good;
        failed += !good; /* the two sides are out of step now */
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

/* The route must be refused with that text. */
static int ask_refused(struct side *s, const char *text)
{
    const int32_t one = 1;
    int error = covey_send_array(s->vm, s->peer, TAG_RESULT, COVEY_INT32, &one, 1);
    bool good = error == COVEY_EROUTE && strstr(covey_error_text(), text) != NULL;
    printf("%s refused: %s\n%d passed, %d failed, 0 skipped\n", good ? "ok" : "not ok",
           covey_error_text(), good, !good);
    covey_kill(s->vm, s->peer);
    return !good;
}

static covey_tid_t spawn_peer(struct side *s, const char *program, const char *host, int route)
{
    const char *argv[] = {program, "--answer", "--route", covey_route_name(route), NULL};
    const char *hosts[] = {host, NULL};
    struct covey_spawn what = {
        .argv = argv, .hosts = hosts, .where = COVEY_WHERE_HOSTS, .tether = 1};
    covey_tid_t tid = 0;
    if (covey_spawn(s->vm, &what, 1, &tid) != 1)
        fprintf(stderr, "exchange: %s on %s: %s\n", program, host, covey_error_text());
    return tid;
}

struct task_line {
    const char *peer, *host, *refused;
    bool answer;
    int route;
};

static bool parse(int argc, char **argv, struct task_line *line)
{
    static const struct option options[] = {
        {"peer", required_argument, NULL, 'p'},  {"host", required_argument, NULL, 'h'},
        {"route", required_argument, NULL, 'r'}, {"refused", required_argument, NULL, 'f'},
        {"answer", no_argument, NULL, 'a'},      {NULL, 0, NULL, 0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'p')
            line->peer = optarg;
        else if (o == 'h')
            line->host = optarg;
        else if (o == 'r')
            line->route = covey_route_parse(optarg);
        else if (o == 'f')
            line->refused = optarg;
        else if (o == 'a')
            line->answer = true;
        else
            return false;
    }
    return line->route >= 0 && (line->answer || line->peer != NULL);
}

static int ask(struct side *s, const struct task_line *line)
{
    const char *host = line->host != NULL ? line->host : covey_myhost(s->vm);
    s->peer = spawn_peer(s, line->peer, host, line->route);
    if (s->peer <= 0)
        return 1;
    return line->refused != NULL ? ask_refused(s, line->refused) : ask_all(s, line->peer);
}

int main(int argc, char **argv)
{
    struct task_line line = {0};
    struct side side = {0};
    if (!parse(argc, argv, &line)) {
        fprintf(stderr, "exchange --peer PROGRAM [--host HOST] [--route R] [--refused TEXT]\n");
        return 2;
    }
    struct covey_options join = {.route = line.route};
    if (covey_join(&side.vm, &join) != 0) {
        fprintf(stderr, "exchange: %s\n", covey_error_text());
        return 1;
    }
    int status = line.answer ? answer_all(&side) : ask(&side, &line);
    covey_leave(&side.vm);
    return status;
}
