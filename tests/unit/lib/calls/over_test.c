/* links: tests/unit/lib/engine/one_peer.c libcovey-sources */
/*
 * over_test.c - the request of a call that ended at once: one that is nobody's and is never freed.
 */
#include <CUnit/CUnit.h>

#include "lib/calls/recv.h"
#include "lib/calls/way.h"
#include "lib/engine/match.h"
#include "lib/engine/req.h"
#include "lib/link/link.h"
#include "tests/unit/lib/engine/one_peer.h"
#include "tests/unit/runner.h"

static void it_is_complete_for_all(void)
{
    covey_req_t *req = &req_over, *both[] = {NULL, &req_over}, *none[] = {NULL, NULL};
    struct covey_info info = {.bytes = 1};
    CU_ASSERT_EQUAL(covey_test(req), 1);
    CU_ASSERT_EQUAL(covey_wait(req, 0), COVEY_OK);
    CU_ASSERT_EQUAL(covey_wait_all(both, 2, 0), COVEY_OK);
    CU_ASSERT_EQUAL(covey_wait_any(both, 2, 0), 1);
    CU_ASSERT_EQUAL(covey_wait_any(none, 2, 0), COVEY_EINVAL);
    CU_ASSERT(covey_req_result(req, &info, NULL, NULL) == COVEY_OK && info.bytes == 0);
}

static void it_is_too_late_to_cancel_and_nothing_to_free(void)
{
    covey_req_t *req = &req_over;
    CU_ASSERT_EQUAL(covey_cancel(req), 0);
    covey_req_free(&req);
    CU_ASSERT_PTR_NULL(req);
    req = &req_over;
    CU_ASSERT_EQUAL(covey_test(req), 1);
}

static void beside_one_that_is_open_it_is_found(void)
{
    struct one_peer t;
    struct link stub = {.ops = &one_peer_no_ops};
    struct covey_req open;
    one_peer_begin(&t, 0x40001, 0x80003, &stub, COVEY_ROUTE_SHM);
    t.vm->home.lost = 0; /* it had none at first */
    const struct way from = {.vm = t.vm, .tid = 0x80003, .tag = 5};
    covey_req_t *mixed[] = {&open, &req_over};
    CU_ASSERT_EQUAL_FATAL(receive_init(&open, &from), COVEY_OK);
    match_post(t.vm, &open);
    CU_ASSERT_EQUAL(covey_wait_any(mixed, 2, COVEY_FOREVER), 1);
    CU_ASSERT_EQUAL(covey_wait_all(mixed, 2, 0), COVEY_ETIMEOUT);
    CU_ASSERT_EQUAL(covey_cancel(&open), 1);
    CU_ASSERT_EQUAL(covey_wait_all(mixed, 2, 0), COVEY_ECANCELED);
    one_peer_end(&t);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"it is complete for all", it_is_complete_for_all},
        {"it is too late to cancel and nothing to free",
         it_is_too_late_to_cancel_and_nothing_to_free},
        {"beside one that is open it is found", beside_one_that_is_open_it_is_found},
    };
    return covey_test_main("over", cases, sizeof cases / sizeof cases[0]);
}
