/* links: tests/fuzz/pcapfile.c tools/wire/sniff_packet.c proto/wire/address.c proto/wire/cursor.c proto/wire/datagram.c proto/wire/ether.c proto/wire/frame.c proto/window/window_wire.c */
/*
 * extract.c - makes seeds for fuzzers of a recording: each gets what it would read of it.
 *
 *   extract CAPTURE NAME CORPUS
 *
 * CORPUS/datagram/NAME-N  the first datagram of each kind, N its number
 * CORPUS/window/NAME      the payloads of the data that go to the host called first, one way
 * CORPUS/frame/NAME-N     the first header of each kind of frame that begins a piece of a stream
 * CORPUS/stream/NAME      the frames of a TCP stream, or of a window's, as pieces of a stream
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/window/window_wire.h"
#include "proto/wire/datagram.h"
#include "proto/wire/ether.h"
#include "tests/fuzz/pcapfile.h"

#define SEED_BYTES_MAX 16000 /* what stream_fuzz takes at most */

struct seed {
    uint8_t bytes[SEED_BYTES_MAX];
    size_t size;
};

struct extract {
    const char *name, *corpus;
    bool datagrams[UINT8_MAX + 1], frames[UINT8_MAX + 1];
    uint32_t session; /* of the one way */
    struct seed window, stream;
};

static void write_seed(const struct extract *x, const char *fuzzer, int number,
                       const uint8_t *bytes, size_t size)
{
    char path[4096];
    FILE *file;

    if (size == 0)
        return;
    if (number < 0)
        snprintf(path, sizeof path, "%s/%s/%s", x->corpus, fuzzer, x->name);
    else
        snprintf(path, sizeof path, "%s/%s/%s-%d", x->corpus, fuzzer, x->name, number);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static void put(struct seed *seed, const uint8_t *head, size_t head_size, const uint8_t *bytes,
                size_t size)
{
    if (seed->size + head_size + size > sizeof seed->bytes)
        return;
    memcpy(seed->bytes + seed->size, head, head_size);
    memcpy(seed->bytes + seed->size + head_size, bytes, size);
    seed->size += head_size + size;
}

/* See window_fuzz.c: the other end reads all, and a little time passes. */
static void put_packet(struct extract *x, const uint8_t *payload, size_t size)
{
    uint8_t head[3] = {2 | 4, (uint8_t)(size >> 8), (uint8_t)size};

    put(&x->window, head, sizeof head, payload, size);
}

/* See stream_fuzz.c: pieces of at most 255 bytes, all read at once. */
static void put_stream(struct extract *x, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t part = size < UINT8_MAX ? size : UINT8_MAX;
        uint8_t head[2] = {2, (uint8_t)part};

        put(&x->stream, head, sizeof head, bytes, part);
        bytes += part;
        size -= part;
    }
}

static void take_frame(struct extract *x, const uint8_t *bytes, size_t size)
{
    struct frame frame;

    if (size < FRAME_HEADER_BYTES || frame_decode(bytes, &frame) != NULL)
        return;
    put_stream(x, bytes, size);
    if (x->frames[frame.kind])
        return;
    x->frames[frame.kind] = true;
    write_seed(x, "frame", frame.kind, bytes, FRAME_HEADER_BYTES);
    if (frame.kind == FRAME_DATA && size >= FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES)
        write_seed(x, "frame", 0, bytes + FRAME_HEADER_BYTES, FRAME_MESSAGE_BYTES);
}

static void take_data(struct extract *x, const struct datagram *d)
{
    struct wire_packet packet;

    if (x->session == 0)
        x->session = d->session;
    if (x->session != d->session)
        return;
    put_packet(x, d->payload, d->payload_bytes);
    if (wire_decode(&packet, d->payload, d->payload_bytes) == NULL && packet.stream)
        take_frame(x, packet.bytes, packet.length);
}

static void take_datagram(struct extract *x, const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_reader(bytes, size);
    struct datagram d = {0};

    cursor_get_u32(&c);
    if (datagram_decode(bytes, size, cursor_get_u32(&c), &d) != DATAGRAM_GOOD)
        return;
    if (!x->datagrams[d.kind])
        write_seed(x, "datagram", d.kind, bytes, size);
    x->datagrams[d.kind] = true;
    if (d.kind == DATAGRAM_DATA)
        take_data(x, &d);
}

static void take_packet(struct extract *x, const struct sniff_packet *p)
{
    struct cursor c = cursor_reader(p->payload, p->captured);
    struct ether ether;

    if (p->lane == SNIFF_UDP && cursor_get_u16(&c) == DETOUR_MAGIC && p->captured > DETOUR_BYTES)
        take_datagram(x, p->payload + DETOUR_BYTES, p->captured - DETOUR_BYTES);
    else if (p->lane == SNIFF_UDP)
        take_datagram(x, p->payload, p->captured);
    else if (p->lane == SNIFF_TCP)
        take_frame(x, p->payload, p->captured);
    else if (ether_get(&c, &ether) == NULL)
        take_datagram(x, ether.datagram, ether.size);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    static uint8_t bytes[1 << 20];
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    static struct extract x;
    struct pcapfile file;
    struct sniff_capture capture;
    struct sniff_packet packet;
    size_t size;
    const uint8_t *bytes;

    if (argc != 4) {
        fputs("usage: extract CAPTURE NAME CORPUS\n", stderr);
        return 2;
    }
    x.name = argv[2];
    x.corpus = argv[3];
    bytes = read_file(argv[1], &size);
    if (!pcapfile_open(&file, bytes, size)) {
        fprintf(stderr, "%s: not a pcap file\n", argv[1]);
        return EXIT_FAILURE;
    }
    while (pcapfile_next(&file, &capture))
        if (sniff_packet_read(&packet, &capture, ETHER_TYPE_DEFAULT))
            take_packet(&x, &packet);
    write_seed(&x, "window", -1, x.window.bytes, x.window.size);
    write_seed(&x, "stream", -1, x.stream.bytes, x.stream.size);
    return EXIT_SUCCESS;
}
