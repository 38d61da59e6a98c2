/*
 * table.c - rows of hosts and their encoding. It knows nothing of who may change them: that is
 * registry.c at the coordinator and replica.c at the others.
 */
#include "proto/member/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void row_free(struct row *row)
{
    free((void *)row->host.addresses); /* the block */
    free(row);
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        row_free(t->rows[t->order[i]]);
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

/* What a host points to is one block: the addresses, the name, the arch. */
bool table_describe(struct row *row, const struct host *host)
{
    size_t addresses = host->address_count * sizeof host->addresses[0];
    size_t name = strlen(host->name) + 1, arch = strlen(host->arch) + 1;
    uint8_t *block = malloc(addresses + name + arch);
    void *former = (void *)row->host.addresses;

    assert(name <= HOST_NAME_MAX_BYTES + 1 && arch <= HOST_ARCH_MAX_BYTES + 1);
    if (block == NULL)
        return false;
    if (addresses > 0)
        memcpy(block, host->addresses, addresses);
    memcpy(block + addresses, host->name, name);
    memcpy(block + addresses + name, host->arch, arch);
    row->host = *host;
    row->host.addresses = (struct address *)block;
    row->host.name = (char *)block + addresses;
    row->host.arch = (char *)block + addresses + name;
    free(former); /* where host may have pointed */
    return true;
}

struct row *table_add(struct table *t, const struct host *host)
{
    struct row *row = calloc(1, sizeof *row);

    if (row == NULL || !table_describe(row, host)) {
        free(row);
        return NULL;
    }
    assert(host->index <= HOST_INDEX_MAX && t->rows[host->index] == NULL);
    t->rows[host->index] = row;
    t->order[t->count++] = host->index;
    if (!row_is_living(row))
        table_fall(t);
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
    row_free(row);
}

void table_rise(struct table *t, struct row *row)
{
    row->risen = t->tidied + 1;
    t->untidy |= t->has_down;
}

void table_fall(struct table *t)
{
    t->untidy = t->has_down = true;
}

static bool is_replaced(const struct row *row, const struct row *risen)
{
    for (; risen != NULL; risen = risen->next_risen)
        if (risen->host.incarnation > row->host.incarnation &&
            strcmp(risen->host.name, row->host.name) == 0)
            return true;
    return false;
}

/* Of the rows of hosts gone, `down` in all, those that are replaced and the oldest that are too
 * many. One pass: in a VM of thousands each drop by itself moves the places of all. */
static void drop_old(struct table *t, size_t down, const struct row *risen)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->count; i++) {
        struct row *row = table_at(t, i);
        bool gone = !row_is_living(row);

        if (gone && !row->dirty && (down > TABLE_DOWN_MAX || is_replaced(row, risen))) {
            t->rows[row->host.index] = NULL;
            row_free(row);
        } else {
            t->order[kept++] = t->order[i];
        }
        down -= gone;
    }
    t->count = kept;
}

/* Hundreds are gone and thousands are up: only those that came up since the last time are compared
 * with those that are gone. (There is a last time even if nothing was to be done then: the
 * thousands with which a VM began are not compared with the first hundreds that go.) */
void table_tidy(struct table *t)
{
    struct row *risen = NULL;
    bool waits = false;
    size_t down = 0;

    if (!t->untidy) {
        t->tidied++;
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        struct row *row = table_at(t, i);

        waits |= !row_is_living(row) && row->dirty;
        down += !row_is_living(row);
        row->next_risen = risen;
        if (row->risen == t->tidied + 1 && row_is_up(row))
            risen = row;
    }
    t->has_down = down > 0;
    t->untidy = waits;
    t->tidied += !waits; /* else those that came up are compared again */
    if (down > 0)
        drop_old(t, down, risen);
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
    struct row *former = table_row(t, t->coordinator), *row = table_row(t, index);

    if (former != NULL)
        former->host.coordinator = 0;
    if (row != NULL)
        row->host.coordinator = 1;
    t->coordinator = index;
}

/* ---- encoding ---- */

static void table_put_head(struct cursor *c, const struct table_head *head)
{
    cursor_put_u8(c, head->flags);
    cursor_put_u8(c, 0);
    cursor_put_u16(c, 0);
    cursor_put_u64(c, head->epoch);
    cursor_put_u64(c, head->version);
    cursor_put_u64(c, head->base_epoch);
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
    head->base_epoch = cursor_get_u64(c);
    head->base = cursor_get_u64(c);
    head->coordinator = cursor_get_u32(c);
    head->incarnation = cursor_get_u64(c);
    head->next_index = cursor_get_u32(c);
    head->count = cursor_get_u16(c);
    if (head->coordinator > HOST_INDEX_MAX || head->next_index == 0 ||
        head->next_index > HOST_INDEX_MAX)
        c->bad = true;
}

