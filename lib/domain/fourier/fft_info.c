/*
 * fft_info.c - what a plan tells: the parts of its members, and its choice.
 */
#include <string.h>

#include "lib/domain/base/error.h"
#include "lib/domain/base/history.h"
#include "lib/domain/fourier/fft.h"

/* A transform in one dimension that is computed in two is one again where a member's elements
 * follow one another in it: coefficients k1 + n1 k2 if it has all k1, and elements j1 n2 + j2. */
static void make_flat(const struct covey_fft *plan, const struct fft_layout *layout,
                      struct covey_fft_part *part)
{
    int slow = layout->swapped ? 1 : 0;
    part->dims = 1;
    part->offset[0] = part->offset[slow] * layout->n[1 - slow] + part->offset[1 - slow];
    part->n[0] = plan->path.elements;
    part->size[0] = (int64_t)part->count;
    part->stride[0] = 1;
    part->n[1] = part->size[1] = part->stride[1] = 1;
    part->offset[1] = 0;
}

int covey_fft_local_of(const covey_fft_t *plan, int side, int rank, struct covey_fft_part *part)
{
    if (plan == NULL || part == NULL || (side != COVEY_FFT_IN && side != COVEY_FFT_OUT))
        return domain_fail(COVEY_EINVAL, "the plan or the part is NULL, or %d is no side", side);
    const struct fft_path *path = &plan->path;
    if (rank < 0 || rank >= path->grid.rows * path->grid.columns)
        return domain_fail(COVEY_EINVAL, "there is no rank %d", rank);
    int spectral = (side == COVEY_FFT_OUT) != plan->problem.is_backward;
    int stage = spectral ? path->count - 1 : 0;
    const struct fft_layout *layout = &path->stages[stage].layout;
    struct fft_box box;
    fft_path_box(path, stage, spectral, rank, &box);
    *part = (struct covey_fft_part){.dims = path->dims,
                                    .is_real = fft_path_width(path, stage, spectral) == 1,
                                    .count = (size_t)box.count};
    for (int i = 0; i < FFT_AXES; i++) {
        part->n[i] = layout->n[i];
        part->offset[i] = box.offset[i];
        part->size[i] = box.size[i];
        part->stride[i] = box.stride[i];
    }
    if (part->is_real)
        part->n[path->axis] = path->last;
    if (path->stages[stage].flat && spectral) {
        part->dims = 1;
        part->n[0] = path->elements / 2 + 1;
        part->n[1] = part->n[2] = 1;
    } else if (path->dims > plan->problem.dims && (!spectral || layout->swapped)) {
        make_flat(plan, layout, part);
    }
    return 0;
}

int covey_fft_local(const covey_fft_t *plan, int side, struct covey_fft_part *part)
{
    return covey_fft_local_of(plan, side, plan != NULL ? plan->rank : 0, part);
}

int covey_fft_explain(const covey_fft_t *plan, char *text, size_t size)
{
    if (plan == NULL || (text == NULL && size > 0))
        return domain_fail(COVEY_EINVAL, "the plan or the text is NULL");
    struct domain_algorithm rows[FFT_ALGORITHMS];
    memcpy(rows, plan->table, sizeof rows);
    domain_history_look(plan->name, rows, FFT_ALGORITHMS);
    return (int)domain_explain(rows, FFT_ALGORITHMS, plan->taken, plan->options.forced, text, size);
}

const char *covey_fft_algorithm(const covey_fft_t *plan)
{
    return plan != NULL ? plan->table[plan->taken].name : NULL;
}
