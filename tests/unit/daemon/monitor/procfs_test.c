/* links: daemon/monitor/procfs.c daemon/monitor/sample.c daemon/monitor/nic.c daemon/base/cgroup.c proto/model/figure.c proto/model/task_figure.c proto/wire/control.c proto/contention/contention.c proto/wire/contention_config.c proto/wire/address.c proto/model/counter_help.c proto/wire/cursor.c -lm */
/*
 * procfs_test.c - the texts of /proc as kernels of several years write them, and as they should not
 * be; what two samples say; figures on the wire.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/monitor/nic.h"
#include "daemon/monitor/sample.h"
#include "proto/model/counter_help.h"
#include "proto/model/task_figure.h"
#include "tests/unit/runner.h"

#define NEAR 1e-9

static void stat_of_today(void)
{
    struct procfs_stat s;
    const char *text = "cpu  100 10 50 1000 200 5 35 7 3 1\n"
                       "cpu0 100 10 50 1000 200 5 35 7 3 1\n"
                       "intr 4321 1 2 3\nctxt 8765\nbtime 1\nprocesses 99\n"
                       "procs_running 6\nprocs_blocked 0\n";
    CU_ASSERT_TRUE(procfs_stat(text, &s));
    CU_ASSERT_EQUAL(s.busy, 100 + 10 + 50 + 5 + 35 + 7);
    CU_ASSERT_EQUAL(s.total, 100 + 10 + 50 + 1000 + 200 + 5 + 35 + 7);
    CU_ASSERT_EQUAL(s.interrupting, 5 + 35);
    CU_ASSERT_EQUAL(s.interrupts, 4321);
    CU_ASSERT_EQUAL(s.switches, 8765);
    CU_ASSERT_EQUAL(s.running, 6);
    CU_ASSERT_TRUE(s.has_interrupts && s.has_switches && s.has_running);
}

static void stat_that_is_odd(void)
{
    struct procfs_stat s = {.busy = 77};
    static const char *const bad[] = {"",           "cpu",      "cpu\n",
                                      "cpu  x y\n", "cpuset",   "cpu0 1 2 3\n",
                                      "cpu -1 2 3", "intr 5\n", "cpu  0 0 0 0\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(procfs_stat(bad[i], &s));
    CU_ASSERT_EQUAL(s.busy, 77);
    CU_ASSERT_TRUE(procfs_stat("cpu  3 4 5 6", &s)); /* as Linux 2.4 wrote it, cut off */
    CU_ASSERT_EQUAL(s.busy, 12);
    CU_ASSERT_FALSE(s.has_interrupts || s.has_running);
}

static void memory(void)
{
    uint64_t total, left;
    CU_ASSERT_TRUE(procfs_memory("MemTotal:       1000 kB\nMemFree:         100 kB\n"
                                 "MemAvailable:    600 kB\nBuffers: 1 kB\n",
                                 &total, &left));
    CU_ASSERT_EQUAL(total, 1024000);
    CU_ASSERT_EQUAL(left, 614400);
    CU_ASSERT_TRUE(procfs_memory("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\n"
                                 "Cached: 30 kB\nSwapCached: 500 kB\n",
                                 &total, &left));
    CU_ASSERT_EQUAL(left, 150 * 1024);
    CU_ASSERT_TRUE(procfs_memory("MemTotal: 10 kB\nMemAvailable: 99 kB\n", &total, &left));
    CU_ASSERT_EQUAL(left, total);
    CU_ASSERT_FALSE(procfs_memory("MemTotal: 1000 kB\n", &total, &left));
    CU_ASSERT_FALSE(procfs_memory("MemAvailable: 1000 kB\n", &total, &left));
    CU_ASSERT_FALSE(
        procfs_memory("MemTotal: 18446744073709551615 kB\nMemFree: 1 kB\n", &total, &left));
    CU_ASSERT_FALSE(procfs_memory("MemTotal: 0 kB\nMemFree: 0 kB\n", &total, &left));
}

