/*
 * exchange_learn.c - what the members of a team tell each other before an exchange.
 *
 *     note = type=u8 3u8(0) row-bytes=u32 options=8u8 digest=16u8 head=32u8
 *
 * Every member gives a note: what it sends (a row of COM, exchange_row.h) by a digest, and the row
 * itself when it is short; longer ones follow from all members, but for a pattern that the team
 * knows by its notes.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_step.h"
#include "lib/exchange/exchange.h"
#include "lib/msg/error.h"
#include "lib/schedule/topology.h"
#include "proto/wire/cursor.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 64
#define HEAD_BYTES 32
#define OPTIONS_BYTES 8
#define DIGEST_BYTES 16

struct note {
    int type;
    uint32_t row_bytes;
    uint8_t options[OPTIONS_BYTES], digest[DIGEST_BYTES], head[HEAD_BYTES];
};

struct learning {
    struct collective *c; /* whose memory all this is */
    struct covey_team *team;
    struct exchange_lesson *lesson;
    uint8_t *row; /* the own one */
    size_t row_bytes;
    uint8_t *notes; /* of all */
    uint8_t *rows;  /* of all, every `stride` bytes; NULL: they are in the notes */
    size_t stride;
    struct exchange_entry *entries;
    uint8_t key[EXCHANGE_KEY_BYTES];
};

/* ---- Notes ------------------------------------------------------------------------------- */

static void put_note(const struct note *note, uint8_t *bytes)
{
    struct cursor c = cursor_writer(bytes, NOTE_BYTES);
    cursor_put_u32(&c, (uint32_t)note->type << 24);
    cursor_put_u32(&c, note->row_bytes);
    cursor_put_bytes(&c, note->options, sizeof note->options);
    cursor_put_bytes(&c, note->digest, sizeof note->digest);
    cursor_put_bytes(&c, note->head, sizeof note->head);
}

static struct note get_note(const struct learning *l, int rank)
{
    struct cursor c = cursor_reader(l->notes + (size_t)rank * NOTE_BYTES, NOTE_BYTES);
    struct note note = {.type = (int)(cursor_get_u32(&c) >> 24), .row_bytes = cursor_get_u32(&c)};
    cursor_get_bytes(&c, note.options, sizeof note.options);
    cursor_get_bytes(&c, note.digest, sizeof note.digest);
    cursor_get_bytes(&c, note.head, sizeof note.head);
    return note;
}

static void add_number(crypto_generichash_state *hash, uint64_t number)
{
    uint8_t bytes[8];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u64(&c, number);
    crypto_generichash_update(hash, bytes, sizeof bytes);
}

static void digest_options(const struct covey_exchange_options *how, int ranks, uint8_t *digest)
{
    uint8_t whole[DIGEST_BYTES];
    crypto_generichash_state hash;

    crypto_generichash_init(&hash, NULL, 0, sizeof whole);
    add_number(&hash, (uint64_t)how->algorithm << 32 | (uint64_t)how->synchrony);
    add_number(&hash, how->seed);
    if (how->topology != NULL) {
        const struct topology *t = &how->topology->tree;

        for (int i = 0; i < t->link_count; i++) {
            add_number(&hash, (uint64_t)t->links[i].a << 32 | (uint64_t)t->links[i].b);
            add_number(&hash, t->links[i].rate);
        }
        for (int i = 0; how->hosts != NULL && i < ranks; i++)
            add_number(&hash, (uint64_t)how->hosts[i]);
    }
    crypto_generichash_final(&hash, whole, sizeof whole);
    memcpy(digest, whole, OPTIONS_BYTES);
}

static void tell_notes(struct learning *l, uint8_t *bytes)
{
    struct note note = {.type = l->lesson->type, .row_bytes = (uint32_t)l->row_bytes};
    const struct vector all = {.type = COVEY_BYTES, .base = l->notes, .each = NOTE_BYTES};

    digest_options(l->lesson->options, l->team->size, note.options);
    crypto_generichash(note.digest, sizeof note.digest, l->row, l->row_bytes, NULL, 0);
    if (l->row_bytes <= HEAD_BYTES)
        memcpy(note.head, l->row, l->row_bytes);
    put_note(&note, bytes);
    allgather_build(l->c, bytes, &all);
}

