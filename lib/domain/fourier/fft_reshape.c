/*
 * fft_reshape.c - from one layout to another by one all-to-all.
 *
 * Pieces are packed in the sender's order and put into the receiver's by the receiver, both by
 * plans of FFTW. What a member keeps is copied at once, or packed and unpacked if it comes into the
 * same array; in pieces of one size it goes with the others. Pieces that are stretches of the array
 * are neither packed nor unpacked: from slabs of axis 0 to slabs of axis 1 the receiver has nothing
 * to do, and on the way back the sender.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/base/error.h"
#include "lib/domain/fourier/fft_kernel.h"
#include "lib/domain/fourier/fft_reshape.h"

int fft_reshape_rank(const struct fft_grid *grid, int group, int rank, int place)
{
    if (group == FFT_OF_ROW)
        return rank / grid->columns * grid->columns + place;
    if (group == FFT_OF_COLUMN)
        return place * grid->columns + rank % grid->columns;
    return place;
}

static int pieces_create(struct fft_pieces *pieces, int members)
{
    size_t n = (size_t)members;
    pieces->copies = calloc(n, sizeof *pieces->copies);
    pieces->counts = calloc(n, sizeof *pieces->counts);
    pieces->starts = calloc(n, sizeof *pieces->starts);
    pieces->places = calloc(n, sizeof *pieces->places);
    int good = pieces->copies && pieces->counts && pieces->starts && pieces->places;
    return good ? 0 : COVEY_ENOMEM;
}

static void pieces_free(struct fft_pieces *pieces, int members)
{
    for (int i = 0; pieces->copies != NULL && i < members; i++)
        if (pieces->copies[i] != NULL)
            fftw_destroy_plan(pieces->copies[i]);
    free(pieces->copies);
    free(pieces->counts);
    free(pieces->starts);
    free(pieces->places);
}

/* One way of one slice at a member of a group. */
struct view {
    const struct fft_path *path;
    const struct fft_way *way;
    int is_forward, group, rank;
    int slice;
    int is_out;
};

/* The box of the member in the array, and what of the slice goes to the one at that place. */
static void boxes_of(const struct view *v, int place, struct fft_box *mine, struct fft_box *part)
{
    struct fft_box before, behind, slice;
    int other = fft_reshape_rank(&v->path->grid, v->group, v->rank, place);
    fft_path_box(v->path, v->way->from, v->is_forward, v->is_out ? v->rank : other, &before);
    fft_path_box(v->path, v->way->to, !v->is_forward, v->is_out ? other : v->rank, &behind);
    slice = before;
    if (v->way->slices > 1)
        fft_box_cut(&slice, v->way->axis, v->way->slices, v->slice);
    fft_box_common(&slice, &behind, part);
    *mine = v->is_out ? before : behind;
}

/* Adds the pieces behind *start in the buffer; clears *as_is if one is no stretch. */
static void count_pieces(const struct view *v, const struct fft_reshape *reshape,
                         struct fft_pieces *pieces, size_t *start, int *as_is)
{
    size_t width = (size_t)reshape->width;
    for (int i = 0; i < reshape->members; i++) {
        struct fft_box mine, part;
        boxes_of(v, i, &mine, &part);
        pieces->starts[i] = reshape->padded > 0 ? (size_t)i * reshape->padded : *start;
        if (part.count == 0)
            continue;
        pieces->counts[i] = (size_t)part.count * width;
        pieces->places[i] = (size_t)fft_box_place(&mine, &part) * width;
        *as_is &= fft_box_is_dense(&mine, &part);
        *start += pieces->counts[i];
    }
}

static int plan_copies(const struct view *v, const struct fft_reshape *reshape,
                       struct fft_pieces *pieces)
{
    double a[2], b[2]; /* not touched: copies are planned by estimate */
    for (int i = 0; i < reshape->members; i++) {
        struct fft_box mine, part;
        boxes_of(v, i, &mine, &part);
        if (part.count == 0)
            continue;
        const struct fft_box *from = v->is_out ? &mine : &part, *to = v->is_out ? &part : &mine;
        pieces->copies[i] = fft_kernel_copy(&part, from, to, reshape->width, a, b);
        if (pieces->copies[i] == NULL)
            return COVEY_ENOMEM;
    }
    return 0;
}

/* The largest piece between any two members of the group: the same number at all of them. */
static size_t largest_piece(const struct view *v, int members, size_t width)
{
    size_t most = 0;
    for (int i = 0; i < members; i++) {
        struct view of = *v;
        of.rank = fft_reshape_rank(&v->path->grid, v->group, v->rank, i);
        for (int j = 0; j < members; j++) {
            struct fft_box mine, part;
            boxes_of(&of, j, &mine, &part);
            if ((size_t)part.count * width > most)
                most = (size_t)part.count * width;
        }
    }
    return most;
}

