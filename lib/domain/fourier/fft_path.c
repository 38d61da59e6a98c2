/*
 * fft_path.c - the algorithms. A path is written down forward, from the physical to the spectral
 * side; a backward transform goes it from its end to its beginning.
 *
 *   local     blocks of the first axis -> all at rank 0, which transforms -> blocks
 *   slab      blocks of axis 0, transformed along all others -> blocks of axis 1, along axis 0
 *   pencil    axes 0 and 1 divided, along 2 -> 0 and 2 divided, along 1 -> 1 and 2 divided, along 0
 *             (the first exchange is among the members of a row, the second among those of a
 * column) six-step  Bailey, FFTs in external or hierarchical memory (1990): n = n1 n2 as an array
 * of n1 x n2, along its first axis, times exp(-2 pi i j2 k1 / n), along its second one; coefficient
 * k1 + n1 k2 is then element (k1, k2)
 *
 * In two dimensions the axis that is transformed runs fastest in memory: what is received is put
 * there so, for FFTW takes several times as long along the other one. In three it stays, for then
 * slabs and pencils of axis 0 are received as they lie.
 *
 * Real numbers of six-step are n1 / 2 + 1 rows of complex ones behind the first transform. In
 * natural order the spectrum has all n1 of the columns up to n / 2: half of them are the images of
 * others.
 *
 * In natural order the spectral side goes back into the layout of the physical side: one exchange
 * more.
 */
#include <stddef.h>

#include "lib/domain/fourier/fft_path.h"

static const int blocks[FFT_AXES] = {FFT_BY_RANK, FFT_WHOLE, FFT_WHOLE};
static const int second[FFT_AXES] = {FFT_WHOLE, FFT_BY_RANK, FFT_WHOLE};
static const int whole[FFT_AXES] = {FFT_WHOLE, FFT_WHOLE, FFT_WHOLE};
static const int pencil_2[FFT_AXES] = {FFT_BY_ROW, FFT_BY_COLUMN, FFT_WHOLE};
static const int pencil_1[FFT_AXES] = {FFT_BY_ROW, FFT_WHOLE, FFT_BY_COLUMN};
static const int pencil_0[FFT_AXES] = {FFT_WHOLE, FFT_BY_ROW, FFT_BY_COLUMN};

static struct fft_stage *add(struct fft_path *path, const int64_t *n, const int *split,
                             unsigned axes)
{
    struct fft_stage *stage = &path->stages[path->count++];
    *stage = (struct fft_stage){.axes = axes};
    for (int i = 0; i < FFT_AXES; i++) {
        stage->layout.n[i] = n[i];
        stage->layout.split[i] = split[i];
    }
    return stage;
}

static void add_root(struct fft_path *path, const int64_t *n, unsigned axes)
{
    add(path, n, whole, axes)->layout.at_root = 1;
}

static unsigned all_axes(const struct fft_path *path)
{
    return (1u << path->dims) - 1;
}

static void make_local(struct fft_path *path, const int64_t *n, const struct fft_ends *ends)
{
    if (!ends->at_root)
        add(path, n, blocks, 0);
    add_root(path, n, all_axes(path));
    if (!ends->at_root)
        add(path, n, blocks, 0);
}

static void make_slab(struct fft_path *path, const int64_t *n, const struct fft_ends *ends)
{
    add(path, n, blocks, all_axes(path) & ~1u);
    add(path, n, second, 1u)->layout.swapped = path->dims == 2;
    if (!ends->transposed && !ends->at_root)
        add(path, n, blocks, 0);
}

static void make_pencil(struct fft_path *path, const int64_t *n, const struct fft_ends *ends)
{
    add(path, n, pencil_2, 4u)->group = FFT_OF_ROW;
    add(path, n, pencil_1, 2u)->group = FFT_OF_COLUMN;
    add(path, n, pencil_0, 1u);
    if (!ends->transposed && !ends->at_root)
        add(path, n, pencil_2, 0);
}

/* The divisor of n that is next below its root; 1 of a prime. */
static int64_t middle_divisor(int64_t n)
{
    int64_t found = 1;
    for (int64_t d = 2; d <= n / d; d++)
        if (n % d == 0)
            found = d;
    return found;
}

static void make_six_step(struct fft_path *path, const int64_t *n, const struct fft_ends *ends)
{
    int64_t n1 = middle_divisor(n[0]), parts[FFT_AXES] = {n1, n[0] / n1, 1};
    path->dims = 2;
    add(path, parts, blocks, 0);
    struct fft_stage *middle = add(path, parts, second, 1u);
    middle->twiddle = middle->layout.swapped = 1;
    add(path, parts, blocks, 2u);
    if (!ends->transposed && !ends->at_root)
        add(path, parts, second, 0)->layout.swapped = 1;
}

/* Both sides at rank 0: what is added at the ends is nothing but their layout. */
static void add_first_root(struct fft_path *path, const int64_t *n)
{
    if (path->stages[0].layout.at_root)
        return;
    for (int s = path->count; s > 0; s--)
        path->stages[s] = path->stages[s - 1];
    path->count++;
    struct fft_path one = {.count = 0};
    add_root(&one, n, 0);
    path->stages[0] = one.stages[0];
}

