/* links: proto/model/model_line.c proto/model/model_packing.c proto/model/model_paper.c proto/model/model_play.c proto/model/model_matmul.c proto/model/model_sort.c proto/model/model_mandel.c proto/model/model_hierarchical.c proto/model/model_agenda.c proto/model/model_bag.c proto/model/model_best.c apps/matmul/grid.c apps/block.c */
/*
 * The models of Schmidt & Sunderam: the paper's numbers, where it prints any, and what is played
 * against what can be worked out by hand.
 */
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>

#include "apps/matmul/grid.h"
#include "proto/model/model_play.h"
#include "tests/unit/runner.h"

#define NEAR(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)
#define WITHIN(a, b, share) CU_ASSERT_DOUBLE_EQUAL((a) / (b), 1, share)

/* ---- The line ------------------------------------------------------------------------------ */

static void test_line(void)
{
    const double bytes[] = {1, 1000, 100000, 1000000};
    double s[4];
    struct model_line line;
    for (int i = 0; i < 4; i++)
        s[i] = 20 + 0.001 * bytes[i];
    CU_ASSERT_EQUAL(model_line_fit(bytes, s, 4, &line), 0);
    NEAR(line.alpha_s, 20);
    NEAR(line.beta_s, 0.001);
    NEAR(line.r2, 1);
    NEAR(line.worst, 0);
    NEAR(model_line_time(&line, 1000), 21);
}

/* A percent of the largest time must not hide alpha. */
static void test_line_of_noisy_points(void)
{
    const double bytes[] = {1, 100, 1000000};
    const double s[] = {10, 10.01, 1010 * 1.01};
    struct model_line line;
    CU_ASSERT_EQUAL(model_line_fit(bytes, s, 3, &line), 0);
    CU_ASSERT_DOUBLE_EQUAL(line.alpha_s, 10, 0.1);
    CU_ASSERT_DOUBLE_EQUAL(line.beta_s, 0.00101, 0.00001);
    CU_ASSERT(line.r2 > 0.99 && line.r2 <= 1);
    CU_ASSERT(line.worst > 0 && line.worst < 0.02);
}

static void test_no_line(void)
{
    const double same[] = {64, 64}, s[] = {1, 2}, none[] = {0, 1};
    const double bytes[] = {1, 2};
    struct model_line line;
    CU_ASSERT_EQUAL(model_line_fit(same, s, 2, &line), -1);
    CU_ASSERT_EQUAL(model_line_fit(bytes, s, 1, &line), -1);
    CU_ASSERT_EQUAL(model_line_fit(bytes, none, 2, &line), -1);
}

/* Table 1 in milliseconds, and what section 2.3 reads off it: 4.527 + 0.0025 N for datagrams, 1.661
 * + 0.0014 N for streams. The paper fits deviations in milliseconds and takes alpha from the small
 * messages; ours are relative. */
static void test_table_1(void)
{
    const double bytes[] = {1, 32, 64, 512, 1024, 4096, 16384, 131072};
    const double datagram[] = {4.97248, 4.2199,   3.85209,  4.42586,
                               5.24203, 14.61778, 45.43572, 332.53938};
    const double stream[] = {1.59715, 1.47073,  1.54337,  1.61310,
                             1.98495, 10.20227, 20.08871, 184.47232};
    struct model_line line;
    CU_ASSERT_EQUAL(model_line_fit(bytes, datagram, 8, &line), 0);
    WITHIN(line.alpha_s, 4.527, 0.20);
    WITHIN(line.beta_s, 0.0025, 0.05);
    CU_ASSERT_EQUAL(model_line_fit(bytes, stream, 8, &line), 0);
    WITHIN(line.alpha_s, 1.661, 0.25);
    WITHIN(line.beta_s, 0.0014, 0.15);
    CU_ASSERT(line.r2 > 0.8);
}

/* The same as the paper did it: to two digits. */
static void test_table_1_by_its_ends(void)
{
    const double bytes[] = {1, 32, 64, 512, 1024, 4096, 16384, 131072};
    const double datagram[] = {4.97248, 4.2199,   3.85209,  4.42586,
                               5.24203, 14.61778, 45.43572, 332.53938};
    const double stream[] = {1.59715, 1.47073,  1.54337,  1.61310,
                             1.98495, 10.20227, 20.08871, 184.47232};
    const double packing[] = {0.093182, 0.088342, 0.095959, 0.155628,
                              0.255457, 0.670895, 2.212407, 22.738652};
    struct model_line line;
    CU_ASSERT_EQUAL(model_line_fit_ends(bytes, datagram, 8, &line), 0);
    CU_ASSERT_DOUBLE_EQUAL(line.beta_s, 0.0025, 0.00005);
    WITHIN(line.alpha_s, 4.527, 0.20);
    CU_ASSERT_EQUAL(model_line_fit_ends(bytes, stream, 8, &line), 0);
    CU_ASSERT_DOUBLE_EQUAL(line.beta_s, 0.0014, 0.00005);
    CU_ASSERT_EQUAL(model_line_fit_ends(bytes, packing, 8, &line), 0);
    CU_ASSERT_DOUBLE_EQUAL(line.beta_s, 0.00017, 0.000005);
    CU_ASSERT_EQUAL(model_line_fit_ends(bytes, stream, 1, &line), -1);
}

/* Beside other programs a route seemed to be none, for its times fell with bytes. */
static void test_disturbed_times(void)
{
    const double bytes[] = {1024, 1, 262144, 2097152, 1048576};
    const double seconds[] = {11e-6, 10e-6, 900e-6, 150e-6, 400e-6};
    struct model_line line;
    CU_ASSERT_EQUAL(model_line_fit_ends(bytes, seconds, 5, &line), 0);
    WITHIN(line.alpha_s, 10e-6, 0.001);
    WITHIN(line.beta_s, 140e-6 / 2097151, 0.001);
    const double falling[] = {11e-6, 200e-6, 900e-6, 150e-6, 400e-6};
    CU_ASSERT_EQUAL(model_line_fit_ends(bytes, falling, 5, &line), -1);
    const double alike[] = {7, 7, 7, 7, 7};
    CU_ASSERT_EQUAL(model_line_fit_ends(alike, seconds, 5, &line), -1);
}

