/* links: proto/class/?*.c proto/wire/cursor.c tools/class/sockets.c */
/*
 * class_guess - what somebody on the network does to a class who does not know its code.
 *
 *   guess HOST:PORT CODE N      tries N codes with the label of CODE, and never CODE itself; prints
 *                               how many were found wrong, void, refused, or let in
 *   idle HOST:PORT N            holds N connections open that say nothing, until its input ends
 *   noise HOST:PORT N           N connections that say random bytes, or end in the middle of a
 * frame tap PORT HOST:PORT FILE     passes one connection on, and records what both say into FILE
 *   reads FILE CODE             whether that recording is a whole join, and has nothing of the code
 */
#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- idle, noise ----------------------------------------------------------------------------- */

static int idle(const char *at, int count)
{
    char byte;
    for (int i = 0; i < count; i++)
        connect_to(at);
    puts("idle");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
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
    if (argc == 4 && strcmp(argv[1], "idle") == 0)
        return idle(argv[2], atoi(argv[3]));
    if (argc == 4 && strcmp(argv[1], "noise") == 0)
        return noise(argv[2], atoi(argv[3]));
    if (argc == 5 && strcmp(argv[1], "tap") == 0)
        return tap(argv[2], argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "reads") == 0)
        return reads(argv[2], argv[3]);
    fprintf(stderr, "usage: class_guess guess|idle|noise|tap|reads ...\n");
    return 2;
}
