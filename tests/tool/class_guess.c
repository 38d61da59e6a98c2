/* links: proto/class/?*.c proto/wire/cursor.c tools/class/sockets.c */
/*
 * class_guess - what somebody on the network does to a class who does not know its code.
 *
 *   guess HOST:PORT CODE N      tries N codes with the label of CODE, and never CODE itself; prints
 *                               how many were found wrong, void, refused, or let in
 *   race HOST:PORT CODE N       as many codes, of which all are proved at the same moment
 *   idle HOST:PORT N            holds N connections open that say nothing, until its input ends
 *   drip HOST:PORT N            N connections that say one byte after another of a share that never
 *                               ends, and come again when they are closed, until its input ends
 *   storm HOST:PORT FROM        connects as fast as it can from that address, and keeps the last
 *                               ones open, until its input ends; prints how many there were
 *   noise HOST:PORT N           N connections that say random bytes, or end within a frame
 *   flood PORT                  broadcasts as fast as it can questions, answers, parts of both and
 *                               more than both, and random bytes, until its input ends
 *   points HOST:PORT CODE       shares that are none: the neutral element, and bytes that are no
 *                               element; prints how many were answered
 *   mirror PORT                 is a class that knows no code, and sends back what it is sent
 *   twin PORT N                 is a class that has always just chosen the label that one on this
 *                               machine has, N times; prints these labels; until its input ends
 *   miser PORT                  serves whoever comes with a byte now and then, until its input ends
 *   label CODE                  prints its label
 *   tap PORT HOST:PORT FILE     passes one connection on, and records what both say into FILE
 *   reads FILE CODE             whether that recording is a whole join, and has nothing of the code
 */
#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/class/beacon.h"
#include "proto/class/knock.h"
#include "tools/class/sockets.h"

#define WAIT_MS 20000

static int fail(const char *what)
{
    fprintf(stderr, "class_guess: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connect_to(const char *at)
{
    struct place place;
    if (!place_parse(at, 1, &place))
        fail(at);
    int fd = socket_connect(&place);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (fd < 0 || poll(&ready, 1, WAIT_MS) <= 0 || socket_error(fd) != 0)
        fail("cannot connect");
    return fd;
}

static ssize_t read_some(int fd, uint8_t *bytes, size_t size)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, WAIT_MS) <= 0 ? -1 : read(fd, bytes, size);
}

/* ---- guess ----------------------------------------------------------------------------------- */

static enum knock_event try_code(int fd, struct knock *knock)
{
    uint8_t bytes[4096];
    for (;;) {
        size_t size;
        const uint8_t *output = knock_output(knock, &size);
        if (size > 0 && send(fd, output, size, MSG_NOSIGNAL) != (ssize_t)size)
            return KNOCK_BROKEN;
        knock_sent(knock, size);
        ssize_t got = read_some(fd, bytes, sizeof bytes);
        if (got <= 0)
            return KNOCK_BROKEN;
        enum knock_event event = KNOCK_AGAIN;
        for (size_t at = 0; at < (size_t)got || event == KNOCK_AGAIN;) {
            size_t part = (size_t)got - at;
            event = knock_take(knock, bytes + at, &part);
            at += part;
            if (event > KNOCK_AGAIN)
                return event;
        }
    }
}

static int guess(const char *at, const char *text, int count)
{
    struct passcode code;
    unsigned wrong = 0, voided = 0, refused = 0, in = 0;
    if (passcode_parse(text, &code) != PASSCODE_GOOD)
        return fprintf(stderr, "class_guess: %s is no code\n", text), 1;
    for (int i = 0; i < count; i++) {
        static struct knock knock;
        uint8_t seed[CHANCE_SEED_BYTES];
        struct passcode other = {.word = code.word,
                                 .number = (uint16_t)((code.number + 1 + i) % PASSCODE_NUMBERS)};
        randombytes_buf(seed, sizeof seed);
        knock_begin(&knock, &other, seed);
        int fd = connect_to(at);
        enum knock_event event = try_code(fd, &knock);
        in += event == KNOCK_WELCOME;
        wrong += event == KNOCK_REFUSED && knock.refusal == CLASS_WRONG_CODE;
        voided += event == KNOCK_REFUSED && knock.refusal == CLASS_NO_SUCH_CODE;
        refused += event == KNOCK_REFUSED && knock.refusal == CLASS_CLOSED;
        close(fd);
    }
    printf("wrong %u void %u closed %u in %u\n", wrong, voided, refused, in);
    return 0;
}

/* ---- race ------------------------------------------------------------------------------------ */