static void load(void)
{
    double l[3];
    uint64_t running = 0;
    CU_ASSERT_TRUE(procfs_load("0.50 1.25 12.00 3/456 7890\n", l, &running));
    CU_ASSERT_DOUBLE_EQUAL(l[0], 0.5, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(l[2], 12, NEAR);
    CU_ASSERT_EQUAL(running, 3);
    static const char *const bad[] = {
        "", "1.0 2.0\n", "1 2 3\n", "nan 1 1 1/1\n", "-1 1 1 1/1\n", "1e999 1 1 1/1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(procfs_load(bad[i], l, &running));
}

static void pressure(void)
{
    double some = -5;
    CU_ASSERT_TRUE(procfs_pressure("some avg10=12.50 avg60=1.00 avg300=0.00 total=5\n"
                                   "full avg10=99.00 avg60=0.00 avg300=0.00 total=0\n",
                                   &some));
    CU_ASSERT_DOUBLE_EQUAL(some, 0.125, NEAR);
    CU_ASSERT_FALSE(procfs_pressure("", &some));
    CU_ASSERT_FALSE(procfs_pressure("some avg60=1.00\n", &some));
    CU_ASSERT_FALSE(procfs_pressure("some avg10=101\n", &some));
    CU_ASSERT_FALSE(procfs_pressure("some avg10=-1\n", &some));
    CU_ASSERT_FALSE(procfs_pressure("full avg10=1.00\n", &some));
}

static void network(void)
{
    uint64_t received, sent;
    const char *text = "Inter-|   Receive                    |  Transmit\n"
                       " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n"
                       "    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n"
                       "  eth0:100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n"
                       "wlan0: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
                       "cut: 1 2 3\n";
    CU_ASSERT_TRUE(procfs_network(text, &received, &sent));
    CU_ASSERT_EQUAL(received, 110);
    CU_ASSERT_EQUAL(sent, 220);
    CU_ASSERT_TRUE(procfs_network("lo: 1 2 3 4 5 6 7 8 9\n", &received, &sent));
    CU_ASSERT_EQUAL(received, 0);
    CU_ASSERT_FALSE(procfs_network("", &received, &sent));
    CU_ASSERT_FALSE(procfs_network("eth0: 1 2\nno colon\n", &received, &sent));
}

static void disks(void)
{
    struct procfs_disks d;
    const char *text = "   7       0 loop0 1 0 100 0 1 0 100 0 0 0 0\n"
                       "   8       0 sda 1 0 2 0 1 0 3 0 0 40 0\n"
                       "   8       1 sda1 1 0 2 0 1 0 3 0 0 40 0\n"
                       " 259       0 nvme0n1 1 0 10 0 1 0 20 0 0 0 0\n"
                       " 259       1 nvme0n1p2 1 0 10 0 1 0 20 0 0 0 0\n"
                       " 254       0 vda 1 0 100 0 1 0 200 0 0 60 0\n"
                       " 253       0 dm-0 1 0 7 0 1 0 7 0 0 0 0\n"
                       " 253       0 zram0 1 0 7 0 1 0 7 0 0 0 0\n"
                       "   8      16 sdb 1 0\n";
    CU_ASSERT_TRUE(procfs_disks(text, &d));
    CU_ASSERT_EQUAL(d.read, 112 * 512);
    CU_ASSERT_EQUAL(d.written, 223 * 512);
    CU_ASSERT_EQUAL(d.busy_ms, 100);
    CU_ASSERT_TRUE(procfs_disks("8 0 sda 1 0 2 0 1 0 3\n", &d)); /* without times */
    CU_ASSERT_EQUAL(d.busy_ms, 0);
    CU_ASSERT_FALSE(procfs_disks("", &d));
    CU_ASSERT_FALSE(procfs_disks("8 0\n8 0 sda\nsda 1 2 3 4 5 6 7\n", &d));
}

/* ---- two samples ---- */

static double figure(const struct sample_source *source, const struct sample *a,
                     const struct sample *b, enum figure which)
{
    struct figures f;
    figures_init(&f);
    sample_figures(source, a, b, &f);
    return f.values[which];
}

static const struct sample_source machine = {.cores = 4};

static void rates_are_of_the_interval(void)
{
    struct sample a = {
        .at_us = 1000000,
        .has_stat = true,
        .has_disks = true,
        .stat = {.busy = 100, .total = 1000, .has_interrupts = true, .interrupts = 7}};
    struct sample b = a;
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_cpu_busy), FIGURE_UNKNOWN);
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_interrupts_per_s), FIGURE_UNKNOWN);
    b.at_us += 2000000;
    b.stat.busy += 600;
    b.stat.total += 800;
    b.stat.interrupts += 50;
    b.disks.read += 4096;
    b.disks.busy_ms += 500;
    b.stat.interrupting += 80;
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_cpu_busy), 0.75, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_demand), 3, NEAR);
    b.ended_us = 4000000; /* two of them were tasks that are gone */
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_demand), 1, NEAR);
    b.ended_us += 10000000;
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_demand), 0, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_cpu_busy), 0.75, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_interrupts_per_s), 25, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_disk_read_bytes_per_s), 2048, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_disk_busy), 0.25, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_interrupt_busy), 0.1, NEAR);
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_net_sent_bytes_per_s), FIGURE_UNKNOWN);
    b.disks.read = 0; /* a counter that began anew */
    a.disks.read = 1;
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_disk_read_bytes_per_s), FIGURE_UNKNOWN);
}