static int plan_pieces(struct view *v, const struct fft_reshape *reshape, struct fft_pieces *pieces,
                       int *as_is)
{
    size_t start = 0;
    int error = 0;
    *as_is = reshape->padded == 0;
    for (v->slice = 0; error == 0 && v->slice < reshape->slices; v->slice++) {
        error = pieces_create(&pieces[v->slice], reshape->members);
        if (error == 0)
            count_pieces(v, reshape, &pieces[v->slice], &start, as_is);
    }
    for (v->slice = 0; error == 0 && !*as_is && v->slice < reshape->slices; v->slice++)
        error = plan_copies(v, reshape, &pieces[v->slice]);
    return error;
}

static size_t pieces_end(const struct fft_pieces *pieces, int members)
{
    return pieces->starts[members - 1] + pieces->counts[members - 1];
}

static size_t buffer_of(const struct fft_reshape *reshape)
{
    size_t out = pieces_end(&reshape->out[reshape->slices - 1], reshape->members);
    size_t in = pieces_end(&reshape->in[reshape->slices - 1], reshape->members);
    size_t padded = reshape->padded * (size_t)reshape->members;
    size_t most = out > in ? out : in;
    return most > padded ? most : padded;
}

/* What stays here leaves the pieces that are sent. */
static int plan_kept(struct view *v, struct fft_reshape *reshape)
{
    double a[2], b[2]; /* not touched: copies are planned by estimate */
    int self = reshape->self;
    for (v->slice = 0; v->slice < reshape->slices; v->slice++) {
        struct fft_box from, to, part;
        v->is_out = 0;
        boxes_of(v, self, &to, &part);
        v->is_out = 1;
        boxes_of(v, self, &from, &part);
        reshape->kept_counts[v->slice] = reshape->out[v->slice].counts[self];
        reshape->out[v->slice].counts[self] = reshape->in[v->slice].counts[self] = 0;
        if (part.count == 0)
            continue;
        reshape->kept[v->slice] = fft_kernel_copy(&part, &from, &to, reshape->width, a, b);
        if (reshape->kept[v->slice] == NULL)
            return COVEY_ENOMEM;
    }
    return 0;
}

int fft_reshape_create(const struct fft_path *path, const struct fft_way *way, int rank,
                       covey_team_t *team, struct fft_reshape *reshape)
{
    int is_forward = way->from < way->to;
    struct view view = {.path = path,
                        .way = way,
                        .is_forward = is_forward,
                        .group = path->stages[is_forward ? way->from : way->to].group,
                        .rank = rank};
    *reshape = (struct fft_reshape){.team = team,
                                    .members = covey_team_size(team),
                                    .self = covey_team_rank(team),
                                    .width = fft_path_width(path, way->from, is_forward),
                                    .slices = way->slices};
    assert(reshape->width == fft_path_width(path, way->to, !is_forward));
    assert(way->slices >= 1 && way->slices <= (way->padded ? 1 : FFT_SLICES_MAX));
    if (way->padded)
        reshape->padded = largest_piece(&view, reshape->members, (size_t)reshape->width);
    int error = plan_pieces(&view, reshape, reshape->in, &reshape->in_as_is);
    view.is_out = 1;
    if (error == 0)
        error = plan_pieces(&view, reshape, reshape->out, &reshape->out_as_is);
    if (error < 0)
        return error;
    reshape->buffer = buffer_of(reshape);
    return reshape->padded > 0 ? 0 : plan_kept(&view, reshape);
}

void fft_reshape_free(struct fft_reshape *reshape)
{
    for (int i = 0; i < reshape->slices; i++) {
        pieces_free(&reshape->out[i], reshape->members);
        pieces_free(&reshape->in[i], reshape->members);
        if (reshape->kept[i] != NULL)
            fftw_destroy_plan(reshape->kept[i]);
    }
    *reshape = (struct fft_reshape){.team = NULL};
}

size_t fft_reshape_buffer(const struct fft_reshape *reshape)
{
    return reshape->buffer;
}

static int is_sent(const struct fft_reshape *reshape, int place)
{
    return place != reshape->self || reshape->padded > 0;
}

static void pack(const struct fft_reshape *reshape, int slice, const double *array, double *buffer)
{
    const struct fft_pieces *out = &reshape->out[slice];
    for (int i = 0; i < reshape->members; i++)
        if (out->copies[i] != NULL && is_sent(reshape, i))
            fftw_execute_r2r(out->copies[i], (double *)(uintptr_t)array + out->places[i],
                             buffer + out->starts[i]);
}

