/*
 * Whether it is worth to order an exchange: the time in which the order is made, as a fraction of
 * the time that the messages take by it (Figures 10 and 11 of Wang & Ranka), and what is gained
 * over AC, which orders nothing. All algorithms learn who sends what; that is left out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tools/bench/bench_exchange.h"
#include "tools/bench/bench_stat.h"
#include "tools/list/cells.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

double exchange_fraction(const struct bench_series *series)
{
    double us = bench_series_median(series);
    return us > 0 ? series->order_s * 1e6 / us : 0;
}

/* Microseconds of an exchange whose order is made for it alone. */
static double once_us(const struct bench_series *series)
{
    return bench_series_median(series) + series->order_s * 1e6;
}

struct exchange_worth exchange_worth(const struct bench_row *row)
{
    struct exchange_worth worth = {.once = 0};
    const struct bench_series *ac = &row->series[0];
    for (int i = 1; i < row->series_count; i++) {
        const struct bench_series *series = &row->series[i];
        double saved_us = bench_series_median(ac) - bench_series_median(series);
        double order_us = (series->order_s - ac->order_s) * 1e6;
        if (!(saved_us > 0))
            continue;
        if (once_us(series) < once_us(&row->series[worth.once]))
            worth.once = i;
        double uses = order_us > 0 ? ceil(order_us / saved_us) : 1;
        if (uses < USES_MAX && (worth.uses == 0 || uses < worth.uses))
            worth.uses = (int)uses;
    }
    worth.gain = 1 - once_us(&row->series[worth.once]) / once_us(ac);
    return worth;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void add_row(struct table *table, const struct bench_row *row)
{
    struct cells cells = {.count = 0};
    struct exchange_worth worth = exchange_worth(row);
    cells_add(&cells, "%s", row->label);
    cells_add(&cells, "%" PRId64, row->bytes);
    for (int i = 0; i < row->series_count; i++)
        cells_add(&cells, "%.3f", exchange_fraction(&row->series[i]));
    cells_add(&cells, "%s", worth.once > 0 ? row->series[worth.once].name : "-");
    cells_add(&cells, worth.once > 0 ? "%+.0f %%" : "-", -100 * worth.gain);
    cells_add(&cells, worth.uses > 0 ? "%d" : "never", worth.uses);
    table_add(table, cells.list);
}

int exchange_worth_print(const struct bench *bench)
{
    struct cells head = {.count = 0};
    int once = 0, again = 0;
    cells_add(&head, ">D");
    cells_add(&head, ">BYTES");
    for (int i = 0; i < bench->rows[0].series_count; i++)
        cells_add(&head, ">%s", bench->rows[0].series[i].name);
    cells_add(&head, "WORTH ONCE");
    cells_add(&head, ">TO AC");
    cells_add(&head, ">WORTH AFTER");
    struct table *table = table_create(head.list);
    for (int k = 0; k < bench->row_count; k++) {
        struct exchange_worth worth = exchange_worth(&bench->rows[k]);
        add_row(table, &bench->rows[k]);
        once += worth.once > 0;
        again += worth.once == 0 && worth.uses > 0;
    }
    int status = report_table("bench", table);
    printf("Ordering as a fraction of the time that the messages took. WORTH ONCE: what gains most "
           "over AC,\n"
           "which orders nothing, if its order is used once; TO AC: its time, ordering included. "
           "WORTH AFTER:\n"
           "exchanges by one order after which one of them gains.\n"
           "Ordering is worth it in %d of %d rows if an order is used once, in %d more if it is "
           "used again,\nand in %d not at all.\n",
           once, bench->row_count, again, bench->row_count - once - again);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *exchange_worth_json(const struct bench_row *row)
{
    struct exchange_worth worth = exchange_worth(row);
    return json_pack("{s:s, s:f, s:o}", "once", row->series[worth.once].name, "gain", worth.gain,
                     "uses", report_positive(worth.uses));
}
