/*
 * trace_read.c - a file of a trace: what its bytes say. They may be anybody's: a number that cannot
 * be is refused, and what follows is left out. The fields of a record lie where the file's own head
 * says; fields and kinds that are not known here, of a later version, are passed over. Records come
 * as few bytes (trace_pack.h), in files of version 1 as words that were compressed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/trace/trace_pack.h"
#include "proto/wire/cursor.h"
#include "tools/trace/trace.h"

#define RECORD_BYTES_MAX 1024
#define HEAD_LINES_MAX 1000
#define RATIO_MAX 256 /* records differ, and are not compressed more than that */
#define COUNT_MAX (TRACE_PULL_BYTES / TRACE_RECORD_BYTES) /* of version 1 */

enum field_number {
#define FIELD(name, ...) FIELD_##name,
    TRACE_FIELDS(FIELD)
#undef FIELD
        FIELDS
};

struct place {
    unsigned word, bit, bits; /* bits 0: it is not there */
};

/* Of a task: the numbers of its names, and how far its records were read. */
struct names {
    uint32_t tid;
    uint32_t *texts; /* by number; 0 is none */
    size_t count, room;
    struct trace_pack pack;
    uint64_t read; /* bytes that it wrote */
    bool lost;     /* what came before in its page was not in the file */
};

struct reader {
    struct trace *trace;
    bool first_version;
    struct place fields[FIELDS];
    uint8_t kinds[16]; /* by the file's number; 0: unknown */
    size_t record_bytes;
    uint32_t root; /* only what descends from it is meant; 0: all */
    struct names *names;
    size_t names_count, names_room;
    ZSTD_DCtx *unpacker;
    uint8_t *raw;
    struct trace_event *open; /* calls that had not ended, by task; kind 0: none */
    size_t open_count;
};

static bool fail(struct trace *trace, const char *why)
{
    snprintf(trace->error, sizeof trace->error, "%s", why);
    return false;
}

/* ---- the head ---- */

static bool take_field(struct reader *r, const char *name, const struct place *place)
{
    static const char *const known[] = {
#define FIELD(name, ...) #name,
        TRACE_FIELDS(FIELD)
#undef FIELD
    };
    if (place->bits < 1 || place->bit >= 64 || place->bits > 64 - place->bit ||
        place->word >= RECORD_BYTES_MAX / 8)
        return false;
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(known[i], name) == 0)
            r->fields[i] = *place;
    return true;
}

static bool take_kind(struct reader *r, unsigned number, const char *name)
{
    if (number >= sizeof r->kinds)
        return false;
    for (uint8_t kind = 1; kind < sizeof r->kinds; kind++)
        if (strcmp(trace_kind_name(kind), name) == 0)
            r->kinds[number] = kind;
    return true;
}

static bool take_line(struct reader *r, const char *line)
{
    char name[64];
    struct place place;
    unsigned number;
    if (sscanf(line, "field %63s %u %u %u", name, &place.word, &place.bit, &place.bits) == 4)
        return take_field(r, name, &place);
    if (sscanf(line, "kind %u %63[^\n]", &number, name) == 2)
        return take_kind(r, number, name);
    if (sscanf(line, "root %u", &number) == 1)
        r->root = number;
    if (sscanf(line, "record %u", &number) == 1) {
        r->record_bytes = number;
        return number >= 8 && number <= RECORD_BYTES_MAX && number % 8 == 0;
    }
    return true; /* of a later version */
}

static bool read_head(struct reader *r, struct cursor *c)
{
    const size_t magic = sizeof TRACE_FILE_MAGIC - 1;
    const uint8_t *at = cursor_get_view(c, magic);
    r->first_version = at != NULL && memcmp(at, TRACE_FILE_MAGIC_1, magic) == 0;
    if (at == NULL || (!r->first_version && memcmp(at, TRACE_FILE_MAGIC, magic) != 0))
        return fail(r->trace, "this is no trace of Covey");
    for (int i = 0; i < HEAD_LINES_MAX; i++) {
        char line[160];
        const uint8_t *end = memchr(c->at, '\n', cursor_left(c));
        size_t length = end == NULL ? 0 : (size_t)(end - c->at);
        if (end == NULL || length >= sizeof line)
            return fail(r->trace, "its head is damaged");
        cursor_get_bytes(c, line, length);
        cursor_get_u8(c);
        line[length] = '\0';
        if (length == 0)
            break;
        if (!take_line(r, line))
            return fail(r->trace, "its head names a field or kind that cannot be");
    }
    for (size_t i = 0; i < FIELDS; i++)
        if (r->fields[i].bits == 0 || (r->fields[i].word + 1) * 8 > r->record_bytes)
            return fail(r->trace, "its records lack a field: it is of another version");
    return true;
}