/* All members want the same thing. */
static int check_notes(const struct learning *l)
{
    struct note own = get_note(l, l->team->rank);

    for (int i = 0; i < l->team->size; i++) {
        struct note note = get_note(l, i);
        if (note.type != own.type)
            return error_set(COVEY_ETYPE, "exchange: rank %d gives %s, rank %d gives %s", i,
                             covey_type_name(note.type), l->team->rank, covey_type_name(own.type));
        if (memcmp(note.options, own.options, sizeof own.options) != 0)
            return error_set(COVEY_EINVAL, "exchange: ranks %d and %d give different options", i,
                             l->team->rank);
        if (note.row_bytes > exchange_row_bytes_max((size_t)l->team->size, (uint32_t)l->team->size))
            return error_set(COVEY_EPROTO, "exchange: rank %d: a row of %u bytes", i,
                             note.row_bytes);
    }
    return COVEY_OK;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static bool encode_row(struct learning *l)
{
    const struct exchange_lesson *lesson = l->lesson;
    uint32_t ranks = (uint32_t)l->team->size;
    size_t room = exchange_row_bytes_max(lesson->row_count, ranks);

    l->row = collective_memory(l->c, room);
    if (l->row == NULL)
        return false;
    l->row_bytes = exchange_row_encode(l->row, room, lesson->row, lesson->row_count, ranks);
    return true;
}

static int decode_row(const struct learning *l, int rank)
{
    struct note note = get_note(l, rank);
    const uint8_t *row = l->rows == NULL ? note.head : l->rows + l->stride * (size_t)rank;
    int count = exchange_row_decode(row, note.row_bytes, (uint32_t)l->team->size, l->entries);

    return count >= 0
               ? count
               : error_set(COVEY_EPROTO, "exchange: the row of rank %d makes no sense", rank);
}

static bool messages_reserve(struct exchange *x, size_t more, size_t *capacity)
{
    if (x->count + more <= *capacity)
        return true;
    size_t wanted = 2 * *capacity + more;
    struct exchange_message *grown = realloc(x->messages, wanted * sizeof *grown);
    if (grown == NULL)
        return false;
    x->messages = grown;
    *capacity = wanted;
    return true;
}

/* What goes to the sender itself takes no part in the order. */
static int fill_messages(struct learning *l, struct exchange *x)
{
    size_t width = covey_type_size(l->lesson->type), capacity = 0;

    for (int from = 0; from < l->team->size; from++) {
        int count = decode_row(l, from);
        if (count < 0)
            return count;
        if (!messages_reserve(x, (size_t)count, &capacity))
            return error_code(COVEY_ENOMEM);
        for (int i = 0; i < count; i++) {
            if ((int)l->entries[i].rank == from)
                continue;
            x->messages[x->count++] =
                (struct exchange_message){.bytes = l->entries[i].count * width,
                                          .from = (uint16_t)from,
                                          .to = (uint16_t)l->entries[i].rank};
        }
    }
    return COVEY_OK;
}

/* ---- The whole --------------------------------------------------------------------------- */

static int end_learning(struct learning *l)
{
    return l->lesson->then != NULL ? l->lesson->then(l->c, l->lesson->arg) : COVEY_OK;
}

/* All rows are here. */
static int on_rows(struct collective *c, void *arg)
{
    struct learning *l = arg;
    struct exchange_order *order = calloc(1, sizeof *order);

    (void)c;
    if (order == NULL)
        return error_code(COVEY_ENOMEM);
    order->users = 1;
    order->x.ranks = l->team->size;
    order->one_host = l->team->hosts == 1;
    memcpy(order->key, l->key, sizeof order->key);
    int error = fill_messages(l, &order->x);
    if (error != COVEY_OK) {
        exchange_order_drop(order);
        return error;
    }
    l->lesson->order = order;
    return end_learning(l);
}

/* All notes are here. That members differ is an error of the call, and the team goes on. */
static int on_notes(struct collective *c, void *arg)
{
    struct learning *l = arg;
    struct exchange_lesson *lesson = l->lesson;

    lesson->error = check_notes(l);
    if (lesson->error == COVEY_EPROTO)
        return lesson->error;
    if (lesson->error != COVEY_OK) {
        snprintf(lesson->why, sizeof lesson->why, "%s", covey_error_text());
        return COVEY_OK;
    }
    crypto_generichash(l->key, sizeof l->key, l->notes, (size_t)l->team->size * NOTE_BYTES, NULL,
                       0);
    lesson->order = lesson->fresh ? NULL : exchange_cache_find(l->team, l->key);
    lesson->known = lesson->order != NULL;
    if (lesson->known)
        return end_learning(l);
    /* How long rows are that are too long for a note; 0: none is. All members see it in the notes.
     */
    size_t most = 0;

    for (int i = 0; i < l->team->size; i++) {
        uint32_t bytes = get_note(l, i).row_bytes;
        most = bytes > most ? bytes : most;
    }
    l->stride = most > HEAD_BYTES ? most : 0;
    if (l->stride == 0)
        return on_rows(c, l);
    /* Each row with as many bytes as the longest one. */
    uint8_t *row = collective_memory(l->c, l->stride);

    l->rows = collective_memory(l->c, l->stride * (size_t)l->team->size);
    if (row != NULL && l->rows != NULL) {
        memset(row, 0, l->stride);
        memcpy(row, l->row, l->row_bytes);
        const struct vector all = {.type = COVEY_BYTES, .base = l->rows, .each = l->stride};
        allgather_build(l->c, row, &all);
    }
    collective_fence(c);
    collective_call(c, on_rows, l);
    return COVEY_OK;
}

void exchange_learn(struct collective *c, struct exchange_lesson *lesson)
{
    struct learning *l = collective_memory(c, sizeof *l);
    uint8_t *note = collective_memory(c, NOTE_BYTES);

    if (l == NULL || note == NULL)
        return;
    *l = (struct learning){.c = c, .team = collective_team(c), .lesson = lesson};
    l->notes = collective_memory(c, (size_t)l->team->size * NOTE_BYTES);
    l->entries = collective_memory(c, (size_t)l->team->size * sizeof *l->entries);
    if (l->notes == NULL || l->entries == NULL || !encode_row(l))
        return;
    tell_notes(l, note);
    collective_fence(c);
    collective_call(c, on_notes, l);
}
