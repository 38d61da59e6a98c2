/*
 * template/mpi.c - what `covey schedule --emit mpi` writes below the tables.
 *
 * As template/covey.c, over point-to-point messages of MPI in a communicator of their own, and
 * with what MPI asks for besides: any types, MPI_IN_PLACE, ranks on the hosts in any order. Which
 * rank runs on which host is found out once for a communicator, by the processors' names.
 * Calls that the schedule is not for go to PMPI_Alltoall: communicators of another size or on other
 * hosts, intercommunicators, blocks below COVEY_ALLTOALL_MIN bytes.
 *
 * A send that has ended proves nothing in either MPI: the bytes may lie in a socket's buffer. So
 * the receiver hands over, and it does so while the tail of the message is still under way, as long
 * as it takes those who wait to hear of it. Pieces are small enough to go without asking first: a
 * rendezvous for each message would cost a round trip in each phase.
 *
 * The file is printed from below the line with `template` on. It reads the tables that
 * schedule_code.h names; here they are those of tables.h, with which it is compiled so that
 * compilers and linters see it.
 */
#include "lib/schedule/template/mpi.h"
#include "lib/schedule/template/tables.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- template ---- */
/* Tag of blocks; of a synchronisation: 1 + the rank that the waiting message goes to. */
#define TAG_DATA 0
#define HOST_BYTES 256

/* Bytes of a block that may still be under way when others are told to start. */
#ifndef TAIL
#define TAIL 8192
#endif
/* Bytes of a piece: both MPIs send that much at once, without asking the receiver first. */
#ifndef PIECE
#define PIECE 16384
#endif
#define PIECES_MAX 17
/* Bytes of a block. */
#define BLOCK_MAX (1 << 30)

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int tried = (call);                                                                        \
        if (tried != MPI_SUCCESS)                                                                  \
            return tried;                                                                          \
    } while (0)

/* ---- What a communicator makes of the tables ------------------------------------------
 */

/* A synchronisation that this rank waits for: `rank` tells that message `message` may
 * start. */
struct hint {
    int rank, message;
};

/* One that it sends: when the block of rank `source` is nearly there, `rank` is told. */
struct token {
    int source, rank, tag;
};

struct plan {
    MPI_Comm own; /* for messages of the schedule alone */
    int fits;     /* every rank runs where the topology has a place for it */
    double least;
    int me, place;
    int rank_at[RANKS]; /* the rank at each place of the tables */
    int to[RANKS];      /* the ranks that this one sends to, in order: RANKS - 1 of them */
    int waits[RANKS];   /* for how many synchronisations each of these messages waits */
    int hints, tokens;
    struct hint hint[SYNCS_IN_MAX];
    struct token token[SYNCS_OUT_MAX];
};

/* What each rank says of itself. */
struct place {
    char host[HOST_BYTES];
    double least;
};

static int read_place(struct place *at)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    const char *said = getenv("COVEY_ALLTOALL_HOST"), *least = getenv("COVEY_ALLTOALL_MIN");
    int length;

    TRY(PMPI_Get_processor_name(name, &length));
    memset(at, 0, sizeof *at);
    snprintf(at->host, HOST_BYTES, "%s", said != NULL ? said : name);
    at->least = least != NULL ? atof(least) : LEAST;
    return MPI_SUCCESS;
}

/* Whether a machine's name is that of the topology: whole, or without its domain. */
static int is_host(const char *machine, const char *host)
{
    size_t length = strlen(host);

    return strncmp(machine, host, length) == 0 &&
           (machine[length] == '\0' || machine[length] == '.');
}

/* Gives each rank a free place on its host. */
static int place_ranks(struct plan *p, const struct place *at)
{
    for (int i = 0; i < RANKS; i++)
        p->rank_at[i] = -1;
    for (int rank = 0; rank < RANKS; rank++) {
        int i = 0;
        while (i < RANKS && (p->rank_at[i] >= 0 || !is_host(at[rank].host, hosts[i])))
            i++;
        if (i == RANKS)
            return 0;
        p->rank_at[i] = rank;
        if (rank == p->me)
            p->place = i;
    }
    return 1;
}

static void plan_syncs(struct plan *p, const int *nth)
{
    for (int i = 0; i < SYNCS; i++) {
        const struct message *before = &messages[syncs[i].before];
        const struct message *after = &messages[syncs[i].after];
        if (after->from == p->place) {
            p->hint[p->hints++] = (struct hint){p->rank_at[before->to], nth[after->to]};
            p->waits[nth[after->to]]++;
        }
        if (before->to == p->place)
            p->token[p->tokens++] = (struct token){
                p->rank_at[before->from], p->rank_at[after->from], 1 + p->rank_at[after->to]};
    }
}

