/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * request_test.c - more questions to daemons than their numbers count.
 */
#include <CUnit/CUnit.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/drive/request.h"
#include "lib/link/link.h"
#include "lib/link/stream.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

static void numbers_come_again(void)
{
    struct one_peer t;
    struct link stub = {.ops = &one_peer_no_ops};
    int ends[2];
    one_peer_begin(&t, 0x40001, 0x80003, &stub, COVEY_ROUTE_UDP);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    stream_destroy(t.vm->home.daemon);
    t.vm->home.daemon = stream_create(ends[0]);
    t.vm->home.lost = 0; /* it had none at first */
    struct request *requests[5];
    for (int i = 0; i < 5; i++) {
        if (i == 2)
            t.vm->requests.number = UINT32_MAX - 1; /* two of the first are still open */
        requests[i] = request_begin(t.vm, FRAME_TASKS, 0, NULL, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(requests[i]);
    }
    CU_ASSERT_EQUAL(requests[0]->number, 1);
    CU_ASSERT_EQUAL(requests[1]->number, 2);
    CU_ASSERT_EQUAL(requests[2]->number, UINT32_MAX);
    CU_ASSERT_EQUAL(requests[3]->number, 3);
    CU_ASSERT_EQUAL(requests[4]->number, 4);
    for (int i = 0; i < 5; i++)
        request_forget(t.vm, &requests[i]);
    one_peer_end(&t);
    close(ends[1]);
}

int main(void)
{
    static const struct test_case cases[] = {{"numbers come again", numbers_come_again}};
    return covey_test_main("request", cases, sizeof cases / sizeof cases[0]);
}