static void unpack(const struct fft_reshape *reshape, int slice, double *buffer, double *array)
{
    const struct fft_pieces *in = &reshape->in[slice];
    for (int i = 0; i < reshape->members; i++)
        if (in->copies[i] != NULL && is_sent(reshape, i))
            fftw_execute_r2r(in->copies[i], buffer + in->starts[i], array + in->places[i]);
}

static int failed(int error)
{
    return error < 0 ? domain_fail_of(error, "the transpose of a transform") : 0;
}

/* Where a slice comes from and goes to, and what is not packed lies where it is. */
static const double *outgoing(const struct fft_reshape *reshape, int slice, const double *array,
                              double *buffers[3])
{
    if (reshape->out_as_is)
        return array;
    pack(reshape, slice, array, buffers[1]);
    return buffers[1];
}

static double *incoming(const struct fft_reshape *reshape, double *result, double *buffers[3])
{
    return reshape->in_as_is && result != NULL ? result : buffers[2];
}

/* Where the array is in the end, but for an exchange of buffers. */
static double *place(const struct fft_reshape *reshape, double *result, double *buffers[3])
{
    return result != NULL ? result : buffers[reshape->in_as_is ? 2 : 0];
}

/* What stays here: at once to its place, or, where that is still the array's, out of the way. */
static void keep(const struct fft_reshape *reshape, int slice, const double *array, double *result,
                 double *buffers[3])
{
    const struct fft_pieces *out = &reshape->out[slice];
    double *from = (double *)(uintptr_t)array + out->places[reshape->self];
    double *to = place(reshape, result, buffers);
    if (reshape->kept[slice] == NULL)
        return;
    if (to != array)
        fftw_execute_r2r(reshape->kept[slice], from, to + reshape->in[slice].places[reshape->self]);
    else if (reshape->out_as_is)
        memcpy(buffers[1] + out->starts[reshape->self], from,
               reshape->kept_counts[slice] * sizeof *from);
    else
        fftw_execute_r2r(out->copies[reshape->self], from, buffers[1] + out->starts[reshape->self]);
}

static void settle(const struct fft_reshape *reshape, const double *array, double *result,
                   double *buffers[3])
{
    double *came = incoming(reshape, result, buffers), *to = place(reshape, result, buffers);
    for (int slice = 0; !reshape->in_as_is && slice < reshape->slices; slice++) {
        unpack(reshape, slice, came, to);
        if (to == array && reshape->kept[slice] != NULL)
            fftw_execute_r2r(reshape->in[slice].copies[reshape->self],
                             buffers[1] + reshape->out[slice].starts[reshape->self],
                             to + reshape->in[slice].places[reshape->self]);
    }
    if (reshape->in_as_is && result == NULL) {
        buffers[2] = buffers[0];
        buffers[0] = came;
    }
}

int fft_reshape_run(const struct fft_reshape *reshape, const double *array, double *result,
                    double *buffers[3])
{
    const struct fft_pieces *out = &reshape->out[0], *in = &reshape->in[0];
    const double *send = outgoing(reshape, 0, array, buffers);
    double *recv = incoming(reshape, result, buffers);
    int error = reshape->padded > 0
                    ? covey_alltoall(reshape->team, COVEY_DOUBLE, send, recv, reshape->padded)
                    : covey_alltoallv(reshape->team, COVEY_DOUBLE, send, out->counts,
                                      reshape->out_as_is ? out->places : out->starts, recv,
                                      in->counts, reshape->in_as_is ? in->places : in->starts);
    if (error == 0)
        keep(reshape, 0, array, result, buffers);
    if (error == 0)
        settle(reshape, array, result, buffers);
    return failed(error);
}

int fft_reshape_begin(const struct fft_reshape *reshape, int slice, const double *array,
                      double *result, double *buffers[3], covey_req_t **request)
{
    const struct fft_pieces *out = &reshape->out[slice], *in = &reshape->in[slice];
    const double *send = outgoing(reshape, slice, array, buffers);
    double *recv = incoming(reshape, result, buffers);
    int error = covey_ialltoallv(reshape->team, COVEY_DOUBLE, send, out->counts,
                                 reshape->out_as_is ? out->places : out->starts, recv, in->counts,
                                 reshape->in_as_is ? in->places : in->starts, request);
    if (error == 0)
        keep(reshape, slice, array, result, buffers);
    return failed(error);
}

int fft_reshape_end(const struct fft_reshape *reshape, const double *array, double *result,
                    double *buffers[3], covey_req_t **requests)
{
    int error = 0;
    for (int i = 0; i < reshape->slices; i++) {
        if (error == 0)
            error = failed(covey_wait(requests[i], COVEY_FOREVER));
        covey_req_free(&requests[i]);
    }
    if (error == 0)
        settle(reshape, array, result, buffers);
    return error;
}
