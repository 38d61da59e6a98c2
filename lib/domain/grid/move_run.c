/*
 * move_run.c - a move: of two lists of pieces, one is sent from and the other received into.
 *
 * Short messages are all sent at once. Long ones from other hosts are called for by who receives
 * them, two at a time, in the order of the ranks behind its own: where all members send to all at
 * once, as many messages come to a link of the receiver as there are senders, its switch drops what
 * it has no room for, and the last packets of a message are missed only after TCP's least time of
 * 200 ms. With a call each link has about one message each way at any time.
 */
#include "lib/domain/grid/move.h"

#include "lib/domain/base/clock.h"

#include <string.h>

#define CALLED_BYTES 8192 /* a message from which on it is called for */
#define CALLED_AT_ONCE 2
#define TAG_CALL 0x4000 /* beside the tag of the move */

struct end {
    const struct move_piece *pieces;
    int count, is_left;
    const struct grid_field *field;
    double *data, *buffer;
};

/* The requests of a run: what is received for the pieces of `to`, calls that come for those of
 * `from`; and behind these two what is sent for the pieces of `from`, and calls for those of
 * `to`. Only the first piece of each rank has one. */
struct run {
    struct move *move;
    struct end from, to;
    covey_req_t **receives, **calls_in, **sends, **calls_out;
    int awaited;     /* of the first two kinds */
    int next, asked; /* the piece of `to` that is looked at for a call; pieces that were */
    int called;      /* messages that were called for and have not come */
};

static const struct grid_box *box_of(const struct end *e, int i)
{
    return e->is_left ? &e->pieces[i].left : &e->pieces[i].right;
}

/* The pieces of one rank from i on; returns where they end. */
static int group(const struct end *e, int i, size_t *doubles)
{
    int rank = e->pieces[i].rank;
    for (*doubles = 0; i < e->count && e->pieces[i].rank == rank; i++)
        *doubles += (size_t)e->pieces[i].count;
    return i;
}

/* Where the message of the group that begins with piece i stands. */
static double *message_at(const struct end *e, int i)
{
    double *at = e->buffer;
    for (int k = 0; k < i; k++)
        at += e->pieces[k].count;
    return at;
}

/* Both members of a pair know. */
static int is_called(const struct move *move, int rank, size_t doubles)
{
    return doubles * sizeof(double) >= CALLED_BYTES &&
           covey_tid_host(covey_team_tid(move->team, rank)) !=
               covey_tid_host(covey_team_tid(move->team, move->rank));
}

static int is_own(const struct run *r, const struct end *e, int i)
{
    return e->pieces[i].rank == r->move->rank;
}

static int receive(struct run *r, int i, size_t doubles)
{
    r->awaited++;
    return covey_team_irecv_array(r->move->team, r->to.pieces[i].rank, r->move->tag, COVEY_DOUBLE,
                                  message_at(&r->to, i), doubles, &r->receives[i]);
}

static void pack(const struct end *from, int i, int end)
{
    double *piece = message_at(from, i);
    for (; i < end; piece += from->pieces[i++].count)
        field_pack(from->field, box_of(from, i), from->data, piece);
}

static int send(struct run *r, int i)
{
    size_t doubles;
    pack(&r->from, i, group(&r->from, i, &doubles));
    return covey_team_isend_array(r->move->team, r->from.pieces[i].rank, r->move->tag, COVEY_DOUBLE,
                                  message_at(&r->from, i), doubles, &r->sends[i]);
}

static int await_call(struct run *r, int i)
{
    r->awaited++;
    return covey_team_irecv_array(r->move->team, r->from.pieces[i].rank, r->move->tag + TAG_CALL,
                                  COVEY_DOUBLE, message_at(&r->from, i), 0, &r->calls_in[i]);
}

/* ---- The beginning: all that nobody calls for ------------------------------------------------ */

static int receive_short(struct run *r)
{
    size_t doubles;
    int error = 0;
    for (int i = 0, end; error == 0 && i < r->to.count; i = end) {
        end = group(&r->to, i, &doubles);
        if (!is_own(r, &r->to, i) && !is_called(r->move, r->to.pieces[i].rank, doubles))
            error = receive(r, i, doubles);
    }
    return error;
}