static int make_plan(struct plan *p, MPI_Comm comm)
{
    struct place mine, *at = malloc(RANKS * sizeof *at);
    int nth[RANKS], result;

    if (at == NULL)
        return MPI_ERR_NO_MEM;
    TRY(PMPI_Comm_rank(comm, &p->me));
    TRY(read_place(&mine));
    result = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, at, sizeof mine, MPI_BYTE, comm);
    p->fits = result == MPI_SUCCESS && place_ranks(p, at);
    p->least = result == MPI_SUCCESS ? at[0].least : 0; /* not two ranks of two minds */
    free(at);
    if (!p->fits)
        return result;
    int count = 0;

    for (int i = 0; i < MESSAGES; i++)
        if (messages[i].from == p->place) {
            nth[messages[i].to] = count;
            p->to[count++] = p->rank_at[messages[i].to];
        }
    plan_syncs(p, nth);
    return PMPI_Comm_dup(comm, &p->own);
}

/* ---- The plan is kept as an attribute of its communicator
 * ------------------------------ */

static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    struct plan *p = value;
    int result = p->own == MPI_COMM_NULL ? MPI_SUCCESS : PMPI_Comm_free(&p->own);

    (void)comm, (void)key, (void)extra;
    free(p);
    return result;
}

static int make_keyval(void)
{
    int result = MPI_SUCCESS;

    pthread_mutex_lock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID)
        result = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
    pthread_mutex_unlock(&keyval_lock);
    return result;
}

static int plan_of(MPI_Comm comm, struct plan **plan)
{
    int found;

    TRY(make_keyval());
    TRY(PMPI_Comm_get_attr(comm, keyval, plan, &found));
    if (found)
        return MPI_SUCCESS;
    *plan = calloc(1, sizeof **plan);
    if (*plan == NULL)
        return MPI_ERR_NO_MEM;
    (*plan)->own = MPI_COMM_NULL;
    TRY(make_plan(*plan, comm));
    return PMPI_Comm_set_attr(comm, keyval, *plan);
}

/* ---- One exchange
 * ---------------------------------------------------------------------- */

/*
 * A block goes in pieces: a body of several and a tail. When the body has arrived, the
 * receiver tells those that wait for this message; the tail is what keeps the links busy
 * until they start. The sender goes on likewise: the last piece of the body is sent
 * synchronously, for the end of any other send says only that the bytes lie in a buffer
 * of its own host.
 */
struct exchange {
    const struct plan *plan;
    int bytes, body, step, pieces; /* of a block; of a body; of its pieces; with the tail */
    const char *send;
    char *recv;
    int coming[RANKS];  /* pieces, by source */
    int leaving[RANKS]; /* pieces of the body, by message */
    int waits[RANKS];
    int next, token_count, request_count;
    MPI_Request tokens[SYNCS_OUT_MAX];
    MPI_Request *requests; /* pieces from each source; hints; pieces of each message */
    int *done;             /* which requests have ended */
    int unpack_count;      /* 0: recv is where the caller wants it */
    MPI_Datatype unpack_type;
    char *unpack_to;
    MPI_Aint unpack_step;
};

static int piece(const struct exchange *x, int i, MPI_Aint *from)
{
    *from = i == x->pieces - 1 ? x->body : (MPI_Aint)i * x->step;
    if (i == x->pieces - 1)
        return x->bytes - x->body;
    return i < x->pieces - 2 ? x->step : x->body - i * x->step;
}

static int post_block(struct exchange *x, int source)
{
    for (int i = 0; i < x->pieces; i++) {
        MPI_Aint from;
        int bytes = piece(x, i, &from);
        TRY(PMPI_Irecv(x->recv + (MPI_Aint)source * x->bytes + from, bytes, MPI_BYTE, source,
                       TAG_DATA, x->plan->own, &x->requests[source * x->pieces + i]));
    }
    x->coming[source] = x->pieces;
    return MPI_SUCCESS;
}

static int post(struct exchange *x)
{
    const struct plan *p = x->plan;
    MPI_Request *hints = x->requests + RANKS * x->pieces;

    for (int i = 0; i < p->hints; i++)
        TRY(PMPI_Irecv(NULL, 0, MPI_BYTE, p->hint[i].rank, 1 + p->to[p->hint[i].message], p->own,
                       &hints[i]));
    for (int source = 0; source < RANKS; source++)
        if (source != p->me)
            TRY(post_block(x, source));
    memcpy(x->waits, p->waits, sizeof x->waits);
    return MPI_SUCCESS;
}