/* ---- The paper's equations ------------------------------------------------------------------ */

/* Section 3.1 with the constants of sections 2.3 and 3.1: T_mult + T_add = 6.741 us, alpha = 4.527
 * ms, beta = 0.00267 ms. N = 300 on 3 x 3. */
static void test_paper_matmul(void)
{
    const struct model_line line = {.alpha_s = 4.527e-3, .beta_s = 2.67e-6};
    struct model_time time = model_paper_matmul(300, 9, 4, 6.741e-6, &line);
    NEAR(time.computation_s, 27e6 / 9 * 6.741e-6);
    NEAR(time.communication_s, 3 * 4 * (4.527e-3 + 4 * 2.67e-6 * 100 * 100));
    NEAR(time.total_s, time.computation_s + time.communication_s);
    NEAR(model_paper_matmul(300, 1, 4, 6.741e-6, &line).communication_s, 0);
}

/* Section 3.2 by its sum over the levels, T_oper = 2.54 us. */
static void test_paper_sort(void)
{
    const struct model_line line = {.alpha_s = 1.661e-3, .beta_s = 1.57e-6};
    const double keys = 65536;
    double sum_s = 0;
    for (int i = 1; i <= 3; i++)
        sum_s += i * line.alpha_s + keys / (1 << i) * 4 * line.beta_s;
    struct model_time time = model_paper_sort(keys, 8, 4, 2.54e-6, &line);
    NEAR(time.communication_s, sum_s);
    NEAR(time.computation_s, 8192 * 13 * 2.54e-6);
}

static void test_paper_mandel(void)
{
    const struct model_line line = {.alpha_s = 1e-3, .beta_s = 1e-6};
    const struct model_strips strips = {.count = 10, .request_bytes = 0, .answer_bytes = 1000};
    struct model_time time = model_paper_mandel(8, 4, &strips, &line);
    NEAR(time.computation_s, 2);
    NEAR(time.communication_s, 10 * 3e-3);
}

/* ---- Playing -------------------------------------------------------------------------------- */

#define EVEN_HOST                                                                                  \
    {                                                                                              \
        .processors = 1, .share = 1, .madd_s = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9},               \
        .oper_s = 1e-8, .merge_s = 1e-9, .iteration_s = 1e-9                                       \
    }

static const struct model_host hosts[] = {EVEN_HOST, EVEN_HOST, EVEN_HOST, EVEN_HOST,
                                          EVEN_HOST, EVEN_HOST, EVEN_HOST, EVEN_HOST};

static struct model_machine machine_of(int count, double alpha_s, double beta_s)
{
    return (struct model_machine){.hosts = hosts,
                                  .host_count = count,
                                  .inside = {.alpha_s = 1e-6, .beta_s = 1e-10},
                                  .between = {.alpha_s = alpha_s, .beta_s = beta_s}};
}

static void test_play_of_a_chain(void)
{
    struct model_machine machine = machine_of(2, 0.5, 1e-3);
    const int host_of[] = {0, 1};
    struct play *play = play_create(&machine, host_of, 2);
    struct model_time time;
    int first = play_compute(play, 0, 2);
    int sent = play_send(play, 0, 1, 1000);
    int last = play_compute(play, 1, 3);
    play_after(play, sent, first);
    play_after(play, last, sent);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, sent), 3.5);
    NEAR(time.total_s, 6.5);
    NEAR(time.computation_s, 2.5);
    NEAR(time.communication_s, 0.75);
    NEAR(time.idle_s, 3.25);
    play_destroy(play);
}

/* Two messages out of one host take twice as long, whichever hosts they are for; two tasks share
 * their host's processor. */
static void test_play_shares(void)
{
    struct model_machine machine = machine_of(3, 0, 1e-3);
    const int host_of[] = {0, 1, 2, 0};
    struct play *play = play_create(&machine, host_of, 4);
    struct model_time time;
    int one = play_send(play, 0, 1, 1000), two = play_send(play, 0, 2, 2000);
    int half = play_compute(play, 0, 1), other = play_compute(play, 3, 1);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, one), 2);
    NEAR(play_end(play, two), 3);
    NEAR(play_end(play, half), 2);
    NEAR(play_end(play, other), 2);
    play_destroy(play);
}

/* What a task has to post waits until it has computed, and goes before it computes again. */
static void test_play_posts_between_computations(void)
{
    struct model_machine machine = machine_of(2, 0, 1e-3);
    const int host_of[] = {0, 1};
    struct play *play = play_create(&machine, host_of, 2);
    struct model_time time;
    int arrives = play_send(play, 1, 0, 1000), busy = play_compute(play, 0, 5);
    int busier = play_compute(play, 0, 5), posted = play_compute(play, 0, 0);
    int back = play_send(play, 0, 1, 1000);
    play_after(play, busier, busy);
    play_after(play, posted, arrives);
    play_after(play, back, posted);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, arrives), 1);
    NEAR(play_end(play, busy), 5);
    NEAR(play_end(play, back), 6);
    NEAR(play_end(play, busier), 10);
    play_destroy(play);
}

/* Others' tasks take their even part of the processors: beside one a task gets half of the only
 * one, and two get a third each; of four they leave three. */
static void test_play_beside_others(void)
{
    struct model_host hosts[3] = {{.processors = 1, .demand = 1},
                                  {.processors = 1, .demand = 1},
                                  {.processors = 4, .demand = 1}};
    struct model_machine machine = {.hosts = hosts, .host_count = 3};
    const int host_of[] = {0, 1, 1, 2, 2, 2};
    struct play *play = play_create(&machine, host_of, 6);
    struct model_time time;
    int of[6];
    for (int i = 0; i < 6; i++)
        of[i] = play_compute(play, i, 1);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, of[0]), 2);
    NEAR(play_end(play, of[1]), 3);
    NEAR(play_end(play, of[5]), 1);
    play_destroy(play);
}

