/*
 * table.h - the host table: rows by host index, and the TABLE frames that carry it.
 *
 *   TABLE = flags=u8 3u8(0) epoch=u64 version=u64 base-epoch=u64 base=u64 coordinator=u32
 *           incarnation=u64 next-index=u32 count=u16 *row
 *   row   = flags=u8 index=u16 state=u8 [host]   ; enum row_flags, and ROW_BRIEF: no host
 *   host  = id=16u8 incarnation=u64 name=text [kind] count=u8 *address
 *   kind  = representation=u8 memory-bytes=u64 cores=u32 speed=u32 arch=text
 *                                    ; with ROW_LIKE absent: as in the host before it in the frame
 *
 * (epoch, version) orders all tables of a VM. An epoch is one coordinator's time in office: the
 * number of the generation of what is agreed and the term in which that host leads it (council.h),
 * so no two hosts have the same. Versions count on from epoch to epoch: each is one entry of the
 * generation's log. A full table (TABLE_FULL) stands for itself and may take several frames, the
 * first with TABLE_FIRST, the last with TABLE_LAST; a change is one frame that names the epoch and
 * the version that it is based on, and the same bytes are the entry of the log. incarnation is the
 * largest given so far, next-index the next that will be given.
 *
 * Outside frames a full table is kept as *(size=u32 TABLE): in snapshots, and while it is read.
 */
#ifndef COVEY_PROTO_TABLE_H
#define COVEY_PROTO_TABLE_H

#include "proto/wire/cursor.h"
#include "proto/wire/frame.h"
#include "proto/wire/host.h"

#define TABLE_ROW_BYTES_MAX 384
#define TABLE_CHANGE_BYTES_MAX 49151 /* of a change: one entry of the log */
#define TABLE_DOWN_MAX 256           /* rows of hosts that are gone, kept to be shown */

enum table_flags { TABLE_FULL = 1, TABLE_FIRST = 2, TABLE_LAST = 4 };

enum row_flags {
    ROW_LEFT = 1,      /* said goodbye */
    ROW_CONDEMNED = 2, /* will be declared gone as soon as enough hosts know that */
    ROW_VOTER = 4,     /* keeps what is agreed */
    ROW_FORGOTTEN = 8  /* is gone, and not to be shown any more */
};
#define ROW_FLAGS (ROW_LEFT | ROW_CONDEMNED | ROW_VOTER | ROW_FORGOTTEN)

/* How a row is written. Every host gets the rows of all others: thousands of them must be short. */
enum row_form {
    ROW_LIKE = 64,  /* the host is of the same kind as the one before it */
    ROW_BRIEF = 128 /* of a change: the host is in the table that the change is based on */
};

#define GENERATION_MAX ((UINT64_C(1) << 23) - 1)
static inline uint64_t epoch_make(uint64_t generation, uint64_t term)
{
    return generation << 32 | (term & UINT32_MAX);
}
static inline uint64_t epoch_generation(uint64_t epoch)
{
    return epoch >> 32;
}
/* Short: which coordinator's time in office. Generations are few, and so are the terms of one. */
static inline uint32_t epoch_mark(uint64_t epoch)
{
    return (uint32_t)(epoch >> 32) << 9 ^ (uint32_t)epoch;
}

#define ROW_RIVAL UINT64_MAX /* it claims itself, and was refused since this node claims */

/* Every host has one for each host, and one machine may have thousands of hosts: fields of one size
 * stand together, so that nothing is lost between them. */
