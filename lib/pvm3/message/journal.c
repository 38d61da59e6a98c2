/*
 * journal.c - changes of the mailboxes in one order.
 *
 * Change n is what the VM's daemons decide for number n of a series (covey_propose()): a task
 * proposes its change for the next number that it knows of, and if another's was first, applies
 * that and goes on to the following number. All tasks so apply the same changes, and what comes of
 * one depends only on those before it.
 *
 *   change = mark author serial kind rest
 *   kind   = CONTENT: the rest is the change · BLOB: tid serial parts: it lies in a series of its
 * own
 *
 * A decision has at most COVEY_DECISION_MAX bytes: a longer change is a blob. When there are many,
 * one of them is a summary of all before it, and what is before it is forgotten: first the numbers,
 * then the blobs of those. Who begins to read looks for the first that is not forgotten. A number
 * that is there while its blob is not is no change, for nobody can have read it; nor is one that
 * names another author than the task that proposed it.
 */
#include "lib/pvm3/message/journal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/message/pack.h"

#define SERIES "pvm.mailbox"
#define MARK 1
#define MARK_SWAPPED 0x01000000
#define ANSWER_US 30000000
#define CHANGES_MAX 64         /* after which a summary is made */
#define BYTES_MAX (256 * 1024) /* the same */
#define PARTS_MAX 256          /* of a blob */
#define BEGINNINGS_MAX 8       /* of a reader whom others' summaries overtake, in one call */

enum kind { CONTENT = 1, BLOB = 2 };

/* A change that was too long for a decision. */
struct blob {
    int tid, serial, parts;
};

static uint64_t next, base; /* number to be read; the first that was not forgotten */
static size_t bytes;        /* since base */
static int beginnings;      /* in this call */
static struct blob blobs[CHANGES_MAX + 1];
static int blob_count;
static int serial;

void journal_clear(void)
{
    next = base = 0;
    bytes = 0;
    blob_count = 0;
}

int journal_number(void)
{
    return (int)next;
}

/* ---- blobs ---------------------------------------------------------------------------------- */

static void blob_series(const struct blob *blob, char *name, size_t size)
{
    snprintf(name, size, SERIES ".%x.%d", (unsigned)blob->tid, blob->serial);
}

static void blob_forget(const struct blob *blob)
{
    char name[64];
    blob_series(blob, name, sizeof name);
    covey_forget(vm_handle(), name, UINT64_MAX);
}

static int blob_write(struct blob *blob, const uint8_t *from, size_t size)
{
    char name[64];
    struct covey_decision part;
    int error = COVEY_OK;
    *blob = (struct blob){.tid = pvmmytid, .serial = ++serial};
    blob_series(blob, name, sizeof name);
    for (size_t at = 0; at < size && error == COVEY_OK; at += (size_t)part.bytes) {
        size_t left = size - at;
        part.bytes = (int32_t)(left < COVEY_DECISION_MAX ? left : COVEY_DECISION_MAX);
        memcpy(part.value, from + at, (size_t)part.bytes);
        error = covey_propose(vm_handle(), name, (uint64_t)blob->parts++, ANSWER_US, &part);
    }
    if (error != COVEY_OK)
        blob_forget(blob);
    return error_of(error);
}

