/* links: proto/window/window*.c proto/window/outbox.c proto/wire/cursor.c */
/*
 * window_fuzz.c - hostile packets against a window that is in the middle of a conversation. What it
 * sends is lent by an outbox, which frees what the packets acknowledge.
 *
 * The input is a list of packets: a byte that chooses (packet number, what the window does next),
 * a length of two bytes, the payload. After each the window must still keep its own bounds.
 */
#include "proto/window/outbox.h"

#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

#define BUFFER_BYTES (256u * 1024)
#define PACKET_BYTES 1200

struct fuzz {
    struct window *w;
    struct outbox outbox;
    uint64_t number, peer_number, now_us;
};

static void send_all(struct fuzz *f)
{
    uint8_t packet[PACKET_BYTES];
    window_on_timer(f->w, f->now_us);
    outbox_pump(&f->outbox, f->w);
    while (window_next(f->w, f->number, packet, sizeof packet, f->now_us) != 0)
        f->number++;
    if (window_deadline(f->w) <= f->now_us)
        abort(); /* something is due and was not done */
}

static void act(struct fuzz *f, uint8_t choice)
{
    static const uint8_t bytes[5000];
    const uint8_t *view;
    if (choice & 1 && f->outbox.bytes < BUFFER_BYTES)
        outbox_append(&f->outbox, bytes, 16, bytes, sizeof bytes - 16);
    if (choice & 2)
        window_consume(f->w, window_readable(f->w, &view) / 2 + 1);
    if (choice & 4)
        f->now_us += 500u << (choice >> 5);
    if (choice & 8)
        f->peer_number += 3;
    send_all(f);
}

static void check(struct fuzz *f)
{
    const uint8_t *view;
    if (window_unacknowledged(f->w) > BUFFER_BYTES)
        abort();
    size_t part = window_unread(f->w) / 2;
    if (part > WINDOW_VIEW_BYTES)
        part = WINDOW_VIEW_BYTES;
    if (part > 0 && !window_view(f->w, part, &view))
        abort();
    if (window_readable(f->w, &view) > BUFFER_BYTES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct window_config config = {.packet_bytes_min = PACKET_BYTES,
                                   .packet_bytes_max = PACKET_BYTES,
                                   .send_buffer_bytes = BUFFER_BYTES,
                                   .receive_buffer_bytes = BUFFER_BYTES,
                                   .lent_stay = true};
    struct fuzz f = {.w = window_create(&config), .number = 1, .peer_number = 1};
    if (f.w == NULL)
        return 0;
    act(&f, 1);
    while (size >= 3) {
        uint8_t choice = data[0];
        size_t length = (size_t)data[1] << 8 | data[2];
        data += 3;
        size -= 3;
        if (length > size)
            length = size;
        window_on_packet(f.w, f.peer_number, data, length, f.now_us);
        f.peer_number += !(choice & 16);
        act(&f, choice);
        check(&f);
        data += length;
        size -= length;
    }
    window_destroy(f.w);
    outbox_free(&f.outbox);
    return 0;
}
