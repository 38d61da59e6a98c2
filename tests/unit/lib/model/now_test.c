/* links: libcovey -lm */
/*
 * now_test.c - a calibration of hosts at rest learns what others do on them, and predictions
 * follow.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "covey.h"
#include "tests/unit/runner.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

enum { HOSTS = 3 };

static struct covey_calibration calibration;
static struct covey_host hosts[HOSTS];
static struct covey_host_stat stats[HOSTS];

/* Three hosts of one processor, h0 to h2; the VM has them in another order. */
static void at_rest(void)
{
    static const char *const names[HOSTS] = {"h2", "h0", "h1"};
    memset(&calibration, 0, sizeof calibration);
    calibration.host_count = HOSTS;
    for (int i = 0; i < HOSTS; i++) {
        calibration.hosts[i] = (struct covey_calibration_host){
            .name = {'h', (char)('0' + i)}, .cores = 1, .processors = 1, .share = 1};
        calibration.hosts[i].oper_s = calibration.hosts[i].merge_s = 1e-8;
        hosts[i] = (struct covey_host){.index = i + 1, .state = COVEY_HOST_UP};
        memcpy(hosts[i].name, names[i], 3);
        stats[i] = (struct covey_host_stat){.host = i + 1, .known = 1, .memory_total_bytes = 100};
        stats[i].memory_free_bytes = 90;
    }
    calibration.routes[COVEY_ROUTE_TCP].known = 1;
    calibration.routes[COVEY_ROUTE_TCP].line = (struct covey_line){.alpha_s = 1e-4, .beta_s = 1e-7};
    calibration.peer_count = 3;
    for (int i = 0; i < 3; i++)
        calibration.peers[i] = (struct covey_calibration_peers){
            .route = COVEY_ROUTE_TCP, .hosts = {(int16_t)(i == 2), (int16_t)(i == 0 ? 1 : 2)}};
}

static int adjust(void)
{
    return covey_calibration_now(&calibration, COVEY_ROUTE_AUTO, hosts, stats, HOSTS);
}

static double sort_s(int n)
{
    const struct covey_problem problem = {.model = COVEY_MODEL_SORT, .size = 1 << 20};
    struct covey_prediction prediction;
    CU_ASSERT_EQUAL_FATAL(covey_predict(&calibration, &problem, NULL, n, &prediction), COVEY_OK);
    return prediction.total_s;
}

static void rest_changes_nothing(void)
{
    at_rest();
    double before_s = sort_s(3);
    CU_ASSERT_EQUAL(adjust(), 3);
    NEAR(sort_s(3), before_s);
    stats[0].known = 0;
    stats[1].demand = stats[2].net_sent_bytes_per_s = -1; /* not known */
    CU_ASSERT_EQUAL(adjust(), 2);
    NEAR(sort_s(3), before_s);
}

static void load_is_that_of_the_host(void)
{
    at_rest();
    stats[1].demand = 1; /* of h0, the first of the calibration */
    stats[2].net_sent_bytes_per_s = 2e6;
    stats[2].net_received_bytes_per_s = 1e9;
    double before_s = sort_s(1), two_s = sort_s(2);
    CU_ASSERT_EQUAL(adjust(), 3);
    NEAR(calibration.hosts[0].demand, 1);
    NEAR(calibration.hosts[1].link_out, 0.2);
    NEAR(calibration.hosts[1].link_in, 1);
    NEAR(calibration.hosts[2].demand + calibration.hosts[2].link_out, 0);
    NEAR(sort_s(1), 2 * before_s);
    CU_ASSERT(sort_s(2) > 2 * two_s);
    stats[1].demand = 0; /* it went away */
    stats[2] = stats[0];
    CU_ASSERT_EQUAL(adjust(), 3);
    NEAR(sort_s(2), two_s);
}

/* What the kernel takes for 1 MB/s each way, at 10 ns a byte, is a tenth of a fifth of a processor;
 * who is busy already is charged with it. */
static void a_quota_pays_for_traffic(void)
{
    at_rest();
    calibration.hosts[0].share = calibration.hosts[1].share = 0.2;
    calibration.routes[COVEY_ROUTE_TCP].load.drag_s = 1e-8;
    for (int i = 0; i < HOSTS; i++)
        stats[i].net_sent_bytes_per_s = stats[i].net_received_bytes_per_s = 1e6;
    stats[2].demand = 1; /* h1 */
    CU_ASSERT_EQUAL(adjust(), 3);
    NEAR(calibration.hosts[0].demand, 0.1);
    NEAR(calibration.hosts[1].demand, 1);
    NEAR(calibration.hosts[2].demand, 0); /* a whole processor, whose demand has it */
}

/* Hosts that share their processors share what loads them. */
static void a_machine_is_one(void)
{
    at_rest();
    stats[0].machine = stats[1].machine = 7;
    stats[0].demand = 3;
    CU_ASSERT_EQUAL(adjust(), 3);
    NEAR(calibration.hosts[0].demand, 3);
    NEAR(calibration.hosts[1].demand, 0);
    NEAR(calibration.hosts[2].demand, 3);
}

static void who_pages_is_left_out(void)
{
    at_rest();
    stats[1].memory_pressure = 0.5; /* h0 */
    CU_ASSERT_EQUAL(adjust(), 2);
    CU_ASSERT_EQUAL(calibration.host_count, 2);
    CU_ASSERT_STRING_EQUAL(calibration.hosts[0].name, "h1");
    CU_ASSERT_EQUAL(calibration.peer_count, 1);
    CU_ASSERT_EQUAL(calibration.peers[0].hosts[0], 0);
    CU_ASSERT_EQUAL(calibration.peers[0].hosts[1], 1);
    at_rest();
    for (int i = 0; i < HOSTS; i++)
        stats[i].memory_pressure = 0.5;
    CU_ASSERT_EQUAL(adjust(), 3);
    CU_ASSERT_EQUAL(calibration.host_count, 3);
}

static void nonsense_is_refused(void)
{
    at_rest();
    CU_ASSERT_EQUAL(covey_calibration_now(NULL, 0, hosts, stats, HOSTS), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_calibration_now(&calibration, 9, hosts, stats, HOSTS), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_calibration_now(&calibration, 0, NULL, stats, 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_calibration_now(&calibration, 0, NULL, NULL, 0), 0);
}

static const struct test_case cases[] = {
    {"rest changes nothing", rest_changes_nothing},
    {"load is that of the host", load_is_that_of_the_host},
    {"a quota pays for traffic", a_quota_pays_for_traffic},
    {"a machine is one", a_machine_is_one},
    {"who pages is left out", who_pages_is_left_out},
    {"nonsense is refused", nonsense_is_refused},
};

int main(void)
{
    return covey_test_main("now", cases, sizeof cases / sizeof cases[0]);
}
