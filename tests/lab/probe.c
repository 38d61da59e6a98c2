/*
 * probe - what lab_test.sh measures a lab with, and what `lab hog` and `lab traffic` run.
 *
 *   probe echo PORT                 answers datagrams for ever
 *   probe ping PORT ADDRESS...      asks each address; names those that do not answer, status 1
 *   probe time PORT ADDRESS BYTES   prints the milliseconds after which a datagram is answered
 *   probe sink PORT                 takes one stream and prints its rate in Mbit/s
 *   probe send ADDRESS PORT BYTES   sends such a stream
 *   probe burn MILLISECONDS         computes for that long; prints the share of a core it got
 *   probe burst MILLISECONDS        so some times, each after a sleep; prints the median share
 *   probe hear PORT                 prints "heard" when a broadcast comes within HEAR_MS
 *   probe shout PORT                broadcasts a few datagrams
 *   probe hog                       computes for ever
 *   probe flood ADDRESS PORT BITS   sends datagrams for ever, at so many bits per second
 *   probe beat MICROSECONDS         wakes up every so often on each core, before all others
 *
 * Whether a host has used its share of a core is looked at when the scheduler runs, at the next
 * tick (4 ms) where nothing wakes up; then it is without for as many periods. With a beat of 500,
 * which needs root, it has 1 ms of 10 instead of 4 of 40.
 *
 * A peer may start later than its asker: ping and send try again for PATIENCE_MS.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, RETRY_MS = 50, CHUNK_BYTES = 65536 };
enum { BURSTS = 9, BURST_APART_US = 47000 };
enum { HEAR_MS = 1500, SHOUTS = 10, SHOUT_PAUSE_MS = 60 };
enum { FLOOD_BYTES = 1400, FLOOD_WIRE_BYTES = FLOOD_BYTES + 66, FLOOD_TICK_US = 2000 };

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* A socket bound to a port of all addresses, IPv4 and IPv6. */
static int listen_socket(int type, const char *port)
{
    int off = 0;
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET6, type, 0);
    if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
        bind(fd, (struct sockaddr *)&any, sizeof any) != 0)
        die("bind");
    if (type == SOCK_STREAM && listen(fd, 1) != 0)
        die("listen");
    return fd;
}

/* A socket connected to a numeric address, or -1. */
static int connect_socket(int type, const char *address, const char *port)
{
    struct addrinfo hints = {.ai_socktype = type, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(address, port, &hints, &found) != 0) {
        fprintf(stderr, "probe: '%s' is no address\n", address);
        exit(1);
    }
    int fd = socket(found->ai_family, type, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

static _Noreturn int run_echo(char **argv)
{
    int fd = listen_socket(SOCK_DGRAM, argv[0]);
    for (;;) {
        char byte;
        struct sockaddr_storage from;
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(fd, &byte, 1, 0, (struct sockaddr *)&from, &length);
        if (got < 0)
            die("receive");
        sendto(fd, &byte, (size_t)got, 0, (struct sockaddr *)&from, length);
    }
}

static int answers(const char *address, const char *port)
{
    int64_t deadline_us = now_us() + PATIENCE_MS * 1000;
    int answered = 0;
    while (!answered && now_us() < deadline_us) {
        char byte = 'x';
        int fd = connect_socket(SOCK_DGRAM, address, port);
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (fd < 0)
            return 0;
        answered = send(fd, &byte, 1, 0) == 1 && poll(&wait, 1, RETRY_MS) == 1 &&
                   recv(fd, &byte, 1, 0) == 1;
        close(fd);
        if (!answered)
            usleep(RETRY_MS * 1000);
    }
    return answered;
}

static int run_ping(char **argv)
{
    int status = 0;
    for (char **address = argv + 1; *address; address++)
        if (!answers(*address, argv[0])) {
            printf("no answer from %s\n", *address);
            status = 1;
        }
    return status;
}

/* The first answer says that there is somebody; the second one is timed. */
static int run_time(char **argv)
{
    static char bytes[CHUNK_BYTES];
    long size = strtol(argv[2], NULL, 10);
    if (size < 1 || size > CHUNK_BYTES || !answers(argv[1], argv[0])) {
        fprintf(stderr, "probe: no answer from %s\n", argv[1]);
        return 1;
    }
    int fd = connect_socket(SOCK_DGRAM, argv[1], argv[0]);
    int64_t start_us = now_us();
    if (fd < 0 || send(fd, bytes, (size_t)size, 0) != size || recv(fd, bytes, 1, 0) != 1)
        die("time");
    printf("%.1f\n", (double)(now_us() - start_us) / 1e3);
    return 0;
}

static int run_sink(char **argv)
{
    static char chunk[CHUNK_BYTES];
    int fd = accept(listen_socket(SOCK_STREAM, argv[0]), NULL, NULL);
    int64_t bytes = 0;
    int64_t start_us = 0;
    ssize_t got;
    if (fd < 0)
        die("accept");
    while ((got = recv(fd, chunk, sizeof chunk, 0)) > 0) {
        if (!start_us)
            start_us = now_us();
        else
            bytes += got;
    }
    if (got < 0)
        die("receive");
    printf("%.1f\n", (double)bytes * 8 / (double)(now_us() - start_us));
    return 0;
}

static int run_send(char **argv)
{
    static char chunk[CHUNK_BYTES];
    int64_t deadline_us = now_us() + PATIENCE_MS * 1000;
    int64_t left = strtoll(argv[2], NULL, 10);
    int fd;
    while ((fd = connect_socket(SOCK_STREAM, argv[0], argv[1])) < 0) {
        if (now_us() > deadline_us)
            die("connect");
        usleep(RETRY_MS * 1000);
    }
    while (left > 0) {
        size_t size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        ssize_t sent = send(fd, chunk, size, MSG_NOSIGNAL);
        if (sent < 0)
            die("send");
        left -= sent;
    }
    return 0;
}

/* Of a core, that this process used since the last call. */
static int64_t used_us(void)
{
    static int64_t before_us;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    int64_t all_us = (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
                     used.ru_utime.tv_usec + used.ru_stime.tv_usec,
            since_us = all_us - before_us;
    before_us = all_us;
    return since_us;
}

static int run_burn(char **argv)
{
    int64_t start_us = now_us();
    int64_t end_us = start_us + strtoll(argv[0], NULL, 10) * 1000;
    while (now_us() < end_us)
        continue;
    printf("%.3f\n", (double)used_us() / (double)(now_us() - start_us));
    return 0;
}

static int compare_shares(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int run_burst(char **argv)
{
    double shares[BURSTS];
    int64_t wanted_us = strtoll(argv[0], NULL, 10) * 1000;
    for (int i = 0; i < BURSTS; i++) {
        int64_t used = 0;
        usleep((useconds_t)(BURST_APART_US + i * 700)); /* not in step with any period */
        used_us();
        int64_t start_us = now_us();
        while (used < wanted_us)
            used += used_us();
        shares[i] = (double)used / (double)(now_us() - start_us);
    }
    qsort(shares, BURSTS, sizeof shares[0], compare_shares);
    printf("%.3f\n", shares[BURSTS / 2]);
    return 0;
}

static int run_hear(char **argv)
{
    struct pollfd wait = {.fd = listen_socket(SOCK_DGRAM, argv[0]), .events = POLLIN};
    if (poll(&wait, 1, HEAR_MS) == 1)
        printf("heard\n");
    return 0;
}

/* As a raw frame would be: no host hears its own. */
static int run_shout(char **argv)
{
    const int on = 1;
    struct sockaddr_in all = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[0]))};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    all.sin_addr.s_addr = htonl(0x0a4dffff); /* 10.77.255.255 */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) != 0)
        die("socket");
    for (int i = 0; i < SHOUTS; i++) {
        (void)!sendto(fd, "x", 1, 0, (struct sockaddr *)&all, sizeof all);
        usleep(SHOUT_PAUSE_MS * 1000);
    }
    return 0;
}