/* ---- records ---- */

static uint64_t field_of(const struct reader *r, const uint8_t *record, bool big, int field)
{
    const struct place *p = &r->fields[field];
    const uint8_t *at = record + (size_t)p->word * 8;
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word |= (uint64_t)at[i] << 8 * (big ? 7 - i : i);
    return word >> p->bit & (p->bits == 64 ? UINT64_MAX : ((uint64_t)1 << p->bits) - 1);
}

/* Between two moments of which both clocks are known, and a little beyond. */
struct scale {
    uint64_t ticks0, ns0;
    double rate; /* ns a tick */
};

static uint64_t scale_ns(const struct scale *s, uint64_t ticks)
{
    double ns = (double)(int64_t)(ticks - s->ticks0) * s->rate;
    uint64_t from_ns = s->ns0 < TRACE_TIME_MAX ? s->ns0 : TRACE_TIME_MAX;
    if (ns < 0)
        return -ns < (double)TRACE_TIME_MAX && from_ns > (uint64_t)-ns ? from_ns - (uint64_t)-ns
                                                                       : 0;
    if (ns >= (double)TRACE_TIME_MAX || (uint64_t)ns > TRACE_TIME_MAX - from_ns)
        return TRACE_TIME_MAX;
    return from_ns + (uint64_t)ns;
}

static struct names *names_of(struct reader *r, uint32_t tid)
{
    for (size_t i = 0; i < r->names_count; i++)
        if (r->names[i].tid == tid)
            return &r->names[i];
    if (r->names_count == r->names_room) {
        size_t room = r->names_room == 0 ? 64 : 2 * r->names_room;
        struct names *more = realloc(r->names, room * sizeof *more);
        if (more == NULL)
            return NULL;
        r->names = more;
        r->names_room = room;
    }
    struct names *n = &r->names[r->names_count++];
    *n = (struct names){.tid = tid};
    return n;
}

static bool names_add(struct reader *r, struct names *n, const char *text)
{
    if (n->count + 2 > n->room) {
        size_t room = n->room == 0 ? 64 : 2 * n->room;
        uint32_t *more = realloc(n->texts, room * sizeof *more);
        if (more == NULL)
            return false;
        n->texts = more;
        n->room = room;
    }
    if (n->count == 0)
        n->texts[n->count++] = 0;
    n->texts[n->count] = trace_text(r->trace, text);
    return n->texts[n->count++] != TRACE_NONE;
}

static uint32_t name_at(const struct names *n, uint64_t number)
{
    return number < n->count ? n->texts[number] : 0;
}

static bool has_word(int kind)
{
    return kind == TRACE_SERVICE || (kind >= TRACE_ENTER && kind <= TRACE_COUNT) ||
           kind == TRACE_EXPECT;
}

static void event_fill(const struct reader *r, const struct names *n, const uint8_t *record,
                       bool big, const struct scale *s, struct trace_event *e)
{
    uint64_t begin = field_of(r, record, big, FIELD_begin);
    uint64_t name = field_of(r, record, big, FIELD_name);
    e->kind = r->kinds[field_of(r, record, big, FIELD_kind) % sizeof r->kinds];
    e->begin_ns = scale_ns(s, begin);
    e->end_ns = scale_ns(s, begin + field_of(r, record, big, FIELD_duration));
    e->end_ns = e->end_ns < e->begin_ns ? e->begin_ns : e->end_ns;
    e->bytes = field_of(r, record, big, FIELD_bytes);
    e->sequence = field_of(r, record, big, FIELD_sequence);
    e->peer = (uint32_t)field_of(r, record, big, FIELD_peer);
    e->tag = (int32_t)(uint32_t)field_of(r, record, big, FIELD_tag);
    e->name = name_at(n, has_word(e->kind) ? (uint32_t)e->tag : name);
    bool message = trace_is_send(e) || trace_is_receive(e);
    e->call = e->kind == TRACE_CALL || e->kind == TRACE_COLLECTIVE || e->kind == TRACE_OPEN ||
              (message && name != 0);
    if (e->kind == TRACE_COUNT || e->kind == TRACE_EXPECT) {
        uint64_t word = e->bytes | e->sequence << 40;
        memcpy(&e->value, &word, sizeof e->value);
    }
}