static int send_short(struct run *r)
{
    size_t doubles;
    int error = 0;
    for (int i = 0, end; error == 0 && i < r->from.count; i = end) {
        end = group(&r->from, i, &doubles);
        if (is_own(r, &r->from, i))
            pack(&r->from, i, end);
        else if (is_called(r->move, r->from.pieces[i].rank, doubles))
            error = await_call(r, i);
        else
            error = send(r, i);
    }
    return error;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The first piece of a rank behind the own one. */
static int first_behind(const struct run *r)
{
    int i = 0;
    while (i < r->to.count && r->to.pieces[i].rank <= r->move->rank)
        i++;
    return i;
}

static int call(struct run *r, int i, size_t doubles)
{
    int error = receive(r, i, doubles);
    if (error < 0)
        return error;
    r->called++;
    return covey_team_isend_array(r->move->team, r->to.pieces[i].rank, r->move->tag + TAG_CALL,
                                  COVEY_DOUBLE, message_at(&r->to, i), 0, &r->calls_out[i]);
}

static int call_next(struct run *r)
{
    int error = 0;
    while (error == 0 && r->asked < r->to.count && r->called < CALLED_AT_ONCE) {
        size_t doubles;
        int i = r->next < r->to.count ? r->next : 0, end = group(&r->to, i, &doubles);
        if (!is_own(r, &r->to, i) && is_called(r->move, r->to.pieces[i].rank, doubles))
            error = call(r, i, doubles);
        r->asked += end - i;
        r->next = end;
    }
    return error;
}

/* The request is over: a message, or a call for one. */
static int go_on(struct run *r, int at)
{
    size_t doubles;
    int error = covey_wait(r->receives[at], COVEY_FOREVER);
    covey_req_free(&r->receives[at]);
    r->awaited--;
    if (error < 0)
        return error;
    if (at >= r->to.count)
        return send(r, at - r->to.count);
    group(&r->to, at, &doubles);
    r->called -= is_called(r->move, r->to.pieces[at].rank, doubles);
    return call_next(r);
}

static int exchange(struct run *r)
{
    size_t first = (size_t)r->to.count + (size_t)r->from.count;
    int error = receive_short(r);
    if (error == 0)
        error = send_short(r);
    if (error == 0)
        error = call_next(r);
    while (error == 0 && r->awaited > 0) {
        int at = covey_wait_any(r->receives, first, COVEY_FOREVER);
        error = at < 0 ? at : go_on(r, at);
    }
    return error == 0 && r->move->team != NULL ? covey_wait_all(r->sends, first, COVEY_FOREVER)
                                               : error;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void place_all(const struct run *r, int is_add)
{
    int first = 0;
    while (first < r->from.count && r->from.pieces[first].rank != r->move->rank)
        first++;
    const double *at = r->to.buffer, *own = message_at(&r->from, first);
    for (int i = 0; i < r->to.count; i++) {
        int stays = is_own(r, &r->to, i);
        const double *piece = stays ? own : at;
        if (is_add)
            field_add(r->to.field, box_of(&r->to, i), piece, r->to.data);
        else
            field_unpack(r->to.field, box_of(&r->to, i), piece, r->to.data);
        at += r->to.pieces[i].count;
        own += stays ? r->to.pieces[i].count : 0;
    }
}

void move_drop_requests(struct move *move)
{
    for (size_t i = 0; move->requests != NULL && i < move->request_count; i++)
        covey_req_free(&move->requests[i]);
}

int move_run(struct move *move, enum move_how how, double *left, double *right)
{
    double begin = domain_now_s();
    struct end out = {move->out, move->out_count, 1, &move->left, left, move->buffer};
    struct end in = {move->in, move->in_count, 0, &move->right, right, move->buffer + move->in_at};
    struct run r = {.move = move,
                    .from = how == MOVE_BACK ? in : out,
                    .to = how == MOVE_BACK ? out : in,
                    .receives = move->requests};
    r.calls_in = r.receives + r.to.count;
    r.sends = r.calls_in + r.from.count;
    r.calls_out = r.sends + r.from.count;
    r.next = first_behind(&r);
    int error = exchange(&r);
    if (error == 0)
        place_all(&r, how == MOVE_ADD);
    move_drop_requests(move);
    move->seconds += domain_now_s() - begin;
    return error;
}