/* Until there is something to be sent; false: the class has refused it, or has gone. */
static bool carry(int fd, struct knock *knock)
{
    size_t size = 0;
    for (knock_output(knock, &size); size == 0; knock_output(knock, &size)) {
        uint8_t bytes[512];
        ssize_t got = read_some(fd, bytes, sizeof bytes);
        for (size_t at = 0; got > 0 && at < (size_t)got;) {
            size_t part = (size_t)got - at;
            if (knock_take(knock, bytes + at, &part) > KNOCK_AGAIN)
                return false;
            at += part;
        }
        if (got <= 0)
            return false;
    }
    return true;
}

static bool send_output(int fd, struct knock *knock)
{
    size_t size;
    const uint8_t *output = knock_output(knock, &size);
    bool sent = send(fd, output, size, MSG_NOSIGNAL) == (ssize_t)size;
    knock_sent(knock, size);
    return sent;
}

static int race(const char *at, const char *text, int count)
{
    struct passcode code;
    struct knock *knocks = calloc((size_t)count, sizeof *knocks);
    int *fds = calloc((size_t)count, sizeof *fds);
    unsigned wrong = 0, voided = 0, other = 0;
    if (knocks == NULL || fds == NULL || passcode_parse(text, &code) != PASSCODE_GOOD)
        return 1;
    for (int i = 0; i < count; i++) {
        uint8_t seed[CHANCE_SEED_BYTES];
        struct passcode guess = {.word = code.word,
                                 .number = (uint16_t)((code.number + 1 + i) % PASSCODE_NUMBERS)};
        randombytes_buf(seed, sizeof seed);
        knock_begin(&knocks[i], &guess, seed);
        fds[i] = connect_to(at);
    }
    for (int step = 0; step < 2; step++) /* the share, and the proof */
        for (int i = 0; i < count; i++)
            if (!carry(fds[i], &knocks[i]) || (step == 0 && !send_output(fds[i], &knocks[i])))
                fail("no share was answered");
    for (int i = 0; i < count; i++)
        send_output(fds[i], &knocks[i]);
    for (int i = 0; i < count; i++) {
        carry(fds[i], &knocks[i]);
        wrong += knocks[i].refusal == CLASS_WRONG_CODE;
        voided += knocks[i].refusal == CLASS_NO_SUCH_CODE;
        other += knocks[i].refusal != CLASS_WRONG_CODE && knocks[i].refusal != CLASS_NO_SUCH_CODE;
        close(fds[i]);
    }
    printf("wrong %u void %u other %u\n", wrong, voided, other);
    free(knocks);
    free(fds);
    return 0;
}

/* ---- idle, drip, storm, noise ---------------------------------------------------------------- */

static bool input_ended(int wait_ms)
{
    char byte;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, wait_ms) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static int idle(const char *at, int count)
{
    for (int i = 0; i < count; i++)
        connect_to(at);
    puts("idle");
    fflush(stdout);
    while (!input_ended(-1))
        ;
    return 0;
}

