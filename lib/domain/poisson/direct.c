/*
 * direct.c - the direct method: in the space of the right sines and cosines of each axis the matrix
 * is diagonal. FFTW transforms what lies at one member; where this room is built without FFTW, the
 * method is refused.
 *
 * A member has slabs: of the first axis while the others are transformed, and of the second one
 * while the first is, each of as many points as others leave it of its host. A grid that is divided
 * into the first slabs needs no messages for these. What is odd around a border is a sine, what is
 * even a cosine; with cells these are the transforms of types II and IV, and of periodic axes the
 * real Fourier transform. The eigenvalues are those of the matrix, not of the equation: the result
 * is that of all other methods.
 *
 * G. Strang, The discrete cosine transform, SIAM Review 41 (1999): which transform is of which
 * border.
 */
#include "lib/domain/poisson/solver.h"

#include "lib/domain/base/error.h"
#include "lib/domain/base/planner.h"

#if __has_include(<fftw3.h>)

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/grid/grid.h"
#include "lib/domain/grid/move.h"

#define TAG_DIRECT 0x0190
#define MEASURED 65536 /* from so many points on the planner measures */

/* A layout: slabs of an axis. */
struct slabs {
    const struct level *level;
    struct grid_split split;
    struct grid_field field;
    double *data;
};

struct direct {
    struct slabs slabs[2]; /* of the first axis and of the second one */
    struct move to_slabs, across;
    fftw_plan there[2], back[2];
    double *eigenvalues[GRID_AXES]; /* of the points of the second slabs */
    double scale;                   /* of there and back */
};

