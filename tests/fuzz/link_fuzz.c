/* links: lib/link/link_tcp.c lib/link/link_sealed.c lib/link/link_shm.c lib/link/ring.c lib/link/shared_memory.c lib/link/barrier.c proto/auth/auth.c cipher/cipher*.c proto/auth/stream_auth.c proto/auth/record.c proto/wire/cursor.c */
/*
 * link_fuzz.c - a hostile task at the other end of a link.
 *
 * The first byte chooses: each step of the handshake by itself; a link that accepts or opens and
 * gets the bytes in pieces, after as much of a good handshake as the second byte says; the
 * shared memory, where the other end writes what it likes; or an encrypted stream on whose way
 * somebody alters the bytes. Nothing but the key lets bytes flow.
 */
#include "lib/link/link.h"
#include "lib/link/ring.h"
#include "proto/auth/auth.h"
#include "proto/auth/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static const uint8_t key[AUTH_KEY_BYTES] = {1}, nonce[AUTH_NONCE_BYTES] = {2};
static const uint8_t challenge[AUTH_NONCE_BYTES] = {3};

/* ---- the steps by themselves ---- */

static void try_steps(const uint8_t *data, size_t size)
{
    uint8_t step[STREAM_HELLO_BYTES] = {0}, got[AUTH_NONCE_BYTES], proof[STREAM_PROOF_BYTES];
    uint32_t opener = 0, accepter = 0;
    struct stream_auth auth;
    memcpy(step, data, size < sizeof step ? size : sizeof step);
    stream_auth_hello(step, &opener, &accepter, got);
    stream_auth_open(&auth, key, 1, 2, nonce, challenge);
    REQUIRE(stream_auth_prove(&auth, step, proof) != NULL);
    REQUIRE(stream_auth_check(&auth, step) != NULL);
}

/* ---- tcp, over a pair of Unix sockets ---- */

static bool find_key(void *context, struct link *link, uint32_t opener, uint32_t accepter,
                     const uint8_t asked[AUTH_NONCE_BYTES], struct link_secret *found)
{
    int *asks = context;
    (void)link;
    (void)asked;
    REQUIRE(++*asks == 1);
    memcpy(found->key, key, AUTH_KEY_BYTES);
    found->encrypt = false;
    return opener != accepter;
}