static _Noreturn int run_hog(char **argv)
{
    (void)argv;
    for (volatile unsigned turns = 0;; turns++)
        continue;
}

/* What was due and could not be sent is not made up for: a burst would be another load. */
static int run_flood(char **argv)
{
    static char datagram[FLOOD_BYTES];
    int fd = connect_socket(SOCK_DGRAM, argv[0], argv[1]);
    double due = 0, per_tick = strtod(argv[2], NULL) * FLOOD_TICK_US / 1e6 / 8 / FLOOD_WIRE_BYTES;
    if (fd < 0)
        die("connect");
    for (int64_t next_us = now_us();; next_us += FLOOD_TICK_US) {
        long now = (long)(due += per_tick);
        due -= (double)now;
        while (now-- > 0)
            (void)!send(fd, datagram, sizeof datagram, MSG_DONTWAIT);
        int64_t wait_us = next_us + FLOOD_TICK_US - now_us();
        if (wait_us > 0)
            usleep((useconds_t)wait_us);
        else
            next_us = now_us();
    }
}

static void beat_on(int core, long every_ns)
{
    const struct sched_param first = {.sched_priority = 1};
    const struct timespec pause = {.tv_nsec = every_ns};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0 ||
        sched_setscheduler(0, SCHED_FIFO, &first) != 0)
        die("beat");
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (;;)
        nanosleep(&pause, NULL);
}

/* A process a core; the last one is this one, with which the others end. */
static int run_beat(char **argv)
{
    long every_ns = strtol(argv[0], NULL, 10) * 1000;
    cpu_set_t cores;
    if (every_ns < 100000 || every_ns >= 1000000000) {
        fprintf(stderr, "probe: beat: from 100 to 999999 microseconds\n");
        return 2;
    }
    if (sched_getaffinity(0, sizeof cores, &cores) != 0)
        die("beat");
    for (int i = 0, left = CPU_COUNT(&cores); left > 0; i++) {
        if (!CPU_ISSET(i, &cores) || (--left > 0 && fork() != 0))
            continue;
        if (left > 0)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        beat_on(i, every_ns);
    }
    return 0;
}

static const struct mode {
    const char *name;
    int least_arguments;
    int (*run)(char **argv);
} modes[] = {{"echo", 1, run_echo},   {"ping", 2, run_ping},   {"sink", 1, run_sink},
             {"time", 3, run_time},   {"send", 3, run_send},   {"burn", 1, run_burn},
             {"burst", 1, run_burst}, {"hear", 1, run_hear},   {"shout", 1, run_shout},
             {"hog", 0, run_hog},     {"flood", 3, run_flood}, {"beat", 1, run_beat}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0 && argc - 2 >= modes[i].least_arguments)
            return modes[i].run(argv + 2);
    fprintf(stderr, "usage: probe echo|ping|time|sink|send|burn|hog|flood|beat ...\n");
    return 2;
}
