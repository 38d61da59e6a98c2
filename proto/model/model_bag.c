/*
 * model_bag.c - matmul and sort by agenda parallelism, as apps/ does them (section 4.3 of Schmidt &
 * Sunderam): items of a bag, played by model_agenda.c.
 */
#include <math.h>
#include <stdlib.h>

#include "proto/model/model_agenda.h"

#define ELEMENT 8.0 /* bytes of a double, and of a key */
#define HEAD 16.0   /* of an item beside its keys */

enum {
    TAKEN = 2,         /* items that a worker has at a time */
    PRODUCTS_SENT = 6, /* matmul: that may be on their way */
    ROWS_KEPT = 3,     /* matmul: rows of blocks that a worker keeps of those it fetched */
    RUNS_PER_TASK = 2, /* sort */
    RUNS_SENT = 2
};

static int program_play(const struct model_machine *machine, int workers,
                        const struct agenda_program *program, int items, struct model_time *time)
{
    struct agenda *agenda = agenda_create(machine, workers, program);
    for (int i = 0; agenda != NULL && i < items; i++)
        agenda_put(agenda, i, false);
    int result = agenda != NULL ? agenda_play(agenda, time) : -1;
    agenda_destroy(agenda);
    return result;
}

/* ---- matmul ---------------------------------------------------------------------------------- */

/* A block that a worker has. */
struct block {
    int number;
    long used;
};

struct products {
    double n;
    int q, kept;
    bool fetch;
    struct block *blocks; /* `kept` of each worker */
    long clock;
    bool known;
};

static double side_of_block(const struct products *p)
{
    return p->n / p->q;
}

/* Its bytes, if it is not here yet; the one that was used the longest ago makes way for it. */
static double fetch_block(struct products *p, struct block *blocks, int number)
{
    struct block *oldest = &blocks[0];
    for (int i = 0; i < p->kept; i++) {
        if (blocks[i].used > 0 && blocks[i].number == number) {
            blocks[i].used = p->clock;
            return 0;
        }
        oldest = blocks[i].used < oldest->used ? &blocks[i] : oldest;
    }
    *oldest = (struct block){number, p->clock};
    return ELEMENT * side_of_block(p) * side_of_block(p);
}

static double fetch_blocks(void *context, int item, int worker)
{
    struct products *p = context;
    int inner = item % p->q, column = item / p->q % p->q, row = item / p->q / p->q;
    if (!p->fetch)
        return 0;
    struct block *blocks = p->blocks + (size_t)worker * (size_t)p->kept;
    p->clock++;
    return fetch_block(p, blocks, row * p->q + inner) +
           fetch_block(p, blocks, p->q * p->q + inner * p->q + column);
}

/* Without fetching an item is a block of rows by one of columns: it takes as long for an operation
 * as the cube of as many operations. */
static double multiply_s(void *context, int item, const struct model_host *host)
{
    struct products *p = context;
    double operations = side_of_block(p) * side_of_block(p) * (p->fetch ? side_of_block(p) : p->n);
    double madd_s = model_madd(host, cbrt(operations));
    (void)item;
    p->known = p->known && madd_s > 0;
    return operations * madd_s;
}

static double product_bytes(void *context, int item)
{
    const struct products *p = context;
    (void)item;
    return ELEMENT * side_of_block(p) * side_of_block(p);
}

/* Blocks and products are sent in place; the coordinator copies a product out to add it. */
static double product_packed(void *context, int item, enum agenda_packing where)
{
    return where == AGENDA_UNPACK_RESULT ? product_bytes(context, item) : 0;
}

static int products_multiply(struct products *p, const struct model_machine *machine, int workers,
                             struct model_time *time)
{
    const struct agenda_program program = {.context = p,
                                           .taken_max = TAKEN,
                                           .sent_max = PRODUCTS_SENT,
                                           .fetched = fetch_blocks,
                                           .work_s = multiply_s,
                                           .result = product_bytes,
                                           .packed = product_packed,
                                           .packed_type = MODEL_PACKING_DOUBLE};
    int result =
        program_play(machine, workers, &program, p->q * p->q * (p->fetch ? p->q : 1), time);
    return p->known ? result : -1;
}