/* Sends pieces of the data, as long as the first byte of each says, and lets the link look. */
static void feed(struct link *link, int raw, const uint8_t *data, size_t size)
{
    uint8_t bytes[300];
    while (size > 1) {
        size_t part = data[0] < size - 1 ? data[0] : size - 1;
        if (send(raw, data + 1, part, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            return;
        if (link->ops->ready(link) == 1)
            link->ops->recv(link, bytes, 1 + data[0]);
        link->ops->arm(link);
        data += 1 + part;
        size -= 1 + part;
    }
}

/* An opener that says a good HELLO, and with choice 2 proves that it knows the key. */
static bool play_opener(struct link *link, int raw, int choice)
{
    struct stream_auth auth;
    uint8_t answer[STREAM_CHALLENGE_BYTES], proof[STREAM_PROOF_BYTES];
    stream_auth_open(&auth, key, 1, 2, nonce, challenge);
    REQUIRE(send(raw, auth.hello, sizeof auth.hello, 0) == sizeof auth.hello);
    REQUIRE(link->ops->ready(link) == 0);
    REQUIRE(recv(raw, answer, sizeof answer, MSG_DONTWAIT) == sizeof answer);
    REQUIRE(stream_auth_prove(&auth, answer, proof) == NULL);
    if (choice == 2)
        REQUIRE(send(raw, proof, sizeof proof, 0) == sizeof proof);
    return choice == 2;
}

static void try_accept(const uint8_t *data, size_t size)
{
    int fds[2], asks = 0, choice = data[0] % 3;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct link *link = link_tcp_accept(fds[1], find_key, &asks);
    REQUIRE(link != NULL);
    bool knows = choice > 0 && play_opener(link, fds[0], choice);
    feed(link, fds[0], data + 1, size - 1);
    REQUIRE((link->ops->ready(link) == 1) == knows);
    link->ops->free(link);
    close(fds[0]);
}

static void try_open(const uint8_t *data, size_t size)
{
    struct stream_auth auth;
    uint8_t hello[STREAM_HELLO_BYTES];
    int fds[2];
    bool knows = data[0] % 2 == 1;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    stream_auth_open(&auth, key, 1, 2, nonce, challenge);
    struct link *link = link_tcp_open(fds[1], &auth);
    REQUIRE(link != NULL && link->ops->ready(link) == 0);
    REQUIRE(recv(fds[0], hello, sizeof hello, MSG_DONTWAIT) == sizeof hello);
    stream_auth_accept(&auth, key, hello, challenge);
    if (knows)
        REQUIRE(send(fds[0], auth.challenge, sizeof auth.challenge, 0) == sizeof auth.challenge);
    feed(link, fds[0], data + 1, size - 1);
    REQUIRE((link->ops->ready(link) == 1) == knows);
    link->ops->free(link);
    close(fds[0]);
}

/* ---- shm: the other end writes what it likes ---- */

static void shm_act(struct link *link, struct ring_shared *rings, const uint8_t step[10])
{
    uint8_t bytes[256] = {0};
    struct iovec iov = {bytes, step[1]};
    uint64_t position;
    memcpy(&position, step + 2, sizeof position);
    if ((step[0] & 1) != 0)
        atomic_store(&rings[0].read, position);
    if ((step[0] & 2) != 0)
        atomic_store(&rings[1].written, position);
    if ((step[0] & 4) != 0)
        atomic_store(&rings[0].reader_waiting, step[1]);
    ssize_t sent = link->ops->send(link, &iov, 1);
    ssize_t got = link->ops->recv(link, bytes, step[1]);
    REQUIRE(sent <= step[1] && got <= step[1]);
    link->ops->arm(link);
}

static void try_shm(const uint8_t *data, size_t size)
{
    int memory;
    struct link *link = link_shm_open(&memory);
    REQUIRE(link != NULL);
    struct ring_shared *rings =
        mmap(NULL, 2 * sizeof *rings, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    REQUIRE(rings != MAP_FAILED);
    for (; size >= 10; data += 10, size -= 10)
        shm_act(link, rings, data);
    munmap(rings, 2 * sizeof *rings);
    close(memory);
    link->ops->free(link);
}

/* ---- an encrypted stream and somebody on its way ---- */

static struct link *sealed_end(int fd, int raw)
{
    struct stream_auth auth;
    uint8_t hello[STREAM_HELLO_BYTES];
    stream_auth_open(&auth, key, 1, 2, nonce, challenge);
    auth.encrypt = true;
    struct link *link = link_tcp_open(fd, &auth);
    REQUIRE(link != NULL && link->ops->ready(link) == 0);
    REQUIRE(recv(raw, hello, sizeof hello, MSG_DONTWAIT) == sizeof hello);
    stream_auth_accept(&auth, key, hello, challenge);
    REQUIRE(send(raw, auth.challenge, sizeof auth.challenge, 0) == sizeof auth.challenge);
    REQUIRE(link->ops->ready(link) == 1);
    REQUIRE(recv(raw, hello, STREAM_PROOF_BYTES, MSG_DONTWAIT) == STREAM_PROOF_BYTES);
    return link;
}

/* Three good records of the accepter, which this end would open. */
static size_t sealed_records(uint8_t bytes[3 * RECORD_BYTES(40)])
{
    struct stream_auth auth;
    struct record_way accepter;
    uint8_t opener_key[AUTH_KEY_BYTES], accepter_key[AUTH_KEY_BYTES];
    stream_auth_open(&auth, key, 1, 2, nonce, challenge);
    struct stream_auth other;
    stream_auth_accept(&other, key, auth.hello, challenge);
    stream_auth_keys(&other, opener_key, accepter_key);
    REQUIRE(record_way_begin(&accepter, accepter_key));
    for (size_t i = 0; i < 3; i++) {
        memset(bytes + i * RECORD_BYTES(40) + RECORD_HEAD_BYTES, (int)('a' + i), 40);
        record_seal(&accepter, bytes + i * RECORD_BYTES(40), 40);
    }
    record_way_end(&accepter);
    return 3 * RECORD_BYTES(40);
}

/* Each step of the data turns bits of a byte, or cuts the stream there and puts bytes in. What is
 * given to the reader is always the beginning of what was sent. */
static void try_sealed(const uint8_t *data, size_t size)
{
    static const char sent[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                               "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                               "cccccccccccccccccccccccccccccccccccccccc";
    uint8_t bytes[3 * RECORD_BYTES(40)], got[200];
    size_t total = 0, length = sealed_records(bytes);
    int fds[2];
    ssize_t n = 1;
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct link *link = sealed_end(fds[1], fds[0]);
    size_t cut = data[0] % (length + 1);
    for (size_t i = 1; i + 1 < size && i < 9; i += 2)
        bytes[data[i] % length] ^= data[i + 1];
    REQUIRE(send(fds[0], bytes, cut, 0) >= 0);
    if (size > 9)
        REQUIRE(send(fds[0], data + 9, size - 9, 0) >= 0);
    REQUIRE(send(fds[0], bytes + cut, length - cut, 0) >= 0);
    while (n > 0 && (n = link->ops->recv(link, got, 1 + data[0] % sizeof got)) > 0) {
        REQUIRE(total + (size_t)n < sizeof sent && memcmp(got, sent + total, (size_t)n) == 0);
        total += (size_t)n;
        link->ops->arm(link);
    }
    link->ops->free(link);
    close(fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const uint8_t *, size_t) = {try_steps, try_accept, try_open,
                                                             try_shm, try_sealed};
    if (size < 2 || size > 8192 || auth_init() != 0)
        return 0;
    tries[data[0] < 4 ? data[0] : data[0] % 5](data + 1, size - 1);
    return 0;
}