static void paging_is_seen(void)
{
    struct sample a = {.paging = {.has_swap = true,
                                  .has_faults = true,
                                  .swapped_in = 5,
                                  .faults = 7}},
                  b = a;
    double page_bytes = (double)sysconf(_SC_PAGESIZE);
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_swap_in_bytes_per_s), FIGURE_UNKNOWN);
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_memory_pressure), FIGURE_UNKNOWN);
    b.at_us = 2000000;
    b.paging.swapped_in += 20;
    b.paging.faults += 300;
    b.paging.has_pressure = true;
    b.paging.pressure = 0.25;
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_swap_in_bytes_per_s), 10 * page_bytes,
                           NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_swap_out_bytes_per_s), 0, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_major_faults_per_s), 150, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_memory_pressure), 0.25, NEAR);
    a.paging.has_swap = false; /* a kernel without */
    CU_ASSERT_EQUAL(figure(&machine, &a, &b, FIGURE_swap_out_bytes_per_s), FIGURE_UNKNOWN);
}

/* ---- the rate of the network card ---- */

static void put_interface(const char *folder, const char *name, const char *speed, bool real)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/device", folder, name);
    if (real)
        mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/speed", folder, name);
    FILE *out = fopen(path, "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(speed, out);
    fclose(out);
}

static void remove_interface(const char *folder, const char *name)
{
    static const char *const below[] = {"/device", "/speed", ""};
    char path[256];
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, name, below[i]);
        remove(path);
    }
}

static void the_card_says_its_rate(void)
{
    static const char *const names[] = {"lo", "veth0", "eth0", "eth1"};
    char folder[] = "/tmp/covey-nic.XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_EQUAL(nic_rate(folder), FIGURE_UNKNOWN);
    CU_ASSERT_EQUAL(nic_rate("/nonexistent"), FIGURE_UNKNOWN);
    put_interface(folder, "lo", "99999\n", false);
    put_interface(folder, "veth0", "10000\n", false);
    CU_ASSERT_DOUBLE_EQUAL(nic_rate(folder), 1.25e9, NEAR);
    put_interface(folder, "eth0", "-1\n", true); /* one that is down, or does not tell */
    CU_ASSERT_EQUAL(nic_rate(folder), FIGURE_UNKNOWN);
    put_interface(folder, "eth1", "1000\n", true);
    CU_ASSERT_DOUBLE_EQUAL(nic_rate(folder), 1.25e8, NEAR);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        remove_interface(folder, names[i]);
    rmdir(folder);
}

static void demand_counts_who_waits(void)
{
    struct sample a = {.at_us = 0, .has_stat = true, .has_load = true, .load = {6, 6, 6}};
    struct sample b = a;
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_demand), 6, NEAR); /* no better known */
    b.at_us = 1000000;
    b.stat = (struct procfs_stat){.busy = 400, .total = 400, .has_running = true, .running = 10};
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_demand), 9, NEAR); /* all but us */
    b.stat.busy = 200;
    CU_ASSERT_DOUBLE_EQUAL(figure(&machine, &a, &b, FIGURE_demand), 2, NEAR); /* none waits long */
}

