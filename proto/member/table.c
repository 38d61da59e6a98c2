/*
 * table.c - rows of hosts and their encoding. It knows nothing of who may change them: that is
 * registry.c at the coordinator and replica.c at the others.
 */
#include "proto/member/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/control.h"

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->rows[t->order[i]]);
    memset(t, 0, sizeof *t);
}

struct row *table_row(const struct table *t, uint32_t index)
{
    return index <= HOST_INDEX_MAX ? t->rows[index] : NULL;
}

struct row *table_at(const struct table *t, size_t i)
{
    return i < t->count ? t->rows[t->order[i]] : NULL;
}

struct row *table_living(const struct table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++) {
        struct row *row = table_at(t, i);

        if (row_is_living(row) && strcmp(row->host.name, name) == 0)
            return row;
    }
    return NULL;
}

struct row *table_add(struct table *t, const struct host *host)
{
    struct row *row = calloc(1, sizeof *row);

    if (row == NULL)
        return NULL;
    row->host = *host;
    assert(host->index <= HOST_INDEX_MAX && t->rows[host->index] == NULL);
    t->rows[host->index] = row;
    t->order[t->count++] = host->index;
    return row;
}

void table_drop(struct table *t, struct row *row)
{
    size_t i = 0;

    assert(t->rows[row->host.index] == row && t->count > 0);
    while (t->order[i] != row->host.index)
        i++;
    t->count--;
    assert(i <= t->count);
    memmove(&t->order[i], &t->order[i + 1], (t->count - i) * sizeof t->order[0]);
    t->rows[row->host.index] = NULL;
    free(row);
}

static bool is_replaced(const struct table *t, const struct row *row)
{
    const struct row *later = table_living(t, row->host.name);

    return later != NULL && row_is_up(later) && later->host.incarnation > row->host.incarnation;
}

void table_tidy(struct table *t)
{
    size_t down = 0;

    /* from the latest to the oldest, for the oldest are too many first */
    for (size_t i = t->count; i-- > 0;) {
        struct row *row = table_at(t, i);

        if (row_is_living(row) || row->dirty)
            continue;
        if (++down > TABLE_DOWN_MAX || is_replaced(t, row))
            table_drop(t, row);
    }
}

uint32_t table_take_index(struct table *t)
{
    for (uint32_t tried = 0; tried < HOST_INDEX_MAX; tried++) {
        uint32_t index = t->next_index;
        struct row *row = t->rows[index];

        t->next_index = index == HOST_INDEX_MAX ? 1 : index + 1;
        if (row != NULL && !row_is_living(row) && !row->dirty)
            table_drop(t, row);
        if (t->rows[index] == NULL)
            return index;
    }
    return 0;
}

void table_set_coordinator(struct table *t, uint32_t index)
{
    t->coordinator = index;
    for (size_t i = 0; i < t->count; i++) {
        struct row *row = table_at(t, i);

        row->host.coordinator = row->host.index == index;
    }
}

/* ---- encoding ---- */

static void table_put_head(struct cursor *c, const struct table_head *head)
{
    cursor_put_u8(c, head->flags);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, 0);
    cursor_put_u64(c, head->epoch);
    cursor_put_u64(c, head->version);
    cursor_put_u64(c, head->base);
    cursor_put_u32(c, head->coordinator);
    cursor_put_u64(c, head->incarnation);
    cursor_put_u32(c, head->next_index);
    cursor_put_u16(c, head->count);
}

void table_get_head(struct cursor *c, struct table_head *head)
{
    head->flags = cursor_get_u8(c);
    if (cursor_get_u8(c) != 0 || cursor_get_u16(c) != 0)
        c->bad = true;
    head->epoch = cursor_get_u64(c);
    head->version = cursor_get_u64(c);
    head->base = cursor_get_u64(c);
    head->coordinator = cursor_get_u32(c);
    head->incarnation = cursor_get_u64(c);
    head->next_index = cursor_get_u32(c);
    head->count = cursor_get_u16(c);
    if (head->coordinator > HOST_INDEX_MAX || head->next_index == 0 ||
        head->next_index > HOST_INDEX_MAX)
        c->bad = true;
}

void table_get_row(struct cursor *c, struct host *host, uint8_t *flags)
{
    *flags = cursor_get_u8(c);
    control_get_host(c, host);
    if (host->index == 0 || host->state < HOST_JOINING || host->state > HOST_DOWN ||
        *flags > ROW_FLAGS)
        c->bad = true;
}

bool table_is_well_formed(const uint8_t *bytes, size_t size, struct table_head *head)
{
    struct cursor c = cursor_reader(bytes, size);
    struct host host;
    uint8_t flags;

    table_get_head(&c, head);
    for (uint16_t i = 0; i < head->count && cursor_ok(&c); i++)
        table_get_row(&c, &host, &flags);
    return cursor_done(&c);
}

static struct table_head head_of(const struct table *t, uint8_t flags)
{
    return (struct table_head){.flags = flags,
                               .epoch = t->epoch,
                               .version = t->version,
                               .coordinator = t->coordinator,
                               .incarnation = t->incarnation,
                               .next_index = t->next_index};
}

/* Writes rows behind the head, whose count and flags follow from them. */
static size_t encode(const struct table *t, struct table_head *head, size_t *at, uint8_t *bytes,
                     size_t capacity)
{
    struct cursor start = cursor_writer(bytes, capacity), rows = start;
    bool change = !(head->flags & TABLE_FULL);

    table_put_head(&rows, head);
    for (; *at < t->count && cursor_left(&rows) >= TABLE_ROW_BYTES_MAX; (*at)++) {
        const struct row *row = table_at(t, *at);

        if (change ? !row->dirty : !row_is_agreed(row))
            continue;
        struct host host = row->host;

        if (change)
            host.state = row->wanted;
        cursor_put_u8(&rows, change ? row->wanted_flags : row->flags);
        control_put_host(&rows, &host);
        head->count++;
    }
    if (change || *at == t->count)
        head->flags |= TABLE_LAST;
    table_put_head(&start, head);
    return (size_t)(rows.at - bytes);
}

size_t table_encode(const struct table *t, size_t *at, uint8_t *bytes, size_t capacity)
{
    struct table_head head = head_of(t, TABLE_FULL | (*at == 0 ? TABLE_FIRST : 0));

    return encode(t, &head, at, bytes, capacity);
}

size_t table_encode_change(const struct table *t, uint64_t epoch, uint32_t coordinator, size_t *at,
                           uint8_t *bytes, size_t capacity)
{
    struct table_head head = head_of(t, TABLE_FIRST);

    head.epoch = epoch;
    head.coordinator = coordinator;
    head.base = t->version;
    head.version = t->version + 1;
    return encode(t, &head, at, bytes, capacity);
}

#define SAVE_FRAME_BYTES 32768

bool table_save(const struct table *t, uint8_t **bytes, size_t *size)
{
    const size_t most = 4 + SAVE_FRAME_BYTES;
    size_t at = 0;

    *bytes = NULL;
    *size = 0;
    do {
        uint8_t *more = realloc(*bytes, *size + most);
        struct cursor c;
        size_t length;

        if (more == NULL) {
            free(*bytes);
            return false;
        }
        *bytes = more;
        length = table_encode(t, &at, more + *size + 4, SAVE_FRAME_BYTES);
        c = cursor_writer(more + *size, 4);
        cursor_put_u32(&c, (uint32_t)length);
        *size += 4 + length;
    } while (at < t->count);
    return true;
}
