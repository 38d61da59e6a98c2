/* links: tests/attack/recording.c tests/sim/network.c proto/session/fault.c */
/*
 * wire.c - what an attacker on the network does, on the loopback interface of a network namespace.
 *
 *   wire record FILE               keeps every packet that passes until SIGTERM; says "ready"
 *   wire replay FILE               sends each UDP datagram once more, byte by byte as it was, its
 *                                  source included; prints how many
 *   wire flood FILE PORT COUNT     sends COUNT datagrams to 127.0.0.1:PORT, random bytes and
 *                                  mutations of those in FILE, no faster than they are read;
 *                                  prints how many
 *   wire streams PORT COUNT        connects to a task's TCP port again and again and sends random
 *                                  bytes and mutated HELLOs, COUNT bytes in all
 *   wire find FILE TEXT...         prints in how many packets each text stands
 *
 * A packet in FILE (recording.h) begins with its IP header. SEED in the environment begins another
 * run of chance.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/attack/recording.h"
#include "tests/sim/network.h" /* random_next() and its kin */

#define BATCH 64
#define QUEUED_MAX (1024 * 1024) /* in the receiver's socket */
#define HEADERS_BYTES (sizeof(struct iphdr) + sizeof(struct udphdr))

/* The loopback interface shows each packet going out and coming in. */
static ssize_t take_once(int fd, uint8_t bytes[RECORDED_MAX])
{
    struct sockaddr_ll from;
    socklen_t size = sizeof from;
    ssize_t n = recvfrom(fd, bytes, RECORDED_MAX, 0, (struct sockaddr *)&from, &size);
    bool twice = getenv("IFACE") == NULL && from.sll_pkttype != PACKET_OUTGOING;
    return twice || from.sll_protocol == htons(ETH_P_ARP) ? 0 : n;
}

static bool is_udp(const uint8_t *bytes, uint32_t size)
{
    return size > HEADERS_BYTES && bytes[0] == 0x45 && bytes[9] == IPPROTO_UDP;
}

static int replay(const char *path)
{
    struct recording all = recording_load(path, is_udp);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    size_t sent = 0;
    if (fd < 0)
        die("wire replay");
    for (size_t i = 0; i < all.count; i++) {
        struct udphdr udp;
        memcpy(&udp, all.bytes[i] + sizeof(struct iphdr), sizeof udp);
        udp.check = 0; /* loopback leaves it to nobody; none is as good */
        memcpy(all.bytes[i] + sizeof(struct iphdr), &udp, sizeof udp);
        sent += sendto(fd, all.bytes[i], all.sizes[i], 0, (struct sockaddr *)&to, sizeof to) > 0;
        if (i % BATCH == 0)
            usleep(1000);
    }
    printf("%zu\n", sent);
    recording_free(&all);
    return sent > 0 ? 0 : 1;
}

static int find(const char *path, char **texts, int count)
{
    struct recording all = recording_load(path, NULL);
    for (int t = 0; t < count; t++) {
        size_t found = 0;
        for (size_t i = 0; i < all.count; i++)
            found += memmem(all.bytes[i], all.sizes[i], texts[t], strlen(texts[t])) != NULL;
        printf("%s %zu of %zu\n", texts[t], found, all.count);
    }
    recording_free(&all);
    return 0;
}

/* ---- datagrams ---- */

/* Bytes that wait in the socket bound to that port. */
static unsigned long queued(unsigned port)
{
    char line[512];
    unsigned local, state;
    unsigned long out, in, sum = 0;
    const char *const tables[] = {"/proc/net/udp", "/proc/net/udp6"};
    for (size_t i = 0; i < 2; i++) {
        FILE *f = fopen(tables[i], "r");
        while (f != NULL && fgets(line, sizeof line, f) != NULL)
            if (sscanf(line, " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %lx:%lx", &local, &state, &out,
                       &in) == 4 &&
                local == port)
                sum += in;
        if (f != NULL)
            fclose(f);
    }
    return sum;
}

static size_t random_datagram(uint64_t *random, uint8_t *bytes)
{
    size_t size = (size_t)random_below(random, 300);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_next(random);
    return size;
}