const char *direct_refusal(void)
{
    return NULL;
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void box_of(const void *split, int rank, struct grid_box *box)
{
    split_box(split, rank, box);
}

static int make_split(struct slabs *slabs, const struct solver *solver, int axis)
{
    const unsigned char alone = 1;
    const int32_t here = 0;
    const int64_t *n = solver->level.equation.n;
    struct split_members members = {.count = 1, .hosts = &here};
    if (solver->team == NULL)
        return split_make_slabs(&slabs->split, n, axis, &members, &alone);
    int32_t *hosts = grid_hosts(solver->team);
    members = (struct split_members){.count = covey_team_size(solver->team), .hosts = hosts};
    int error =
        hosts == NULL ? -2 : split_make_slabs(&slabs->split, n, axis, &members, solver->shares);
    free(hosts);
    return error;
}

static int make_layouts(struct direct *d, const struct solver *solver)
{
    const struct level *level = &solver->level;
    const int none[GRID_AXES] = {0, 0, 0};
    const int64_t period[GRID_AXES] = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
        struct slabs *s = &d->slabs[i];
        struct grid_box box;
        s->level = level;
        if (make_split(s, solver, GRID_AXES - level->equation.dims + i) < 0)
            return COVEY_ENOMEM;
        split_box(&s->split, level->halo.rank, &box);
        field_make(&s->field, &box, none);
        s->data = fftw_malloc((s->field.count + 1) * sizeof(double));
        if (s->data == NULL)
            return COVEY_ENOMEM;
    }
    const struct move_side first[2] = {{box_of, &level->split, level->halo.field},
                                       {box_of, &d->slabs[0].split, d->slabs[0].field}};
    const struct move_side second[2] = {{box_of, &d->slabs[0].split, d->slabs[0].field},
                                        {box_of, &d->slabs[1].split, d->slabs[1].field}};
    int error = move_make(&d->to_slabs, level->team, first, period, TAG_DIRECT);
    return error < 0 ? error : move_make(&d->across, level->team, second, period, TAG_DIRECT + 1);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* What is transformed along an axis: there, back, by how much both together multiply. */
struct transform {
    fftw_r2r_kind there, back;
    double factor;
};

static struct transform transform_of(const struct equation *e, int axis)
{
    double n = (double)e->n[axis];
    int low = e->low[axis] == COVEY_BORDER_VALUE, high = e->high[axis] == COVEY_BORDER_VALUE;
    if (e->low[axis] == COVEY_BORDER_PERIODIC)
        return (struct transform){FFTW_R2HC, FFTW_HC2R, n};
    if (low && high)
        return (struct transform){FFTW_RODFT10, FFTW_RODFT01, 2 * n};
    if (!low && !high)
        return (struct transform){FFTW_REDFT10, FFTW_REDFT01, 2 * n};
    if (low)
        return (struct transform){FFTW_RODFT11, FFTW_RODFT11, 2 * n};
    return (struct transform){FFTW_REDFT11, FFTW_REDFT11, 2 * n};
}

/* Of the i-th coefficient of an axis. */
static double eigenvalue(const struct equation *e, int axis, int64_t i)
{
    double n = (double)e->n[axis], at = (double)i, angle;
    int low = e->low[axis] == COVEY_BORDER_VALUE, high = e->high[axis] == COVEY_BORDER_VALUE;
    if (e->low[axis] == COVEY_BORDER_PERIODIC)
        angle = M_PI * fmin(at, n - at) / n;
    else if (low != high)
        angle = M_PI * (2 * at + 1) / (4 * n);
    else
        angle = M_PI * (at + low) / (2 * n);
    return 4 * equation_k(e, axis) * sin(angle) * sin(angle);
}

static int make_eigenvalues(struct direct *d, const struct equation *e)
{
    const struct grid_box *box = &d->slabs[1].field.box;
    d->scale = 1;
    for (int a = 0; a < GRID_AXES; a++) {
        d->eigenvalues[a] = calloc((size_t)box->size[a] + 1, sizeof(double));
        if (d->eigenvalues[a] == NULL)
            return COVEY_ENOMEM;
        for (int64_t i = 0; i < box->size[a]; i++)
            d->eigenvalues[a][i] = eigenvalue(e, a, box->low[a] + i);
        if (a >= GRID_AXES - e->dims)
            d->scale *= transform_of(e, a).factor;
    }
    return 0;
}

/* Transforms along the axes first to last of a slab, at once. */
static fftw_plan plan_axes(const struct slabs *s, int first, int last, int is_back)
{
    const struct equation *e = &s->level->equation;
    const struct grid_field *f = &s->field;
    fftw_iodim64 along[GRID_AXES], others[GRID_AXES];
    fftw_r2r_kind kinds[GRID_AXES];
    int rank = 0, rest = 0;
    for (int a = 0; a < GRID_AXES; a++) {
        fftw_iodim64 dim = {f->box.size[a], f->stride[a], f->stride[a]};
        if (a >= first && a <= last) {
            struct transform t = transform_of(e, a);
            kinds[rank] = is_back ? t.back : t.there;
            along[rank++] = dim;
        } else {
            others[rest++] = dim;
        }
    }
    return fftw_plan_guru64_r2r(rank, along, rest, others, s->data, s->data, kinds,
                                f->count < MEASURED ? FFTW_ESTIMATE : FFTW_MEASURE);
}

static int plan_slabs(struct direct *d)
{
    for (int i = 0; i < 2; i++) {
        const struct slabs *s = &d->slabs[i];
        int axis = d->slabs[0].split.slab_axis;
        if (s->field.count == 0)
            continue;
        d->there[i] =
            i == 0 ? plan_axes(s, axis + 1, GRID_AXES - 1, 0) : plan_axes(s, axis, axis, 0);
        d->back[i] =
            i == 0 ? plan_axes(s, axis + 1, GRID_AXES - 1, 1) : plan_axes(s, axis, axis, 1);
        if (d->there[i] == NULL || d->back[i] == NULL)
            return COVEY_ENOMEM;
    }
    return 0;
}

static int make_plans(struct direct *d)
{
    domain_planner_lock();
    int error = plan_slabs(d);
    domain_planner_unlock();
    return error;
}

int direct_make(struct solver *solver)
{
    struct direct *d = solver->direct = calloc(1, sizeof *d);
    int error = d == NULL ? COVEY_ENOMEM : make_layouts(d, solver);
    if (error == 0)
        error = make_eigenvalues(d, &solver->level.equation);
    return error < 0 ? error : make_plans(d);
}

void direct_free(struct direct **direct)
{
    struct direct *d = *direct;
    domain_planner_lock();
    for (int i = 0; d != NULL && i < 2; i++) {
        fftw_destroy_plan(d->there[i]);
        fftw_destroy_plan(d->back[i]);
        fftw_free(d->slabs[i].data);
        split_free(&d->slabs[i].split);
    }
    domain_planner_unlock();
    for (int a = 0; d != NULL && a < GRID_AXES; a++)
        free(d->eigenvalues[a]);
    if (d != NULL) {
        move_free(&d->to_slabs);
        move_free(&d->across);
    }
    free(d);
    *direct = NULL;
}

double direct_exchange_s(const struct direct *direct)
{
    return direct == NULL ? 0 : direct->to_slabs.seconds + direct->across.seconds;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Of a singular matrix the coefficient of constants stays 0. */
static void divide(const struct direct *d, const struct equation *e)
{
    const struct grid_field *f = &d->slabs[1].field;
    int is_singular = equation_is_singular(e);
    for (int64_t i = 0; i < f->box.size[0]; i++) {
        for (int64_t j = 0; j < f->box.size[1]; j++) {
            double *row = d->slabs[1].data + i * f->stride[0] + j * f->stride[1];
            double outer = e->c + d->eigenvalues[0][i] + d->eigenvalues[1][j];
            for (int64_t k = 0; k < f->box.size[2]; k++)
                row[k] /= d->scale * (outer + d->eigenvalues[2][k]);
        }
    }
    if (is_singular && f->count > 0 && f->box.low[0] + f->box.low[1] + f->box.low[2] == 0)
        d->slabs[1].data[0] = 0;
}

static void transform(fftw_plan plan)
{
    if (plan != NULL)
        fftw_execute(plan);
}

int direct_apply(struct solver *solver, const double *r, double *z)
{
    struct direct *d = solver->direct;
    double *first = d->slabs[0].data, *second = d->slabs[1].data;
    int error = move_run(&d->to_slabs, MOVE_THERE, (double *)(uintptr_t)r, first);
    if (error < 0)
        return error;
    transform(d->there[0]);
    error = move_run(&d->across, MOVE_THERE, first, second);
    if (error < 0)
        return error;
    transform(d->there[1]);
    divide(d, &solver->level.equation);
    transform(d->back[1]);
    error = move_run(&d->across, MOVE_BACK, first, second);
    if (error < 0)
        return error;
    transform(d->back[0]);
    return move_run(&d->to_slabs, MOVE_BACK, z, first);
}

#else

const char *direct_refusal(void)
{
    return "Covey is built without FFTW 3";
}

int direct_make(struct solver *solver)
{
    (void)solver;
    return domain_fail(COVEY_EINVAL, "poisson: %s", direct_refusal());
}

void direct_free(struct direct **direct)
{
    *direct = NULL;
}

double direct_exchange_s(const struct direct *direct)
{
    (void)direct;
    return 0;
}

/* Never called: there is no plan with it. */
int direct_apply(struct solver *solver, const double *r, double *z)
{
    (void)r, (void)z;
    return direct_make(solver);
}

#endif
