/* links: libcovey-sources */
/*
 * covey_predict_choose(): how many tasks on which hosts, by calibrations that are made here, of
 * which the answer can be worked out by hand.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "lib/covey.h"
#include "tests/unit/runner.h"

#define FAST_S 1e-9    /* an operation of a usual host */
#define SLOW_LINK 8e-8 /* 100 Mbit/s, s a byte */
#define QUICK_LINK 1e-12

static struct covey_calibration made;

static void set_speed(struct covey_calibration_host *host, double operation_s)
{
    for (int i = 0; i < COVEY_MODEL_BLOCKS; i++)
        host->madd_s[i] = operation_s;
    host->oper_s = host->iteration_s = operation_s;
    host->merge_s = operation_s;
}

/* Hosts h0, h1 ... of so many processors, and a route between them. */
static struct covey_calibration *calibrate(int hosts, double processors, double beta_s)
{
    made = (struct covey_calibration){.host_count = hosts};
    for (int i = 0; i < hosts; i++) {
        made.hosts[i].processors = processors;
        made.hosts[i].share = 1;
        snprintf(made.hosts[i].name, sizeof made.hosts[i].name, "h%d", i);
        set_speed(&made.hosts[i], FAST_S);
    }
    made.routes[COVEY_ROUTE_TCP].known = 1;
    made.routes[COVEY_ROUTE_TCP].line = (struct covey_line){.alpha_s = 1e-6, .beta_s = beta_s};
    return &made;
}

static const struct covey_problem sort_1m = {.model = COVEY_MODEL_SORT, .size = 1 << 20};
static const struct covey_problem matmul_4000 = {.model = COVEY_MODEL_MATMUL, .size = 4000};
static const struct covey_problem picture = {.model = COVEY_MODEL_MANDEL,
                                             .width = 400,
                                             .height = 300,
                                             .iterations = 1000,
                                             .centre_re = -0.65,
                                             .zoom = 1};

static struct covey_choice *choose(const struct covey_problem *problem, const char *const *names,
                                   int hosts, double tolerance)
{
    struct covey_choice *choice = NULL;
    int error = covey_predict_choose(&made, problem, names, hosts, tolerance, &choice);
    CU_ASSERT_EQUAL(error, 0);
    if (error < 0)
        CU_FAIL_FATAL("no choice");
    return choice;
}

static void test_sort_on_a_slow_network(void)
{
    calibrate(8, 1, SLOW_LINK);
    struct covey_choice *c = choose(&sort_1m, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 1);
    CU_ASSERT_EQUAL(c->host_count, 1);
    CU_ASSERT_EQUAL(c->row_count, 8);
    CU_ASSERT_EQUAL(c->rows[7].predicted.tasks, 8);
    CU_ASSERT(c->rows[7].slope < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(c->why, "1 task on 1 of 8 hosts"));
    CU_ASSERT_PTR_NOT_NULL(strstr(c->why, "more hosts gain no time"));
    covey_free(c);
}

static void test_all_hosts_pay(void)
{
    calibrate(8, 1, QUICK_LINK);
    struct covey_choice *c = choose(&matmul_4000, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->host_count, 8);
    CU_ASSERT_EQUAL(c->tasks, 16);
    CU_ASSERT_EQUAL(c->rows[0].predicted.tasks, 1);
    CU_ASSERT(c->rows[0].slope > 0.9);
    CU_ASSERT_PTR_NOT_NULL(strstr(c->why, "all of them pay"));
    covey_free(c);
    c = choose(&picture, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 8);
    covey_free(c);
}

/* Tolerance 0 is the least time; more of it leaves hosts to others. */
static void test_tolerance(void)
{
    static const double tolerances[] = {0, 0.25, 0.5, 0.75, 1};
    calibrate(8, 1, QUICK_LINK);
    int before = 9;
    for (int i = 0; i < 5; i++) {
        struct covey_choice *c = choose(&sort_1m, NULL, 0, tolerances[i]);
        CU_ASSERT(c->host_count <= before);
        for (int row = c->row + 1; row < c->row_count; row++)
            CU_ASSERT(c->rows[row].slope < tolerances[i] || tolerances[i] == 0);
        before = c->host_count;
        covey_free(c);
    }
    struct covey_choice *least = choose(&sort_1m, NULL, 0, 0);
    CU_ASSERT(least->host_count > before);
    for (int row = 0; row < least->row_count; row++)
        CU_ASSERT(least->rows[row].predicted.total_s >=
                  0.999 * least->rows[least->row].predicted.total_s);
    covey_free(least);
}

/* Those that are as fast as each other keep their order. */
static void test_fastest_first(void)
{
    static const char *const names[] = {"h3", "h0", "h1", "h2"};
    calibrate(4, 1, QUICK_LINK);
    set_speed(&made.hosts[3], 2 * FAST_S);
    set_speed(&made.hosts[0], 1.1 * FAST_S);
    set_speed(&made.hosts[2], FAST_S / 2);
    struct covey_choice *c = choose(&picture, names, 4, 0);
    CU_ASSERT_EQUAL(c->host_count, 4);
    CU_ASSERT_EQUAL(c->hosts[0], 3);
    CU_ASSERT_EQUAL(c->hosts[1], 1);
    CU_ASSERT_EQUAL(c->hosts[2], 2);
    CU_ASSERT_EQUAL(c->hosts[3], 0);
    covey_free(c);
}

