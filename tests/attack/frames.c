/* links: proto/wire/contention_config.c lib/link/stream.c lib/link/ring.c lib/link/barrier.c lib/link/shared_memory.c proto/wire/frame.c proto/wire/cursor.c proto/wire/control.c proto/contention/contention.c proto/wire/address.c tests/sim/network.c proto/session/fault.c */
/*
 * frames.c - a task gone wrong, on the Unix socket of its daemon ($SOCKET).
 *
 *   frames forge TID           sends what no task may send, each on a connection of its own, in the
 *                              name of task TID too; the daemon must hang up on each
 *   frames links TID           opens shared-memory links to TID with memory and descriptors that
 * are none, then a good one whose rings it scribbles over while TID uses it frames flood COUNT
 * COUNT frames, random or mutated, on connections that enrol or do not frames invitation VM PORT
 * prints a bootstrap line for a VM whose key it does not know
 *
 * Prints what went otherwise than it must; the exit status is then 1.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/covey.h"
#include "lib/link/peek.h"
#include "lib/link/ring.h"
#include "lib/link/stream.h"
#include "proto/wire/control.h"
#include "tests/sim/network.h"

enum { WAIT_MS = 10000, REQUEST = 7, RINGS = 2, SCRIBBLES = 200000 };

static int wrong;

static void complain(const char *what)
{
    printf("%s\n", what);
    wrong = 1;
}

/* ---- a connection ---- */

struct client {
    struct stream *stream;
    uint32_t tid;
    struct frame frame; /* the last that came */
    uint8_t payload[FRAME_PAYLOAD_MAX];
    int fd; /* that came with it, or -1 */
};

static int client_socket(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *path = getenv("SOCKET");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path == NULL ? "" : path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        perror("frames: SOCKET");
        exit(2);
    }
    return fd;
}

static int on_frame(void *context, const struct frame *frame, const uint8_t *payload, int *fds,
                    int nfds)
{
    struct client *c = context;
    c->frame = *frame;
    memcpy(c->payload, payload, frame->length);
    c->fd = nfds > 0 ? fds[0] : -1;
    for (int i = 1; i < nfds; i++)
        close(fds[i]);
    return 1;
}

/* The next frame. False: the daemon hung up, or nothing came. */
static bool client_get(struct client *c)
{
    for (;;) {
        int result = stream_read(c->stream, on_frame, c);
        if (result != 0)
            return result == 1;
        struct pollfd p = {.fd = stream_fd(c->stream), .events = POLLIN};
        if (poll(&p, 1, WAIT_MS) <= 0) {
            complain("the daemon neither answers nor hangs up");
            return false;
        }
    }
}

static void client_send(struct client *c, const struct frame *frame, const void *payload,
                        const int *fds, int nfds)
{
    if (stream_put(c->stream, frame, payload, fds, nfds) != 0)
        exit(2);
    while (stream_flush(c->stream) == 1) {
        struct pollfd p = {.fd = stream_fd(c->stream), .events = POLLOUT};
        if (poll(&p, 1, WAIT_MS) <= 0)
            return;
    }
}

static struct frame frame_of(const struct client *c, uint8_t kind, uint32_t to, size_t size)
{
    return (struct frame){
        .length = (uint32_t)size, .kind = kind, .source = c->tid, .destination = to};
}

static size_t enrol_bytes(uint8_t bytes[256])
{
    struct cursor w = cursor_writer(bytes, 256);
    struct control_enrol enrol = {
        .request = REQUEST, .version = WIRE_VERSION, .pid = getpid(), .command = "frames"};
    control_put_enrol(&w, &enrol);
    return (size_t)(w.at - bytes);
}

