/*
 * What covey predict tiles found: a table, JSON, and the curves of both schedules over the height
 * of the tiles with their least times, as Figures 5 to 7 and 15 of Koziris, Sotiropoulos & Goumas.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/list/cells.h"
#include "tools/list/gnuplot.h"
#include "tools/list/report.h"
#include "tools/list/table.h"
#include "tools/predict/predict_tiles.h"

/* Told apart by eyes of all kinds, in print as well (Okabe & Ito). */
#define ORANGE "#D55E00"
#define BLUE "#0072B2"
#define CURVE_POINTS 160
#define EVEN (1 + 1e-9) /* times that differ by rounding alone */

static const char *const names[TILES_SCHEDULES] = {"overlap", "block"};

/* The mean of the runs of a height; 0: none. */
static double height_measured_s(const struct predict_tiles *t, int schedule, int64_t height)
{
    double sum_s = 0;
    int count = 0;
    for (int i = 0; i < t->measured_count; i++) {
        const struct tiles_measured *m = &t->measured[i];
        if (m->schedule == schedule && m->height == height) {
            sum_s += m->total_s;
            count++;
        }
    }
    return count > 0 ? sum_s / count : 0;
}

static double predicted_s(const struct tiles_height *row, int schedule)
{
    return row->played_s[schedule] > 0 ? row->played_s[schedule] : row->model_s[schedule];
}

/* A row of least time: measured, or predicted for heights that were, or might have been. -1: none.
 */