static void test_a_busy_host_is_a_slow_one(void)
{
    calibrate(2, 1, QUICK_LINK);
    made.hosts[0].demand = 1;
    struct covey_choice *c = choose(&picture, NULL, 0, 0);
    CU_ASSERT_EQUAL(c->hosts[0], 1);
    CU_ASSERT_EQUAL(c->hosts[1], 0);
    covey_free(c);
}

/* matmul divides evenly: with a host of a tenth of the speed all wait for that one. */
static void test_a_slow_host_is_left_out(void)
{
    calibrate(2, 1, QUICK_LINK);
    set_speed(&made.hosts[0], 10 * FAST_S);
    struct covey_choice *c = choose(&matmul_4000, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->host_count, 1);
    CU_ASSERT_EQUAL(c->hosts[0], 1);
    covey_free(c);
}

static void test_unknown_hosts_are_left_out(void)
{
    static const char *const names[] = {"other", "h1", "another"};
    calibrate(2, 1, QUICK_LINK);
    struct covey_choice *c = choose(&picture, names, 3, COVEY_CHOICE_TOLERANCE), *none;
    CU_ASSERT_EQUAL(c->left_out, 2);
    CU_ASSERT_EQUAL(c->host_count, 1);
    CU_ASSERT_EQUAL(c->hosts[0], 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(c->why, "no other host"));
    covey_free(c);
    CU_ASSERT_EQUAL(covey_predict_choose(&made, &picture, names, 1, 0.5, &none), COVEY_ENOHOST);
}

static void test_tasks_for_all_processors(void)
{
    calibrate(1, 4, QUICK_LINK);
    struct covey_choice *c = choose(&picture, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 4);
    CU_ASSERT_EQUAL(c->host_count, 1);
    covey_free(c);
    c = choose(&matmul_4000, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 4);
    covey_free(c);
    made.together = 1; /* hosts of one machine that has one processor */
    c = choose(&picture, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 1);
    covey_free(c);
}

static void test_hosts_for_given_tasks(void)
{
    struct covey_problem sixteen = matmul_4000;
    sixteen.tasks = 16;
    calibrate(8, 4, QUICK_LINK);
    struct covey_choice *c = choose(&sixteen, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 16);
    CU_ASSERT_EQUAL(c->host_count, 4);
    covey_free(c);
}

static void test_many_hosts(void)
{
    calibrate(COVEY_MODEL_HOSTS_MAX, 1, SLOW_LINK);
    struct covey_choice *c = choose(&sort_1m, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 1);
    CU_ASSERT(c->row_count < 100);
    CU_ASSERT_EQUAL(c->rows[c->row_count - 1].predicted.hosts, COVEY_MODEL_HOSTS_MAX);
    covey_free(c);
}

static void test_no_keys(void)
{
    const struct covey_problem nothing = {.model = COVEY_MODEL_SORT};
    calibrate(4, 1, SLOW_LINK);
    struct covey_choice *c = choose(&nothing, NULL, 0, COVEY_CHOICE_TOLERANCE);
    CU_ASSERT_EQUAL(c->tasks, 1);
    covey_free(c);
}

static void test_refused(void)
{
    const struct covey_problem wrong = {.model = 17, .size = 4};
    struct covey_choice *c = NULL;
    calibrate(2, 1, SLOW_LINK);
    CU_ASSERT_EQUAL(covey_predict_choose(&made, &sort_1m, NULL, 0, 1.5, &c), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_predict_choose(NULL, &sort_1m, NULL, 0, 0.5, &c), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_predict_choose(&made, &wrong, NULL, 0, 0.5, &c), COVEY_EINVAL);
    made.routes[COVEY_ROUTE_TCP].known = 0;
    CU_ASSERT_EQUAL(covey_predict_choose(&made, &sort_1m, NULL, 0, 0.5, &c), COVEY_ENOHOST);
    CU_ASSERT_PTR_NULL(c);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"sort on a slow network", test_sort_on_a_slow_network},
        {"all hosts pay", test_all_hosts_pay},
        {"tolerance", test_tolerance},
        {"fastest first", test_fastest_first},
        {"a busy host is a slow one", test_a_busy_host_is_a_slow_one},
        {"a slow host is left out", test_a_slow_host_is_left_out},
        {"unknown hosts are left out", test_unknown_hosts_are_left_out},
        {"tasks for all processors", test_tasks_for_all_processors},
        {"hosts for given tasks", test_hosts_for_given_tasks},
        {"many hosts", test_many_hosts},
        {"no keys", test_no_keys},
        {"refused", test_refused},
    };
    return covey_test_main("choose", cases, sizeof cases / sizeof cases[0]);
}