static struct client *client_open(bool enrol)
{
    struct client *c = calloc(1, sizeof *c);
    uint8_t bytes[256];
    struct control_reply reply;
    struct control_enrolled enrolled;
    if (c == NULL || (c->stream = stream_create(client_socket())) == NULL)
        exit(2);
    if (!enrol)
        return c;
    struct frame frame = frame_of(c, FRAME_ENROL, 0, enrol_bytes(bytes));
    client_send(c, &frame, bytes, NULL, 0);
    if (!client_get(c) || c->frame.kind != FRAME_REPLY) {
        complain("could not enrol");
        return c;
    }
    struct cursor r = cursor_reader(c->payload, c->frame.length);
    control_get_reply(&r, &reply);
    control_get_enrolled(&r, &enrolled);
    c->tid = enrolled.tid;
    return c;
}

static void client_close(struct client *c)
{
    stream_destroy(c->stream);
    free(c);
}

/* ---- forging ---- */

static void must_hang_up(const struct frame *frame, const uint8_t *payload, bool enrol,
                         const char *what)
{
    struct client *c = client_open(enrol);
    struct frame f = *frame;
    if (enrol && f.source == 0)
        f.source = c->tid;
    client_send(c, &f, payload, NULL, 0);
    while (client_get(c)) /* events of hosts may come before, to callers a last word */
        if (c->frame.kind != FRAME_HOST_EVENT && enrol) {
            printf("%s (%s): answered by %s\n", what, frame_kind_name(frame->kind),
                   frame_kind_name(c->frame.kind));
            wrong = 1;
            break;
        }
    client_close(c);
}

/* What only daemons may say, what tasks may say in another's name, and to the wrong receiver. */
static void forge_kinds(uint32_t victim)
{
    static const uint8_t zeros[64];
    for (int kind = 0; kind < 256; kind++) {
        int party = frame_kind_party(kind);
        struct frame frame = {.length = sizeof zeros, .kind = (uint8_t)kind, .destination = victim};
        if (frame_kind_name(kind) == NULL)
            continue;
        if (party == DAEMON_TO_DAEMON || party == DAEMON_TO_TASK || kind == FRAME_REPLY ||
            kind == FRAME_GONE)
            must_hang_up(&frame, zeros, true, "a daemon's frame");
        frame.destination = party == DAEMON_TO_DAEMON ? tid_make(2, 0) : victim;
        frame.source = victim;
        must_hang_up(&frame, zeros, true, "in the name of another task");
        frame.source = tid_make(2, 5);
        must_hang_up(&frame, zeros, true, "in the name of a task of another host");
        frame.source = tid_make(1, 0);
        must_hang_up(&frame, zeros, true, "in the name of the daemon");
    }
}

static void forge_headers(uint32_t victim)
{
    static const uint8_t zeros[FRAME_MESSAGE_BYTES];
    struct frame frame = {.length = sizeof zeros,
                          .kind = FRAME_DATA,
                          .flags = FRAME_FIRST | FRAME_LAST,
                          .destination = victim};
    must_hang_up(&frame, zeros, true, "a message of no representation");
    frame.length = 5;
    must_hang_up(&frame, zeros, true, "a message without its header");
    frame.kind = FRAME_ENROL;
    frame.length = 0;
    must_hang_up(&frame, zeros, true, "a second ENROL");
}

/* Bytes as they are, on a connection that has not enrolled. */
static void raw_hangs_up(const void *bytes, size_t size, const char *what)
{
    char byte;
    int fd = client_socket();
    struct pollfd p = {fd, POLLIN, 0};
    if (send(fd, bytes, size, MSG_NOSIGNAL) < 0 || poll(&p, 1, WAIT_MS) <= 0)
        complain(what);
    while (recv(fd, &byte, 1, 0) > 0)
        ; /* its answer, if it could be given one */
    close(fd);
}

