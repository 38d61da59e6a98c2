/* links: libcovey-domain */
/*
 * choice_times.c - the choice of a solver beside each of its algorithms, in one team.
 *
 *   covey run -n P choice_times [-c] sort|fft|gemm|solve|cholesky|qr|poisson SIZE...
 *
 * SIZE is a number of keys, the sizes of an array or a grid with x between them, or the rows of a
 * square matrix. Of each algorithm, and of the choice, a handle; they run in turns, each of them in
 * another order, so that what changes meanwhile meets all of them, and times of the slowest member
 * count. In its turn each runs first for the caches, for members to find their processors and how
 * to wait for one another, which takes a millisecond, and for threads of BLAS that another one has
 * left, which wait for work for a while and take a processor meanwhile. The median of the next runs
 * is its time in that turn. The arrays of all are the same memory, for where it lies makes up to
 * six hundredths. One that takes more than FAR times the best before the turns stays out of them.
 * The choice runs before, for it learns: until the same algorithm was taken some times. Rank
 * 0 prints, with what was expected before anything had run and at the end,
 *
 *   LIBRARY SIZE ALGORITHM MILLISECONDS, expected MILLISECONDS then MILLISECONDS
 *   choice LIBRARY SIZE ALGORITHM OVER_BEST OVER_LOCAL MILLISECONDS SPREAD FIRST FIRST_OVER_BEST
 *
 * where OVER_BEST is the median of the turns' ratios, which is known to +- SPREAD: 1.57 of their
 * quartiles' distance over the root of their number (McGill, Tukey and Larsen 1978), about 95 times
 * in 100. FIRST is what was chosen before anything had run. With -c the choice runs alone, planned
 * again some times, and rank 0 prints
 *
 *   chosen LIBRARY SIZE ALGORITHM MILLISECONDS, and those of the fastest and the slowest run
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/domain/covey_domain.h"
#include "tests/bench/seconds.h"

enum { TURNS_LEAST = 7, TURNS_MOST = 41, RUNS_MOST = 9, LEARNED_MOST = 20, STABLE = 3 };
enum { PLANS_LEAST = 3, PLANS_MOST = 9, CHOSEN_LEAST = 5, CHOSEN_MOST = 15 };
enum { WARM_MOST = 100, ALGORITHMS_MOST = 16, NAME = 24, TABLE = 2000 };
#define FAR 2.5
#define SETTLE_NS 5000000 /* of threads of BLAS */
#define WARM_S 1e-3       /* runs of a turn that do not count, but one at least */
#define TURN_S 4e-3       /* and those that do, but one at least */
#define ARRAY_BYTES ((size_t)1 << 32)
#define LEARN_S 0.02 /* runs of a plan that learns, but three at least */
#define ENOUGH_S 3.0 /* all turns of a size */
#define CHOSEN_S 8.0 /* runs of the choice alone, between the least and the most */

/* ---- What is measured ------------------------------------------------------------------------ */

/* One handle; the arrays are this member's. */
struct job {
    covey_team_t *team;
    covey_sort_t *sort;
    covey_fft_t *fft;
    covey_dense_t *dense;
    covey_poisson_t *poisson;
    struct covey_dense_part parts[3];
    size_t count; /* of what is filled with numbers */
    double *in, *out, *third;
};

struct library {
    const char *name;
    int (*make)(covey_team_t *team, const char *size, const char *options, struct job *job);
    void (*fill)(struct job *job, uint64_t seed);
    int (*run)(struct job *job);
    const char *(*taken)(const struct job *job);
    int (*explain)(const struct job *job, char *text, size_t size);
    int has_threads; /* of BLAS */
};

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

/* The first, second or third array of whatever job; NULL: that is too large. Pages that nobody
 * touches take no memory. */
