/* links: daemon/link/udp.c daemon/base/sockaddr.c daemon/base/failure.c proto/wire/address.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/sockaddr.h"
#include "daemon/link/udp.h"
#include "tests/unit/runner.h"

/* ---- addresses ---- */

static void prints_as(const char *text, const char *expected)
{
    struct address address;
    char printed[SOCKADDR_TEXT_MAX] = "refused";
    if (sockaddr_parse(text, 99, &address))
        sockaddr_print(&address, printed);
    CU_ASSERT_STRING_EQUAL(printed, expected);
}

static void addresses_are_read_and_printed(void)
{
    prints_as("192.0.2.1", "192.0.2.1:99");
    prints_as("192.0.2.1:7", "192.0.2.1:7");
    prints_as("::1", "[::1]:99");
    prints_as("[2001:db8::5]:65535", "[2001:db8::5]:65535");
    static const char *const bad[] = {
        "",     "host",   "1.2.3",         "1.2.3.4:",   "1.2.3.4:0", "1.2.3.4:x",
        "[::1", "[::1]7", "1.2.3.4:65536", "[1.2.3.4:5", ":::1",      "1.2.3.4:-5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        prints_as(bad[i], "refused");
}

static void addresses_come_back_from_sockets(void)
{
    static const char *const texts[] = {"192.0.2.1:7", "[2001:db8::5]:1234"};
    for (size_t i = 0; i < 2; i++) {
        struct address before, after;
        union sockaddr_any a;
        CU_ASSERT_TRUE(sockaddr_parse(texts[i], 1, &before));
        CU_ASSERT_TRUE(sockaddr_from_address(&a, &before, AF_INET6) > 0);
        CU_ASSERT_TRUE(sockaddr_to_address(&a, &after));
        CU_ASSERT_TRUE(address_equal(&before, &after));
    }
    struct address six;
    union sockaddr_any a;
    CU_ASSERT_TRUE(sockaddr_parse("::1", 1, &six));
    CU_ASSERT_EQUAL(sockaddr_from_address(&a, &six, AF_INET), 0); /* cannot be reached from there */
}

/* ---- datagrams from one socket to another ---- */

struct pair {
    struct udp *from, *to;
    struct address address;
};

static void pair_open(struct pair *p)
{
    struct udp_config config = {.local = true};
    struct failure why;
    char text[SOCKADDR_TEXT_MAX];
    p->from = udp_create(&config, &why);
    p->to = udp_create(&config, &why);
    CU_ASSERT_FATAL(p->from != NULL && p->to != NULL);
    snprintf(text, sizeof text, "127.0.0.1:%u", udp_port(p->to));
    CU_ASSERT_TRUE(sockaddr_parse(text, 0, &p->address));
}

static void pair_close(struct pair *p)
{
    udp_destroy(p->from);
    udp_destroy(p->to);
}

#define SIZES_MAX 512

struct received {
    size_t sizes[SIZES_MAX];
    size_t count;
    bool damaged;
    const uint8_t *last; /* where it was */
};

static void on_datagram(void *context, const struct address *from, const uint8_t *bytes,
                        size_t size)
{
    (void)from;
    struct received *r = context;
    r->last = bytes;
    for (size_t i = 0; i < size; i++)
        r->damaged |= bytes[i] != (uint8_t)(r->count + i);
    if (r->count < SIZES_MAX)
        r->sizes[r->count++] = size;
}

/* Sends datagrams of these sizes, built in place or not, and checks that each arrives as it was, in
 * order; where the last one was. */
static const uint8_t *carries_built(struct pair *p, const size_t *sizes, size_t count,
                                    bool in_place)
{
    static uint8_t elsewhere[65536];
    static struct received r;
    r = (struct received){.count = 0};
    for (size_t n = 0; n < count; n++) {
        uint8_t *bytes = in_place ? udp_room(p->from, &p->address) : elsewhere;
        CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
        for (size_t i = 0; i < sizes[n]; i++)
            bytes[i] = (uint8_t)(n + i);
        udp_send(p->from, &p->address, bytes, sizes[n]);
    }
    CU_ASSERT_FALSE(udp_flush(p->from));
    struct pollfd readable = {.fd = udp_fd(p->to), .events = POLLIN};
    while (r.count < count && poll(&readable, 1, 5000) > 0)
        udp_receive(p->to, on_datagram, &r);
    CU_ASSERT_FALSE(r.damaged);
    CU_ASSERT_EQUAL(r.count, count);
    CU_ASSERT_EQUAL(memcmp(r.sizes, sizes, count * sizeof sizes[0]), 0);
    return r.last;
}

static void carries(struct pair *p, const size_t *sizes, size_t count)
{
    carries_built(p, sizes, count, false);
    carries_built(p, sizes, count, true);
}

static void datagrams_arrive_as_they_were_sent(void)
{
    struct pair p;
    size_t equal[100], falling[60], mixed[] = {1, 1400, 1400, 700, 1400, 1, 1, 2, 1200, 40, 65000};
    for (size_t i = 0; i < 100; i++)
        equal[i] = 1200;
    for (size_t i = 0; i < 60; i++)
        falling[i] = 600 - i;
    pair_open(&p);
    carries(&p, equal, 100);
    carries(&p, mixed, sizeof mixed / sizeof mixed[0]);
    carries(&p, falling, 60);
    carries(&p, equal, 1);
    pair_close(&p);
}

/* The next datagram of a run is built right behind the one before it: none is moved. */
static void a_run_is_built_where_it_is_sent_from(void)
{
    struct pair p;
    pair_open(&p);
    uint8_t *first = udp_room(p.from, &p.address);
    for (size_t n = 0; n < 40; n++) {
        uint8_t *bytes = udp_room(p.from, &p.address);
        CU_ASSERT_PTR_EQUAL_FATAL(bytes, first + n * 1400);
        memset(bytes, (int)n, 1400);
        udp_send(p.from, &p.address, bytes, 1400);
    }
    CU_ASSERT_FALSE(udp_flush(p.from));
    CU_ASSERT_PTR_EQUAL(udp_room(p.from, &p.address), first);
    pair_close(&p);
}

static uint64_t stat_of(const struct udp *udp, const char *wanted)
{
    const char *name;
    uint64_t value;
    for (size_t i = 0; (name = udp_stat(udp, i, &value)) != NULL; i++)
        if (strcmp(name, wanted) == 0)
            return value;
    CU_FAIL("no such counter");
    return 0;
}

static void many_datagrams_take_few_calls(void)
{
    struct pair p;
    size_t sizes[200];
    for (size_t i = 0; i < 200; i++)
        sizes[i] = 1400;
    pair_open(&p);
    carries(&p, sizes, 200);
    CU_ASSERT_EQUAL(stat_of(p.from, "socket.datagrams_sent"), 400);
    CU_ASSERT_TRUE(stat_of(p.from, "socket.send_calls") <= 40);
    CU_ASSERT_EQUAL(stat_of(p.to, "socket.datagrams_received"), 400);
    pair_close(&p);
}

static bool is_in_memory(const uint8_t *byte)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char in_memory = 0;
    CU_ASSERT_EQUAL(mincore((void *)((uintptr_t)byte & ~(page - 1)), 1, &in_memory), 0);
    return in_memory & 1;
}