/* What hosts of one make have in common. */
static void kind_put(struct cursor *c, const struct host *host)
{
    cursor_put_u8(c, host->representation);
    cursor_put_u64(c, host->memory_bytes);
    cursor_put_u32(c, host->cores);
    cursor_put_u32(c, host->speed);
    cursor_put_text(c, host->arch);
}

static void kind_get(struct cursor *c, struct host *host, struct host_room *room)
{
    host->representation = cursor_get_u8(c);
    host->memory_bytes = cursor_get_u64(c);
    host->cores = cursor_get_u32(c);
    host->speed = cursor_get_u32(c);
    cursor_get_text(c, room->arch, sizeof room->arch);
}

static bool kind_is_like(const struct host *a, const struct host *b)
{
    return a->representation == b->representation && a->memory_bytes == b->memory_bytes &&
           a->cores == b->cores && a->speed == b->speed && strcmp(a->arch, b->arch) == 0;
}

/* `before`: the host before it in the frame, NULL: there is none. */
static void row_put(struct cursor *c, const struct row *row, uint8_t flags, uint8_t state)
{
    const struct host *host = &row->host;

    cursor_put_u8(c, flags);
    cursor_put_u16(c, (uint16_t)host->index);
    cursor_put_u8(c, state);
    if (flags & ROW_BRIEF)
        return;
    cursor_put_bytes(c, host->id, sizeof host->id);
    cursor_put_u64(c, host->incarnation);
    cursor_put_text(c, host->name);
    if (!(flags & ROW_LIKE))
        kind_put(c, host);
    cursor_put_u8(c, host->address_count);
    for (unsigned i = 0; i < host->address_count && i < HOST_ADDRESSES_MAX; i++)
        address_put(c, &host->addresses[i]);
}

bool table_get_row(struct cursor *c, struct host *host, struct host_room *room, uint8_t *flags)
{
    bool first = host->index == 0;
    uint8_t form = cursor_get_u8(c);
    *flags = form & (uint8_t) ~(ROW_LIKE | ROW_BRIEF);
    host->index = cursor_get_u16(c);
    host->state = cursor_get_u8(c);
    if (host->index == 0 || host->index > HOST_INDEX_MAX || host->state < HOST_JOINING ||
        host->state > HOST_DOWN || *flags > ROW_FLAGS || (form & ROW_LIKE && first))
        c->bad = true;
    if (form & ROW_BRIEF)
        return false;
    host->coordinator = host->forgotten = false;
    host->address_count = 0;
    cursor_get_bytes(c, host->id, sizeof host->id);
    host->incarnation = cursor_get_u64(c);
    cursor_get_text(c, room->name, sizeof room->name);
    if (!(form & ROW_LIKE))
        kind_get(c, host, room);
    unsigned count = cursor_get_u8(c);
    if (count > HOST_ADDRESSES_MAX)
        c->bad = true;
    for (unsigned i = 0; i < count && cursor_ok(c); i++)
        address_get(c, &room->addresses[i]);
    host->address_count = (uint8_t)(cursor_ok(c) ? count : 0);
    return true;
}

bool table_is_well_formed(const uint8_t *bytes, size_t size, struct table_head *head)
{
    struct cursor c = cursor_reader(bytes, size);
    struct host_room room = {0};
    struct host host = host_in(&room);
    uint8_t flags;

    table_get_head(&c, head);
    for (uint16_t i = 0; i < head->count && cursor_ok(&c); i++)
        if (!table_get_row(&c, &host, &room, &flags) && head->flags & TABLE_FULL)
            c.bad = true;
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
    const struct host *before = NULL;
    bool change = !(head->flags & TABLE_FULL);

    table_put_head(&rows, head);
    for (; *at < t->count && cursor_left(&rows) >= TABLE_ROW_BYTES_MAX; (*at)++) {
        const struct row *row = table_at(t, *at);

        if (change ? !row->dirty : !row_is_agreed(row))
            continue;
        uint8_t flags = change ? row->wanted_flags : row->flags;

        if (change && row_is_agreed(row))
            flags |= ROW_BRIEF;
        else if (before != NULL && kind_is_like(before, &row->host))
            flags |= ROW_LIKE;
        row_put(&rows, row, flags, change ? row->wanted : row->host.state);
        if (!(flags & ROW_BRIEF))
            before = &row->host;
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
    head.base_epoch = t->epoch;
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