struct row {
    struct host host; /* points to a block of the row: table_describe() */
    struct row *next_risen;
    uint64_t heard_us;  /* last sign of life, also through others */
    uint64_t direct_us; /* last datagram from itself; 0: none ever */
    uint64_t pinged_us; /* it was last asked for one */
    uint64_t asker_until_us;
    uint64_t granted; /* the last claim of this node that it granted, or ROW_RIVAL */
    /* coordinator */
    const char *cause;  /* of what is wanted, for the log */
    uint64_t leaves_us; /* it said that it wants to leave; 0: it did not */
    uint64_t acked;     /* version that it acknowledged */
    uint64_t whole;     /* version of the full table that it was sent last, as it asked */
    /* all */
    uint32_t asker; /* wants to know when it is heard of, until asker_until_us */
    uint32_t risen; /* the table was tidied so often when it came up, and once more */
    uint8_t flags;  /* enum row_flags */
    bool announced; /* the owner was told that it was added */
    bool marked;    /* seen in the full table that is being read */
    bool calls;     /* it made a roll call while no coordinator was heard */
    /* coordinator */
    uint8_t wanted;       /* its state when it is dirty */
    uint8_t wanted_flags; /* its flags then */
    bool invited : 1;     /* expected, has not sent JOIN: not in the table that is agreed */
    bool wants : 1;       /* sent JOIN, waits for the next batch: nor is this one */
    bool fresh : 1;       /* proposed for the first time: nor is this one yet */
    bool synced : 1;      /* was sent the last version, or should have it */
    bool dirty : 1;       /* is to be as wanted, and nothing of that is in the log yet */
    bool released : 1;    /* may leave, as it wants to */
};

struct table {
    struct row *rows[HOST_INDEX_MAX + 1];
    uint32_t order[HOST_INDEX_MAX + 1]; /* indices of the rows, as they came */
    size_t count;
    uint64_t epoch, version;
    uint64_t incarnation;
    uint64_t promised;    /* nothing of an earlier generation counts any more */
    uint32_t coordinator; /* index, 0: none known now */
    uint32_t next_index;
    uint32_t tidied; /* so often */
    bool untidy;     /* hosts went, or came up while others were gone: see table_tidy() */
    bool has_down;
};

struct table_head {
    uint8_t flags;
    uint64_t epoch, version;
    uint64_t base_epoch, base; /* of a change */
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
/* Makes row->host that host, with a copy of what it points to, and none of what it was; false: no
 * memory, and the row is as it was. `host` may point to what row->host does. */
bool table_describe(struct row *row, const struct host *host);
void table_drop(struct table *t, struct row *row);
/* Forgets the rows of hosts gone that a later incarnation replaced, and the oldest ones over
 * TABLE_DOWN_MAX. Looks at them only if that may have changed since the last time. */
void table_tidy(struct table *t);

/* The index that the next new host gets, not soon reused; 0: none is free. */
uint32_t table_take_index(struct table *t);

/* A row is up now: rows of earlier daemons under its name are not needed any more. */
void table_rise(struct table *t, struct row *row);
/* One is DOWN now. */
void table_fall(struct table *t);

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

/* Whether a row is in the table that is agreed: not one that is merely expected. */
static inline bool row_is_agreed(const struct row *row)
{
    return !row->invited && !row->wants && !row->fresh;
}

/* Writes the payload of one TABLE frame of the full table, with the rows from the *at-th on;
 * advances *at, which has reached t->count after the last frame. */
size_t table_encode(const struct table *t, size_t *at, uint8_t *bytes, size_t capacity);
/* The same of a change by the coordinator of that epoch: of the dirty rows, as they are to be,
 * those that fit. */
size_t table_encode_change(const struct table *t, uint64_t epoch, uint32_t coordinator, size_t *at,
                           uint8_t *bytes, size_t capacity);
/* The full table as malloc()ed bytes; false: no memory. */
bool table_save(const struct table *t, uint8_t **bytes, size_t *size);

/* Reads a head; then head->count rows follow. What does not fit makes the cursor bad. */
void table_get_head(struct cursor *c, struct table_head *head);
/* Whether bytes are one well-formed TABLE payload, of which the head is taken. */
bool table_is_well_formed(const uint8_t *bytes, size_t size, struct table_head *head);
/* Reads a row of the frame into the host, which points to the room; both have what the last call
 * left there, at first zeros and host_in(). false: the row is brief, and of the host only index and
 * state were read. */
bool table_get_row(struct cursor *c, struct host *host, struct host_room *room, uint8_t *flags);

#endif