/* ---- blocks ---- */

struct block {
    uint32_t tid, parent, names, count, size;
    uint8_t flags;
    uint64_t ticks[2], ns[2], dropped, from;
    char command[1024];
    const uint8_t *open, *texts, *bytes; /* version 1: texts are among the bytes */
};

static bool block_get(const struct reader *r, struct cursor *c, struct block *b)
{
    b->tid = cursor_get_u32(c);
    b->parent = cursor_get_u32(c);
    b->flags = cursor_get_u8(c);
    for (int i = 0; i < 2; i++) {
        b->ticks[i] = cursor_get_u64(c);
        b->ns[i] = cursor_get_u64(c);
    }
    b->dropped = cursor_get_u64(c);
    cursor_get_text(c, b->command, sizeof b->command);
    b->open = cursor_get_view(c, r->record_bytes);
    b->from = r->first_version ? 0 : cursor_get_u64(c);
    b->names = cursor_get_u32(c);
    b->count = r->first_version ? cursor_get_u32(c) : 0;
    b->size = cursor_get_u32(c);
    b->texts = r->first_version ? NULL : cursor_get_view(c, b->names);
    b->bytes = cursor_get_view(c, b->size);
    return cursor_ok(c) && b->names <= TRACE_NAMES_BYTES && b->count <= COUNT_MAX;
}

static bool keep_open(struct reader *r, const struct block *b, uint32_t task, const struct names *n,
                      const struct scale *s)
{
    if (task >= r->open_count) {
        size_t count = 2 * (size_t)task + 64;
        struct trace_event *more = realloc(r->open, count * sizeof *more);
        if (more == NULL)
            return false;
        memset(more + r->open_count, 0, (count - r->open_count) * sizeof *more);
        r->open = more;
        r->open_count = count;
    }
    struct trace_event *e = &r->open[task];
    bool big = (b->flags & TRACE_TASK_BIG) != 0;
    *e = (struct trace_event){.match = TRACE_NONE};
    if (field_of(r, b->open, big, FIELD_begin) == 0)
        return true;
    event_fill(r, n, b->open, big, s, e);
    e->kind = e->kind == TRACE_OPEN ? TRACE_OPEN : 0;
    e->task = task;
    e->end_ns = b->ns[1] < TRACE_TIME_MAX ? b->ns[1] : TRACE_TIME_MAX;
    e->end_ns = e->end_ns > e->begin_ns ? e->end_ns : e->begin_ns;
    return true;
}

static bool block_names(struct reader *r, struct names *n, const uint8_t *texts, uint32_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const uint8_t *end = memchr(texts + at, '\0', bytes - at);
        if (end == NULL || !names_add(r, n, (const char *)texts + at))
            return end == NULL;
        at = (size_t)(end - texts) + 1;
    }
    return true;
}

/* Whose records are taken. */
struct source {
    struct names *names;
    struct scale scale;
    uint32_t task;
};

static bool record_take(struct reader *r, const struct source *s, const uint8_t *record, bool big)
{
    struct trace_event *e = trace_event(r->trace);
    if (e == NULL)
        return fail(r->trace, "it has more events than memory can hold");
    event_fill(r, s->names, record, big, &s->scale, e);
    e->task = s->task;
    if (e->kind == 0)
        r->trace->event_count--; /* of a later version */
    return true;
}

/* What is there of a page. */
static bool page_take(struct reader *r, const struct source *s, const uint8_t *bytes, size_t size)
{
    uint8_t record[RECORD_BYTES_MAX] = {0};
    struct cursor c = cursor_reader(bytes, size);
    while (cursor_left(&c) > 0) {
        struct trace_record words;
        int got = trace_pack_get(&s->names->pack, &c, &words);
        if (got <= 0)
            return got == 0;
        memcpy(record, &words, sizeof words);
        if (!record_take(r, s, record, cursor_word(1) == 1))
            return false;
    }
    return true;
}