/* A genuine datagram with some bits turned, cut short, made longer, or joined with another. */
static size_t mutated_datagram(const struct recording *all, uint64_t *random, uint8_t *bytes)
{
    size_t which = (size_t)random_below(random, all->count);
    size_t size = all->sizes[which] - HEADERS_BYTES;
    if (size > 1500)
        size = 1500; /* one more way to cut short */
    memcpy(bytes, all->bytes[which] + HEADERS_BYTES, size);
    size_t turns = (size_t)random_below(random, 4);
    for (size_t i = 0; i < turns && size > 0; i++)
        bytes[random_below(random, size)] ^= (uint8_t)(1u << random_below(random, 8));
    if (random_below(random, 4) == 0)
        size = (size_t)random_below(random, size + 1);
    if (random_below(random, 8) == 0)
        size += random_datagram(random, bytes + size);
    if (random_below(random, 8) == 0 && size > 36) {
        size_t other = (size_t)random_below(random, all->count);
        size_t head = all->sizes[other] - HEADERS_BYTES;
        memcpy(bytes, all->bytes[other] + HEADERS_BYTES, head < 20 ? head : 20);
    }
    return size;
}

static int flood(const char *path, unsigned port, unsigned long count)
{
    static uint8_t bytes[BATCH][2048];
    struct recording all = recording_load(path, is_udp);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct iovec iovs[BATCH];
    struct mmsghdr messages[BATCH];
    uint64_t random = seed_given();
    unsigned long sent = 0;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    while (sent < count) {
        memset(messages, 0, sizeof messages);
        for (size_t i = 0; i < BATCH; i++) {
            size_t size = all.count == 0 || random_below(&random, 4) == 0
                              ? random_datagram(&random, bytes[i])
                              : mutated_datagram(&all, &random, bytes[i]);
            iovs[i] = (struct iovec){bytes[i], size};
            messages[i].msg_hdr = (struct msghdr){
                .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &iovs[i], .msg_iovlen = 1};
        }
        int n = sendmmsg(fd, messages, BATCH, 0);
        sent += n > 0 ? (unsigned long)n : 0;
        while (sent % (16 * BATCH) == 0 && queued(port) > QUEUED_MAX)
            usleep(500);
    }
    while (queued(port) > 0)
        usleep(1000);
    printf("%lu\n", sent);
    recording_free(&all);
    return 0;
}

/* ---- streams ---- */

static size_t stream_bytes(uint64_t *random, uint8_t bytes[512])
{
    static const uint8_t head[8] = {'C', 'O', 'V', 'Y', 1, 0, 0, 0};
    size_t size = random_datagram(random, bytes);
    if (size >= 48 && random_below(random, 2) == 0) { /* like a HELLO */
        memcpy(bytes, head, sizeof head);
        if (random_below(random, 2) == 0)
            bytes[random_below(random, 8)] ^= (uint8_t)(1u << random_below(random, 8));
    }
    return size;
}

static int streams(unsigned port, unsigned long count)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const struct linger reset = {1, 0}; /* no port is left in TIME_WAIT */
    uint64_t random = seed_given();
    unsigned long sent = 0, refused = 0;
    uint8_t bytes[512];
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
    while (sent < count) {
        int fd = socket(AF_INET6, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && ++refused > 1000)
            die("wire streams");
        for (int i = 0; i < 8 && random_below(&random, 4) != 0; i++) {
            ssize_t n = send(fd, bytes, stream_bytes(&random, bytes), MSG_NOSIGNAL);
            sent += n > 0 ? (unsigned long)n : 1;
        }
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(fd);
        sent++;
    }
    printf("%lu\n", sent);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "record") == 0)
        return recording_make(argv[2], tap_open("lo", SOCK_DGRAM, ETH_P_ALL), take_once);
    if (argc == 3 && strcmp(argv[1], "replay") == 0)
        return replay(argv[2]);
    if (argc == 5 && strcmp(argv[1], "flood") == 0)
        return flood(argv[2], (unsigned)atoi(argv[3]), strtoul(argv[4], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "streams") == 0)
        return streams((unsigned)atoi(argv[2]), strtoul(argv[3], NULL, 10));
    if (argc > 3 && strcmp(argv[1], "find") == 0)
        return find(argv[2], argv + 3, argc - 3);
    fprintf(stderr, "wire.c says at its top what it does\n");
    return 2;
}
