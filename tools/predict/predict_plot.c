/*
 * The picture of a prediction: times over numbers of hosts, as Figures 6 to 12 of Schmidt &
 * Sunderam, with what was measured beside it.
 */
#include <math.h>
#include <stdio.h>

#include "tools/list/gnuplot.h"
#include "tools/predict/predict.h"

/* Told apart by eyes of all kinds, in print as well (Okabe & Ito). */
#define BLACK "#000000"
#define ORANGE "#E69F00"
#define BLUE "#0072B2"
#define GREEN "#009E73"

/* ---- Data ------------------------------------------------------------------------------------ */

static void write_demo(const struct predict *p, FILE *out)
{
    fputs("$predicted << EOD\n", out);
    for (int i = 0; i < p->n; i++) {
        const struct covey_prediction *row = &p->rows[i];
        fprintf(out, "%d %.9g %.9g %.9g %.9g\n", row->hosts, row->total_s, row->computation_s,
                row->communication_s, row->idle_s);
    }
    fputs("EOD\n", out);
    if (p->measured_count == 0)
        return;
    fputs("$measured << EOD\n", out);
    for (int i = 0; i < p->measured_count; i++)
        fprintf(out, "%d %.9g\n", p->measured[i].hosts, p->measured[i].total_s);
    fputs("EOD\n", out);
}

static void write_alltoall(const struct predict *p, FILE *out)
{
    fputs("$predicted << EOD\n", out);
    for (int i = 0; i < p->n; i++) {
        const struct covey_alltoall_prediction *row = &p->alltoall[i];
        fprintf(out, "%d %.9g %.9g %.9g %.9g\n", (int)row->ranks, row->bound_s, row->scheduled_s,
                row->ring_s, row->pairwise_s);
    }
    fputs("EOD\n", out);
}

/* ---- The picture ----------------------------------------------------------------------------- */

/* A line upwards at that number of hosts; two that would lie on each other stand at different
 * heights. */
static void write_mark(FILE *out, int hosts, const char *text, double height)
{
    fprintf(out,
            "set arrow from %d, graph 0 to %d, graph %g nohead dt 2 lc rgb '#888888'\n"
            "set label '%s: %d' at %d, graph %g offset 0.5,0 tc rgb '#444444'\n",
            hosts, hosts, height, text, hosts, hosts, height);
}

static void write_predict_script(const void *context, FILE *out)
{
    const struct predict *p = context;
    bool demo = p->what != PREDICT_ALLTOALL;
    (demo ? write_demo : write_alltoall)(p, out);
    char problem[128];
    predict_problem(p, problem, sizeof problem);
    double most = 0;
    for (int i = 0; i < p->n; i++) {
        const struct covey_alltoall_prediction *all = &p->alltoall[i];
        double here = demo ? p->rows[i].total_s : fmax(all->ring_s, all->pairwise_s);
        most = here > most ? here : most;
    }
    for (int i = 0; i < p->measured_count; i++)
        most = p->measured[i].total_s > most ? p->measured[i].total_s : most;
    fprintf(
        out,
        "set terminal pngcairo size 1000,640 font 'sans,12' background '#FFFFFF'\n"
        "set encoding utf8\nset tics out nomirror\nset border 3\nset grid ytics lc rgb '#DDDDDD'\n"
        "set title '%s, %s%s' noenhanced\nset xlabel 'hosts'\nset ylabel 'seconds'\n"
        "set key outside right top Left reverse samplen 2\n"
        "set xrange [%g:%g]\nset yrange [0:%g]\n",
        p->name, problem, p->problem.paper ? ", by the paper''s equations" : "", p->counts[0] - 0.5,
        p->counts[p->n - 1] + 0.5, 1.1 * (most > 0 ? most : 1));
    if (demo) {
        const char *style = p->n > 1 ? "linespoints" : "points";
        write_mark(out, p->rows[p->efficient].hosts, "most efficient", 0.94);
        write_mark(out, p->rows[p->break_even].hosts, "break-even", 0.87);
        fprintf(out,
                "plot $predicted using 1:2 with %s lw 2 pt 7 ps 0.6 lc rgb '" BLACK
                "' title 'predicted total', "
                "'' using 1:3 with lines lw 2 lc rgb '" BLUE "' title 'computation', "
                "'' using 1:4 with lines lw 2 lc rgb '" ORANGE "' title 'communication', "
                "'' using 1:5 with lines lw 2 dt 2 lc rgb '" GREEN "' title 'idle'",
                style);
        if (p->measured_count > 0)
            fputs(", $measured using 1:2 with points pt 4 ps 1.6 lw 2 lc rgb '#D55E00' "
                  "title 'measured total'",
                  out);
        fputc('\n', out);
    } else {
        fputs("plot $predicted using 1:4 with linespoints lw 2 pt 6 lc rgb '" ORANGE
              "' title 'ring', "
              "'' using 1:5 with linespoints lw 2 pt 8 lc rgb '" GREEN "' title 'pairwise', "
              "'' using 1:3 with linespoints lw 2 pt 7 lc rgb '" BLUE "' title 'scheduled', "
              "'' using 1:2 with lines lw 2 dt 2 lc rgb '" BLACK "' title 'bound'\n",
              out);
    }
}

int predict_draw(const struct predict *p)
{
    return gnuplot_draw("predict", "--plot", p->plot, write_predict_script, p);
}
