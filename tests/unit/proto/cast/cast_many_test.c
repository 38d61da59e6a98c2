/* links: proto/cast/cast.c proto/cast/cast_flush.c proto/cast/cast_order.c proto/cast/cast_receive.c proto/cast/cast_ring.c proto/cast/cast_send.c proto/cast/cast_wire.c proto/auth/handshake.c proto/wire/datagram.c proto/auth/auth.c cipher/cipher*.c proto/wire/frame.c proto/wire/cursor.c */
/*
 * cast_many_test.c - what it costs a host that casts nothing when thousands come and go: the hosts
 * that it looks at are counted, in a host_set_next() of this file.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#define host_set_next host_set_next_uncounted
#include "proto/wire/host_set.c"
#undef host_set_next

#include "proto/cast/cast.h"
#include "tests/unit/proto/cast/side.h"
#include "tests/unit/runner.h"

enum { HOSTS = 4000 };

uint32_t host_set_next(const struct host_set *set, uint32_t after);

static uint64_t looks;

uint32_t host_set_next(const struct host_set *set, uint32_t after)
{
    looks++;
    return host_set_next_uncounted(set, after);
}

static void hosts_come_and_go(void)
{
    struct side side = {.host = 1};
    struct cast_owner owner = {.context = &side, .deliver = on_deliver};
    struct cast_config config = {.vm = "many", .self = host_of(1)};
    struct cast *cast = cast_create(&config, &owner);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cast);
    for (uint32_t host = 2; host <= HOSTS; host++) {
        struct host other = host_of(host);
        cast_host_up(cast, &other, host);
        cast_step(cast, host);
    }
    for (uint32_t host = 2; host <= HOSTS; host++) {
        cast_host_gone(cast, host, HOSTS + host);
        cast_step(cast, HOSTS + host);
    }
    CU_ASSERT(looks < 10 * HOSTS);
    cast_destroy(cast);
}

static const struct test_case CASES[] = {
    {"thousands of hosts come and go where nothing is cast", hosts_come_and_go},
};

int main(void)
{
    return covey_test_main("cast_many", CASES, sizeof CASES / sizeof CASES[0]);
}