static int send_message(struct exchange *x, int k)
{
    int to = x->plan->to[k];
    MPI_Request *requests = x->requests + RANKS * x->pieces + x->plan->hints + k * x->pieces;

    for (int i = 0; i < x->pieces; i++) {
        MPI_Aint from;
        int bytes = piece(x, i, &from);
        const char *at = x->send + (MPI_Aint)to * x->bytes + from;
        if (i == x->pieces - 2)
            TRY(PMPI_Issend(at, bytes, MPI_BYTE, to, TAG_DATA, x->plan->own, &requests[i]));
        else
            TRY(PMPI_Isend(at, bytes, MPI_BYTE, to, TAG_DATA, x->plan->own, &requests[i]));
    }
    x->leaving[k] = x->pieces - 1;
    return MPI_SUCCESS;
}

/* Starts what may start: the messages of this rank in their order. */
static int send_on(struct exchange *x)
{
    int side_by_side = lanes[x->plan->place];

    while (x->next < RANKS - 1 && x->waits[x->next] == 0 &&
           (x->next < side_by_side || x->leaving[x->next - side_by_side] == 0))
        TRY(send_message(x, x->next++));
    return MPI_SUCCESS;
}

/* The body of a block is here: those that waited for it are told. */
static int hand_over(struct exchange *x, int source)
{
    const struct plan *p = x->plan;

    for (int i = 0; i < p->tokens; i++)
        if (p->token[i].source == source)
            TRY(PMPI_Isend(NULL, 0, MPI_BYTE, p->token[i].rank, p->token[i].tag, p->own,
                           &x->tokens[x->token_count++]));
    return MPI_SUCCESS;
}

static int unpack(struct exchange *x, int source)
{
    int position = 0;

    if (x->unpack_count == 0)
        return MPI_SUCCESS;
    return PMPI_Unpack(x->recv + (MPI_Aint)source * x->bytes, x->bytes, &position,
                       x->unpack_to + source * x->unpack_step, x->unpack_count, x->unpack_type,
                       x->plan->own);
}

static int on_done(struct exchange *x, int at)
{
    if (at < RANKS * x->pieces) {
        int source = at / x->pieces;
        int left = --x->coming[source];

        if (left == 1)
            TRY(hand_over(x, source));
        return left == 0 ? unpack(x, source) : MPI_SUCCESS;
    }
    at -= RANKS * x->pieces;
    if (at < x->plan->hints)
        x->waits[x->plan->hint[at].message]--;
    else if ((at - x->plan->hints) % x->pieces < x->pieces - 1)
        x->leaving[(at - x->plan->hints) / x->pieces]--;
    return MPI_SUCCESS;
}

/* ---- Types
 * ----------------------------------------------------------------------------- */

/* Whether elements of the type are bytes without gaps in the order of memory. */
static int is_dense(MPI_Datatype type, int *dense)
{
    int ints, addresses, types, combiner, size, count;
    MPI_Aint low, extent;
    MPI_Datatype inner;

    TRY(PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
    if (combiner == MPI_COMBINER_NAMED) {
        TRY(PMPI_Type_size(type, &size));
        TRY(PMPI_Type_get_extent(type, &low, &extent));
        *dense = low == 0 && extent == size;
        return MPI_SUCCESS;
    }
    *dense = 0;
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP)
        return MPI_SUCCESS;
    TRY(PMPI_Type_get_contents(type, ints, addresses, types, &count, &low, &inner));
    TRY(is_dense(inner, dense));
    TRY(PMPI_Type_get_envelope(inner, &ints, &addresses, &types, &combiner));
    return combiner == MPI_COMBINER_NAMED ? MPI_SUCCESS : PMPI_Type_free(&inner);
}

static int step_of(int count, MPI_Datatype type, MPI_Aint *step)
{
    MPI_Aint low;

    TRY(PMPI_Type_get_extent(type, &low, step));
    *step *= count;
    return MPI_SUCCESS;
}

/* All blocks, packed one behind the other; *packed is freed by the caller. */
static int pack(struct exchange *x, const char *blocks, int count, MPI_Datatype type, char **packed)
{
    MPI_Aint step;
    int most;

    TRY(step_of(count, type, &step));
    TRY(PMPI_Pack_size(count, type, x->plan->own, &most));
    *packed = malloc((size_t)x->bytes * (RANKS - 1) + (size_t)(most > x->bytes ? most : x->bytes));
    if (*packed == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < RANKS; i++) {
        int position = 0;
        TRY(PMPI_Pack(blocks + i * step, count, type, *packed + (MPI_Aint)i * x->bytes, most,
                      &position, x->plan->own));
        if (position != x->bytes) /* hosts of different kinds: not for this routine */
            return MPI_ERR_TYPE;
    }
    x->send = *packed;
    return MPI_SUCCESS;
}

/* Where blocks come in packed form before they get where they belong. */
static int expect_packed(struct exchange *x, int count, MPI_Datatype type, char **packed)
{
    *packed = malloc((size_t)x->bytes * RANKS);
    if (*packed == NULL)
        return MPI_ERR_NO_MEM;
    x->unpack_to = x->recv;
    x->unpack_count = count;
    x->unpack_type = type;
    x->recv = *packed;
    return step_of(count, type, &x->unpack_step);
}

