/*
 * window.h - the reliable window: one ordered byte stream in each direction over datagrams that
 * may be lost, doubled, reordered and delayed. Pure: packets and `now` go in, packets and the next
 * deadline come out.
 *
 * A window belongs to one pair of daemons. Every packet has a number that its owner (the session)
 * gives, counts up and never uses twice, so that an acknowledgement says which transmission
 * arrived (as QUIC, RFC 9000 section 13 and RFC 9002). A packet's payload is a list of pieces:
 *   STREAM offset bytes · ACK ranges delay · LIMIT offset (flow control) · PING (ack-eliciting)
 * The exact grammar stands in window_wire.h.
 *
 *  - Selective acknowledgement: ranges of packet numbers, up to 32 of them; held back by at most
 *    2 ms or 10 packets, at once on reordering and when the sender asks (a PING, four times per
 *    congestion window).
 *  - Loss: packet threshold 3 that adapts to reordering seen, time threshold 9/8 RTT, tail probe
 *    with exponential backoff (RFC 9002 section 6). Lost bytes are sent again in new packets.
 *  - Congestion control: CUBIC (RFC 9438), with pacing; persistent congestion; a reduction whose
 *    losses all turn out to be spurious is undone.
 *  - Flow control: the receiver grants a stream offset; buffers are bounded on both sides.
 *  - Path MTU: starts at a safe size; probes upwards by padded PING packets; a black hole
 *    falls back (RFC 8899, reduced).
 */
#ifndef COVEY_PROTO_WINDOW_H
#define COVEY_PROTO_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window;

#define WINDOW_PACKET_BYTES_MIN 512
#define WINDOW_PACKET_BYTES_MAX 65535

struct window_config {
    size_t packet_bytes_min;  /* payload that every path carries (e.g. 1200 less overheads) */
    size_t packet_bytes_max;  /* payload that path MTU discovery may try (e.g. 65000 on loopback) */
    size_t send_buffer_bytes; /* bytes accepted and not yet acknowledged */
    size_t receive_buffer_bytes; /* bytes received and not yet read */
    bool lent_stay;              /* what is lent stays as it is until it is acknowledged */
};

/* A window, or NULL when memory is exhausted or packet_bytes_* lie outside of the bounds above.
 * Buffers grow on demand up to the sizes given; a receive buffer has 128 KiB at least. */
struct window *window_create(const struct window_config *config);
void window_destroy(struct window *w);

/* Accepts up to `size` bytes for sending and returns how many were taken (fewer when full). */
size_t window_write(struct window *w, const void *bytes, size_t size);

/* The same, but the bytes are read where they are: they must stay as they are until they are
 * acknowledged. Where lent_stay is not set, window_keep() ends that: it copies what the peer does
 * not have yet, for which there is room from the beginning. */
size_t window_lend(struct window *w, const void *bytes, size_t size);
void window_keep(struct window *w);
bool window_lends(const struct window *w); /* there may be such bytes */

/* Bytes that window_write() would take now; bytes not yet acknowledged; of these, bytes that were
 * never sent. */
size_t window_writable(const struct window *w);
size_t window_unacknowledged(const struct window *w);
size_t window_waiting(const struct window *w);

/* Grows whenever a packet is known to have arrived that was sent after all that had. */
uint64_t window_acknowledged(const struct window *w);

/* While it holds, bytes never sent that do not fill a packet wait: for who writes a lot in parts,
 * and lets go when no more follows at once. Nothing reminds him. */
void window_hold(struct window *w, bool hold);

/* The received bytes that are next in order, contiguous in memory: sets *bytes and returns how
 * many (0: none, *bytes stays as it was). These are all there are, or at least WINDOW_VIEW_BYTES of
 * them, so that a whole frame can be waited for. window_consume() frees the first `size` of them.
 * They stay where they are until the next call of window_on_packet(), window_readable() or
 * window_consume(). */
#define WINDOW_VIEW_BYTES (72u * 1024)
size_t window_readable(struct window *w, const uint8_t **bytes);
size_t window_unread(const struct window *w); /* how many there are */
/* The first `size` of them, WINDOW_VIEW_BYTES at most, contiguous, and as long there; false: fewer
 * have come. Costs less than window_readable(), which may have to make more contiguous. */
bool window_view(struct window *w, size_t size, const uint8_t **bytes);
void window_consume(struct window *w, size_t size);

/* An authenticated packet arrived. Returns NULL, or the reason why its payload was refused (it
 * then had no effect, and was not acknowledged). A number seen before is ignored. Numbers that the
 * session uses for packets of its own may be told with size 0: gaps make acknowledgements longer
 * and more frequent. */
const char *window_on_packet(struct window *w, uint64_t number, const uint8_t *payload, size_t size,
                             uint64_t now_us);

/* Builds the payload of the packet that may be sent now, if any, as number `number`; returns its
 * size, 0 when nothing may or need be sent now (the number is then not used). Call it until it
 * returns 0. Numbers must grow. capacity should be packet_bytes_max. */
size_t window_next(struct window *w, uint64_t number, uint8_t *payload, size_t capacity,
                   uint64_t now_us);

/* The same without a copy of the stream's bytes, which are the last ones of the payload: of the
 * size returned only what is before them is put into `payload`. The bytes stay where the window has
 * them, in `count` pieces, until the next call but window_next_apart() and window_deadline(). */
#define WINDOW_PIECES_MAX 4
struct window_piece {
    const uint8_t *bytes;
    size_t size;
};
struct window_apart {
    uint8_t *payload;
    size_t capacity;
    unsigned count;
    size_t size; /* of all pieces */
    struct window_piece pieces[WINDOW_PIECES_MAX];
};
size_t window_next_apart(struct window *w, uint64_t number, struct window_apart *apart,
                         uint64_t now_us);

/* Acknowledgements may come so much later than the round trips measured say, for this end waits for
 * those of many others at the same time; no probe is sent before. */
void window_set_crowd(struct window *w, uint64_t crowd_us);

/* When window_on_timer() and window_next() must next be called: a time that may have passed (0: at
 * once), UINT64_MAX for never. Ask again after every write, consume, packet and call of next. */
uint64_t window_deadline(const struct window *w);

/* Lets timers that are due fire (loss detection, probe, delayed acknowledgement). */
void window_on_timer(struct window *w, uint64_t now_us);

/* Packets go another way from now on: the sizes that it carries are found out anew, and what was
 * lost on the old one is not waited for as long as that stood still. */
void window_path_changed(struct window *w);

struct window_stats {
    uint64_t packets_sent, packets_received, packets_lost, packets_spurious, probes_sent;
    uint64_t bytes_sent, bytes_retransmitted, bytes_received, bytes_duplicate;
    uint64_t rtt_us, rtt_min_us, rtt_variance_us;
    uint64_t congestion_window_bytes, packet_bytes;
};
void window_stats(const struct window *w, struct window_stats *stats);

#endif