static void a_group_counts_for_itself(void)
{
    struct sample_source group = {.cores = 0.5, .limited = true, .group = {.period_us = 100000}};
    struct sample a = {.has_stat = true, .has_usage = true, .has_throttled = true}, b = a;
    b.at_us = 1000000;
    b.stat = (struct procfs_stat){.busy = 400, .total = 400}; /* others are */
    b.usage_us = 100000;
    CU_ASSERT_DOUBLE_EQUAL(figure(&group, &a, &b, FIGURE_cpu_busy), 0.2, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&group, &a, &b, FIGURE_demand), 0.2, NEAR);
    b.ended_us = 75000; /* of that were tasks that are gone */
    CU_ASSERT_DOUBLE_EQUAL(figure(&group, &a, &b, FIGURE_demand), 0.05, NEAR);
    b.ended_us = 0;
    a.has_usage = false;
    b.throttled = 10; /* in every period */
    CU_ASSERT_DOUBLE_EQUAL(figure(&group, &a, &b, FIGURE_cpu_busy), 1, NEAR);
    CU_ASSERT_DOUBLE_EQUAL(figure(&group, &a, &b, FIGURE_demand), 1, NEAR);
    a.has_throttled = false;
    CU_ASSERT_EQUAL(figure(&group, &a, &b, FIGURE_demand), FIGURE_UNKNOWN);
}

static void a_sample_of_nothing(void)
{
    struct sample_source source;
    struct sample s;
    CU_ASSERT_EQUAL_FATAL(sample_source_init(&source, "/nonexistent", 3), 0);
    source.limited = false;
    sample_take(&source, 5, &s);
    CU_ASSERT_FALSE(s.has_stat || s.has_memory || s.has_load || s.has_network || s.has_disks);
    CU_ASSERT_FALSE(s.paging.has_swap || s.paging.has_faults || s.paging.has_pressure);
    CU_ASSERT_EQUAL(sample_machine(&source), 0);
    CU_ASSERT_EQUAL(figure(&source, &s, &s, FIGURE_demand), FIGURE_UNKNOWN);
    sample_source_fini(&source);
}

static void a_sample_of_this_machine(void)
{
    struct sample_source source;
    struct sample s;
    CU_ASSERT_EQUAL_FATAL(sample_source_init(&source, "/proc", 2), 0);
    sample_take(&source, 5, &s);
    CU_ASSERT_TRUE(s.has_stat && s.has_memory && s.has_load && s.stat.has_interrupts);
    CU_ASSERT_NOT_EQUAL(sample_machine(&source), 0);
    sample_source_fini(&source);
}

/* ---- on the wire ---- */

static void figures_come_back(void)
{
    uint8_t bytes[FIGURES_BYTES_MAX];
    struct figures f, again;
    figures_init(&f);
    f.machine = 0x123456789abcdef0;
    for (int i = 0; i < FIGURE_COUNT; i++)
        f.values[i] = i == 3 ? FIGURE_UNKNOWN : i * 1.5;
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    figures_put(&w, &f);
    CU_ASSERT_TRUE_FATAL(cursor_ok(&w));
    size_t size = (size_t)(w.at - bytes);
    struct cursor r = cursor_reader(bytes, size);
    figures_get(&r, &again);
    CU_ASSERT_TRUE(cursor_done(&r));
    CU_ASSERT_EQUAL(again.machine, f.machine);
    for (int i = 0; i < FIGURE_COUNT; i++)
        CU_ASSERT_EQUAL(again.values[i], f.values[i]);
    for (size_t cut = 0; cut < size; cut++) {
        r = cursor_reader(bytes, cut);
        figures_get(&r, &again);
        CU_ASSERT_FALSE(cursor_ok(&r));
    }
}

static void bad_figures_are_refused(void)
{
    uint8_t bytes[20] = {[9] = 1, [11] = 1};
    struct figures f;
    static const uint8_t values[][2] = {{0xbf, 0xf0}, {0x7f, 0xf0}, {0x7f, 0xf8}}; /* -1 inf nan */
    for (size_t i = 0; i < 3; i++) {
        memcpy(bytes + 12, values[i], 2);
        struct cursor r = cursor_reader(bytes, sizeof bytes);
        figures_get(&r, &f);
        CU_ASSERT_FALSE(cursor_ok(&r));
    }
    memcpy(bytes + 12, (uint8_t[]){0x3f, 0xf0}, 2);
    bytes[10] = 0x7f; /* a number of later */
    struct cursor r = cursor_reader(bytes, sizeof bytes);
    figures_get(&r, &f);
    CU_ASSERT_TRUE(cursor_done(&r));
    CU_ASSERT_EQUAL(f.values[FIGURE_age_s], FIGURE_UNKNOWN);
}