/* ---- MPI_Alltoall
 * ---------------------------------------------------------------------- */

struct call {
    const void *send;
    int send_count;
    MPI_Datatype send_type;
    void *recv;
    int count;
    MPI_Datatype type;
    char *packed[2]; /* what was sent, what came */
};

/* The block that stays. */
static int copy_own(const struct exchange *x, const struct call *c)
{
    MPI_Aint from, to;
    int me = x->plan->me;

    TRY(step_of(c->send_count, c->send_type, &from));
    TRY(step_of(c->count, c->type, &to));
    return PMPI_Sendrecv((const char *)c->send + me * from, c->send_count, c->send_type, me,
                         TAG_DATA, (char *)c->recv + me * to, c->count, c->type, me, TAG_DATA,
                         x->plan->own, MPI_STATUS_IGNORE);
}

static int prepare(struct exchange *x, struct call *c)
{
    int in_place = c->send == MPI_IN_PLACE, dense = 0;

    x->send = c->send;
    x->recv = c->recv;
    int tail = x->bytes < 2 * TAIL ? x->bytes / 2 : TAIL, count;

    x->body = x->bytes - tail;
    count = (x->body + PIECE - 1) / PIECE;
    count = count > PIECES_MAX - 1 ? PIECES_MAX - 1 : count;
    x->step = (x->body + count - 1) / count;
    x->pieces = (x->body + x->step - 1) / x->step + 1;
    if (!in_place) {
        TRY(copy_own(x, c));
        TRY(is_dense(c->send_type, &dense));
    }
    if (in_place)
        TRY(pack(x, c->recv, c->count, c->type, &c->packed[0]));
    else if (!dense)
        TRY(pack(x, c->send, c->send_count, c->send_type, &c->packed[0]));
    TRY(is_dense(c->type, &dense));
    return dense ? MPI_SUCCESS : expect_packed(x, c->count, c->type, &c->packed[1]);
}

static int make_requests(struct exchange *x)
{
    x->request_count = RANKS * x->pieces * 2 + x->plan->hints;
    x->requests = malloc((size_t)x->request_count * sizeof *x->requests);
    x->done = malloc((size_t)x->request_count * sizeof *x->done);
    if (x->requests == NULL || x->done == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < x->request_count; i++)
        x->requests[i] = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* After an error nothing is freed that might still be written to. */
static int scheduled_alltoall(const struct plan *plan, int bytes, struct call *c)
{
    struct exchange *x = calloc(1, sizeof *x);
    int result;

    if (x == NULL)
        return MPI_ERR_NO_MEM;
    x->plan = plan;
    x->bytes = bytes;
    TRY(prepare(x, c));
    TRY(make_requests(x));
    int count;

    TRY(post(x));
    for (;;) {
        TRY(send_on(x));
        TRY(PMPI_Waitsome(x->request_count, x->requests, &count, x->done, MPI_STATUSES_IGNORE));
        if (count == MPI_UNDEFINED)
            break;
        for (int i = 0; i < count; i++)
            TRY(on_done(x, x->done[i]));
    }
    result = PMPI_Waitall(x->token_count, x->tokens, MPI_STATUSES_IGNORE);
    if (result != MPI_SUCCESS)
        return result;
    free(x->requests);
    free(x->done);
    free(c->packed[0]);
    free(c->packed[1]);
    free(x);
    return MPI_SUCCESS;
}

/* The plan of a call that the schedule is for, otherwise NULL: all ranks decide alike. */
static int plan_for(MPI_Comm comm, double bytes, struct plan **plan)
{
    int inter, size;

    *plan = NULL;
    TRY(PMPI_Comm_test_inter(comm, &inter));
    TRY(PMPI_Comm_size(comm, &size));
    if (inter || size != RANKS)
        return MPI_SUCCESS;
    TRY(plan_of(comm, plan));
    if (!(*plan)->fits || bytes < (*plan)->least || bytes < 2 || bytes > BLOCK_MAX)
        *plan = NULL;
    return MPI_SUCCESS;
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
                 MPI_Datatype type, MPI_Comm comm)
{
    struct call call = {send, send_count, send_type, recv, count, type, {NULL, NULL}};
    struct plan *plan;
    int size;

    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return PMPI_Alltoall(send, send_count, send_type, recv, count, type, comm);
    TRY(PMPI_Type_size(type, &size));
    TRY(plan_for(comm, (double)size * count, &plan));
    if (plan == NULL)
        return PMPI_Alltoall(send, send_count, send_type, recv, count, type, comm);
    return scheduled_alltoall(plan, size * count, &call);
}