static int least_height(const struct predict_tiles *t, int schedule, bool measured)
{
    int best = -1;
    double best_s = 0;
    for (int i = 0; i < t->count; i++) {
        double found_s = height_measured_s(t, schedule, t->rows[i].height);
        double s = measured ? found_s : predicted_s(&t->rows[i], schedule);
        bool even = !measured && t->rows[i].height == t->chosen[schedule] && s <= best_s * EVEN;
        if (s > 0 && (best < 0 || s < best_s || even)) {
            best = i;
            best_s = s;
        }
    }
    return best;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_seconds(struct cells *cells, double seconds)
{
    if (seconds > 0)
        cells_add(cells, "%.*f", predict_digits(seconds), seconds);
    else
        cells_add(cells, "-");
}

/* The chosen height is the least predicted: of the heights of the table one may be less by what the
 * search leaves out. */
static void print_least(const struct predict_tiles *t, int schedule)
{
    int predicted = least_height(t, schedule, false), found = least_height(t, schedule, true);
    if (predicted < 0)
        return;
    double least_s = predicted_s(&t->rows[predicted], schedule);
    printf("%s: chosen height %" PRId64 ", least predicted %.4g s", names[schedule],
           t->chosen[schedule], least_s);
    if (t->rows[predicted].height != t->chosen[schedule])
        printf(" at %" PRId64, t->rows[predicted].height);
    if (found >= 0) {
        double found_s = height_measured_s(t, schedule, t->rows[found].height);
        printf(", measured %.4g s at %" PRId64 " (%+.1f %%)", found_s, t->rows[found].height,
               100 * (least_s / found_s - 1));
    }
    putchar('\n');
}

int tiles_print(const struct predict_tiles *t)
{
    const struct covey_tiles_costs *c = &t->options.costs;
    printf("tiles: %s, %" PRId64 " x %" PRId64 " x %" PRId64
           " on %d tasks; a point takes %.4g us, a "
           "message of N bytes %.4g + %.4g N us, of which %.4g + %.4g N occupy a task\n",
           t->name, t->loop.size[0], t->loop.size[1], t->loop.size[2], t->tasks, 1e6 * c->point_s,
           1e6 * c->alpha_s, 1e6 * c->beta_s, 1e6 * c->start_s, 1e6 * c->drag_s);
    if (c->start_s == 0)
        puts("The calibration does not say which part of this is start-up that occupies the "
             "processor:\nall is taken for latency. Calibrate again.");
    struct cells head = {.count = 0};
    cells_add(&head, ">HEIGHT");
    for (int i = 0; i < TILES_SCHEDULES; i++) {
        cells_add(&head, i == COVEY_TILES_OVERLAP ? ">OVERLAP" : ">BLOCK");
        cells_add(&head, ">PLAYED");
        if (t->measured_count > 0)
            cells_add(&head, ">MEASURED");
    }
    struct table *table = table_create(head.list);
    for (int i = 0; i < t->count; i++) {
        struct cells cells = {.count = 0};
        cells_add(&cells, "%" PRId64, t->rows[i].height);
        for (int k = 0; k < TILES_SCHEDULES; k++) {
            add_seconds(&cells, t->rows[i].model_s[k]);
            add_seconds(&cells, t->rows[i].played_s[k]);
            if (t->measured_count > 0)
                add_seconds(&cells, height_measured_s(t, k, t->rows[i].height));
        }
        table_add(table, cells.list);
    }
    int status = report_table("predict", table);
    if (status != TOOL_OK)
        return status;
    for (int i = 0; i < TILES_SCHEDULES; i++)
        print_least(t, i);
    puts("OVERLAP by (5) and (7), BLOCK by (3): a step of the slowest for each hyperplane. PLAYED: "
         "every\n"
         "task goes on as soon as it can.");
    return TOOL_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

int tiles_print_json(const struct predict_tiles *t)
{
    const struct covey_tiles_costs *c = &t->options.costs;
    json_t *rows = json_array();
    for (int i = 0; i < t->count; i++) {
        json_t *object = json_pack("{s:I}", "height", (json_int_t)t->rows[i].height);
        for (int k = 0; k < TILES_SCHEDULES; k++)
            json_object_set_new(
                object, names[k],
                json_pack("{s:f, s:o, s:o}", "model_s", t->rows[i].model_s[k], "played_s",
                          report_positive(t->rows[i].played_s[k]), "measured_s",
                          report_positive(height_measured_s(t, k, t->rows[i].height))));
        report_add(&rows, object);
    }
    return report_print(
        "predict",
        json_pack("{s:s, s:s, s:[I,I,I], s:i, s:{s:f,s:f,s:f,s:f,s:f,s:f}, s:{s:I,s:I}, s:o}",
                  "program", "tiles", "loop", t->name, "size", (json_int_t)t->loop.size[0],
                  (json_int_t)t->loop.size[1], (json_int_t)t->loop.size[2], "tasks", t->tasks,
                  "costs", "point_s", c->point_s, "alpha_s", c->alpha_s, "beta_s", c->beta_s,
                  "start_s", c->start_s, "drag_s", c->drag_s, "store_s", c->store_s, "chosen",
                  names[0], (json_int_t)t->chosen[0], names[1], (json_int_t)t->chosen[1], "heights",
                  rows));
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* The least of the measured, or where there is none of the predicted. */
static void write_mark(const struct predict_tiles *t, int schedule, bool measured, FILE *out)
{
    int at = least_height(t, schedule, measured);
    if (at < 0)
        return;
    const struct tiles_height *row = &t->rows[at];
    double s = measured ? height_measured_s(t, schedule, row->height) : predicted_s(row, schedule);
    fprintf(out,
            "set label '%.3g s at %" PRId64 "' at %" PRId64
            ",%.9g point pt %d ps 2 lw 2 lc rgb '%s' "
            "center offset 0,%s tc rgb '%s'\n",
            s, row->height, row->height, s, measured ? 6 : 2,
            schedule == COVEY_TILES_OVERLAP ? BLUE : ORANGE, measured ? "-1.2" : "1.0",
            schedule == COVEY_TILES_OVERLAP ? BLUE : ORANGE);
}

/* The figure of the paper that has the same loop, for the title. */
static const char *paper_figure(const struct predict_tiles *t)
{
    static const struct {
        int64_t size[3];
        int tasks;
        const char *text;
    } figures[] = {
        {{16, 16, 16384}, 16, ", as Figure 5"},          {{16, 16, 32768}, 16, ", as Figure 6"},
        {{32, 32, 4096}, 16, ", as Figure 7"},           {{12, 12, 524288}, 9, ", as Figure 12"},
        {{24, 24, 262144}, 9, ", as Figures 13 and 15"}, {{24, 24, 2097152}, 9, ", as Figure 14"}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(t->name, "sqrt") == 0 && t->tasks == figures[i].tasks &&
            memcmp(t->loop.size, figures[i].size, sizeof figures[i].size) == 0)
            return figures[i].text;
    }
    return "";
}

static void write_tiles_script(const void *context, FILE *out)
{
    const struct predict_tiles *t = context;
    /* Heights between the first and the last row, each so many times the one before. */
    double first = log((double)t->rows[0].height);
    double last = log((double)t->rows[t->count - 1].height);
    int64_t before = 0;
    fputs("$predicted << EOD\n", out);
    for (int i = 0; i < CURVE_POINTS; i++) {
        struct tiles_height row;
        int64_t height = llround(exp(first + (last - first) * i / (CURVE_POINTS - 1)));
        if (height == before || tiles_at(t, height, &row) != TOOL_OK)
            continue;
        before = height;
        fprintf(out, "%" PRId64 " %.9g %.9g\n", height, predicted_s(&row, 0), predicted_s(&row, 1));
    }
    fputs("EOD\n", out);
    for (int schedule = 0; schedule < TILES_SCHEDULES; schedule++) {
        fprintf(out, "$%s << EOD\n", names[schedule]);
        for (int i = 0; i < t->count; i++) {
            double s = height_measured_s(t, schedule, t->rows[i].height);
            if (s > 0)
                fprintf(out, "%" PRId64 " %.9g\n", t->rows[i].height, s);
        }
        fputs("EOD\n", out);
    }
    double most = 0, lowest = INFINITY;
    for (int i = 0; i < t->count; i++) {
        for (int k = 0; k < TILES_SCHEDULES; k++) {
            double s = predicted_s(&t->rows[i], k), m = height_measured_s(t, k, t->rows[i].height);
            most = fmax(most, m);
            lowest = s > 0 && s < lowest ? s : lowest;
        }
    }
    fprintf(
        out,
        "set terminal pngcairo size 1000,640 font 'sans,12' background '#FFFFFF'\n"
        "set encoding utf8\nset tics out nomirror\nset border 3\nset grid ytics lc rgb '#DDDDDD'\n"
        "set title '%s, %" PRId64 " x %" PRId64 " x %" PRId64
        " on %d tasks%s' noenhanced\nset xlabel 'height of a tile'\nset ylabel 'seconds'\n"
        "set key outside right top Left reverse samplen 2\nset logscale x 2\n"
        "set xrange [%g:%g]\nset yrange [0:%g]\n",
        t->name, t->loop.size[0], t->loop.size[1], t->loop.size[2], t->tasks, paper_figure(t),
        0.9 * (double)t->rows[0].height, 1.1 * (double)t->rows[t->count - 1].height,
        1.1 * (most > 0 ? most : 4 * lowest));
    for (int i = 0; i < TILES_SCHEDULES; i++) {
        write_mark(t, i, false, out);
        write_mark(t, i, true, out);
    }
    fputs("plot $predicted using 1:3 with lines lw 2 dt 2 lc rgb '" ORANGE
          "' title 'blocking, predicted', '' using 1:2 with lines lw 2 dt 2 lc rgb '" BLUE
          "' title 'overlapping, predicted'",
          out);
    if (t->measured_count > 0)
        fputs(", $block using 1:2 with linespoints lw 2 pt 5 lc rgb '" ORANGE
              "' title 'blocking, measured', $overlap using 1:2 with linespoints lw 2 pt 7 lc rgb "
              "'" BLUE "' title 'overlapping, measured'",
              out);
    fputc('\n', out);
}

int tiles_draw(const struct predict_tiles *t)
{
    return gnuplot_draw("predict", "--plot", t->predict->plot, write_tiles_script, t);
}