static void figures_of_tasks_come_back(void)
{
    uint8_t bytes[TASK_FIGURES_BYTES_MAX];
    struct task_figures f, again;
    task_figures_init(&f);
    f.task = (struct control_task){.tid = 0x40001, .parent = 7, .sink = 8, .pid = -9, .state = 2};
    memset(f.task.command, 'c', sizeof f.task.command - 1);
    f.waits = 5;
    f.peer = 0xffffffff;
    f.tag = -1;
    memset(f.call, 'a', sizeof f.call - 1);
    memset(f.name, 'n', sizeof f.name - 1);
    for (int i = 0; i < TASK_FIGURE_COUNT; i++)
        f.values[i] = i * 1.5;
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    task_figures_put(&w, &f);
    CU_ASSERT_TRUE_FATAL(cursor_ok(&w)); /* the longest row has room */
    size_t size = (size_t)(w.at - bytes);
    CU_ASSERT_EQUAL(size, sizeof bytes);
    struct cursor r = cursor_reader(bytes, size);
    task_figures_get(&r, &again);
    CU_ASSERT_TRUE(cursor_done(&r));
    CU_ASSERT(again.task.tid == 0x40001 && again.task.pid == -9 && again.waits == 5);
    CU_ASSERT(again.peer == 0xffffffff && again.tag == -1);
    CU_ASSERT_STRING_EQUAL(again.call, f.call);
    CU_ASSERT_STRING_EQUAL(again.name, f.name);
    for (int i = 0; i < TASK_FIGURE_COUNT; i++)
        CU_ASSERT_EQUAL(again.values[i], f.values[i]);
    for (size_t cut = 0; cut < size; cut++) {
        r = cursor_reader(bytes, cut);
        task_figures_get(&r, &again);
        CU_ASSERT_FALSE(cursor_ok(&r));
    }
}

static void a_process(void)
{
    uint64_t ticks = 0, pages = 0;
    static const char text[] = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 50 7 8 9 20 0 3 0 99 "
                               "1000 321 18446744073709551615 1\n";
    CU_ASSERT_TRUE(procfs_process(text, &ticks, &pages));
    CU_ASSERT(ticks == 57 && pages == 321);
    char cut[sizeof text];
    for (size_t size = 0; size < sizeof text - 28; size++) {
        memcpy(cut, text, size);
        cut[size] = '\0';
        ticks = pages = 5;
        if (procfs_process(cut, &ticks, &pages))
            CU_ASSERT(ticks == 57 && pages <= 321) /* the number itself is cut */
        else
            CU_ASSERT(ticks == 5 && pages == 5);
    }
    CU_ASSERT_FALSE(
        procfs_process("7 (a) S x x x x x x x x x x x x x x x x x x x x x x", &ticks, &pages));
}

static void counters_are_explained(void)
{
    CU_ASSERT_STRING_EQUAL(counter_help("tasks.spawned"), "Tasks started.");
    CU_ASSERT_PTR_NOT_NULL(counter_help("udp.bytes_sent"));
    CU_ASSERT_PTR_EQUAL(counter_help("udp.bytes_sent"), counter_help("ether.bytes_sent"));
    CU_ASSERT_PTR_NULL(counter_help("tasks"));
    CU_ASSERT_PTR_NULL(counter_help(""));
}

static const struct test_case cases[] = {
    {"/proc/stat", stat_of_today},
    {"/proc/stat that is odd", stat_that_is_odd},
    {"/proc/meminfo", memory},
    {"/proc/loadavg", load},
    {"/proc/pressure", pressure},
    {"/proc/net/dev", network},
    {"/proc/diskstats", disks},
    {"rates are of the interval", rates_are_of_the_interval},
    {"paging is seen", paging_is_seen},
    {"the card says its rate", the_card_says_its_rate},
    {"demand counts who waits", demand_counts_who_waits},
    {"a control group counts for itself", a_group_counts_for_itself},
    {"a sample of nothing", a_sample_of_nothing},
    {"a sample of this machine", a_sample_of_this_machine},
    {"figures come back", figures_come_back},
    {"bad figures are refused", bad_figures_are_refused},
    {"figures of tasks come back", figures_of_tasks_come_back},
    {"/proc/PID/stat", a_process},
    {"counters are explained", counters_are_explained},
};

int main(void)
{
    return covey_test_main("procfs", cases, sizeof cases / sizeof cases[0]);
}
