/*
 * fft_pairs.c - a list of all plans of this process.
 */
#include "lib/domain/fourier/fft_pairs.h"

#include <pthread.h>

#include "lib/domain/base/options.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct covey_fft *youngest;

void fft_pairs_add(struct covey_fft *plan)
{
    pthread_mutex_lock(&lock);
    plan->older = youngest;
    youngest = plan;
    pthread_mutex_unlock(&lock);
}

void fft_pairs_remove(struct covey_fft *plan)
{
    pthread_mutex_lock(&lock);
    struct covey_fft **at = &youngest;
    while (*at != NULL && *at != plan)
        at = &(*at)->older;
    if (*at != NULL)
        *at = plan->older;
    pthread_mutex_unlock(&lock);
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

static int has_members(const covey_team_t *a, const covey_team_t *b)
{
    if (covey_team_size(a) != covey_team_size(b))
        return 0;
    for (int i = 0; i < covey_team_size(a); i++)
        if (covey_team_tid(a, i) != covey_team_tid(b, i))
            return 0;
    return 1;
}

int fft_pairs_find(const struct covey_fft *plan, const covey_team_t *team)
{
    int found = DOMAIN_CHOSEN;
    pthread_mutex_lock(&lock);
    for (const struct covey_fft *p = youngest; p != NULL && found == DOMAIN_CHOSEN; p = p->older)
        if (fft_pairs_match(p, plan) && has_members(p->teams[FFT_ALL], team))
            found = p->taken;
    pthread_mutex_unlock(&lock);
    return found;
}