/* What a share begins with; nothing in it is refused before it is whole. */
static int drip(const char *at, int count)
{
    static const uint8_t share[] = {0, 51, CHANNEL_SHARE, CLASS_VERSION};
    int *fds = calloc((size_t)count, sizeof *fds);
    if (fds == NULL)
        return 1;
    for (unsigned round = 0;; round++) {
        for (int i = 0; i < count; i++) {
            uint8_t byte = round < sizeof share ? share[round] : 1;
            if (round == 0 || send(fds[i], &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
                if (round > 0)
                    close(fds[i]);
                fds[i] = connect_to(at);
            }
        }
        if (round == 0) {
            puts("drip");
            fflush(stdout);
        }
        if (input_ended(200))
            break;
    }
    free(fds);
    return 0;
}

static int storm(const char *at, const char *from)
{
    enum { KEPT = 400 };
    static int fds[KEPT];
    struct place to, own;
    unsigned long count = 0;
    if (!place_parse(at, 1, &to) || !place_parse(from, 1, &own) || !place_set_port(&own, 0))
        fail(at);
    puts("storm");
    fflush(stdout);
    for (; count % 16 != 0 || !input_ended(0); count++) {
        int *fd = &fds[count % KEPT];
        if (*fd > 0)
            close(*fd);
        *fd = socket(to.at.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (*fd < 0 || bind(*fd, (struct sockaddr *)&own.at, own.size) != 0)
            fail("bind");
        if (connect(*fd, (struct sockaddr *)&to.at, to.size) != 0 && errno != EINPROGRESS)
            poll(NULL, 0, 1); /* it has no port left for now */
    }
    printf("%lu\n", count);
    return 0;
}

static int noise(const char *at, int count)
{
    for (int i = 0; i < count; i++) {
        uint8_t bytes[512];
        int fd = connect_to(at);
        size_t size = 1 + randombytes_uniform(sizeof bytes);
        randombytes_buf(bytes, sizeof bytes);
        if (i % 3 == 1)
            bytes[0] = 0, bytes[1] = 200; /* more than may come before a proof */
        if (i % 3 == 2)
            bytes[0] = 0, bytes[1] = 50, bytes[2] = CHANNEL_SHARE, bytes[3] = CLASS_VERSION,
            size = 30; /* a frame that is cut */
        if (send(fd, bytes, size, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
            fail("send");
        if (i % 2 == 0)
            read_some(fd, bytes, sizeof bytes);
        close(fd);
    }
    return 0;
}

static int flood(const char *port)
{
    static const struct interface here = {.index = 0};
    int fd = socket_ask();
    puts("flood");
    fflush(stdout);
    for (unsigned count = 0; count % 16 != 0 || !input_ended(0); count++) {
        uint8_t bytes[2 * BEACON_BYTES];
        struct beacon beacon = {.version = (uint8_t)count, .label = BEACON_ANY_LABEL, .port = 1};
        size_t size = count % 3 == 0 ? randombytes_uniform(sizeof bytes) : BEACON_BYTES;
        randombytes_buf(bytes, sizeof bytes);
        if (count % 4 == 0)
            beacon_put_answer(bytes, &beacon);
        else if (count % 8 != 1)
            beacon_put_question(bytes, &beacon);
        socket_broadcast(fd, &here, (uint16_t)atoi(port), bytes, size);
    }
    return 0;
}

/* ---- points, mirror -------------------------------------------------------------------------- */

static bool read_whole(int fd, uint8_t *bytes, size_t size)
{
    for (size_t used = 0; used < size;) {
        ssize_t got = read_some(fd, bytes + used, size - used);
        if (got <= 0)
            return false;
        used += (size_t)got;
    }
    return true;
}

/* A frame in the clear; its body's size, or 0. */
static size_t read_frame(int fd, uint8_t body[CHANNEL_OPEN_MAX])
{
    uint8_t head[2];
    if (!read_whole(fd, head, sizeof head))
        return 0;
    size_t size = (size_t)head[0] << 8 | head[1];
    return size <= CHANNEL_OPEN_MAX && read_whole(fd, body, size) ? size : 0;
}

static void send_frame(int fd, const uint8_t *body, size_t size)
{
    uint8_t frame[2 + CHANNEL_OPEN_MAX] = {(uint8_t)(size >> 8), (uint8_t)size};
    memcpy(frame + 2, body, size);
    if (send(fd, frame, 2 + size, MSG_NOSIGNAL) < 0)
        fail("send");
}

/* The neutral element is 32 zeros; an odd number, one that is not below 2^255 - 19, and one that is
 * but is no square stand for no element. */
static int points(const char *at, const char *text)
{
    static const uint8_t firsts[] = {0, 1, 0xed, 0xff, 2, 4};
    struct passcode code;
    unsigned answered = 0;
    if (passcode_parse(text, &code) != PASSCODE_GOOD)
        return 1;
    for (size_t i = 0; i < sizeof firsts; i++) {
        uint8_t body[CHANNEL_OPEN_MAX];
        int fd = connect_to(at);
        if (read_frame(fd, body) != 1 + 1 + CLASS_NONCE_BYTES)
            fail("no class");
        uint8_t share[1 + 2 + CLASS_NONCE_BYTES + CPACE_POINT_BYTES] = {
            CHANNEL_SHARE, CLASS_VERSION, (uint8_t)passcode_label(&code)};
        uint8_t *point = share + sizeof share - CPACE_POINT_BYTES;
        if (firsts[i] >= 0xed)
            memset(point, 0xff, CPACE_POINT_BYTES), point[CPACE_POINT_BYTES - 1] = 0x7f;
        point[0] = firsts[i];
        if (crypto_core_ristretto255_is_valid_point(point) && !sodium_is_zero(point, 32))
            continue;
        send_frame(fd, share, sizeof share);
        answered += read_frame(fd, body) > 0;
        close(fd);
    }
    printf("answered %u\n", answered);
    return 0;
}

/* Serves one student. */
static int mirror(const char *port_text)
{
    uint16_t port = (uint16_t)atoi(port_text);
    uint8_t hello[2 + CLASS_NONCE_BYTES] = {CHANNEL_HELLO, CLASS_VERSION}, body[CHANNEL_OPEN_MAX];
    struct place from;
    int listener = socket_listen(&port, 1);
    struct pollfd waits = {.fd = listener, .events = POLLIN};
    printf("mirror %u\n", port);
    fflush(stdout);
    if (listener < 0 || poll(&waits, 1, WAIT_MS) <= 0)
        return fail("nobody comes");
    int fd = socket_accept(listener, &from);
    send_frame(fd, hello, sizeof hello);
    size_t size = read_frame(fd, body);
    if (size != 1 + 2 + CLASS_NONCE_BYTES + CPACE_POINT_BYTES)
        return fail("no share");
    body[size - CPACE_POINT_BYTES - 1] = CHANNEL_REPLY;
    send_frame(fd, body + size - CPACE_POINT_BYTES - 1, 1 + CPACE_POINT_BYTES);
    size = read_frame(fd, body);
    if (size == 1 + CPACE_TAG_BYTES && body[0] == CHANNEL_PROOF)
        send_frame(fd, body, size);
    bool more = read_frame(fd, body) > 0;
    puts(more ? "it goes on" : "it has gone");
    return more;
}

/* ---- twin ------------------------------------------------------------------------------------ */

struct twin {
    int hears, asks, left;
    uint16_t port;
    uint64_t claimed; /* a bit a label */
    uint8_t nonce[BEACON_NONCE_BYTES];
    struct beacon question; /* of the class, */
    struct place from;      /* from there */
};

/* Asks the class in turn. */
static void twin_hear(struct twin *t)
{
    static const struct interface here = {.index = 0};
    uint8_t bytes[BEACON_BYTES + 1];
    struct beacon question, own = {.version = CLASS_VERSION, .label = BEACON_ANY_LABEL};
    struct place from = {.size = sizeof from.at};
    ssize_t size =
        recvfrom(t->hears, bytes, sizeof bytes, 0, (struct sockaddr *)&from.at, &from.size);
    if (size < 0 || !beacon_get_question(bytes, (size_t)size, &question) ||
        question.label != BEACON_ANY_LABEL ||
        memcmp(question.nonce, t->nonce, sizeof t->nonce) == 0)
        return;
    t->question = question;
    t->from = from;
    memcpy(own.nonce, t->nonce, sizeof own.nonce);
    beacon_put_question(bytes, &own);
    socket_broadcast(t->asks, &here, t->port, bytes, BEACON_BYTES);
}

/* Whatever it has: me, too. */
static void twin_claim(struct twin *t)
{
    uint8_t bytes[BEACON_BYTES + 1];
    struct beacon answer;
    ssize_t size = recv(t->asks, bytes, sizeof bytes, 0);
    if (size < 0 || !beacon_get_answer(bytes, (size_t)size, &answer) ||
        memcmp(answer.nonce, t->nonce, sizeof t->nonce) != 0)
        return;
    if (!(t->claimed >> answer.label & 1)) {
        if (t->left-- <= 0)
            return;
        t->claimed |= UINT64_C(1) << answer.label;
        printf("label %u\n", answer.label);
        fflush(stdout);
    }
    memcpy(answer.nonce, t->question.nonce, sizeof answer.nonce);
    memset(answer.id, 7, sizeof answer.id);
    beacon_put_answer(bytes, &answer);
    sendto(t->asks, bytes, BEACON_BYTES, 0, (struct sockaddr *)&t->from.at, t->from.size);
}

static int twin(const char *port, int count)
{
    struct twin t = {.port = (uint16_t)atoi(port), .asks = socket_ask(), .left = count};
    t.hears = socket_hear(t.port);
    randombytes_buf(t.nonce, sizeof t.nonce);
    if (t.asks < 0 || t.hears < 0)
        fail("twin");
    puts("twin");
    fflush(stdout);
    while (!input_ended(0)) {
        struct pollfd readable[] = {{.fd = t.hears, .events = POLLIN},
                                    {.fd = t.asks, .events = POLLIN},
                                    {.fd = STDIN_FILENO, .events = POLLIN}};
        if (poll(readable, 3, -1) <= 0)
            continue;
        if (readable[0].revents != 0)
            twin_hear(&t);
        if (readable[1].revents != 0)
            twin_claim(&t);
    }
    return 0;
}

/* ---- miser, label ---------------------------------------------------------------------------- */

static int miser(const char *port_text)
{
    enum { SERVED = 64 };
    static const uint8_t byte = 2;
    uint16_t port = (uint16_t)atoi(port_text);
    int fds[SERVED], count = 0, listener = socket_listen(&port, SERVED);
    struct place from;
    if (listener < 0)
        return fail("miser");
    printf("miser %u\n", port);
    fflush(stdout);
    while (!input_ended(900)) {
        int fd;
        while (count < SERVED && (fd = socket_accept(listener, &from)) >= 0)
            fds[count++] = fd;
        for (int i = 0; i < count; i++)
            send(fds[i], &byte, 1, MSG_NOSIGNAL);
    }
    return 0;
}

static int label(const char *text)
{
    struct passcode code;
    if (passcode_parse(text, &code) != PASSCODE_GOOD)
        return 1;
    printf("label %u\n", passcode_label(&code));
    return 0;
}

/* ---- tap ------------------------------------------------------------------------------------- */

static int tap(const char *port_text, const char *to, const char *path)
{
    uint16_t port = (uint16_t)atoi(port_text);
    struct place from;
    FILE *file = fopen(path, "w");
    int listener = socket_listen(&port, 1);
    struct pollfd waits = {.fd = listener, .events = POLLIN};
    if (file == NULL || listener < 0)
        return fail("tap");
    printf("tap %u\n", port);
    fflush(stdout);
    if (poll(&waits, 1, WAIT_MS) <= 0)
        return fail("nobody comes");
    int ends[2] = {socket_accept(listener, &from), connect_to(to)};
    for (bool more = true; more;) {
        struct pollfd both[2] = {{.fd = ends[0], .events = POLLIN},
                                 {.fd = ends[1], .events = POLLIN}};
        if (poll(both, 2, WAIT_MS) <= 0)
            break;
        for (int i = 0; i < 2 && more; i++) {
            uint8_t bytes[4096];
            ssize_t size = both[i].revents != 0 ? read(ends[i], bytes, sizeof bytes) : -1;
            if (both[i].revents == 0)
                continue;
            more = size > 0 && send(ends[1 - i], bytes, (size_t)size, MSG_NOSIGNAL) == size;
            if (size > 0)
                fwrite(bytes, 1, (size_t)size, file);
        }
    }
    return fclose(file);
}

/* The longest frame is the invitation; what it says must not be there as text, nor the code. */
static int reads(const char *path, const char *code)
{
    static uint8_t bytes[65536];
    FILE *file = fopen(path, "r");
    size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file), digits = 0, most = 0;
    for (size_t i = 0; i < size; i++) {
        digits = strchr("0123456789abcdef", bytes[i]) != NULL && bytes[i] != 0 ? digits + 1 : 0;
        most = digits > most ? digits : most;
    }
    bool has_code = memmem(bytes, size, code, strlen(code)) != NULL ||
                    memmem(bytes, size, code + strlen(code) - 4, 4) != NULL;
    printf("%zu bytes, %s, longest run of hex digits %zu\n", size,
           has_code ? "with the code" : "without the code", most);
    return size > 600 && !has_code && most < 16 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (sodium_init() < 0)
        return 1;
    if (argc == 5 && strcmp(argv[1], "guess") == 0)
        return guess(argv[2], argv[3], atoi(argv[4]));
    if (argc == 5 && strcmp(argv[1], "race") == 0)
        return race(argv[2], argv[3], atoi(argv[4]));
    if (argc == 4 && strcmp(argv[1], "drip") == 0)
        return drip(argv[2], atoi(argv[3]));
    if (argc == 4 && strcmp(argv[1], "storm") == 0)
        return storm(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "flood") == 0)
        return flood(argv[2]);
    if (argc == 4 && strcmp(argv[1], "points") == 0)
        return points(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "mirror") == 0)
        return mirror(argv[2]);
    if (argc == 4 && strcmp(argv[1], "twin") == 0)
        return twin(argv[2], atoi(argv[3]));
    if (argc == 3 && strcmp(argv[1], "miser") == 0)
        return miser(argv[2]);
    if (argc == 3 && strcmp(argv[1], "label") == 0)
        return label(argv[2]);
    if (argc == 4 && strcmp(argv[1], "idle") == 0)
        return idle(argv[2], atoi(argv[3]));
    if (argc == 4 && strcmp(argv[1], "noise") == 0)
        return noise(argv[2], atoi(argv[3]));
    if (argc == 5 && strcmp(argv[1], "tap") == 0)
        return tap(argv[2], argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "reads") == 0)
        return reads(argv[2], argv[3]);
    fprintf(
        stderr,
        "usage: class_guess "
        "guess|race|idle|drip|storm|noise|flood|points|mirror|twin|miser|label|tap|reads ...\n");
    return 2;
}