static int blob_read(const struct blob *blob, struct body *body)
{
    char name[64];
    struct covey_decision part;
    if (blob->parts < 1 || blob->parts > PARTS_MAX)
        return PvmBadMsg;
    blob_series(blob, name, sizeof name);
    for (int i = 0; i < blob->parts; i++) {
        int error = covey_learn(vm_handle(), name, (uint64_t)i, COVEY_POLL, &part);
        uint8_t *room = error == COVEY_OK ? body_extend(body, (size_t)part.bytes) : NULL;
        if (error == COVEY_ETIMEOUT || error == COVEY_ENOENT)
            return PvmNotFound;
        if (room == NULL)
            return error == COVEY_OK ? PvmNoMem : error_of(error);
        memcpy(room, part.value, (size_t)part.bytes);
    }
    return PvmOk;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct head {
    int author, serial, kind;
};

/* A buffer of what was decided, with its head unpacked. */
static int open_change(struct buffer *b, struct head *head)
{
    int fields[4] = {0};
    int error = unpack_array(b, PVM_INT, fields, 1, 1);
    if (error == PvmOk && fields[0] == MARK_SWAPPED)
        b->swapped = true;
    else if (error != PvmOk || fields[0] != MARK)
        return PvmBadMsg;
    error = unpack_array(b, PVM_INT, fields + 1, 3, 1);
    *head = (struct head){fields[1], fields[2], fields[3]};
    return error == PvmOk ? PvmOk : PvmBadMsg;
}

static int open_blob(struct buffer *b, struct head *head)
{
    int fields[3];
    if (unpack_array(b, PVM_INT, fields, 3, 1) != PvmOk)
        return PvmBadMsg;
    struct blob blob = {fields[0], fields[1], fields[2]};
    body_fini(&b->body);
    b->swapped = false;
    int error = blob_read(&blob, &b->body);
    if (error == PvmOk && blob_count <= CHANGES_MAX)
        blobs[blob_count++] = blob;
    return error == PvmOk ? open_change(b, head) : error;
}

/* Whether a number that was read is forgotten by now. */
static bool was_forgotten(uint64_t number)
{
    struct covey_decision d;
    return covey_learn(vm_handle(), SERIES, number, COVEY_POLL, &d) == COVEY_ENOENT;
}

/* What is not a change is passed over: all tasks do. Sets *result to what came of it. Returns
 * PvmNotFound when it was forgotten meanwhile. */
static int apply(const struct journal_use *use, const struct covey_decision *decision,
                 struct head *head, int *result)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    uint8_t *room = b == NULL ? NULL : body_extend(&b->body, (size_t)decision->bytes + 1);
    int error = room == NULL ? PvmNoMem : PvmOk;
    if (error == PvmOk) {
        memcpy(room, decision->value, (size_t)decision->bytes);
        error = open_change(b, head);
    }
    if (error == PvmOk && head->kind == BLOB)
        error = open_blob(b, head);
    if (error == PvmOk && head->author == decision->proposer)
        *result = use->apply(b, decision->proposer);
    buffer_destroy(b);
    bool no_change = error == PvmBadMsg || (error == PvmNotFound && !was_forgotten(next));
    if (error != PvmOk && !no_change)
        return error;
    next++;
    bytes += (size_t)decision->bytes;
    return PvmOk;
}

/* Numbers below the first that is there were forgotten: it is found by doubling and halving. */
static int find_first(void)
{
    uint64_t low = next, step = 1;
    for (; step < INT_MAX && was_forgotten(low + step); step *= 2)
        low += step;
    if (step >= INT_MAX || low >= INT_MAX) /* numbers are ints: none of us forgets so many */
        return PvmSysErr;
    uint64_t high = low + step; /* low was forgotten, high was not */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (was_forgotten(middle))
            low = middle;
        else
            high = middle;
    }
    next = base = high;
    bytes = 0;
    blob_count = 0;
    return PvmOk;
}

static int start_over(const struct journal_use *use)
{
    use->reset();
    return ++beginnings > BEGINNINGS_MAX ? PvmSysErr : find_first();
}

/* Applies one change. Returns 1, 0 when there is none in time, or an error. */
static int read_one(const struct journal_use *use, int64_t timeout_us)
{
    struct covey_decision d;
    struct head head;
    int result;
    int error = covey_learn(vm_handle(), SERIES, next, timeout_us, &d);
    if (error == COVEY_ETIMEOUT)
        return 0;
    if (error != COVEY_OK && error != COVEY_ENOENT)
        return error_of(error);
    error = error == COVEY_OK ? apply(use, &d, &head, &result) : PvmNotFound;
    if (error == PvmNotFound)
        error = start_over(use);
    return error == PvmOk ? 1 : error;
}