static double *array_of(int which, size_t bytes)
{
    static double *arrays[3];
    if (arrays[which] == NULL) {
        void *base = mmap(NULL, ARRAY_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        arrays[which] = base == MAP_FAILED ? NULL : base;
    }
    return bytes <= ARRAY_BYTES ? arrays[which] : NULL;
}

static void fill_numbers(struct job *job, uint64_t seed)
{
    for (size_t i = 0; i < job->count; i++)
        job->in[i] = (double)(next(&seed) >> 40) / (1 << 24) - 0.5;
}

static int sort_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    struct covey_sort_kind kind = {.type = COVEY_UINT64};
    int error = covey_sort_create(team, &kind, options, NULL, &job->sort);
    job->count = (size_t)strtoull(size, NULL, 10) / (size_t)covey_team_size(team);
    job->in = array_of(0, job->count * sizeof *job->in);
    return error < 0 || job->in == NULL ? -1 : 0;
}

static void sort_fill(struct job *job, uint64_t seed)
{
    for (size_t i = 0; i < job->count; i++) {
        uint64_t mixed = next(&seed);
        memcpy(&job->in[i], &mixed, sizeof mixed);
    }
}

static int sort_run(struct job *job)
{
    return covey_sort_run(job->sort, job->in, job->count);
}

static const char *sort_taken(const struct job *job)
{
    return covey_sort_taken(job->sort);
}

static int sort_explain(const struct job *job, char *text, size_t size)
{
    uint64_t total = job->count * (uint64_t)covey_team_size(job->team);
    return (int)covey_sort_explain(job->sort, total, text, size);
}

static int fft_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    struct covey_fft_part in, out;
    long long n[3] = {1, 1, 1};
    int dims = sscanf(size, "%lldx%lldx%lld", &n[0], &n[1], &n[2]);
    int64_t sizes[3] = {n[0], n[1], n[2]};
    if (dims < 1 || covey_fft_plan(team, dims, sizes, COVEY_FFT_FORWARD, options, &job->fft) < 0)
        return -1;
    covey_fft_local(job->fft, COVEY_FFT_IN, &in);
    covey_fft_local(job->fft, COVEY_FFT_OUT, &out);
    job->count = 2 * in.count;
    job->in = array_of(0, in.count * 2 * sizeof *job->in);
    job->out = array_of(1, out.count * 2 * sizeof *job->out);
    return job->in == NULL || job->out == NULL ? -1 : 0;
}

static int fft_run(struct job *job)
{
    return covey_fft_execute(job->fft, job->in, job->out);
}

static const char *fft_taken(const struct job *job)
{
    return covey_fft_algorithm(job->fft);
}

static int fft_explain(const struct job *job, char *text, size_t size)
{
    return covey_fft_explain(job->fft, text, size);
}

/* n x n, and one right-hand side. */
static int dense_make(int op, covey_team_t *team, const char *size, const char *options,
                      struct job *job)
{
    int64_t n = strtoll(size, NULL, 10);
    const struct covey_dense_problem problem = {op, COVEY_DOUBLE, n, n, n, 1};
    double **arrays[] = {&job->in, &job->out, &job->third};
    if (covey_dense_plan(team, &problem, options, NULL, &job->dense) < 0)
        return -1;
    for (int i = 0; i < (op == COVEY_DENSE_GEMM ? 3 : 2); i++) {
        covey_dense_local(job->dense, COVEY_DENSE_A + i, &job->parts[i]);
        *arrays[i] = array_of(i, job->parts[i].count * sizeof(double));
        if (*arrays[i] == NULL)
            return -1;
    }
    job->count = job->parts[0].count;
    return 0;
}

/* Symmetric, with a strong diagonal. */
static void dense_fill(struct job *job, uint64_t seed)
{
    const struct covey_dense_part *p = &job->parts[0];
    for (int64_t j = 0; j < p->local_n; j++)
        for (int64_t i = 0; i < p->local_m; i++) {
            int64_t row = (i / p->block * p->rows + p->row) * p->block + i % p->block;
            int64_t column = (j / p->block * p->columns + p->column) * p->block + j % p->block;
            job->in[i + j * p->ld] =
                row == column ? (double)p->n : (double)((row + column + (int64_t)seed) % 7) / 7;
        }
    for (size_t i = 0; i < job->parts[1].count; i++)
        job->out[i] = (double)i;
}

static int gemm_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    return dense_make(COVEY_DENSE_GEMM, team, size, options, job);
}