static bool block_pages(struct reader *r, const struct block *b, const struct source *s)
{
    struct names *n = s->names;
    n->lost = n->lost || b->from != n->read;
    n->read = b->from;
    for (size_t at = 0; at < b->size;) {
        size_t left = TRACE_PAGE_BYTES - n->read % TRACE_PAGE_BYTES;
        size_t size = left < b->size - at ? left : b->size - at;
        if (left == TRACE_PAGE_BYTES) {
            trace_pack_begin(&n->pack);
            n->lost = false;
        }
        if (!n->lost && !page_take(r, s, b->bytes + at, size))
            return false;
        n->read += size;
        at += size;
    }
    return true;
}

/* ---- version 1 ---- */

/* Its names and records, at r->raw. */
static bool unpack_words(struct reader *r, const struct block *b)
{
    size_t size = b->names + (size_t)b->count * r->record_bytes;
    if (size > RATIO_MAX * (size_t)b->size + RECORD_BYTES_MAX)
        return false;
    size_t got = b->size == 0
                     ? 0
                     : ZSTD_decompressDCtx(r->unpacker, r->raw,
                                           TRACE_NAMES_BYTES + COUNT_MAX * RECORD_BYTES_MAX,
                                           b->bytes, b->size);
    return !ZSTD_isError(got) && got == size;
}

static bool block_words(struct reader *r, const struct block *b, const struct source *s)
{
    bool big = (b->flags & TRACE_TASK_BIG) != 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (!record_take(r, s, r->raw + b->names + i * r->record_bytes, big))
            return false;
    return true;
}

/* ---- blocks, of both ---- */

/* False: no memory, or it is damaged, which error tells apart. */
static bool block_take(struct reader *r, const struct block *b, uint32_t host)
{
    struct trace *trace = r->trace;
    if (r->first_version && !unpack_words(r, b))
        return false;
    uint32_t task = trace_task(trace, host, b->tid);
    struct names *n = task == TRACE_NONE ? NULL : names_of(r, b->tid);
    if (n == NULL || !block_names(r, n, r->first_version ? r->raw : b->texts, b->names))
        return fail(trace, "memory is exhausted");
    struct trace_task *t = &trace->tasks[task];
    t->parent = b->parent;
    t->dropped = b->dropped;
    t->ended = (b->flags & TRACE_TASK_ENDED) != 0;
    snprintf(t->command, sizeof t->command, "%.*s", (int)sizeof t->command - 1, b->command);
    struct source s = {.names = n, .task = task};
    s.scale = (struct scale){.ticks0 = b->ticks[0], .ns0 = b->ns[0], .rate = 1};
    uint64_t ticks = b->ticks[1] - b->ticks[0], ns = b->ns[1] - b->ns[0];
    if (ticks > 0 && b->ticks[1] > b->ticks[0] && b->ns[1] > b->ns[0])
        s.scale.rate = (double)ns / (double)ticks;
    if (!(r->first_version ? block_words(r, b, &s) : block_pages(r, b, &s)))
        return false;
    return keep_open(r, b, task, n, &s.scale) || fail(trace, "memory is exhausted");
}

static bool read_pulled(struct reader *r, struct cursor *c)
{
    char name[64];
    struct trace *trace = r->trace;
    uint32_t index = cursor_get_u32(c);
    cursor_get_text(c, name, sizeof name);
    struct trace_look look = {.before_ns = cursor_get_u64(c)};
    look.after_ns = cursor_get_u64(c);
    cursor_get_u8(c); /* state, and whether there was more */
    cursor_get_u8(c);
    uint32_t untraced = cursor_get_u32(c);
    look.host_ns = cursor_get_u64(c);
    if (!cursor_ok(c))
        return false;
    uint32_t host = trace_host(trace, index, name);
    if (host == TRACE_NONE || !trace_look(&trace->hosts[host], &look))
        return fail(trace, "it has too many hosts, or memory is exhausted");
    trace->hosts[host].untraced = untraced;
    while (cursor_left(c) > 0) {
        struct block b;
        if (!block_get(r, c, &b) || !block_take(r, &b, host))
            return false;
    }
    return true;
}

static bool read_seen(struct reader *r, struct cursor *c)
{
    uint64_t at_ns = cursor_get_u64(c);
    size_t size = cursor_left(c);
    const uint8_t *text = cursor_get_view(c, size);
    return text != NULL && (seen_take(r->trace, at_ns, (const char *)text, size) ||
                            fail(r->trace, "memory is exhausted"));
}

