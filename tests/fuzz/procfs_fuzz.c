/* links: daemon/monitor/procfs.c proto/model/figure.c proto/model/task_figure.c proto/model/traffic.c proto/wire/control.c proto/contention/contention.c proto/wire/contention_config.c proto/wire/address.c proto/wire/cursor.c -lm */
/*
 * The texts of /proc, of whatever kernel or none, and figures as any host may send them: what is
 * accepted makes sense.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/monitor/procfs.h"
#include "proto/model/task_figure.h"
#include "proto/model/traffic.h"
#include "tests/fuzz/fuzz.h"

static void look_at_text(const char *text)
{
    struct procfs_stat stat;
    uint64_t a, b, running;
    struct procfs_disks disks;
    double load[3], some;

    if (procfs_stat(text, &stat))
        REQUIRE(stat.total != 0 && stat.interrupting <= stat.busy);
    if (procfs_memory(text, &a, &b))
        REQUIRE(b <= a && a > 0);
    if (procfs_load(text, load, &running))
        REQUIRE(isfinite(load[0]) && load[0] >= 0 && load[1] >= 0 && load[2] >= 0);
    if (procfs_pressure(text, &some))
        REQUIRE(some >= 0 && some <= 1);
    procfs_network(text, &a, &b);
    procfs_disks(text, &disks);
    procfs_number(text, "nr_throttled", &a);
    procfs_process(text, &a, &b);
}

static void look_at_figures(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_reader(data, size);
    struct figures f;

    figures_get(&c, &f);
    for (int i = 0; i < FIGURE_COUNT; i++)
        REQUIRE(f.values[i] == FIGURE_UNKNOWN || (isfinite(f.values[i]) && f.values[i] >= 0));
}

static void look_at_tasks(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_reader(data, size);
    struct task_figures f;

    while (cursor_left(&c) > 0) {
        task_figures_get(&c, &f);
        for (int i = 0; i < TASK_FIGURE_COUNT; i++)
            REQUIRE(f.values[i] == FIGURE_UNKNOWN || (isfinite(f.values[i]) && f.values[i] >= 0));
        REQUIRE(strlen(f.call) <= TASK_FIGURE_CALL && strlen(f.name) <= TASK_FIGURE_NAME);
    }
}

/* To whom tasks have sent: what is accepted is written as it came. */
static void look_at_traffic(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_reader(data, size);
    struct traffic t;
    while (cursor_left(&c) > 0) {
        uint8_t bytes[TRAFFIC_BYTES_MAX];
        struct cursor before = c, again = cursor_writer(bytes, sizeof bytes);
        traffic_get(&c, &t);
        REQUIRE(t.count >= 0 && t.count <= TRAFFIC_PEERS);
        if (!cursor_ok(&c))
            return;
        traffic_put(&again, &t);
        REQUIRE(cursor_ok(&again) && again.at - bytes == c.at - before.at);
        REQUIRE(memcmp(bytes, before.at, (size_t)(c.at - before.at)) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    look_at_text(text);
    free(text);
    look_at_figures(data, size);
    look_at_tasks(data, size);
    look_at_traffic(data, size);
    return 0;
}
