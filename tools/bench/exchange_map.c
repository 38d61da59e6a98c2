/*
 * The map of an exchange, as Figure 5 of Wang & Ranka: which algorithm is fastest, by size and
 * density. gnuplot draws it from a script that is written to it here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench/bench_exchange.h"
#include "tools/bench/bench_stat.h"
#include "tools/list/gnuplot.h"

/* Told apart by eyes of all kinds, in print as well (Okabe & Ito). */
static const char *const colours[] = {"#E69F00", "#56B4E9", "#009E73",
                                      "#F0E442", "#0072B2", "#CC79A7"};

#define COLOURS (sizeof colours / sizeof *colours)

/* ---- the script ---- */

/* Where a row's density is on the vertical axis: densities stand in the order of the rows. */
static int density_line(const struct bench *bench, int row)
{
    int line = 0;
    for (int i = 1; i <= row; i++)
        line += strcmp(bench->rows[i].label, bench->rows[i - 1].label) != 0;
    return line;
}

static void write_map_script(const void *context, FILE *out)
{
    const struct bench *bench = context;
    fputs("set terminal pngcairo size 1000,640 font 'sans,12' enhanced background '#FFFFFF'\n"
          "set encoding utf8\nset rmargin 22\nset tics out nomirror\nset border 3\n",
          out);
    const struct bench_simulation *simulation = &bench->simulation;
    fputs("set title \"Fastest algorithm of an exchange\\n{/*0.8 ", out);
    if (simulation->ranks > 0)
        fprintf(out, "%d ranks in virtual time, alpha %.0f {/Symbol m}s, %.4g Mbit/s",
                simulation->ranks, simulation->alpha_us, simulation->rate_bps / 1e6);
    else
        fprintf(out, "%d tasks on %d hosts", bench->plan.tasks, bench->host_count);
    fprintf(out, ", %s sizes, %s%d pattern%s}\"\n",
            bench->plan.exchange.unequal ? "unequal" : "equal",
            bench->plan.rounds > 1 ? "median of " : "", bench->plan.rounds,
            bench->plan.rounds > 1 ? "s" : "");
    fprintf(out, "set xlabel '%s (bytes)'\n",
            bench->plan.exchange.unequal ? "mean size of a message" : "size of a message");
    fputs("set ylabel 'density (messages that each rank sends and receives)'\n", out);
    char text[32];
    fputs("set xtics (", out);
    for (int i = 0; i < bench->plan.size_count; i++) {
        exchange_size_text(bench->plan.sizes[i], text, sizeof text);
        fprintf(out, "%s'%s' %d", i ? ", " : "", text, i);
    }
    fputs(")\nset ytics (", out);
    for (int i = 0; i < bench->row_count; i++) {
        if (i == 0 || density_line(bench, i) != density_line(bench, i - 1))
            fprintf(out, "%s'%s' %d", i ? ", " : "", bench->rows[i].label, density_line(bench, i));
    }
    fputs(")\n", out);
    fprintf(out, "set xrange [-0.5:%g]\nset yrange [-0.5:%g]\n", bench->plan.size_count - 0.5,
            density_line(bench, bench->row_count - 1) + 0.5);
    for (int i = 0; i < bench->row_count; i++) {
        const struct bench_row *row = &bench->rows[i];
        int column = 0;
        while (bench->plan.sizes[column] != bench->rows[i].bytes)
            column++;
        int best = exchange_best(row), x = column, y = density_line(bench, i);
        double gain =
            bench_series_median(&row->series[0]) / bench_series_median(&row->series[best]);
        fprintf(out,
                "set object rectangle from %g,%g to %g,%g fillcolor rgb '%s' fillstyle solid 1 "
                "border rgb '#FFFFFF' linewidth 1\n",
                x - 0.5, y - 0.5, x + 0.5, y + 0.5, colours[(size_t)best % COLOURS]);
        if (best > 0)
            fprintf(out, "set label '%.2f' at %d,%d center font ',10' textcolor rgb '%s' front\n",
                    gain, x, y, best == 4 || best == 2 ? "#FFFFFF" : "#000000");
    }
    fputs("set key noenhanced\n", out);
    /* Only those that are fastest somewhere stand in the legend. */
    bool seen[BENCH_SERIES_MAX] = {false};
    for (int i = 0; i < bench->row_count; i++)
        seen[exchange_best(&bench->rows[i])] = true;
    fputs("set key at graph 1.02,1 left top Left reverse samplen 1.5 title 'fastest'\n"
          "set label \"number: how many\\ntimes as fast as AC\" at graph 1.02,0.35 left "
          "font ',10'\nplot ",
          out);
    bool first = true;
    for (int i = 0; i < bench->rows[0].series_count; i++) {
        if (!seen[i])
            continue;
        fprintf(out, "%sNaN with boxes fillstyle solid 1 linecolor rgb '%s' title '%s'",
                first ? "" : ", ", colours[(size_t)i % COLOURS], bench->rows[0].series[i].name);
        first = false;
    }
    fputc('\n', out);
}

int exchange_map_draw(const struct bench *bench)
{
    if (bench->row_count == 0)
        return tool_error("bench", "--map %s: nothing was measured", bench->map);
    return gnuplot_draw("bench", "--map", bench->map, write_map_script, bench);
}