static int solve_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    return dense_make(COVEY_DENSE_SOLVE, team, size, options, job);
}

static int cholesky_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    return dense_make(COVEY_DENSE_CHOLESKY, team, size, options, job);
}

static int gemm_run(struct job *job)
{
    const struct covey_dense_part *p = job->parts;
    const double one = 1, zero = 0;
    return covey_dense_gemm(job->dense, &one, job->in, p[0].ld, job->out, p[1].ld, &zero,
                            job->third, p[2].ld);
}

static int solve_run(struct job *job)
{
    return covey_dense_solve(job->dense, job->in, job->parts[0].ld, job->out, job->parts[1].ld);
}

static int cholesky_run(struct job *job)
{
    const struct covey_dense_part *p = job->parts;
    int error = covey_dense_cholesky(job->dense, COVEY_DENSE_LOWER, job->in, p[0].ld);
    return error != 0 ? error
                      : covey_dense_cholesky_solve(job->dense, COVEY_DENSE_LOWER, job->in, p[0].ld,
                                                   job->out, p[1].ld);
}

static int qr_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    return dense_make(COVEY_DENSE_QR, team, size, options, job);
}

static int qr_run(struct job *job)
{
    const struct covey_dense_part *p = job->parts;
    int error = covey_dense_qr(job->dense, job->in, p[0].ld);
    return error != 0 ? error
                      : covey_dense_qr_solve(job->dense, job->in, p[0].ld, job->out, p[1].ld);
}

static const char *dense_taken(const struct job *job)
{
    return covey_dense_algorithm(job->dense);
}

static int dense_explain(const struct job *job, char *text, size_t size)
{
    return covey_dense_explain(job->dense, text, size);
}

static int poisson_make(covey_team_t *team, const char *size, const char *options, struct job *job)
{
    struct covey_poisson_problem problem = {.dims = 3};
    long long n[3] = {1, 1, 1};
    problem.dims = sscanf(size, "%lldx%lldx%lld", &n[0], &n[1], &n[2]);
    for (int d = 0; d < 3; d++) {
        problem.n[d] = n[d];
        problem.h[d] = 1 / (double)n[d];
        problem.low[d] = problem.high[d] = COVEY_BORDER_VALUE;
    }
    if (problem.dims < 2 || covey_poisson_plan(team, &problem, options, NULL, &job->poisson) < 0)
        return -1;
    job->in = covey_grid_field(covey_poisson_grid(job->poisson));
    job->out = covey_grid_field(covey_poisson_grid(job->poisson));
    return job->in == NULL || job->out == NULL ? -1 : 0;
}

static void poisson_fill(struct job *job, uint64_t seed)
{
    struct covey_grid_part part;
    covey_poisson_local(job->poisson, &part);
    job->count = part.count;
    fill_numbers(job, seed);
    memset(job->out, 0, part.count * sizeof *job->out);
}

static int poisson_run(struct job *job)
{
    int error = covey_poisson_solve(job->poisson, job->in, job->out, 1e-8, NULL);
    return error == 0 ? 0 : -1;
}

static const char *poisson_taken(const struct job *job)
{
    return covey_poisson_algorithm(job->poisson);
}

static int poisson_explain(const struct job *job, char *text, size_t size)
{
    return (int)covey_poisson_explain(job->poisson, text, size);
}

static const struct library libraries[] = {
    {"sort", sort_make, sort_fill, sort_run, sort_taken, sort_explain, 0},
    {"fft", fft_make, fill_numbers, fft_run, fft_taken, fft_explain, 0},
    {"gemm", gemm_make, dense_fill, gemm_run, dense_taken, dense_explain, 1},
    {"solve", solve_make, dense_fill, solve_run, dense_taken, dense_explain, 1},
    {"cholesky", cholesky_make, dense_fill, cholesky_run, dense_taken, dense_explain, 1},
    {"qr", qr_make, dense_fill, qr_run, dense_taken, dense_explain, 1},
    {"poisson", poisson_make, poisson_fill, poisson_run, poisson_taken, poisson_explain, 0},
};