/* Of a link of which others use a fifth there are four; messages the other way have all of it. */
static void test_play_on_used_links(void)
{
    struct model_host hosts[3] = {
        {.processors = 1, .link_out = 0.2}, {.processors = 1, .link_in = 0.5}, {.processors = 1}};
    struct model_machine machine = {.hosts = hosts, .host_count = 3, .between = {.beta_s = 1e-3}};
    const int host_of[] = {0, 1, 2};
    struct play *play = play_create(&machine, host_of, 3);
    struct model_time time;
    int slow = play_send(play, 0, 2, 800), back = play_send(play, 2, 0, 800);
    int slower = play_send(play, 0, 1, 800);
    play_after(play, slower, slow);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, back), 0.8);
    NEAR(play_end(play, slow), 1);
    NEAR(play_end(play, slower), 2.6);
    play_destroy(play);
}

/* What two hosts that send to each other get at once. */
static void test_play_of_busy_hosts(void)
{
    struct model_machine machine = machine_of(2, 0, 1e-3);
    machine.load.busy_s = 2e-3;
    const int host_of[] = {0, 1};
    struct play *play = play_create(&machine, host_of, 2);
    struct model_time time;
    int sent = play_send(play, 0, 1, 2000), back = play_send(play, 1, 0, 1000);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, back), 2);
    NEAR(play_end(play, sent), 3);
    play_destroy(play);
}

/* Messages that share a link unevenly take as long together. The draws are those of the first two
 * multiples of the golden ratio, 0.618 and 0.236, and the logarithm's deviation is 1: paces of
 * exp(sqrt(3) / pi ln(0.618 / 0.382) + 1 / 2) = 2.150 and, for 0.236, 0.863. */
static void test_play_of_uneven_messages(void)
{
    struct model_machine machine = machine_of(3, 0, 1e-3);
    machine.load.spread = sqrt(exp(1) - 1);
    const int host_of[] = {0, 1, 2};
    struct play *play = play_create(&machine, host_of, 3);
    struct model_time time;
    int one = play_send(play, 0, 1, 1000), two = play_send(play, 0, 2, 1000);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    CU_ASSERT_DOUBLE_EQUAL(play_end(play, one), 1 / (2.1496 / (2.1496 + 0.8630)), 1e-3);
    NEAR(play_end(play, two), 2);
    play_destroy(play);
}

/* On links of their own the slow one is slow, as long as there are two. */
static void test_play_of_a_slow_message(void)
{
    struct model_machine machine = machine_of(4, 0, 1e-3);
    machine.load.spread = sqrt(exp(1) - 1);
    const int host_of[] = {0, 1, 2, 3};
    struct play *play = play_create(&machine, host_of, 4);
    struct model_time time;
    int fast = play_send(play, 0, 1, 1000), slow = play_send(play, 2, 3, 1000);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, fast), 1);
    CU_ASSERT_DOUBLE_EQUAL(play_end(play, slow), 1 + (1 - 0.8630), 1e-3);
    play_destroy(play);
}

/* On a medium others have what a slow one leaves: all is through when it was before. */
static void test_play_of_an_uneven_medium(void)
{
    struct model_machine machine = machine_of(4, 0, 1e-3);
    machine.load = (struct model_load){
        .busy_s = 2e-3, .all_busy_s = 4e-3, .all_hosts = 4, .spread = 0.1, .all_spread = 0.4};
    const int host_of[] = {0, 1, 2, 3};
    struct play *play = play_create(&machine, host_of, 4);
    struct model_time time;
    int first = 0, sent[8];
    for (int i = 0; i < 8; i++)
        sent[i] = play_send(play, i % 4, (i + 1 + i / 4) % 4, 1000);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    for (int i = 0; i < 8; i++)
        first += play_end(play, sent[i]) < 7.5;
    CU_ASSERT(first >= 2 && first <= 7);
    WITHIN(time.total_s, 8, 0.01);
    play_destroy(play);
}

/* On a medium that all share each message has its part, whoever sends it. */
static void test_play_of_a_shared_medium(void)
{
    struct model_machine machine = machine_of(4, 0, 1e-3);
    machine.load = (struct model_load){.busy_s = 2e-3, .all_busy_s = 4e-3, .all_hosts = 4};
    const int host_of[] = {0, 1, 2, 3};
    struct play *play = play_create(&machine, host_of, 4);
    struct model_time time;
    int sent[8];
    for (int i = 0; i < 8; i++)
        sent[i] = play_send(play, i % 4, (i + 1 + i / 4) % 4, 1000);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    for (int i = 0; i < 8; i++)
        NEAR(play_end(play, sent[i]), 8);
    play_destroy(play);
}

/* Where hosts share a machine unseen, messages take more of those that compute the more they are.
 */
static void test_play_drag_of_all(void)
{
    struct model_machine machine = machine_of(4, 0, 1e-3);
    machine.load = (struct model_load){.drag_s = 0.2e-3, .all_drag_s = 0.6e-3, .all_hosts = 4};
    const int host_of[] = {0, 1, 2, 3};
    for (int computing = 2; computing <= 4; computing++) {
        struct play *play = play_create(&machine, host_of, 4);
        struct model_time time;
        int first = PLAY_NONE;
        play_send(play, 0, 1, 10000);
        for (int i = 0; i < computing; i++) {
            int made = play_compute(play, i, i == 0 ? 1 : 9);
            first = i == 0 ? made : first;
        }
        CU_ASSERT_EQUAL(play_run(play, &time), 0);
        NEAR(play_end(play, first), 1 / (1 - 0.2 * (computing - 1)));
        play_destroy(play);
    }
}