int journal_read(const struct journal_use *use)
{
    int result = 1;
    beginnings = 0;
    while (result > 0)
        result = read_one(use, COVEY_POLL);
    return result;
}

int journal_wait(const struct journal_use *use)
{
    int result = read_one(use, COVEY_FOREVER);
    return result < 0 ? result : journal_read(use);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int head_pack(struct buffer *b, int number, enum kind kind)
{
    const int head[4] = {MARK, pvmmytid, number, kind};
    return pack_array(b, PVM_INT, head, 4, 1);
}

/* The bytes of a change in one piece, in the one segment that the body of such a buffer has. */
static struct buffer *change_make(const struct buffer *record, int number)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    if (b != NULL && head_pack(b, number, CONTENT) == PvmOk &&
        body_append(&b->body, &record->body) == PvmOk)
        return b;
    buffer_destroy(b);
    return NULL;
}

static int change_shorten(struct buffer *b, int number, struct blob *blob)
{
    int error = blob_write(blob, b->body.segments[0].bytes, b->body.size);
    const int fields[3] = {blob->tid, blob->serial, blob->parts};
    if (error != PvmOk)
        return error;
    body_fini(&b->body);
    error = head_pack(b, number, BLOB);
    return error == PvmOk ? pack_array(b, PVM_INT, fields, 3, 1) : error;
}

/* Proposes until it is decided for one of the numbers. */
static int change_propose(const struct journal_use *use, const struct buffer *change, int number,
                          int *result)
{
    struct covey_decision d;
    struct head head = {0};
    int error = PvmOk;
    while (error == PvmOk && (head.author != pvmmytid || head.serial != number)) {
        error = journal_read(use);
        if (error != PvmOk)
            return error;
        d.bytes = (int32_t)change->body.size;
        memcpy(d.value, change->body.segments[0].bytes, change->body.size);
        error = covey_propose(vm_handle(), SERIES, next, ANSWER_US, &d);
        if (error == COVEY_OK)
            error = apply(use, &d, &head, result);
        else
            error = error == COVEY_ENOENT ? PvmOk : error_of(error);
        if (error == PvmNotFound)
            error = start_over(use);
    }
    return error;
}

static int record_append(const struct journal_use *use, const struct buffer *record, int *result)
{
    int number = ++serial;
    struct blob blob = {0};
    struct buffer *change = change_make(record, number);
    int error = change == NULL ? PvmNoMem : PvmOk;
    if (error == PvmOk && change->body.size > COVEY_DECISION_MAX)
        error = change_shorten(change, number, &blob);
    if (error == PvmOk)
        error = change_propose(use, change, number, result);
    if (error != PvmOk && blob.parts > 0)
        blob_forget(&blob);
    buffer_destroy(change);
    return error;
}

/* A summary is of the changes that its author knew when he made it: it counts only as the very next
 * change, otherwise it is passed over by all. */
static void summarise(const struct journal_use *use)
{
    int result = PvmNotFound, old_blobs = blob_count;
    struct buffer *record = buffer_create(ENC_DEFAULT);
    if (record != NULL && use->summary(record) == PvmOk &&
        record_append(use, record, &result) == PvmOk && result == PvmOk) {
        /* Those before the summary, which is the last change, are forgotten with their blobs,
         * unless somebody else wrote a change meanwhile that they are still needed for: then the
         * next one does. */
        uint64_t number = next - 1;
        if (covey_forget(vm_handle(), SERIES, number) == COVEY_OK) {
            for (int i = 0; i < old_blobs; i++)
                blob_forget(&blobs[i]);
            blob_count -= old_blobs;
            memmove(blobs, blobs + old_blobs, (size_t)blob_count * sizeof *blobs);
            base = number;
            bytes = 0;
        }
    }
    buffer_destroy(record);
}

int journal_append(const struct journal_use *use, const struct buffer *record)
{
    int result = PvmSysErr;
    int error = record_append(use, record, &result);
    if (error == PvmOk && (next - base >= CHANGES_MAX || bytes >= BYTES_MAX))
        summarise(use);
    return error == PvmOk ? result : error;
}