static void add_last_root(struct fft_path *path, int six_step)
{
    struct fft_layout last = path->stages[path->count - 1].layout;
    if (last.at_root)
        return;
    add_root(path, last.n, 0);
    path->stages[path->count - 1].layout.swapped = six_step;
}

/* Real numbers become complex ones, half as many, where the axis is transformed. */
static void mark_real(struct fft_path *path, int axis)
{
    int numbers = FFT_REAL;
    path->axis = axis;
    path->last = path->stages[0].layout.n[axis];
    for (int s = 0; s < path->count; s++) {
        struct fft_stage *stage = &path->stages[s];
        int halves = numbers == FFT_REAL && stage->axes >> axis & 1;
        stage->numbers = halves ? FFT_HALVED : numbers;
        stage->layout.n[axis] = path->last / 2 + 1;
        if (halves)
            numbers = FFT_COMPLEX;
    }
}

/* Six-step of real numbers in natural order: behind the second transform. */
static void mark_mirror(struct fft_path *path)
{
    int last = path->count - 1;
    struct fft_layout *layout = &path->stages[last].layout;
    path->rows = path->elements / 2 / path->last + 1;
    layout->n[1] = path->rows;
    layout->n[2] = 2;
    path->stages[last].flat = 1;
    path->stages[last - 1].mirror = 1;
}

static void mark_r2r(struct fft_path *path, const struct fft_problem *problem)
{
    path->axis = problem->dims - 1;
    path->last = problem->n[path->axis];
    for (int s = 0; s < path->count; s++)
        path->stages[s].numbers = FFT_REAL;
}

void fft_path_make(int algorithm, const struct fft_problem *problem, const struct fft_ends *ends,
                   const struct fft_grid *grid, struct fft_path *path)
{
    static void (*const make[FFT_ALGORITHMS])(struct fft_path *, const int64_t *,
                                              const struct fft_ends *) = {
        [FFT_LOCAL] = make_local,
        [FFT_SLAB] = make_slab,
        [FFT_PENCIL] = make_pencil,
        [FFT_SIX_STEP] = make_six_step};
    *path = (struct fft_path){.dims = problem->dims, .grid = *grid};
    path->elements = problem->n[0] * problem->n[1] * problem->n[2];
    make[algorithm](path, problem->n, ends);
    if (ends->at_root) {
        add_first_root(path, path->stages[0].layout.n);
        add_last_root(path, algorithm == FFT_SIX_STEP);
    }
    if (problem->is_r2r)
        mark_r2r(path, problem);
    if (problem->is_real)
        mark_real(path, problem->dims - 1);
    if (problem->is_real && algorithm == FFT_SIX_STEP && (ends->at_root || !ends->transposed))
        mark_mirror(path);
}

const char *fft_path_refusal(int algorithm, const struct fft_problem *problem)
{
    if (algorithm == FFT_SLAB && problem->dims < 2)
        return "needs 2 or 3 dimensions";
    if (algorithm == FFT_PENCIL && problem->dims < 3)
        return "needs 3 dimensions";
    if (algorithm != FFT_SIX_STEP)
        return NULL;
    if (problem->dims > 1)
        return "is for 1 dimension";
    if (problem->is_r2r)
        return "is not for sines and cosines";
    return middle_divisor(problem->n[0]) == 1 ? "the size is 1 or a prime" : NULL;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* All rows of some columns, and their images, follow one another in the spectrum. */
static void flatten(const struct fft_path *path, struct fft_box *box)
{
    int64_t all = path->elements / 2 + 1;
    int64_t begin = least(box->offset[1] * path->last, all);
    int64_t end = least((box->offset[1] + box->size[1]) * path->last, all);
    *box = (struct fft_box){
        .offset = {begin}, .size = {end - begin, 1, 1}, .stride = {1, 1, 1}, .count = end - begin};
}

void fft_path_box(const struct fft_path *path, int stage, int spectral, int rank,
                  struct fft_box *box)
{
    const struct fft_stage *s = &path->stages[stage];
    struct fft_layout layout = s->layout;
    if (s->numbers == FFT_REAL || (s->numbers == FFT_HALVED && !spectral))
        layout.n[path->axis] = path->last;
    if (s->mirror && spectral) {
        layout.n[1] = path->rows;
        layout.n[2] = 2;
    }
    fft_layout_box(&layout, &path->grid, rank, box);
    if (s->flat && spectral)
        flatten(path, box);
}

int fft_path_width(const struct fft_path *path, int stage, int spectral)
{
    int numbers = path->stages[stage].numbers;
    return numbers == FFT_REAL || (numbers == FFT_HALVED && !spectral) ? 1 : 2;
}

int fft_path_slice_axis(const struct fft_path *path, int stage)
{
    unsigned axes = path->stages[stage].axes;
    for (int i = 0; axes != 0 && i < path->dims; i++)
        if (!(axes >> i & 1))
            return i;
    return -1;
}