/* Messages within a host take its processors, too, at both ends. */
static void test_play_drag_inside(void)
{
    struct model_machine machine = machine_of(1, 0, 0);
    machine.inside = (struct model_line){.beta_s = 1e-3};
    machine.inside_drag_s = 0.25e-3;
    const int host_of[] = {0, 0, 0};
    struct play *play = play_create(&machine, host_of, 3);
    struct model_time time;
    play_send(play, 0, 1, 2000);
    int slow = play_compute(play, 2, 2);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, slow), 3);
    play_destroy(play);
}

/* What messages take of a processor, computations lack. */
static void test_play_drag(void)
{
    struct model_machine machine = machine_of(2, 0, 1e-3);
    machine.load.drag_s = 0.5e-3;
    const int host_of[] = {0, 1};
    struct play *play = play_create(&machine, host_of, 2);
    struct model_time time;
    play_send(play, 0, 1, 2000);
    int slow = play_compute(play, 0, 2);
    CU_ASSERT_EQUAL(play_run(play, &time), 0);
    NEAR(play_end(play, slow), 3);
    play_destroy(play);
}

static void test_play_of_a_circle(void)
{
    struct model_machine machine = machine_of(1, 0, 0);
    const int host_of[] = {0};
    struct play *play = play_create(&machine, host_of, 1);
    struct model_time time;
    int one = play_compute(play, 0, 1), two = play_compute(play, 0, 1);
    play_after(play, one, two);
    play_after(play, two, one);
    CU_ASSERT_EQUAL(play_run(play, &time), -1);
    play_destroy(play);
}

/* ---- matmul --------------------------------------------------------------------------------- */

static void test_grid_is_that_of_the_program(void)
{
    for (int count = 1; count <= 64; count++) {
        int q = grid_default(count), theirs[256], ours[256];
        CU_ASSERT_EQUAL(model_grid(count), q);
        grid_place(q, count, theirs);
        model_grid_place(q, count, ours);
        int differ = 0;
        for (int i = 0; i < q * q; i++)
            differ += theirs[i] != ours[i];
        CU_ASSERT_EQUAL(differ, 0);
    }
}

/* Where messages cost nothing, T_comp is the paper's. */
static void test_matmul_without_messages(void)
{
    struct model_machine machine = machine_of(4, 0, 0);
    const struct model_line free_of_charge = {0};
    machine.inside = free_of_charge;
    struct model_time time;
    CU_ASSERT_EQUAL(model_matmul(&machine, 2048, 2, &time), 0);
    struct model_time paper = model_paper_matmul(2048, 4, 8, 1e-9, &free_of_charge);
    WITHIN(time.total_s, paper.total_s, 1e-6);
    WITHIN(time.computation_s, paper.computation_s, 1e-6);
}

/* Messages go while a task multiplies: the total is at least the longer of both and below the sum
 * of the paper's. */
static void test_matmul_overlaps(void)
{
    const struct model_line line = {.alpha_s = 1e-4, .beta_s = 80e-9};
    struct model_machine machine = machine_of(4, line.alpha_s, line.beta_s);
    struct model_time time;
    CU_ASSERT_EQUAL(model_matmul(&machine, 4096, 2, &time), 0);
    struct model_time paper = model_paper_matmul(4096, 4, 8, 1e-9, &line);
    double volume_s = 2 * 8.0 * 2048 * 2048 * line.beta_s; /* a panel of A and one of B a host */
    CU_ASSERT(time.total_s >= time.computation_s && time.total_s >= volume_s);
    CU_ASSERT(time.total_s < paper.total_s);
    NEAR(time.total_s, time.computation_s + time.communication_s + time.idle_s);
}

static void test_matmul_of_tasks_on_shared_hosts(void)
{
    struct model_machine machine = machine_of(1, 0, 0);
    struct model_time time;
    CU_ASSERT_EQUAL(model_matmul(&machine, 1024, 2, &time), 0);
    WITHIN(time.total_s, 1024.0 * 1024 * 1024 * 1e-9, 0.02);
}

static void test_madd_between_blocks(void)
{
    const struct model_host host = {.madd_s = {5, 4, 3, 2, 1.5, 1}};
    NEAR(model_madd(&host, 10), 5);
    NEAR(model_madd(&host, 64), 5);
    NEAR(model_madd(&host, 64 * sqrt(2)), 4.5);
    NEAR(model_madd(&host, 1024), 1.5);
    NEAR(model_madd(&host, 2048), 1);
    NEAR(model_madd(&host, 1e6), 1);
}

/* ---- sort ----------------------------------------------------------------------------------- */

/* ---- In two levels, and out of a bag --------------------------------------------------------- */

/* Without time for messages each task multiplies q times. */
static void test_hierarchical_without_messages(void)
{
    struct model_machine machine = machine_of(4, 0, 0);
    struct model_time time;
    machine.inside = (struct model_line){0};
    CU_ASSERT_EQUAL(model_matmul_hierarchical(&machine, 1024, 4, 2, &time), 0);
    CU_ASSERT_EQUAL(time.tasks, 16);
    NEAR(time.total_s, 1024.0 * 1024 * 1024 * 1e-9 / 4);
}

/* So many hosts that take no time for arithmetic, and 1 us for a byte. */
static struct model_machine machine_of_quick(struct model_host *many, int count)
{
    for (int i = 0; i < count; i++) {
        many[i] = hosts[0];
        for (int k = 0; k < MODEL_BLOCKS; k++)
            many[i].madd_s[k] = 1e-18;
    }
    struct model_machine machine = machine_of(count, 0, 1e-6);
    machine.hosts = many;
    return machine;
}

/* Nothing goes on while blocks are under way: on 16 hosts with no time for arithmetic a task sends
 * 2 blocks of A and one of B, between the groups and twice within its own, on links of their own.
 */
static void test_hierarchical_waits(void)
{
    struct model_host many[16];
    struct model_machine machine = machine_of_quick(many, 16);
    struct model_time time;
    CU_ASSERT_EQUAL(model_matmul_hierarchical(&machine, 400, 4, 2, &time), 0);
    double block_s = 100 * 100 * 8e-6;
    /* outer steps: a pipe, two inner pipes and rolls, a roll */
    WITHIN(time.total_s, 2 * (1 + 2 * 2 + 1) * block_s, 0.01);
}