int model_matmul_bag(const struct model_machine *machine, int64_t n, int q, bool fetch, int workers,
                     struct model_time *time)
{
    struct products p = {.n = (double)n, .q = q, .fetch = fetch, .known = true};
    p.kept = ROWS_KEPT * q + 2 * TAKEN;
    p.blocks = calloc((size_t)workers * (size_t)p.kept, sizeof *p.blocks);
    int result = p.blocks != NULL ? products_multiply(&p, machine, workers, time) : -1;
    free(p.blocks);
    return result;
}

/* ---- sort ------------------------------------------------------------------------------------ */

/* First the parts that are sorted, then as many ranges of keys, each merged of all of them. */
struct runs {
    double keys; /* of an item */
    int parts, done, workers;
    bool known;
};

static double run_bytes(void *context, int item)
{
    const struct runs *r = context;
    (void)item;
    return HEAD + ELEMENT * r->keys;
}

static double fetch_run(void *context, int item, int worker)
{
    (void)worker;
    return run_bytes(context, item);
}

/* Runs are merged two by two, so a key once for each time that their number halves. */
static double run_s(void *context, int item, const struct model_host *host)
{
    struct runs *r = context;
    r->known = r->known && host->oper_s > 0 && host->merge_s > 0;
    if (item >= r->parts)
        return r->keys * ceil(log2(r->parts)) * host->merge_s;
    return r->keys > 1 ? r->keys * log2(r->keys) * host->oper_s : 0;
}

/* Keys are copied everywhere, but out of the coordinator's sorted parts, which stay as they are. */
static double run_packed(void *context, int item, enum agenda_packing where)
{
    const struct runs *r = context;
    bool in_place = where == AGENDA_PACK_DATA && item >= r->parts;
    return in_place ? 0 : ELEMENT * r->keys;
}

/* A worker's list of keys is new with its first part, and half of what it merges in with its first
 * range. Messages of keys are too long, or too many at a time, for the library to keep their memory
 * for the next ones; what leaves in place needs none, and merged ranges come to the coordinator
 * where the sorted parts came to before. */
static double run_touched(void *context, int item, enum agenda_packing where)
{
    const struct runs *r = context;
    double bytes = run_packed(context, item, where);
    bool merges = item >= r->parts;
    if (where != AGENDA_UNPACK_DATA)
        return merges && where == AGENDA_UNPACK_RESULT ? 0 : bytes;
    bool first = (merges ? item - r->parts : item) < r->workers;
    return bytes + (first ? (merges ? 0.5 : 1) * ELEMENT * r->keys : 0);
}

static void on_run(void *context, struct agenda *agenda, int item)
{
    struct runs *r = context;
    (void)item;
    if (++r->done != r->parts || r->parts < 2)
        return;
    for (int i = 0; i < r->parts; i++)
        agenda_put(agenda, r->parts + i, false);
}

int model_sort_bag(const struct model_machine *machine, int64_t keys, int workers,
                   struct model_time *time)
{
    int parts = RUNS_PER_TASK * workers < keys ? RUNS_PER_TASK * workers : (int)keys;
    struct runs r = {.keys = parts > 0 ? (double)keys / parts : 0,
                     .parts = parts,
                     .workers = workers,
                     .known = true};
    const struct agenda_program program = {.context = &r,
                                           .taken_max = TAKEN,
                                           .sent_max = RUNS_SENT,
                                           .fetched = fetch_run,
                                           .work_s = run_s,
                                           .result = run_bytes,
                                           .packed = run_packed,
                                           .packed_type = MODEL_PACKING_INT64,
                                           .touched = run_touched,
                                           .touches_streams = true,
                                           .done = on_run};
    int result = program_play(machine, workers, &program, parts, time);
    return r.known ? result : -1;
}
