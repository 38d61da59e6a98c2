/*
 * table.h - the host table: rows by host index, and the TABLE frames that carry it.
 *
 *   TABLE = flags=u8 3u8(0) epoch=u64 version=u64 base=u64 coordinator=u32 incarnation=u64
 *           next-index=u32 count=u16 *row
 *   row   = flags=u8 host            ; enum row_flags; host: see control.h
 *
 * (epoch, version) orders all tables of a VM: a coordinator has an epoch of its own and counts its
 * versions. A full table (TABLE_FULL) stands for itself; a change names the version that it is
 * based on. Either may take several frames, the first with TABLE_FIRST, the last with TABLE_LAST.
 * incarnation is the largest given so far, next-index the next that will be given.
 */
#ifndef COVEY_PROTO_TABLE_H
#define COVEY_PROTO_TABLE_H

#include "proto/cursor.h"
#include "proto/node.h"

#define TABLE_ROW_BYTES_MAX 384
#define TABLE_DOWN_MAX 256 /* rows of hosts that are gone, kept to be shown */

enum table_flags { TABLE_FULL = 1, TABLE_FIRST = 2, TABLE_LAST = 4 };

enum row_flags {
    ROW_LEFT = 1,     /* said goodbye */
    ROW_CONDEMNED = 2 /* will be declared gone as soon as that is agreed */
};

struct row {
    struct host host;
    uint8_t flags;      /* enum row_flags */
    bool announced;     /* the owner was told that it was added */
    bool marked;        /* seen in the full table that is being read */
    uint64_t heard_us;  /* last sign of life, also through others */
    uint64_t direct_us; /* last datagram from itself; 0: none ever */
    uint64_t pinged_us; /* it was last asked for one */
    uint32_t asker;     /* wants to know when it is heard of, until ... */
    uint64_t asker_until_us;
    uint64_t granted; /* the highest epoch that it granted to this node */
    /* coordinator */
    bool invited;   /* expected, has not sent JOIN */
    bool wants;     /* sent JOIN, waits for the next batch */
    bool synced;    /* has the table of the last version */
    bool dirty;     /* changed since the last version */
    uint64_t acked; /* version that it acknowledged */
};

struct table {
    struct row *rows[HOST_INDEX_MAX + 1];
    uint32_t order[HOST_INDEX_MAX + 1]; /* indices of the rows, as they came */
    size_t count;
    uint64_t epoch, version;
    uint64_t incarnation;
    uint32_t coordinator; /* index, 0: none known now */
    uint32_t next_index;
};

struct table_head {
    uint8_t flags;
    uint64_t epoch, version, base;
    uint32_t coordinator;
    uint64_t incarnation;
    uint32_t next_index;
    uint16_t count;
};

void table_clear(struct table *t);

/* The row, or NULL. */
struct row *table_row(const struct table *t, uint32_t index);
struct row *table_at(const struct table *t, size_t i);
/* A row of a host that lives (JOINING, UP, SUSPECT) under that name, or NULL. */
struct row *table_living(const struct table *t, const char *name);

/* A copy of host as a new row; NULL: no memory. There must be none with that index. */
struct row *table_add(struct table *t, const struct host *host);
void table_drop(struct table *t, struct row *row);
/* Forgets the rows of hosts gone that a later incarnation replaced, and the oldest ones over
 * TABLE_DOWN_MAX. */
void table_tidy(struct table *t);

/* The index that the next new host gets, not soon reused; 0: none is free. */
uint32_t table_take_index(struct table *t);

/* Says who coordinates, in the table and its rows. */
void table_set_coordinator(struct table *t, uint32_t index);

static inline bool row_is_up(const struct row *row)
{
    return row->host.state == HOST_UP || row->host.state == HOST_SUSPECT;
}
static inline bool row_is_condemned(const struct row *row)
{
    return row->flags & ROW_CONDEMNED;
}
static inline bool row_is_living(const struct row *row)
{
    return row->host.state != HOST_DOWN;
}

/* Writes the payload of one TABLE frame: all rows (flags TABLE_FULL) or the dirty ones, beginning
 * with the *at-th; advances *at, which has reached t->count after the last frame. */
size_t table_encode(const struct table *t, uint8_t flags, uint64_t base, size_t *at, uint8_t *bytes,
                    size_t capacity);

/* Reads a head; then head->count rows follow. What does not fit makes the cursor bad. */
void table_get_head(struct cursor *c, struct table_head *head);
void table_get_row(struct cursor *c, struct host *host, uint8_t *flags);

#endif