/* With groups of one task: q times a pipe and a roll. */
static void test_phases_wait(void)
{
    struct model_host many[4];
    struct model_machine machine = machine_of_quick(many, 4);
    struct model_time time;
    CU_ASSERT_EQUAL(model_matmul_hierarchical(&machine, 200, 2, 2, &time), 0);
    CU_ASSERT_EQUAL(time.tasks, 4);
    WITHIN(time.total_s, 2 * (1 + 1) * 100 * 100 * 8e-6, 0.01);
}

static void test_bag_divides(void)
{
    struct model_machine machine = machine_of(4, 0, 0);
    struct model_time time;
    machine.inside = (struct model_line){0};
    CU_ASSERT_EQUAL(model_matmul_bag(&machine, 1200, 12, false, 4, &time), 0);
    CU_ASSERT_EQUAL(time.tasks, 4);
    NEAR(time.total_s, 1200.0 * 1200 * 1200 * 1e-9 / 4);
    NEAR(time.computation_s, time.total_s);
}

/* One of two workers is far from the coordinator: no block comes to it twice while there is room
 * for it, so what it had to fetch is at most all eight. */
static void test_bag_fetches(void)
{
    struct model_machine machine = machine_of(2, 0, 1e-6);
    struct model_time none, fetched;
    double block_s = 100 * 100 * 8e-6;
    CU_ASSERT_EQUAL(model_matmul_bag(&machine, 200, 2, false, 2, &none), 0);
    CU_ASSERT_EQUAL(model_matmul_bag(&machine, 200, 2, true, 2, &fetched), 0);
    CU_ASSERT(none.total_s >= block_s);
    CU_ASSERT(fetched.total_s >= 4 * block_s);
    CU_ASSERT(fetched.total_s <= 12 * block_s);
}

/* Messages to one worker follow each other. The coordinator's own host has two of six parts at no
 * cost; two parts for each other worker go out by 2 q and 4 q, the link being shared by two, and
 * come back by 4 q and 6 q. Then the same with ranges. */
static void test_sort_bag_waits_for_links(void)
{
    struct model_host idle[3];
    struct model_machine machine = machine_of(3, 0, 1e-6);
    struct model_time time;
    for (int i = 0; i < 3; i++) {
        idle[i] = hosts[0];
        idle[i].oper_s = idle[i].merge_s = 1e-18;
    }
    machine.hosts = idle;
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 6 << 16, 3, &time), 0);
    double part_s = (16 + 8 * 65536) * 1e-6;
    WITHIN(time.total_s, 2 * 6 * part_s, 0.01);
}

/* A faster host takes more of it. */
static void test_bag_balances(void)
{
    struct model_host unequal[] = {EVEN_HOST, EVEN_HOST};
    struct model_machine machine = machine_of(2, 0, 0);
    struct model_time time;
    for (int k = 0; k < MODEL_BLOCKS; k++)
        unequal[1].madd_s[k] = 3e-9;
    machine.hosts = unequal;
    machine.inside = (struct model_line){0};
    CU_ASSERT_EQUAL(model_matmul_bag(&machine, 1200, 12, false, 2, &time), 0);
    WITHIN(time.total_s, 1.728 * 3 / 4, 0.06); /* it holds its last two items to the end */
}

/* Four sorts of a quarter by two, then four ranges, each of four runs that are merged in two
 * rounds.
 */
static void test_sort_bag(void)
{
    struct model_machine machine = machine_of(2, 0, 0);
    struct model_time time;
    double keys = 1 << 20, quarter = keys / 4;
    machine.inside = (struct model_line){0};
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 20, 2, &time), 0);
    NEAR(time.total_s, 2 * quarter * 18 * 1e-8 + 2 * (quarter * 2 * 1e-9));
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 0, 2, &time), 0);
    NEAR(time.total_s, 0);
}

static void test_sort_alone(void)
{
    struct model_machine machine = machine_of(1, 0, 0);
    struct model_time time;
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 20, 1, &time), 0);
    WITHIN(time.total_s, (1 << 20) * 20 * 1e-8, 1e-9);
    NEAR(time.communication_s, 0);
}

/* Two tasks: half the keys go, both sort, half come back, all are merged. */
static void test_sort_of_two(void)
{
    struct model_machine machine = machine_of(2, 1e-3, 1e-7);
    struct model_time time;
    double half = 1 << 19, message_s = 1e-3 + 1e-7 * 8 * half;
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 20, 2, &time), 0);
    NEAR(time.total_s, 2 * message_s + half * 19 * 1e-8 + 2 * half * 1e-9);
}

/* The root's shares leave side by side: the last of them arrives when all have left its link. */
static void test_sort_of_eight_shares_the_root_link(void)
{
    struct model_machine machine = machine_of(8, 0, 1e-7);
    struct model_time time;
    double all_s = 1e-7 * 8 * (1 << 20);
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 20, 8, &time), 0);
    double own_s = (1 << 17) * 17 * 1e-8, merges_s = (0.25 + 0.5 + 1) * (1 << 20) * 1e-9;
    WITHIN(time.total_s, (11 + 7) / 8.0 * all_s + own_s + merges_s, 0.01);
}

/* ---- Mandelbrot ----------------------------------------------------------------------------- */

static const struct model_view view = {-0.65, 0, 1, 512, 384, 500};

static int mandel(const struct model_machine *machine, const struct model_view *picture, int tasks,
                  int strip, struct model_time *time)
{
    double *rows = model_mandel_rows(picture);
    int result = rows != NULL ? model_mandel(machine, picture, rows, tasks, strip, time) : -1;
    free(rows);
    return result;
}

static void test_mandel_divides(void)
{
    struct model_machine one = machine_of(1, 1e-6, 1e-9), eight = machine_of(8, 1e-6, 1e-9);
    struct model_time alone, shared;
    CU_ASSERT_EQUAL(mandel(&one, &view, 1, 0, &alone), 0);
    CU_ASSERT_EQUAL(mandel(&eight, &view, 8, 0, &shared), 0);
    WITHIN(shared.computation_s, alone.computation_s / 8, 1e-6);
    WITHIN(shared.total_s, alone.total_s / 8, 0.05);
    NEAR(shared.total_s, shared.computation_s + shared.communication_s + shared.idle_s);
}

