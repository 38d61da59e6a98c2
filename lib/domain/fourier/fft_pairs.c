/*
 * fft_pairs.c - a list of all plans of this process.
 */
#include "lib/domain/fourier/fft_pairs.h"

#include <stddef.h>

#include "lib/domain/base/options.h"

static struct living_list plans = LIVING_NONE;

void fft_pairs_add(struct covey_fft *plan)
{
    living_add(&plans, &plan->living);
}

void fft_pairs_remove(struct covey_fft *plan)
{
    living_remove(&plans, &plan->living);
}

/* The kind that undoes it, but for a factor. */
static int undone_by(int kind)
{
    switch (kind) {
    case COVEY_FFT_DCT2:
        return COVEY_FFT_DCT3;
    case COVEY_FFT_DCT3:
        return COVEY_FFT_DCT2;
    case COVEY_FFT_DST2:
        return COVEY_FFT_DST3;
    case COVEY_FFT_DST3:
        return COVEY_FFT_DST2;
    default:
        return kind;
    }
}

/* What is its own inverse needs no second plan, but may have one. */
static int goes_back(const struct fft_problem *there, const struct fft_problem *back)
{
    if (there->dims != back->dims || there->is_real != back->is_real ||
        there->is_r2r != back->is_r2r)
        return 0;
    for (int i = 0; i < there->dims; i++)
        if (there->n[i] != back->n[i] ||
            (there->is_r2r && undone_by(there->kinds[i]) != back->kinds[i]))
            return 0;
    return there->is_r2r || there->is_backward != back->is_backward;
}

int fft_pairs_match(const struct covey_fft *there, const struct covey_fft *back)
{
    const struct fft_options *a = &there->options, *b = &back->options;
    return goes_back(&there->problem, &back->problem) && a->ends.transposed == b->ends.transposed &&
           a->ends.at_root == b->ends.at_root && a->grid.rows == b->grid.rows &&
           a->grid.columns == b->grid.columns;
}

struct search {
    const struct covey_fft *plan;
    const covey_team_t *team;
    int found;
};

static int is_pair(const struct living *living, void *context)
{
    const struct covey_fft *p =
        (const void *)((const char *)living - offsetof(struct covey_fft, living));
    struct search *search = context;
    if (!fft_pairs_match(p, search->plan) || !living_has_members(p->teams[FFT_ALL], search->team))
        return 0;
    search->found = p->taken;
    return 1;
}

int fft_pairs_find(const struct covey_fft *plan, const covey_team_t *team)
{
    struct search search = {plan, team, DOMAIN_CHOSEN};
    living_find(&plans, is_pair, &search);
    return search.found;
}
