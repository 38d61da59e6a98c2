/*
 * The raw programs that Covey is measured against: the least that moves bytes between the same two
 * processes. One end listens and tells the other an endpoint, a line of text; the other connects.
 * A receiver sleeps until a message has come, or first looks for some microseconds whether one has,
 * as Covey does; it gives up after some seconds. Functions return 0 or -1 with errno set.
 */
#ifndef COVEY_TOOLS_BENCH_RAW_H
#define COVEY_TOOLS_BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>

enum raw_kind {
    RAW_NONE = 0,  /* Covey itself */
    RAW_FUTEX = 1, /* shared memory: copied in, woken by a futex, copied out */
    RAW_FUTEX_SPIN = 2,
    RAW_COPY = 3, /* one memcpy into shared memory and one out, in one process */
    RAW_UNIX = 4, /* a stream socket of one host */
    RAW_UDP = 5,  /* one datagram a message */
    RAW_UDP_SPIN = 6,
    RAW_TCP = 7,
    RAW_TCP_SPIN = 8,
    RAW_ETHER = 9, /* frames over a packet socket, each sent by itself */
    RAW_ETHER_SPIN = 10,
    RAW_MORE = 11, /* Covey again, over the other routes of the plan */
    RAW_KINDS = 14
};

enum { RAW_ENDPOINT_BYTES = 128, RAW_DATAGRAM_MAX = 1400, RAW_ETHER_MAX = 1024 * 1024 };

struct raw;

/* Whether it is Covey. */
bool raw_is_covey(enum raw_kind kind);

/* "futex", "futex-spin", ... */
const char *raw_name(enum raw_kind kind);

/* Whether its receivers look before they sleep. */
bool raw_spins(enum raw_kind kind);

/* Whether a message of that size can be sent: a datagram, or frames for which the receiver has
 * room. */
bool raw_fits(enum raw_kind kind, size_t size);

/* Whether it moves one message at a time, so that a stream of them is none. */
bool raw_is_single(enum raw_kind kind);

/* Listens, for tcp and udp at `address` ("192.0.2.1" or "2001:db8::1"), and says where. Messages
 * have at most bytes_max bytes. NULL with errno on failure. */
struct raw *raw_listen(enum raw_kind kind, const char *address, size_t bytes_max, char *endpoint);

/* Takes the one connection. */
int raw_accept(struct raw *raw);

struct raw *raw_connect(enum raw_kind kind, size_t bytes_max, const char *endpoint);

/* How long receivers look, where they do. */
void raw_set_spin(struct raw *raw, int spin_us);

int raw_send(struct raw *raw, const void *bytes, size_t size);
int raw_receive(struct raw *raw, void *bytes, size_t size);

/* NULL is fine. */
void raw_close(struct raw *raw);

#endif