/* Inside the set every pixel takes all iterations. */
static void test_mandel_counts(void)
{
    struct model_machine machine = machine_of(1, 0, 0);
    const struct model_line nothing = {0};
    const struct model_view inside = {0, 0, 1000, 64, 40, 300};
    struct model_time time;
    machine.inside = nothing;
    CU_ASSERT_EQUAL(mandel(&machine, &inside, 1, 0, &time), 0);
    WITHIN(time.total_s, 64 * 40 * 300 * 1e-9, 1e-6);
}

/* Strips that all come at once wait for the master's link: 16 strips, two a worker, and one worker
 * is on the master's host. */
static void test_mandel_meets_the_masters_link(void)
{
    struct model_machine machine = machine_of(8, 0, 1e-3);
    struct model_time time;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 8, 24, &time), 0);
    WITHIN(time.total_s, 14.0 / 16 * 2 * 512 * 384 * 1e-3, 0.01);
}

/* Where others have an even part of half of the hosts, these draw half as much. */
static void test_mandel_beside_others(void)
{
    struct model_host some[] = {EVEN_HOST, EVEN_HOST, EVEN_HOST, EVEN_HOST};
    struct model_machine machine = machine_of(4, 1e-6, 1e-9);
    struct model_time rest, loaded;
    machine.hosts = some;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 4, 0, &rest), 0);
    some[1].demand = some[3].demand = some[1].processors;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 4, 0, &loaded), 0);
    WITHIN(loaded.total_s, rest.total_s * 4 / 3, 0.1); /* the last strips are not even */
    machine.together = 4;
    some[1].demand = 4;
    some[3].demand = 0;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 4, 0, &loaded), 0);
    CU_ASSERT(loaded.total_s >= rest.total_s * 2 * 0.95);
}

/* ---- Packing --------------------------------------------------------------------------------- */

/* Seconds a byte, by way, of the types that the programs pack. */
static struct model_packing packing_of(double pack_s, double unpack_s)
{
    struct model_packing packing = {0};
    for (int type = 0; type < MODEL_PACKING_TYPES; type++) {
        packing.lines[type][MODEL_PACKING_PACK].beta_s = pack_s;
        packing.lines[type][MODEL_PACKING_UNPACK].beta_s = unpack_s;
    }
    return packing;
}

/* One worker draws and packs strip after strip; the master unpacks one while it draws the next. */
static void test_mandel_packs(void)
{
    const struct model_packing packing = packing_of(1e-6, 2e-6);
    const struct model_packing *const each[] = {&packing};
    struct model_machine machine = machine_of(1, 0, 0);
    struct model_time without, with;
    machine.inside = (struct model_line){0};
    CU_ASSERT_EQUAL(mandel(&machine, &view, 1, 48, &without), 0);
    machine.packing = each;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 1, 48, &with), 0);
    double strip = 2.0 * 512 * 48; /* bytes */
    NEAR(with.computation_s, without.computation_s);
    NEAR(with.communication_s - without.communication_s, 8 * strip * 1e-6);
    CU_ASSERT(with.total_s >= without.total_s + 8 * strip * 1e-6 + strip * 2e-6 - 1e-9);
    CU_ASSERT(with.total_s <= without.total_s + 8 * strip * (1e-6 + 2e-6) + 1e-9);
}

/* One worker, one part after the other, then the merges of both ranges: the keys of a part are
 * packed and unpacked both ways; those of a range leave in place. */
static void test_sort_bag_packs(void)
{
    const struct model_packing packing = packing_of(1e-7, 3e-7);
    const struct model_packing *const each[] = {&packing, &packing};
    struct model_machine machine = machine_of(1, 0, 0);
    struct model_time without, with;
    machine.inside = (struct model_line){0};
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 16, 1, &without), 0);
    machine.packing = each;
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 16, 1, &with), 0);
    double all = 8.0 * (1 << 16), packed = 3 * all * 1e-7, unpacked = 4 * all * 3e-7;
    NEAR(with.computation_s, without.computation_s);
    CU_ASSERT(with.total_s > without.total_s + packed / 2);
    CU_ASSERT(with.total_s <= without.total_s + packed + unpacked + 1e-9);
    NEAR(with.total_s, with.computation_s + with.communication_s + with.idle_s);
}

/* Blocks and products leave in place; the coordinator copies products out, beside the worker. */
static void test_matmul_packs_products_alone(void)
{
    const struct model_packing packing = packing_of(1, 1e-12);
    const struct model_packing *const each[] = {&packing, &packing};
    struct model_machine machine = machine_of(2, 0, 0);
    struct model_time without, with;
    CU_ASSERT_EQUAL(model_matmul(&machine, 400, 2, &without), 0);
    machine.packing = each;
    CU_ASSERT_EQUAL(model_matmul(&machine, 400, 2, &with), 0);
    NEAR(with.total_s, without.total_s);
    CU_ASSERT_EQUAL(model_matmul_bag(&machine, 400, 4, true, 2, &with), 0);
    CU_ASSERT(with.total_s < 1);
}

static void test_packing_that_is_not_known(void)
{
    const struct model_packing *const none[] = {NULL, NULL};
    struct model_packing packing = packing_of(1e-9, 0);
    const struct model_packing *const each[] = {&packing};
    struct model_machine machine = machine_of(1, 0, 0);
    packing.lines[MODEL_PACKING_INT64][MODEL_PACKING_PACK].alpha_s = 1e-6;
    NEAR(model_packing_s(&machine, 0, MODEL_PACKING_INT64, MODEL_PACKING_PACK, 8), 0);
    machine.packing = none;
    NEAR(model_packing_s(&machine, 0, MODEL_PACKING_INT64, MODEL_PACKING_PACK, 8), 0);
    machine.packing = each;
    NEAR(1e3 * model_packing_s(&machine, 0, MODEL_PACKING_INT64, MODEL_PACKING_PACK, 1000), 2e-3);
    NEAR(model_packing_s(&machine, 0, MODEL_PACKING_INT64, MODEL_PACKING_UNPACK, 1000), 0);
}