/* Descriptors that no frame announces, as many as the kernel passes at once. */
static void descriptors_unannounced(void)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * 200)];
        struct cmsghdr align;
    } control = {0};
    uint8_t bytes[FRAME_HEADER_BYTES + 256], half[8] = {0};
    struct iovec iov = {half, sizeof half};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    int null = open("/etc/passwd", O_RDONLY), fds[200], fd = client_socket();
    for (int i = 0; i < 200; i++)
        fds[i] = null;
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    *c = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    memset(bytes, 0, sizeof bytes);
    if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
        complain("the kernel did not take the descriptors");
    raw_hangs_up(bytes, sizeof bytes, "a frame of kind 0");
    close(null);
    close(fd);
}

/* Descriptors with frames to whoever does not want them: daemons, nobody, tasks. */
static void descriptors_unwanted(uint32_t victim)
{
    static const uint8_t zeros[64];
    const uint32_t to[] = {0, tid_make(1, 0), tid_make(2, 0), tid_make(1, 99999), victim};
    int fds[3] = {open("/etc/passwd", O_RDONLY), eventfd(0, 0), open("/dev/zero", O_RDWR)};
    for (int round = 0; round < 50; round++) {
        struct client *c = client_open(true);
        for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
            struct frame frame = frame_of(c, i < 3 ? FRAME_STATS : FRAME_CREDIT, to[i], 4);
            client_send(c, &frame, zeros, fds, 3);
        }
        client_close(c);
    }
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

static void forge(uint32_t victim)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n and more of it";
    static const uint8_t ones[256] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    struct frame stats = {.length = 4, .kind = FRAME_STATS};
    raw_hangs_up(text, sizeof text, "text instead of frames");
    raw_hangs_up(ones, sizeof ones, "a frame of 4 GiB");
    forge_kinds(victim);
    forge_headers(victim);
    must_hang_up(&stats, ones, false, "a request before ENROL");
    descriptors_unannounced();
    descriptors_unwanted(victim);
}

/* ---- links ---- */

static void open_link(struct client *c, uint32_t victim, int memory, int bell)
{
    uint8_t bytes[64];
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    struct control_link link = {.route = COVEY_ROUTE_SHM};
    control_put_link_open(&w, &link);
    struct frame frame = frame_of(c, FRAME_LINK_OPEN, victim, (size_t)(w.at - bytes));
    client_send(c, &frame, bytes, (int[]){memory, bell}, 2);
}

/* The kind of the answer to LINK_OPEN. */
static uint8_t link_answer(struct client *c)
{
    while (client_get(c))
        if (c->frame.kind == FRAME_LINK_ACCEPT || c->frame.kind == FRAME_LINK_REFUSE)
            return c->frame.kind;
    return 0;
}

/* What the memory of a link holds: the rings, and what both ends say of their own memory. */
struct memory {
    struct ring_shared rings[RINGS];
    struct peek_shared accepter, opener;
};

static int memory_make(off_t size, int seals)
{
    int fd = memfd_create("attack", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL || fd < 0)
        exit(2);
    for (int i = 0; i < RINGS; i++)
        ring_begin(&memory->rings[i]);
    if (write(fd, memory, sizeof *memory) < 0 || ftruncate(fd, size) != 0 ||
        fcntl(fd, F_ADD_SEALS, seals) != 0)
        exit(2);
    free(memory);
    return fd;
}

