/* links: tests/attack/recording.c tests/sim/network.c proto/session/fault.c proto/wire/ether.c proto/wire/cursor.c */
/*
 * ether.c - what an attacker on an Ethernet segment does, through the interface that $IFACE names.
 *
 *   ether record FILE          keeps every frame that passes until SIGTERM; says "ready"
 *   ether types FILE TEXT      a line an EtherType: how many frames, how many with that text
 *   ether replay FILE MAC      sends Covey's frames to that MAC once more; prints how many
 *   ether flood FILE MAC N     sends N frames of Covey's EtherType to that MAC: random ones, random
 *                              datagrams in good frames, mutations of those in FILE
 *
 * A frame in FILE (recording.h) begins with its destination. SEED in the environment begins another
 * run of chance.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/ether.h"
#include "tests/attack/recording.h"
#include "tests/sim/network.h" /* random_next() and its kin */

#define SENT_MAX 1500
#define BATCH 64
#define PAUSE_US 1000 /* a batch; the receiver's ring must not be what refuses */
#define TYPES 65536
#define HEADS_BYTES (ETHER_LINK_BYTES + ETHER_HEADER_BYTES)

static ssize_t take_frame(int fd, uint8_t bytes[RECORDED_MAX])
{
    ssize_t n = recv(fd, bytes, RECORDED_MAX, 0);
    return n < ETHER_LINK_BYTES ? 0 : n;
}

static uint16_t type_of(const uint8_t *frame)
{
    struct cursor c = cursor_reader(frame + 2 * ETHER_MAC_BYTES, 2);
    return cursor_get_u16(&c);
}

static bool is_covey(const uint8_t *bytes, uint32_t size)
{
    return type_of(bytes) == ETHER_TYPE_DEFAULT && size > HEADS_BYTES;
}

static int types(const char *path, const char *text)
{
    static size_t counts[TYPES], found[TYPES];
    struct recording all = recording_load(path, NULL);
    for (size_t i = 0; i < all.count; i++) {
        uint16_t type = type_of(all.bytes[i]);
        counts[type]++;
        found[type] += memmem(all.bytes[i], all.sizes[i], text, strlen(text)) != NULL;
    }
    for (size_t type = 0; type < TYPES; type++)
        if (counts[type] > 0)
            printf("%04zx %zu %zu\n", type, counts[type], found[type]);
    recording_free(&all);
    return 0;
}

static void mac_parse(const char *text, struct address *mac)
{
    unsigned b[ETHER_MAC_BYTES];
    uint8_t bytes[ETHER_MAC_BYTES];
    if (sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6) {
        fprintf(stderr, "ether: '%s' is no MAC\n", text);
        exit(2);
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)b[i];
    *mac = ether_address(bytes);
}

/* Not to both ends at once: the switch learns from the first frame that its sender has moved here,
 * and does not send back here what is for it. */
static int replay(const char *path, const char *to_text)
{
    struct recording all = recording_load(path, is_covey);
    struct address to;
    int fd = tap_open("eth0", SOCK_RAW, 0);
    size_t sent = 0;
    mac_parse(to_text, &to);
    for (size_t i = 0; i < all.count; i++) {
        if (memcmp(all.bytes[i], to.bytes, ETHER_MAC_BYTES) != 0)
            continue;
        sent += send(fd, all.bytes[i], all.sizes[i], 0) > 0;
        if (i % BATCH == 0)
            usleep(PAUSE_US);
    }
    printf("%zu\n", sent);
    recording_free(&all);
    return sent > 0 ? 0 : 1;
}

/* ---- flood ---- */

static size_t random_bytes(uint64_t *random, uint8_t *bytes, size_t most)
{
    size_t size = (size_t)random_below(random, most + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_next(random);
    return size;
}

/* A genuine payload with some bits turned, perhaps cut short or made longer. */
static size_t mutated_payload(const struct recording *all, uint64_t *random, uint8_t *bytes)
{
    size_t which = (size_t)random_below(random, all->count);
    size_t size = all->sizes[which] - ETHER_LINK_BYTES;
    if (size > SENT_MAX)
        size = SENT_MAX;
    memcpy(bytes, all->bytes[which] + ETHER_LINK_BYTES, size);
    size_t turns = 1 + (size_t)random_below(random, 4);
    for (size_t i = 0; i < turns; i++)
        bytes[random_below(random, size)] ^= (uint8_t)(1u << random_below(random, 8));
    if (random_below(random, 4) == 0)
        size = (size_t)random_below(random, size + 1);
    if (random_below(random, 8) == 0 && size + 100 < SENT_MAX)
        size += random_bytes(random, bytes + size, 100);
    return size;
}

/* Random, but for the head that says what it is. */
static size_t random_datagram(uint64_t *random, uint8_t *bytes)
{
    size_t size = random_bytes(random, bytes + ETHER_HEADER_BYTES, 300) + 1;
    struct cursor c = cursor_writer(bytes, ETHER_HEADER_BYTES);
    ether_put(&c, &(struct ether){.channel = ETHER_CHANNEL_DAEMON, .size = (uint16_t)size});
    return ETHER_HEADER_BYTES + size;
}

static size_t any_payload(const struct recording *all, uint64_t *random, uint8_t *bytes)
{
    switch (random_below(random, all->count > 0 ? 4 : 2)) {
    case 0:
        return random_bytes(random, bytes, 300);
    case 1:
        return random_datagram(random, bytes);
    default:
        return mutated_payload(all, random, bytes);
    }
}

/* From an address of its own, or the switch would learn that the victim's peer has moved. */
static int flood(const char *path, const char *to_text, unsigned long count)
{
    static uint8_t bytes[BATCH][ETHER_LINK_BYTES + SENT_MAX];
    static const uint8_t own[ETHER_MAC_BYTES] = {2, 0, 0xba, 0xd0, 0, 1};
    struct recording all = recording_load(path, is_covey);
    uint64_t random = seed_given();
    struct address to, from = ether_address(own);
    unsigned long sent = 0;
    int fd = tap_open("eth0", SOCK_RAW, 0);
    mac_parse(to_text, &to);
    while (sent < count) {
        struct mmsghdr messages[BATCH] = {0};
        struct iovec iovs[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            struct cursor c = cursor_writer(bytes[i], ETHER_LINK_BYTES);
            ether_put_link(&c, &to, &from, ETHER_TYPE_DEFAULT);
            size_t size = any_payload(&all, &random, bytes[i] + ETHER_LINK_BYTES);
            iovs[i] = (struct iovec){bytes[i], ETHER_LINK_BYTES + size};
            messages[i].msg_hdr = (struct msghdr){.msg_iov = &iovs[i], .msg_iovlen = 1};
        }
        int n = sendmmsg(fd, messages, BATCH, 0);
        sent += n > 0 ? (unsigned long)n : 0;
        usleep(PAUSE_US);
    }
    printf("%lu\n", sent);
    recording_free(&all);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "record") == 0)
        return recording_make(argv[2], tap_open("eth0", SOCK_RAW, ETH_P_ALL), take_frame);
    if (argc == 4 && strcmp(argv[1], "types") == 0)
        return types(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "replay") == 0)
        return replay(argv[2], argv[3]);
    if (argc == 5 && strcmp(argv[1], "flood") == 0)
        return flood(argv[2], argv[3], strtoul(argv[4], NULL, 10));
    fprintf(stderr, "ether.c says at its top what it does\n");
    return 2;
}