/* ---- Byte orders ------------------------------------------------------------------------------
 */

/* To turn an array and to copy it takes 5e-7 a byte, to copy it alone 1e-7. */
static struct model_packing converting(void)
{
    struct model_packing packing = packing_of(0, 1e-7);
    for (int type = 0; type < MODEL_PACKING_TYPES; type++)
        packing.lines[type][MODEL_PACKING_CONVERT].beta_s = 5e-7;
    return packing;
}

static const enum model_order same[] = {MODEL_ORDER_BIG, MODEL_ORDER_BIG},
                              different[] = {MODEL_ORDER_LITTLE, MODEL_ORDER_BIG},
                              half_known[] = {MODEL_ORDER_LITTLE, MODEL_ORDER_UNKNOWN};

static void test_convert_where_orders_differ(void)
{
    const struct model_packing packing = converting();
    const struct model_packing *const each[] = {&packing, &packing};
    struct model_machine machine = machine_of(2, 0, 0);
    machine.packing = each;
    NEAR(model_convert_s(&machine, 0, 1, MODEL_PACKING_INT64, 1000), 0);
    machine.order = same;
    NEAR(model_convert_s(&machine, 0, 1, MODEL_PACKING_INT64, 1000), 0);
    machine.order = half_known;
    NEAR(model_convert_s(&machine, 0, 1, MODEL_PACKING_INT64, 1000), 0);
    machine.order = different;
    NEAR(1e3 * model_convert_s(&machine, 0, 1, MODEL_PACKING_INT64, 1000), 0.4);
    NEAR(1e3 * model_convert_s(&machine, 1, 0, MODEL_PACKING_INT64, 1000), 0.4);
    machine.packing = NULL;
    NEAR(model_convert_s(&machine, 0, 1, MODEL_PACKING_INT64, 1000), 0);
}

/* Both halves are turned, by who receives them, before he goes on. */
static void test_sort_converts(void)
{
    const struct model_packing packing = converting();
    const struct model_packing *const each[] = {&packing, &packing};
    struct model_machine machine = machine_of(2, 1e-3, 1e-7);
    struct model_time without, with;
    double half = 8.0 * (1 << 19);
    machine.packing = each;
    machine.order = same;
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 20, 2, &without), 0);
    machine.order = different;
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 20, 2, &with), 0);
    NEAR(with.total_s, without.total_s + 2 * half * 4e-7);
    NEAR(with.computation_s, without.computation_s);
    NEAR(with.communication_s - without.communication_s, half * 4e-7); /* the mean of two tasks */
}

/* Pictures are turned by the master alone, by a worker nothing. */
static void test_mandel_converts(void)
{
    struct model_packing packings[] = {converting(), packing_of(0, 1e-7)};
    const struct model_packing *const each[] = {&packings[0], &packings[1]};
    struct model_machine machine = machine_of(2, 0, 0);
    struct model_time without, with, workers;
    machine.packing = each;
    machine.order = same;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 2, 0, &without), 0);
    machine.order = different;
    CU_ASSERT_EQUAL(mandel(&machine, &view, 2, 0, &with), 0);
    CU_ASSERT(with.total_s > without.total_s);
    packings[1] = converting();
    CU_ASSERT_EQUAL(mandel(&machine, &view, 2, 0, &workers), 0);
    NEAR(workers.total_s, with.total_s);
}

/* Every form that exchanges numbers takes longer, and none that has one order. */
static void test_all_forms_convert(void)
{
    const struct model_packing packing = converting();
    const struct model_packing *const each[] = {&packing, &packing};
    struct model_machine machine = machine_of(2, 0, 0);
    struct model_time without[4], with[4];
    machine.packing = each;
    for (int turn = 0; turn < 2; turn++) {
        struct model_time *time = turn ? with : without;
        machine.order = turn ? different : same;
        CU_ASSERT_EQUAL(model_matmul(&machine, 400, 2, &time[0]), 0);
        CU_ASSERT_EQUAL(model_matmul_hierarchical(&machine, 400, 2, 2, &time[1]), 0);
        CU_ASSERT_EQUAL(model_matmul_bag(&machine, 400, 4, true, 2, &time[2]), 0);
        CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 16, 2, &time[3]), 0);
    }
    for (int i = 0; i < 4; i++)
        CU_ASSERT(with[i].total_s > without[i].total_s);
}

/* ---- New memory --------------------------------------------------------------------------------
 */

/* One worker, two parts, two ranges of the two: messages of parts are made twice as they leave and
 * four times where they come, of ranges when the worker gets them and sends them back; keys are new
 * once, and half of them once more. Keys of ranges leave in place. A stream has what is sent in new
 * memory, too. */
static void test_sort_bag_touches(void)
{
    struct model_host slow = EVEN_HOST;
    struct model_machine machine = machine_of(1, 0, 0);
    struct model_time without, with;
    machine.inside = (struct model_line){0};
    machine.hosts = &slow;
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 16, 1, &without), 0);
    slow.touch_s = 1e-8;
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 16, 1, &with), 0);
    double half = 8.0 * (1 << 15), worker = (4 + 4 + 1 + 0.5) * half, coordinator = (2 + 2) * half;
    NEAR(with.computation_s, without.computation_s);
    CU_ASSERT(with.total_s > without.total_s + worker * 1e-8);
    CU_ASSERT(with.total_s <= without.total_s + (worker + coordinator) * 1e-8 + 1e-9);
    machine.inside_streams = true;
    CU_ASSERT_EQUAL(model_sort_bag(&machine, 1 << 16, 1, &without), 0);
    CU_ASSERT(without.total_s > with.total_s + 4 * half * 1e-8);
    CU_ASSERT(without.total_s <= with.total_s + 8 * (half + 16) * 1e-8 + 1e-9);
}

