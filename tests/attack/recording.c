#include "tests/attack/recording.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

void die(const char *what)
{
    perror(what);
    exit(1);
}

uint64_t seed_given(void)
{
    const char *seed = getenv("SEED");
    return seed == NULL ? 1 : strtoull(seed, NULL, 10);
}

int tap_open(const char *otherwise, int type, int protocol)
{
    const char *name = getenv("IFACE");
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons((uint16_t)protocol)};
    int size = 64 << 20, fd = socket(AF_PACKET, type, htons((uint16_t)protocol));
    at.sll_ifindex = (int)if_nametoindex(name == NULL ? otherwise : name);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
        die("packet socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    return fd;
}

/* ---- making one ---- */

static volatile sig_atomic_t stopped;

static void on_term(int number)
{
    (void)number;
    stopped = 1;
}

static void keep_one(int fd, recording_take *take, FILE *out)
{
    static uint8_t bytes[RECORDED_MAX];
    ssize_t n = take(fd, bytes);
    uint32_t length = (uint32_t)n;
    if (n <= 0)
        return;
    if (fwrite(&length, sizeof length, 1, out) != 1 || fwrite(bytes, length, 1, out) != 1)
        die("record");
}

int recording_make(const char *path, int fd, recording_take *take)
{
    struct sigaction action = {.sa_handler = on_term};
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        die(path);
    sigaction(SIGTERM, &action, NULL);
    puts("ready");
    fflush(stdout);
    while (!stopped) {
        struct pollfd p = {fd, POLLIN, 0};
        if (poll(&p, 1, 100) > 0)
            keep_one(fd, take, out);
    }
    return fclose(out) == 0 ? 0 : 1;
}

/* ---- reading one ---- */

static void add(struct recording *all, uint8_t *bytes, uint32_t size)
{
    all->bytes = realloc(all->bytes, (all->count + 1) * sizeof *all->bytes);
    all->sizes = realloc(all->sizes, (all->count + 1) * sizeof *all->sizes);
    if (all->bytes == NULL || all->sizes == NULL)
        die("recording");
    all->bytes[all->count] = bytes;
    all->sizes[all->count++] = size;
}

struct recording recording_load(const char *path, recording_wants *wants)
{
    struct recording all = {NULL, NULL, 0};
    FILE *in = fopen(path, "rb");
    uint32_t size;
    if (in == NULL)
        die(path);
    while (fread(&size, sizeof size, 1, in) == 1) {
        uint8_t *bytes = malloc(size);
        if (bytes == NULL || fread(bytes, size, 1, in) != 1)
            die(path);
        if (wants == NULL || wants(bytes, size))
            add(&all, bytes, size);
        else
            free(bytes);
    }
    fclose(in);
    return all;
}

void recording_free(struct recording *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->bytes[i]);
    free(all->bytes);
    free(all->sizes);
}