/* ---- the file ---- */

static void read_chunks(struct reader *r, struct cursor *c)
{
    while (cursor_left(c) > 0) {
        uint8_t kind = cursor_get_u8(c);
        uint32_t size = cursor_get_u32(c);
        const uint8_t *bytes = cursor_get_view(c, size);
        if (bytes == NULL)
            return;
        struct cursor content = cursor_reader(bytes, size);
        if (kind == TRACE_CHUNK_END) {
            r->trace->cut = false;
            return;
        }
        if (kind == TRACE_CHUNK_PULLED && !read_pulled(r, &content))
            return;
        if (kind == TRACE_CHUNK_SEEN && !read_seen(r, &content))
            return;
    }
}

static bool add_open(struct reader *r)
{
    for (size_t i = 0; i < r->open_count && i < r->trace->task_count; i++) {
        if (r->open[i].kind != TRACE_OPEN)
            continue;
        struct trace_event *e = trace_event(r->trace);
        if (e == NULL)
            return fail(r->trace, "memory is exhausted");
        *e = r->open[i];
    }
    return true;
}

#define GENERATIONS_MAX 64

static bool descends(const struct trace *trace, uint32_t task, uint32_t root)
{
    for (int i = 0; i < GENERATIONS_MAX && task != TRACE_NONE; i++) {
        const struct trace_task *t = &trace->tasks[task];
        if (t->tid == root || t->parent == root)
            return true;
        task = trace_find(trace, t->parent);
    }
    return false;
}

/* Tasks of other programs, which ran meanwhile, are left out. */
static bool keep_descendants(struct trace *trace, uint32_t root)
{
    uint32_t *kept = malloc((trace->task_count + 1) * sizeof *kept);
    size_t tasks = 0, events = 0;
    if (kept == NULL)
        return fail(trace, "memory is exhausted");
    for (uint32_t i = 0; i < trace->task_count; i++)
        kept[i] = descends(trace, i, root) ? (uint32_t)tasks++ : TRACE_NONE;
    for (size_t i = 0; i < trace->event_count; i++) {
        struct trace_event e = trace->events[i];
        e.task = kept[e.task];
        if (e.task != TRACE_NONE)
            trace->events[events++] = e;
    }
    for (uint32_t i = 0; i < trace->task_count; i++)
        if (kept[i] != TRACE_NONE)
            trace->tasks[kept[i]] = trace->tasks[i];
    trace->event_count = events;
    trace->task_count = tasks;
    free(kept);
    return true;
}

static void sum_up(struct trace *trace)
{
    for (size_t i = 0; i < trace->task_count; i++)
        trace->dropped += trace->tasks[i].dropped;
    for (size_t i = 0; i < trace->host_count; i++)
        trace->untraced += trace->hosts[i].untraced;
}

static bool read_all(struct reader *r, const uint8_t *bytes, size_t size)
{
    struct trace *trace = r->trace;
    struct cursor c = cursor_reader(bytes, size);
    r->raw = malloc(TRACE_NAMES_BYTES + COUNT_MAX * RECORD_BYTES_MAX);
    r->unpacker = ZSTD_createDCtx();
    if (r->raw == NULL || r->unpacker == NULL || trace_text(trace, "") == TRACE_NONE)
        return fail(trace, "memory is exhausted");
    if (!read_head(r, &c))
        return false;
    trace->cut = true;
    read_chunks(r, &c);
    if (trace->error[0] != '\0' || !add_open(r) ||
        (r->root != 0 && !keep_descendants(trace, r->root)))
        return false;
    sum_up(trace);
    if (!trace_clock(trace) || !trace_sort(trace) || !trace_match(trace) || !trace_mend(trace))
        return fail(trace, "memory is exhausted");
    seen_shift(trace);
    return true;
}

bool trace_read(struct trace *trace, const uint8_t *bytes, size_t size)
{
    struct reader r = {.trace = trace};
    bool good = read_all(&r, bytes, size);
    for (size_t i = 0; i < r.names_count; i++)
        free(r.names[i].texts);
    free(r.names);
    free(r.open);
    free(r.raw);
    ZSTD_freeDCtx(r.unpacker);
    return good;
}