/* Tasks of the tree wrote to their memory before. */
static void test_sort_touches_nothing(void)
{
    struct model_host slow[] = {EVEN_HOST, EVEN_HOST};
    struct model_machine machine = machine_of(2, 1e-3, 1e-7);
    struct model_time without, with;
    machine.hosts = slow;
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 16, 2, &without), 0);
    slow[0].touch_s = slow[1].touch_s = 1e-8;
    CU_ASSERT_EQUAL(model_sort(&machine, 1 << 16, 2, &with), 0);
    NEAR(with.total_s, without.total_s);
}

/* ---- How many hosts -------------------------------------------------------------------------- */

static void test_best_of_linear_speedup(void)
{
    const int counts[] = {1, 2, 4, 8};
    const double total_s[] = {8, 4, 2, 1};
    struct model_best best = model_best(counts, total_s, 4, 0.5);
    CU_ASSERT_EQUAL(best.break_even, 3);
    CU_ASSERT_EQUAL(best.efficient, 3);
}

/* 8 to 4.2 to 3.2 to 3.1 to 3.5: the slopes are 0.95, 0.48, 0.06 and below 0. */
static void test_best_where_the_curve_flattens(void)
{
    const int counts[] = {1, 2, 4, 8, 16};
    const double total_s[] = {8, 4.2, 3.2, 3.1, 3.5};
    struct model_best best = model_best(counts, total_s, 5, 0.3);
    CU_ASSERT_EQUAL(best.break_even, 3);
    CU_ASSERT_EQUAL(best.efficient, 2);
    CU_ASSERT_EQUAL(model_best(counts, total_s, 5, 0.6).efficient, 1);
    CU_ASSERT_EQUAL(model_best(counts, total_s, 5, 0.01).efficient, 3);
}

static void test_best_when_more_is_worse(void)
{
    const int counts[] = {1, 2, 3};
    const double total_s[] = {1, 2, 3};
    struct model_best best = model_best(counts, total_s, 3, 0.3);
    CU_ASSERT_EQUAL(best.break_even, 0);
    CU_ASSERT_EQUAL(best.efficient, 0);
}

/* A number of hosts that suits badly is not where the curve ends. */
static void test_best_passes_a_bad_number(void)
{
    const int counts[] = {1, 2, 3, 4};
    const double total_s[] = {8, 4, 4.5, 2};
    CU_ASSERT_EQUAL(model_best(counts, total_s, 4, 0.5).efficient, 3);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"line", test_line},
        {"line of noisy points", test_line_of_noisy_points},
        {"no line", test_no_line},
        {"Table 1", test_table_1},
        {"Table 1 by its ends", test_table_1_by_its_ends},
        {"disturbed times", test_disturbed_times},
        {"the paper's matmul", test_paper_matmul},
        {"the paper's sort", test_paper_sort},
        {"the paper's Mandelbrot", test_paper_mandel},
        {"play of a chain", test_play_of_a_chain},
        {"play shares links and processors", test_play_shares},
        {"play posts between computations", test_play_posts_between_computations},
        {"play of busy hosts", test_play_of_busy_hosts},
        {"play beside others' tasks", test_play_beside_others},
        {"play on links that others use", test_play_on_used_links},
        {"play of messages that take processor time", test_play_drag},
        {"play of uneven messages", test_play_of_uneven_messages},
        {"play of a slow message", test_play_of_a_slow_message},
        {"play of an uneven medium", test_play_of_an_uneven_medium},
        {"play of a shared medium", test_play_of_a_shared_medium},
        {"play of messages that take more where all compute", test_play_drag_of_all},
        {"play of messages within a host", test_play_drag_inside},
        {"play of a circle", test_play_of_a_circle},
        {"grid is that of the program", test_grid_is_that_of_the_program},
        {"matmul without messages", test_matmul_without_messages},
        {"matmul overlaps", test_matmul_overlaps},
        {"matmul of tasks on shared hosts", test_matmul_of_tasks_on_shared_hosts},
        {"T_mult + T_add between blocks", test_madd_between_blocks},
        {"two levels without messages", test_hierarchical_without_messages},
        {"two levels wait for messages", test_hierarchical_waits},
        {"phases wait for messages", test_phases_wait},
        {"a bag divides", test_bag_divides},
        {"a bag's blocks are fetched", test_bag_fetches},
        {"a bag balances", test_bag_balances},
        {"sort out of a bag", test_sort_bag},
        {"sort out of a bag waits for links", test_sort_bag_waits_for_links},
        {"sort alone", test_sort_alone},
        {"sort of two", test_sort_of_two},
        {"sort of eight shares the root's link", test_sort_of_eight_shares_the_root_link},
        {"Mandelbrot divides", test_mandel_divides},
        {"Mandelbrot counts", test_mandel_counts},
        {"Mandelbrot meets the master's link", test_mandel_meets_the_masters_link},
        {"Mandelbrot beside others' tasks", test_mandel_beside_others},
        {"Mandelbrot packs", test_mandel_packs},
        {"sort out of a bag packs", test_sort_bag_packs},
        {"matmul packs its products alone", test_matmul_packs_products_alone},
        {"packing that is not known", test_packing_that_is_not_known},
        {"conversion where orders differ", test_convert_where_orders_differ},
        {"sort converts", test_sort_converts},
        {"mandel converts", test_mandel_converts},
        {"all forms convert", test_all_forms_convert},
        {"sort out of a bag touches new memory", test_sort_bag_touches},
        {"sort of a tree touches none", test_sort_touches_nothing},
        {"best of linear speed-up", test_best_of_linear_speedup},
        {"best where the curve flattens", test_best_where_the_curve_flattens},
        {"best when more is worse", test_best_when_more_is_worse},
        {"best passes a bad number", test_best_passes_a_bad_number},
    };
    return covey_test_main("model", cases, sizeof cases / sizeof cases[0]);
}
