/*
 * The cost of ordering as a fraction of the communication, by size, with a curve for each density:
 * Figure 10 (RS_N) and Figure 11 (RS_NL) of Wang & Ranka, and the same of the two algorithms that
 * are not theirs. gnuplot draws it from a script that is written to it here.
 */
#include <stdio.h>
#include <string.h>

#include "tools/bench/bench_exchange.h"
#include "tools/list/gnuplot.h"

/* From light to dark, for densities have an order. */
#define PALETTE "set palette defined (0 '#9ECAE1', 0.5 '#3182BD', 1 '#08306B')\nunset colorbox\n"

static const char *const drawn[] = {"RS_N", "RS_NL", "COLOUR", "LONGEST"};
static const char *const figures[] = {" (Figure 10)", " (Figure 11)", "", ""};

enum { PANELS = sizeof drawn / sizeof *drawn };

static bool begins_density(const struct bench *bench, int row)
{
    return row == 0 || strcmp(bench->rows[row].label, bench->rows[row - 1].label) != 0;
}

/* One block for each density, which gnuplot numbers from 0; -1: no such algorithm. */
static void write_data(const struct bench *bench, int series, FILE *out)
{
    fprintf(out, "$s%d << EOD\n", series);
    for (int i = 0; i < bench->row_count; i++) {
        double fraction = exchange_fraction(&bench->rows[i].series[series]);
        if (begins_density(bench, i))
            fprintf(out, "%s\"d = %s\"\n", i > 0 ? "\n\n" : "", bench->rows[i].label);
        if (fraction > 0)
            fprintf(out, "%lld %.6g\n", (long long)bench->rows[i].bytes, fraction);
    }
    fputs("EOD\n", out);
}

static void write_panel(const struct bench *bench, int panel, FILE *out)
{
    const struct bench_row *row = &bench->rows[0];
    int series = 0, curves = 0;
    while (series < row->series_count && strcmp(row->series[series].name, drawn[panel]) != 0)
        series++;
    if (series == row->series_count)
        return;
    for (int i = 0; i < bench->row_count; i++)
        curves += begins_density(bench, i);
    write_data(bench, series, out);
    fprintf(out,
            "set title '%s%s' noenhanced\n"
            "plot 1 with lines dt 2 lc rgb '#888888' notitle, for [i=0:%d] $s%d index i using "
            "1:2:(i) with linespoints lw 2 pt 7 ps 0.5 lc palette title columnheader(1)\n",
            drawn[panel], figures[panel], curves - 1, series);
}

static void write_plot_script(const void *context, FILE *out)
{
    const struct bench *bench = context;
    const struct bench_simulation *simulation = &bench->simulation;
    fputs("set terminal pngcairo size 1100,760 font 'sans,11' enhanced background '#FFFFFF'\n"
          "set encoding utf8\nset tics out nomirror\nset border 3\nset grid lc rgb '#DDDDDD'\n"
          "set logscale xy\nset format y '%g'\nset key noenhanced outside right top Left reverse "
          "samplen 1\n" PALETTE
          "set multiplot layout 2,2 title \"Cost of ordering as a fraction of the communication\\n"
          "{/*0.8 ",
          out);
    if (simulation->ranks > 0)
        fprintf(out, "%d ranks in virtual time, alpha %.0f {/Symbol m}s, %.4g Mbit/s",
                simulation->ranks, simulation->alpha_us, simulation->rate_bps / 1e6);
    else
        fprintf(out, "%d tasks on %d hosts", bench->plan.tasks, bench->host_count);
    fputs(", an order used once}\"\nset xlabel 'size of a message (bytes)'\n"
          "set ylabel 'ordering / communication'\nset xtics (",
          out);
    for (int i = 0; i < bench->plan.size_count; i++) {
        char text[32];
        exchange_size_text(bench->plan.sizes[i], text, sizeof text);
        fprintf(out, "%s'%s' %lld", i ? ", " : "", text, (long long)bench->plan.sizes[i]);
    }
    fputs(") rotate by -45\n", out);
    for (int panel = 0; panel < PANELS; panel++)
        write_panel(bench, panel, out);
    fputs("unset multiplot\n", out);
}

int exchange_plot_draw(const struct bench *bench)
{
    if (bench->row_count == 0)
        return tool_error("bench", "--plot %s: nothing was measured", bench->plot);
    return gnuplot_draw("bench", "--plot", bench->plot, write_plot_script, bench);
}