static void links_refused(uint32_t victim)
{
    const off_t size = sizeof(struct memory);
    const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    int pipes[2], bell = eventfd(0, EFD_NONBLOCK), slow = eventfd(0, 0);
    if (pipe(pipes) != 0)
        exit(2);
    const struct {
        int memory, bell;
        const char *what;
    } bad[] = {
        {memory_make(size, F_SEAL_SEAL), bell, "memory that can be cut short"},
        {memory_make(size, F_SEAL_GROW | F_SEAL_SEAL), bell, "memory that can shrink"},
        {memory_make(4096, all), bell, "memory too small"},
        {memory_make(size, all | F_SEAL_WRITE), bell, "memory that cannot be written"},
        {open("/etc/passwd", O_RDONLY), bell, "a file as memory"},
        {pipes[0], bell, "a pipe as memory"},
        {memory_make(size, all), slow, "a doorbell that may block"},
        {memory_make(size, all), pipes[1], "a pipe as doorbell"},
        {memory_make(size, all), memory_make(4096, 0), "a file as doorbell"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct client *c = client_open(true);
        open_link(c, victim, bad[i].memory, bad[i].bell);
        if (link_answer(c) != FRAME_LINK_REFUSE)
            complain(bad[i].what);
        client_close(c);
    }
}

static uint64_t nonsense(uint64_t *random)
{
    static const uint64_t edges[] = {0, 1, RING_BYTES, RING_BYTES + 1, UINT64_MAX, INT64_MAX};
    uint64_t which = random_below(random, 12);
    return which < 6 ? edges[which] : random_next(random) >> random_below(random, 64);
}

/* The frame of a message that it offers, of any size, somewhere in its memory. */
static size_t lying_offer(const struct client *c, uint8_t *bytes, uint64_t number, uint64_t *random)
{
    uint64_t size = 1 + random_below(random, 100000);
    struct message_header message = {.sequence = random_below(random, 2),
                                     .size = size + FRAME_ITEM_BYTES,
                                     .representation = REPRESENTATION_LITTLE};
    struct control_offer offer = {.number = number, .count = 1};
    offer.pieces[0] = (struct offer_piece){
        random_below(random, 2) == 0 ? (uint64_t)(uintptr_t)&message : random_next(random), size};
    struct frame frame = frame_of(c, FRAME_OFFER, c->frame.source, OFFER_HEAD_BYTES + 24);
    frame.flags = FRAME_FIRST;
    frame_encode(&frame, bytes);
    message_header_encode(&message, bytes + FRAME_HEADER_BYTES);
    memset(bytes + FRAME_HEADER_BYTES + FRAME_MESSAGE_BYTES, 1, FRAME_ITEM_BYTES);
    struct cursor cursor = cursor_writer(bytes + FRAME_HEADER_BYTES + OFFER_HEAD_BYTES, 24);
    control_put_offer(&cursor, &offer);
    return FRAME_HEADER_BYTES + OFFER_HEAD_BYTES + 24;
}

/* Writes to the rings what it likes, also valid frames with lies in them, while the victim reads.
 */
static void scribble(struct client *c, struct memory *memory, int bell, uint64_t *random)
{
    const uint64_t one = 1;
    struct ring_shared *rings = memory->rings;
    uint8_t header[FRAME_HEADER_BYTES + OFFER_BYTES_MAX];
    size_t size = FRAME_HEADER_BYTES;
    struct frame frame =
        frame_of(c, FRAME_DATA, c->frame.source, (size_t)random_below(random, 70000));
    frame.flags = (uint8_t)random_below(random, 4);
    frame_encode(&frame, header);
    if (random_below(random, 2) == 0)
        size = lying_offer(c, header, 1, random);
    atomic_store(&memory->opener.state,
                 random_below(random, 2) == 0 ? 1 << 3 | PEEK_OFFERED : nonsense(random));
    for (size_t i = 0; i < size; i++)
        rings[0].bytes[i] = header[i];
    atomic_store(&rings[0].written, size);
    if (write(bell, &one, sizeof one) < 0)
        return;
    for (size_t i = 0; i < SCRIBBLES / 100; i++) {
        rings[0].bytes[random_below(random, RING_BYTES)] = (uint8_t)random_next(random);
        if (i % 16 == 0)
            atomic_store(&rings[0].written, random_below(random, RING_BYTES));
        if (i % 64 == 0)
            atomic_store(&rings[1].read, nonsense(random));
        if (i % 64 == 32)
            atomic_store(&memory->opener.state, nonsense(random));
        if (i % 256 == 255)
            atomic_store(&rings[0].written, nonsense(random));
        if (i % 8 == 0 && write(bell, &one, sizeof one) < 0)
            continue;
    }
}

static void links_scribbled(uint32_t victim)
{
    const off_t size = sizeof(struct memory);
    static const uint8_t nonce[PEEK_NONCE_BYTES] = "of the attacker";
    uint64_t random = 1;
    for (int round = 0; round < 40; round++) {
        int memory = memory_make(size, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        int bell = eventfd(0, EFD_NONBLOCK);
        struct client *c = client_open(true);
        struct memory *shared =
            mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
        if (shared != MAP_FAILED) {
            shared->opener.pid = (uint64_t)getpid();
            shared->opener.nonce_at = (uint64_t)(uintptr_t)nonce;
            memcpy(shared->opener.nonce, nonce, sizeof nonce);
        }
        open_link(c, victim, memory, bell);
        if (shared == MAP_FAILED || link_answer(c) != FRAME_LINK_ACCEPT || c->fd < 0)
            complain("a good link was not accepted");
        else
            scribble(c, shared, c->fd, &random);
        munmap(shared, (size_t)size);
        client_close(c);
        close(memory);
        close(bell);
    }
}

/* ---- flood ---- */

/* Where a frame of that kind may go; now and then anywhere. */
static uint32_t random_destination(uint64_t *random, uint8_t kind)
{
    uint32_t host = (uint32_t)random_below(random, 3);
    bool to_task = frame_kind_party(kind) == TASK_TO_TASK || random_below(random, 200) == 0;
    if (to_task)
        return tid_make(host == 0 ? 1 : host, 1 + (uint32_t)random_below(random, 64));
    return tid_make(host, 0);
}

static uint8_t random_kind(uint64_t *random)
{
    static const uint8_t kinds[] = {
#define KIND(number, name, party) number,
        FRAME_KINDS(KIND)
#undef KIND
    };
    for (;;) {
        uint8_t kind = kinds[random_below(random, sizeof kinds)];
        int party = frame_kind_party(kind);
        /* what ends the VM, its hosts or its tasks in order is no attack */
        if (kind == FRAME_HALT || kind == FRAME_REMOVE_HOSTS || kind == FRAME_SIGNAL ||
            kind == FRAME_ADD_HOSTS)
            continue;
        bool allowed = party == TASK_TO_TASK || party == TASK_TO_DAEMON || party == ANY_TO_DAEMON;
        bool ends = kind == FRAME_ENROL || kind == FRAME_LEAVE; /* the connection */
        if ((allowed && !ends) || random_below(random, 20000) == 0)
            return kind;
    }
}

/* A payload of noise and zeros; that of a message begins as one may. */
static void random_payload(uint64_t *random, const struct frame *frame, uint8_t *bytes)
{
    struct message_header header = {.sequence = random_below(random, 3),
                                    .size = random_below(random, 100000),
                                    .representation = REPRESENTATION_LITTLE};
    for (size_t i = 0; i < frame->length; i++)
        bytes[i] = (uint8_t)(random_below(random, 2) == 0 ? 0 : random_next(random));
    if (frame->kind == FRAME_DATA && frame->length >= FRAME_MESSAGE_BYTES &&
        random_below(random, 3000) != 0)
        message_header_encode(&header, bytes);
}

/* A frame that looks right at first; its header is damaged now and then. */
static size_t random_frame(const struct client *c, uint64_t *random, uint8_t *bytes)
{
    struct frame frame = frame_of(c, random_kind(random), 0, 0);
    frame.length = (uint32_t)random_below(random, random_below(random, 8) == 0 ? 3000 : 120);
    frame.flags = (uint8_t)(frame.length < FRAME_MESSAGE_BYTES ? 0 : random_below(random, 4));
    frame.destination = random_destination(random, frame.kind);
    if (random_below(random, 5000) == 0)
        frame.source = (uint32_t)random_next(random) & 0x3fffffff;
    frame_encode(&frame, bytes);
    random_payload(random, &frame, bytes + FRAME_HEADER_BYTES);
    if (random_below(random, 5000) == 0)
        bytes[random_below(random, 4)] ^= (uint8_t)(1u << random_below(random, 8)); /* length */
    if (random_below(random, 5000) == 0)
        bytes[5 + random_below(random, 11)] ^= (uint8_t)(1u << random_below(random, 8));
    if (random_below(random, 5000) == 0)
        bytes[4] = (uint8_t)(70 + random_below(random, 180)); /* no kind */
    return FRAME_HEADER_BYTES + frame.length;
}

/* Throws away what the daemon says, as long as it says anything. False: it hung up. */
static bool listen_idly(int fd)
{
    static uint8_t bytes[65536];
    ssize_t n;
    while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        ;
    return n < 0;
}

/* Sends frames until the daemon hangs up, or enough. */
static unsigned long flood_one(uint64_t *random, unsigned long count)
{
    static uint8_t bytes[1 << 16];
    struct client *c = client_open(random_below(random, 8) != 0);
    unsigned long sent = 0;
    size_t used = 0;
    int fd = stream_fd(c->stream);
    while (sent < count && listen_idly(fd)) {
        for (used = 0; used < sizeof bytes - 4096; sent++)
            used += random_frame(c, random, bytes + used);
        for (size_t at = 0; at < used;) {
            ssize_t n = send(fd, bytes + at, used - at, MSG_DONTWAIT | MSG_NOSIGNAL);
            struct pollfd p = {fd, POLLOUT | POLLIN, 0};
            if (n < 0 && (poll(&p, 1, WAIT_MS) <= 0 || !listen_idly(fd)))
                break;
            at += n > 0 ? (size_t)n : 0;
        }
    }
    client_close(c);
    return sent;
}

static void flood(unsigned long count)
{
    const char *seed = getenv("SEED");
    uint64_t random = seed == NULL ? 1 : strtoull(seed, NULL, 10);
    unsigned long sent = 0, connections = 0;
    for (; sent < count; connections++)
        sent += flood_one(&random, 1 + (unsigned long)random_below(&random, 5000));
    printf("%lu frames on %lu connections\n", sent, connections);
}

/* ---- an invitation by somebody who does not know the key ---- */

static void invitation(const char *vm, unsigned port)
{
    uint8_t bytes[2048];
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    struct control_bootstrap b = {.version = WIRE_VERSION,
                                  .index = 2,
                                  .incarnation = 1,
                                  .key = "a key that is only guessed",
                                  .fail_timeout_us = 5000000,
                                  .name = "intruder"};
    snprintf(b.vm, sizeof b.vm, "%s", vm);
    struct address address = {ADDRESS_IPV4, 6, {127, 0, 0, 1, (uint8_t)(port >> 8), (uint8_t)port}};
    b.coordinator = (struct host){.name = "h0",
                                  .arch = "",
                                  .addresses = &address,
                                  .index = 1,
                                  .state = HOST_UP,
                                  .address_count = 1};
    control_put_bootstrap(&w, &b);
    for (const uint8_t *at = bytes; at < w.at; at++)
        printf("%02x", *at);
    putchar('\n');
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "forge") == 0) {
        forge((uint32_t)strtoul(argv[2] + 1, NULL, 16));
    } else if (argc == 3 && strcmp(argv[1], "links") == 0) {
        links_refused((uint32_t)strtoul(argv[2] + 1, NULL, 16));
        links_scribbled((uint32_t)strtoul(argv[2] + 1, NULL, 16));
    } else if (argc == 3 && strcmp(argv[1], "flood") == 0) {
        flood(strtoul(argv[2], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "invitation") == 0) {
        invitation(argv[2], (unsigned)atoi(argv[3]));
    } else {
        fprintf(stderr, "frames.c says at its top what it does\n");
        return 2;
    }
    return wrong;
}
