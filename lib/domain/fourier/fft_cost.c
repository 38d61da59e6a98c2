/*
 * fft_cost.c - the sum over a path of what rank 0 takes. In an array of N elements, with b bytes of
 * an element, that gives
 *
 *   local   2 ((P - 1) alpha + N b beta (P - 1) / P) + 5 N log2 N flop
 *   slab    T(P) + 5 N / P log2 N flop, and T(P) once more in natural order, where
 *           T(p) = (p - 1) alpha + (p - 1) / p N / P b beta + N / P b copy at each end where pieces
 *           are no stretches of memory
 *   pencil  T(columns) + T(rows) in the place of T(P)
 *
 * where members that compute at once share processors, and all are slowed by what others run there.
 * At rank 0 beta is that of one message at a time. Buffers belong to a plan: that memory is written
 * for the first time counts in no execution but the first, and is not in this.
 */
#include <math.h>

#include "lib/domain/fourier/fft_cost.h"
#include "lib/domain/fourier/fft_reshape.h"
#include "lib/domain/place/place.h"

/* What works on an array of so many bytes, between the measured sizes. */
struct pace {
    double of[FFT_WORKS];
};

static struct pace pace_of(const struct covey_domain_place *place, const struct fft_speed *speed,
                           int is_all, double bytes)
{
    double small = FFT_ARRAY_BYTES(0), large = FFT_ARRAY_BYTES(1);
    double part = fmin(fmax(log(fmax(bytes, 1) / small) / log(large / small), 0), 1);
    double slower = is_all ? domain_slower(place) : domain_slower_root(place);
    struct pace pace;
    for (int work = 0; work < FFT_WORKS; work++) {
        const double *unit = (is_all ? speed->all : speed->alone)[work];
        pace.of[work] = slower * (unit[0] + part * (unit[1] - unit[0]));
    }
    return pace;
}

static double transform_s(const struct fft_path *path, int stage,
                          const struct covey_domain_place *place, const struct fft_speed *speed)
{
    const struct fft_stage *s = &path->stages[stage];
    double each = s->numbers == FFT_COMPLEX ? 5 : 2.5, seconds = 0;
    struct fft_box box;
    fft_path_box(path, stage, 0, 0, &box);
    double bytes = 8.0 * (double)box.count * fft_path_width(path, stage, 0);
    struct pace pace = pace_of(place, speed, !s->layout.at_root, bytes);
    for (int i = 0; i < FFT_AXES; i++)
        if (s->axes >> i & 1 && box.size[i] > 1)
            seconds += each * log2((double)box.size[i]) *
                       pace.of[box.stride[i] == 1 ? FFT_FLOP : FFT_STRIDE];
    if (s->twiddle)
        seconds += 8 * pace.of[FFT_STRIDE]; /* and what it looks up */
    return (double)box.count * seconds;
}

/* One way of rank 0 between this stage and the next one. */
struct load {
    double bytes, messages; /* to or from others */
    double copied;          /* bytes that are packed or unpacked */
};

static void add_load(const struct fft_path *path, int stage, int is_out, struct load *load)
{
    struct fft_box ends[2], part;
    double bytes = 8 * fft_path_width(path, stage, 1);
    int group = path->stages[stage].group, members = path->grid.rows * path->grid.columns;
    int as_is = 1;
    if (group != FFT_ALL)
        members = group == FFT_OF_ROW ? path->grid.columns : path->grid.rows;
    *load = (struct load){.bytes = 0};
    for (int i = 0; i < members; i++) {
        int rank = fft_reshape_rank(&path->grid, group, 0, i);
        fft_path_box(path, stage, 1, is_out ? 0 : rank, &ends[0]);
        fft_path_box(path, stage + 1, 0, is_out ? rank : 0, &ends[1]);
        double common = bytes * (double)fft_box_common(&ends[0], &ends[1], &part);
        load->copied += common;
        load->bytes += i > 0 ? common : 0;
        load->messages += i > 0 && common > 0;
        as_is &= common <= 0 || fft_box_is_dense(&ends[is_out ? 0 : 1], &part);
    }
    if (as_is)
        load->copied = 0;
}

/* Where rank 0 has all on one side it alone sends, or receives. */
static double exchange_s(const struct fft_path *path, int stage,
                         const struct covey_domain_place *place, const struct fft_speed *speed)
{
    const struct covey_domain_network *network = &place->network;
    int is_root = path->stages[stage].layout.at_root || path->stages[stage + 1].layout.at_root;
    double beta_s = is_root && network->one_beta_s > 0 ? network->one_beta_s : network->beta_s;
    struct load out, in;
    add_load(path, stage, 1, &out);
    add_load(path, stage, 0, &in);
    struct pace pace = pace_of(place, speed, !is_root, fmax(out.copied, in.copied));
    return fmax(out.messages, in.messages) * network->alpha_s + fmax(out.bytes, in.bytes) * beta_s +
           (out.copied + in.copied) * pace.of[FFT_COPY];
}

double fft_cost(const struct fft_path *path, const struct covey_domain_place *place,
                const struct fft_speed *speed)
{
    double seconds = 0;
    for (int s = 0; s < path->count; s++) {
        seconds += transform_s(path, s, place, speed);
        if (s + 1 < path->count)
            seconds += exchange_s(path, s, place, speed);
    }
    return seconds;
}
