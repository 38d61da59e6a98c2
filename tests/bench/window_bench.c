/* links: proto/window/window*.c proto/wire/cursor.c */
/*
 * window_bench.c - what the window itself costs: two windows hand each other their packets in
 * memory, without a network. Prints megabytes a second of one processor that does both sides, for
 * several packet sizes, without and with loss. The time that the windows see is made up.
 */
#include "proto/window/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BURST 64 /* packets that one side sends before the other answers */
#define WRITE_BYTES 65536
#define BUFFER_BYTES (4u * 1024 * 1024)
#define ROUND_US 50 /* made-up time of a burst */

struct pair {
    struct window *a, *b;
    uint64_t a_number, b_number, now_us, read_bytes, packets;
    unsigned loss; /* every so-many-th packet of a is lost; 0: none */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Hands up to BURST packets over and returns how many. */
static unsigned hand_over(struct pair *p, struct window *from, struct window *to, uint64_t *number,
                          unsigned loss)
{
    static uint8_t packet[WINDOW_PACKET_BYTES_MAX];
    unsigned n = 0;
    size_t size;
    window_on_timer(from, p->now_us);
    while (n < BURST &&
           (size = window_next(from, *number, packet, sizeof packet, p->now_us)) != 0) {
        n++;
        ++*number;
        if (loss == 0 || *number % loss != 0)
            window_on_packet(to, *number - 1, packet, size, p->now_us);
    }
    return n;
}

static void read_all(struct pair *p)
{
    const uint8_t *bytes;
    size_t size;
    while ((size = window_readable(p->b, &bytes)) != 0) {
        p->read_bytes += size;
        window_consume(p->b, size);
    }
}

static double run(size_t packet_bytes, unsigned loss, uint64_t total_bytes)
{
    static const uint8_t source[WRITE_BYTES];
    struct window_config config = {.packet_bytes_min = packet_bytes,
                                   .packet_bytes_max = packet_bytes,
                                   .send_buffer_bytes = BUFFER_BYTES,
                                   .receive_buffer_bytes = BUFFER_BYTES};
    struct pair p = {.a = window_create(&config), .b = window_create(&config), .loss = loss};
    if (p.a == NULL || p.b == NULL)
        abort();
    double start = seconds();
    while (p.read_bytes < total_bytes) {
        while (window_write(p.a, source, sizeof source) == sizeof source)
            ;
        p.packets += hand_over(&p, p.a, p.b, &p.a_number, loss);
        read_all(&p);
        p.packets += hand_over(&p, p.b, p.a, &p.b_number, 0);
        p.now_us += ROUND_US;
    }
    double took = seconds() - start;
    printf("packet %5zu bytes, loss 1 in %-5u %8.0f MB/s %6.2f us a packet\n", packet_bytes, loss,
           (double)p.read_bytes / took / 1e6, took * 1e6 / (double)p.packets);
    window_destroy(p.a);
    window_destroy(p.b);
    return took;
}

int main(void)
{
    static const size_t sizes[] = {1200, 1450, 8900, 65000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run(sizes[i], 0, 400000000);
        run(sizes[i], 100, 100000000);
    }
    return 0;
}