static void job_free(struct job *job)
{
    covey_sort_free(&job->sort);
    covey_fft_free(&job->fft);
    covey_dense_free(&job->dense);
    if (job->poisson != NULL) { /* whose arrays have a border */
        free(job->in);
        free(job->out);
    }
    covey_poisson_free(&job->poisson);
    *job = (struct job){.count = 0};
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* What is measured of one size: the algorithms, and last the choice. */
struct turns {
    const struct library *library;
    const char *size;
    covey_team_t *team;
    int n, turns;
    char names[ALGORITHMS_MOST][NAME];
    char first[NAME];     /* what was chosen before anything had run */
    char expected[TABLE]; /* likewise */
    struct job jobs[ALGORITHMS_MOST + 1];
    int is_far[ALGORITHMS_MOST + 1];
    double once_s[ALGORITHMS_MOST + 1]; /* before the turns */
    double seconds[ALGORITHMS_MOST + 1][TURNS_MOST];
};

/* Of the slowest member; below 0: it failed. */
static double run_once(struct turns *t, struct job *job, uint64_t seed)
{
    double mine, most = -1;
    t->library->fill(job, seed * 1000003 + (uint64_t)covey_team_rank(t->team));
    if (covey_barrier(t->team) < 0)
        return -1;
    double begin = domain_now_s();
    if (t->library->run(job) != 0)
        return -1;
    mine = domain_now_s() - begin;
    return covey_allreduce(t->team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, &most, 1) < 0 ? -1 : most;
}

/* The median of some runs after the first ones; below 0: one failed. */
static double run_in_turn(struct turns *t, struct job *job, double about_s, uint64_t seed)
{
    double seconds[RUNS_MOST];
    int runs = about_s * RUNS_MOST < TURN_S ? RUNS_MOST : about_s * 3 < TURN_S ? 3 : 1;
    if (t->library->has_threads)
        nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
    int warm = 1 + (int)fmin(WARM_S / about_s, WARM_MOST);
    for (int i = -warm; i < runs; i++) {
        double run_s = run_once(t, job, seed + (uint64_t)(i + warm));
        if (run_s < 0)
            return -1;
        if (i >= 0)
            seconds[i] = run_s;
    }
    return median(seconds, runs);
}

static int make(struct turns *t, const char *options, struct job *job)
{
    *job = (struct job){.team = t->team};
    return t->library->make(t->team, t->size, options, job);
}

/* A plan is made anew each time, for it may choose another one then; the one that stays took what
 * those before took: trials of what has not run are over. */
static int learn(struct turns *t)
{
    char before[NAME] = "";
    int error = make(t, NULL, &t->jobs[t->n]);
    for (int i = 0, same = 0; error == 0; i++) {
        double spent_s = 0, seconds = 0;
        for (int k = 0; seconds >= 0 && (k < 3 || (k < 50 && spent_s < LEARN_S)); k++) {
            seconds = run_once(t, &t->jobs[t->n], (uint64_t)(i + k));
            spent_s += seconds;
        }
        error = seconds < 0 ? -1 : 0;
        const char *taken = t->library->taken(&t->jobs[t->n]);
        same = strcmp(taken, before) == 0 ? same + 1 : 0;
        snprintf(before, sizeof before, "%s", taken);
        if (i == 0)
            snprintf(t->first, sizeof t->first, "%s", taken);
        if (error < 0 || same == STABLE || i == LEARNED_MOST)
            break;
        job_free(&t->jobs[t->n]);
        error = make(t, NULL, &t->jobs[t->n]);
    }
    return error;
}

/* Out of the table of the choice: a line an algorithm, with its time or without one. */
static void read_names(struct turns *t, const char *table)
{
    for (const char *line = table; line != NULL && t->n < ALGORITHMS_MOST;) {
        char unit[4] = "";
        double ms;
        if (sscanf(line, "%23s %lf %3s", t->names[t->n], &ms, unit) == 3 && strcmp(unit, "ms") == 0)
            t->n++;
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

/* The least of some runs after the first one: it says whether an algorithm is far from the best. */
static double run_some(struct turns *t, struct job *job, double best_s)
{
    double first_s = run_once(t, job, 0), least_s = INFINITY, seconds = first_s;
    if (first_s > 10 * FAR * best_s)
        return first_s;
    for (int k = 1; seconds >= 0 && k < (least_s < TURN_S ? RUNS_MOST : 2); k++) {
        seconds = run_once(t, job, (uint64_t)k);
        least_s = fmin(least_s, seconds);
    }
    return seconds < 0 ? seconds : least_s;
}

static int make_all(struct turns *t)
{
    struct job first;
    double best = INFINITY;
    int error = make(t, NULL, &first);
    if (error == 0)
        error = t->library->explain(&first, t->expected, sizeof t->expected) < 0 ? -1 : 0;
    read_names(t, t->expected);
    job_free(&first);
    if (error == 0)
        error = learn(t);
    for (int i = 0; error == 0 && i <= t->n; i++) {
        error = i < t->n ? make(t, t->names[i], &t->jobs[i]) : 0;
        t->once_s[i] = error == 0 ? run_some(t, &t->jobs[i], best) : -1;
        error = t->once_s[i] < 0 ? -1 : 0;
        best = fmin(best, t->once_s[i]);
    }
    for (int i = 0; i < t->n; i++)
        t->is_far[i] = t->once_s[i] > FAR * best;
    double all_s = 0;
    for (int i = 0; i <= t->n; i++)
        all_s += t->is_far[i] ? 0
                              : (t->library->has_threads ? SETTLE_NS * 1e-9 : 0) +
                                    fmax(2 * t->once_s[i], WARM_S + TURN_S);
    t->turns = (int)fmin(fmax(ENOUGH_S / all_s, TURNS_LEAST), TURNS_MOST);
    return error;
}

static double expected_ms(const char *table, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = table; line != NULL; line = strchr(line, '\n')) {
        line += line > table;
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtod(line + length, NULL);
    }
    return -1;
}

/* The median of the turns' ratios, and how far it may be off. */
static double ratio(const struct turns *t, int of, int to, double *spread)
{
    double ratios[TURNS_MOST];
    for (int r = 0; r < t->turns; r++)
        ratios[r] = t->seconds[of][r] / t->seconds[to][r];
    double middle = median(ratios, t->turns);
    *spread = 1.57 * (ratios[3 * t->turns / 4] - ratios[t->turns / 4]) / sqrt(t->turns);
    return middle;
}

static double time_of(const struct turns *t, int i)
{
    double seconds[TURNS_MOST];
    if (t->is_far[i])
        return t->once_s[i];
    memcpy(seconds, t->seconds[i], sizeof seconds);
    return median(seconds, t->turns);
}

static void print(struct turns *t)
{
    char table[TABLE] = "";
    int best = -1, first = 0;
    double spread, unused;
    t->library->explain(&t->jobs[t->n], table, sizeof table);
    for (int i = 0; i < t->n; i++) {
        first = strcmp(t->names[i], t->first) == 0 ? i : first;
        if (!t->is_far[i] && (best < 0 || time_of(t, i) < time_of(t, best)))
            best = i;
        printf("%s %s %s %.3f ms, expected %.3f then %.3f\n", t->library->name, t->size,
               t->names[i], time_of(t, i) * 1e3, expected_ms(t->expected, t->names[i]),
               expected_ms(table, t->names[i]));
    }
    double chosen_s = time_of(t, t->n), over = best < 0 ? 1 : ratio(t, t->n, best, &spread);
    double alone = t->is_far[0] ? chosen_s / time_of(t, 0) : ratio(t, t->n, 0, &unused);
    printf("choice %s %s %s %.3f %.3f %.3f %.3f %s %.3f\n", t->library->name, t->size,
           t->library->taken(&t->jobs[t->n]), over, alone, chosen_s * 1e3, best < 0 ? 0 : spread,
           t->first, best < 0 ? 1 : time_of(t, first) / time_of(t, best));
    fflush(stdout);
}

/* All in an order that is drawn, by all members alike: none always follows the same other one. */
static int take_turn(struct turns *t, int turn)
{
    int order[ALGORITHMS_MOST + 1], error = 0;
    uint64_t seed = (uint64_t)turn + 1;
    for (int i = 0; i <= t->n; i++) {
        int k = (int)((next(&seed) >> 33) % (uint64_t)(i + 1));
        if (k < i)
            order[i] = order[k];
        order[k] = i;
    }
    for (int k = 0; error == 0 && k <= t->n; k++) {
        int i = order[k];
        if (t->is_far[i])
            continue;
        t->seconds[i][turn] = run_in_turn(t, &t->jobs[i], t->once_s[i], (uint64_t)turn);
        error = t->seconds[i][turn] < 0 ? -1 : 0;
    }
    return error;
}

static int measure(covey_team_t *team, const struct library *library, const char *size)
{
    struct turns *t = calloc(1, sizeof *t);
    int error = t == NULL ? -1 : 0;
    if (error == 0) {
        *t = (struct turns){.library = library, .size = size, .team = team};
        error = make_all(t);
    }
    for (int r = 0; error == 0 && r < t->turns; r++)
        error = take_turn(t, r);
    if (error == 0 && covey_team_rank(team) == 0)
        print(t);
    for (int i = 0; t != NULL && i <= t->n; i++)
        job_free(&t->jobs[i]);
    free(t);
    return error;
}

/* Plans until one takes what the one before took: what was never run may be tried, and what was
 * disturbed once more. Of that one the first run does not count, which opens links. */
static int choose_for_long(struct turns *t)
{
    int error = 0, is_last = 0;
    for (int plan = 0; error == 0 && !is_last; plan++) {
        job_free(&t->jobs[0]);
        error = make(t, NULL, &t->jobs[0]);
        if (error < 0)
            break;
        const char *taken = t->library->taken(&t->jobs[0]);
        is_last = plan + 1 >= PLANS_LEAST && strcmp(t->names[t->n - 1], taken) == 0;
        is_last |= plan + 1 == PLANS_MOST;
        snprintf(t->names[t->n++], sizeof t->names[0], "%s", taken);
        for (int i = 0; error == 0 && i < (is_last ? 1 : 2); i++)
            error = run_once(t, &t->jobs[0], (uint64_t)i) < 0 ? -1 : 0;
    }
    return error;
}

static int measure_chosen(covey_team_t *team, const struct library *library, const char *size)
{
    struct turns t = {.library = library, .size = size, .team = team};
    double seconds[CHOSEN_MOST], spent_s = 0;
    int runs = 0, error = choose_for_long(&t);
    while (error == 0 && runs < CHOSEN_MOST && (runs < CHOSEN_LEAST || spent_s < CHOSEN_S)) {
        seconds[runs] = run_once(&t, &t.jobs[0], (uint64_t)runs + 1);
        spent_s += seconds[runs];
        error = seconds[runs++] < 0 ? -1 : 0;
    }
    if (error == 0 && covey_team_rank(team) == 0) {
        double middle = median(seconds, runs);
        printf("chosen %s %s %s %.3f %.3f %.3f\n", library->name, size, library->taken(&t.jobs[0]),
               middle * 1e3, seconds[0] * 1e3, seconds[runs - 1] * 1e3);
        fflush(stdout);
    }
    job_free(&t.jobs[0]);
    return error;
}

int main(int argc, char **argv)
{
    const struct library *library = NULL;
    covey_team_t *team = NULL;
    covey_t *vm = NULL;
    int is_chosen = argc > 1 && strcmp(argv[1], "-c") == 0;
    argc -= is_chosen;
    argv += is_chosen;
    for (size_t i = 0; argc > 1 && i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(libraries[i].name, argv[1]) == 0)
            library = &libraries[i];
    int error = library != NULL ? covey_join(&vm, NULL) : COVEY_EINVAL;
    if (error == 0)
        error = covey_team_world(vm, &team);
    for (int i = 2; error == 0 && i < argc; i++)
        error = (is_chosen ? measure_chosen : measure)(team, library, argv[i]);
    if (error < 0)
        fprintf(stderr, "choice_times: %s %s\n", covey_error_text(), covey_domain_error_text());
    covey_team_free(&team);
    covey_leave(&vm);
    return error < 0;
}