/* What a burst filled is given back when datagrams come one by one, and is there for the next. */
static void a_burst_leaves_no_memory_behind(void)
{
    struct pair p;
    size_t burst[12], one = 1200;
    for (size_t i = 0; i < 12; i++)
        burst[i] = 600 + i; /* which cannot be joined */
    pair_open(&p);
    for (int round = 0; round < 2; round++) {
        const uint8_t *last = carries_built(&p, burst, 12, false);
        CU_ASSERT_TRUE(is_in_memory(last));
        for (int i = 0; i < 40; i++)
            carries_built(&p, &one, 1, false);
        CU_ASSERT_FALSE(is_in_memory(last));
    }
    pair_close(&p);
}

static void what_cannot_be_sent_is_counted(void)
{
    struct pair p;
    struct address six;
    uint8_t bytes[16] = {0};
    size_t one = 16;
    pair_open(&p);
    CU_ASSERT_TRUE(sockaddr_parse("::1", 9, &six));
    udp_send(p.from, &six, bytes, sizeof bytes); /* an IPv4 socket */
    udp_send(p.from, &p.address, bytes, 0);
    CU_ASSERT_EQUAL(stat_of(p.from, "socket.sends_dropped"), 2);
    carries(&p, &one, 1); /* and others go on */
    pair_close(&p);
}

static void a_port_in_use_is_an_error(void)
{
    struct failure why;
    struct udp_config any = {.local = true};
    struct udp *first = udp_create(&any, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    struct udp_config same = {
        .local = true, .port_first = udp_port(first), .port_last = udp_port(first)};
    CU_ASSERT_PTR_NULL(udp_create(&same, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "Address already in use"));
    udp_destroy(first);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"addresses are read and printed", addresses_are_read_and_printed},
        {"addresses come back from sockets", addresses_come_back_from_sockets},
        {"a run is built where it is sent from", a_run_is_built_where_it_is_sent_from},
        {"datagrams arrive as they were sent", datagrams_arrive_as_they_were_sent},
        {"many datagrams take few calls", many_datagrams_take_few_calls},
        {"a burst leaves no memory behind", a_burst_leaves_no_memory_behind},
        {"what cannot be sent is counted", what_cannot_be_sent_is_counted},
        {"a port in use is an error", a_port_in_use_is_an_error},
    };
    return covey_test_main("udp", cases, sizeof cases / sizeof cases[0]);
}
