/*
 * topology.c - reads a topology file.
 *
 * One pass over the lines checks each line's own form and declares its names; the names that lines
 * refer to, and the shape of the whole, are checked at the end, when everything is declared: lines
 * may stand in any order. The first mistake ends the pass. Names are found through a hash table
 * that lives as long as the pass; what links refer to is kept with its place in the file until
 * then.
 */
#include "proto/network/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/contention_config.h"
#include "proto/wire/format.h"

#define NODES_MAX (TOPOLOGY_HOSTS_MAX + TOPOLOGY_SWITCHES_MAX)
#define TABLE_SLOTS 16384 /* a power of two, twice NODES_MAX */

_Static_assert(TABLE_SLOTS >= 2 * NODES_MAX, "the table of names stays half empty");

struct word {
    const char *text;
    size_t length;
    int column;
};

/* A name that must turn out to be a switch. */
struct reference {
    char name[TOPOLOGY_NAME_MAX + 1];
    int line, column;
};

/* One pass. Of link i, host_of[i] is the host or -1, and its switches are refs[first_ref[i]] on. */
struct reader {
    struct topology *topology;
    const char *file;
    char *error;
    int line;
    const char *at, *end; /* of the line that is read */
    const char *start;
    int table[TABLE_SLOTS]; /* node + 1, 0: empty */
    int group[NODES_MAX];   /* a node on the way to the one that stands for its group */
    struct reference refs[2 * NODES_MAX + 2];
    int ref_count;
    int host_of[NODES_MAX]; /* of the link: its host, or -1 for one between switches */
    int first_ref[NODES_MAX + 1];
    struct reference contended[TOPOLOGY_CONTENTIONS_MAX]
                              [2]; /* of `contention` lines; line 0: none */
};

static int __attribute__((format(printf, 4, 5)))
refuse_at(struct reader *r, int line, int column, const char *format, ...)
{
    int used = snprintf(r->error, TOPOLOGY_ERROR_BYTES, "%.200s:%d:%d: ", r->file, line, column);
    FORMAT(r->error + used, TOPOLOGY_ERROR_BYTES - (size_t)used, format);
    for (char *c = r->error; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?'; /* what the file says may be anything */
    return -1;
}

#define QUOTED "'%.*s'"
#define QUOTE(word) (int)((word)->length < 80 ? (word)->length : 80), (word)->text

/* ---- Words ------------------------------------------------------------------------------- */

static bool topology_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool next_word(struct reader *r, struct word *word)
{
    while (r->at < r->end && topology_is_blank(*r->at))
        r->at++;
    word->text = r->at;
    word->column = (int)(r->at - r->start) + 1;
    while (r->at < r->end && !topology_is_blank(*r->at))
        r->at++;
    word->length = (size_t)(r->at - word->text);
    return word->length > 0;
}

static bool word_is(const struct word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(const struct word *word)
{
    if (word->length > TOPOLOGY_NAME_MAX || !is_alnum(word->text[0]))
        return false;
    for (size_t i = 1; i < word->length; i++) {
        char c = word->text[i];
        if (!is_alnum(c) && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

static uint64_t unit_of(char c)
{
    return c == 'K' ? 1000 : c == 'M' ? 1000000 : c == 'G' ? 1000000000 : 1;
}

uint64_t topology_rate_parse(const char *text, size_t length)
{
    uint64_t unit = length > 0 ? unit_of(text[length - 1]) : 1;
    size_t digits = length - (unit > 1), i = 0;
    uint64_t whole = 0, part = 0;

    for (; i < digits && is_digit(text[i]); i++)
        whole = whole < TOPOLOGY_RATE_MAX ? whole * 10 + (uint64_t)(text[i] - '0') : whole;
    if (i == 0 || (i < digits && (text[i] != '.' || i + 1 == digits)))
        return 0;
    uint64_t scale = unit;
    for (i++; i < digits; i++) {
        if (!is_digit(text[i]))
            return 0;
        scale /= 10;
        part += scale * (uint64_t)(text[i] - '0');
    }
    if (whole > TOPOLOGY_RATE_MAX / unit)
        return 0;
    uint64_t rate = whole * unit + part;
    return rate >= TOPOLOGY_RATE_MIN && rate <= TOPOLOGY_RATE_MAX ? rate : 0;
}

/* ---- Names ------------------------------------------------------------------------------- */

/* The slot of the name: its node's, or the empty one where it would go. */
static int *slot_of(struct reader *r, const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    for (;; hash++) {
        int *slot = &r->table[hash % TABLE_SLOTS];
        if (*slot == 0)
            return slot;
        const char *other = r->topology->nodes[*slot - 1].name;
        if (strncmp(other, name, length) == 0 && other[length] == '\0')
            return slot;
    }
}

/* The node is the last one. */
static int declare(struct reader *r, const struct word *word, bool is_switch)
{
    struct topology *t = r->topology;

    if (!is_name(word))
        return refuse_at(r, r->line, word->column,
                         QUOTED " cannot be a name: letters, digits, '.', '_', '-', at most 63",
                         QUOTE(word));
    int *slot = slot_of(r, word->text, word->length);
    if (*slot != 0)
        return refuse_at(r, r->line, word->column, QUOTED " is declared already, in line %d",
                         QUOTE(word), t->nodes[*slot - 1].line);
    int *count = is_switch ? &t->switch_count : &t->host_count;
    /* NOLINTNEXTLINE(bugprone-branch-clone): the same number by chance */
    int most = is_switch ? TOPOLOGY_SWITCHES_MAX : TOPOLOGY_HOSTS_MAX;
    if (*count == most)
        return refuse_at(r, r->line, word->column, "more than %d %s", most,
                         is_switch ? "switches" : "hosts");
    ++*count;
    struct topology_node *node = &t->nodes[t->node_count];
    memcpy(node->name, word->text, word->length);
    node->is_switch = is_switch;
    node->line = r->line;
    r->group[t->node_count] = t->node_count;
    *slot = ++t->node_count;
    return 0;
}

static int note_reference(struct reader *r, const struct word *word, struct reference *ref)
{
    if (!is_name(word))
        return refuse_at(r, r->line, word->column, QUOTED " is no switch of this file",
                         QUOTE(word));
    memcpy(ref->name, word->text, word->length);
    ref->line = r->line;
    ref->column = word->column;
    return 0;
}

/* Remembers a name that must turn out to be a switch, with the place that named it. */
static int refer(struct reader *r, const struct word *word)
{
    if (note_reference(r, word, &r->refs[r->ref_count]) < 0)
        return -1;
    r->ref_count++;
    return 0;
}

/* ---- Lines ------------------------------------------------------------------------------- */

static int read_switches(struct reader *r, const struct word *keyword)
{
    struct word word;
    int declared = 0;

    for (; next_word(r, &word); declared++)
        if (declare(r, &word, true) < 0)
            return -1;
    if (declared == 0)
        return refuse_at(r, r->line, keyword->column + (int)keyword->length,
                         "a word is missing here: switch NAME...");
    return 0;
}

/* The words after the keyword: two, and a rate that may be left out. Returns their number. */
static int read_operands(struct reader *r, const struct word *keyword, const char *form,
                         struct word words[3])
{
    int count = 0;
    struct word last = *keyword, more;

    while (count < 3 && next_word(r, &words[count]))
        last = words[count++];
    if (count < 2)
        return refuse_at(r, r->line, last.column + (int)last.length, "a word is missing here: %s",
                         form);
    if (next_word(r, &more))
        return refuse_at(r, r->line, more.column, "nothing may follow here, got " QUOTED ": %s",
                         QUOTE(&more), form);
    return count;
}

static int read_rate(struct reader *r, const struct word *word, uint64_t *rate)
{
    *rate = topology_rate_parse(word->text, word->length);
    if (*rate > 0)
        return 0;
    return refuse_at(r, r->line, word->column,
                     QUOTED " is no rate: a number from 8K to 400G with K, M or G, such as 100M",
                     QUOTE(word));
}

static int add_link(struct reader *r, int host, const struct word *words, int count)
{
    struct topology *t = r->topology;
    struct topology_link link = {.a = -1, .b = -1};

    if (count == 3 && read_rate(r, &words[2], &link.rate) < 0)
        return -1;
    if (t->link_count == NODES_MAX) /* of fewer nodes than that a loop must be closed */
        return refuse_at(r, r->line, words[0].column, "more than %d links", NODES_MAX);
    r->host_of[t->link_count] = host;
    t->links[t->link_count++] = link;
    return 0;
}

static int read_link(struct reader *r, const struct word *keyword)
{
    struct word words[3];
    int count = read_operands(r, keyword, "link SWITCH SWITCH [RATE]", words);

    if (count < 0)
        return -1;
    r->first_ref[r->topology->link_count] = r->ref_count;
    if (refer(r, &words[0]) < 0 || refer(r, &words[1]) < 0)
        return -1;
    return add_link(r, -1, words, count);
}

static int read_segment(struct reader *r, const struct word *keyword)
{
    static const char form[] = "segment NAME RATE";
    struct word words[3];
    int count = read_operands(r, keyword, form, words);

    if (count == 3)
        return refuse_at(r, r->line, words[2].column, "nothing may follow here, got " QUOTED ": %s",
                         QUOTE(&words[2]), form);
    if (count < 0 || declare(r, &words[0], true) < 0)
        return -1;
    return read_rate(r, &words[1], &r->topology->nodes[r->topology->node_count - 1].segment_rate);
}

static int read_contention(struct reader *r, const struct word *keyword)
{
    struct topology *t = r->topology;
    struct word words[3];
    int count = read_operands(r, keyword, "contention off|stagger|token NAME [NAME]", words);

    if (count < 0)
        return -1;
    int mode = contention_mode_parse(words[0].text, words[0].length);
    if (mode < 0 || mode == CONTENTION_TOPOLOGY)
        return refuse_at(r, r->line, words[0].column, QUOTED " is none of off, stagger, token",
                         QUOTE(&words[0]));
    if (t->contention_count == TOPOLOGY_CONTENTIONS_MAX)
        return refuse_at(r, r->line, keyword->column, "more than %d contention lines",
                         TOPOLOGY_CONTENTIONS_MAX);
    struct reference *refs = r->contended[t->contention_count];
    t->contentions[t->contention_count++].mode = mode;
    for (int i = 1; i < count; i++)
        if (note_reference(r, &words[i], &refs[i - 1]) < 0)
            return -1;
    return 0;
}

static int read_line(struct reader *r)
{
    struct word keyword;

    if (!next_word(r, &keyword))
        return 0;
    if (word_is(&keyword, "switch"))
        return read_switches(r, &keyword);
    if (word_is(&keyword, "host")) {
        struct word words[3];
        int count = read_operands(r, &keyword, "host NAME SWITCH [RATE]", words);

        if (count < 0 || declare(r, &words[0], false) < 0)
            return -1;
        r->first_ref[r->topology->link_count] = r->ref_count;
        if (refer(r, &words[1]) < 0)
            return -1;
        return add_link(r, r->topology->node_count - 1, words, count);
    }
    if (word_is(&keyword, "link"))
        return read_link(r, &keyword);
    if (word_is(&keyword, "segment"))
        return read_segment(r, &keyword);
    if (word_is(&keyword, "contention"))
        return read_contention(r, &keyword);
    return refuse_at(r, r->line, keyword.column,
                     QUOTED " is none of switch, segment, host, link, contention", QUOTE(&keyword));
}

static int read_lines(struct reader *r, const char *text, size_t bytes)
{
    const char *end = text + bytes;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *next = newline != NULL ? newline + 1 : end;
        const char *stop = newline != NULL ? newline : end;
        r->line++;
        if (stop > text && stop[-1] == '\r')
            stop--;
        const char *comment = memchr(text, '#', (size_t)(stop - text));
        r->start = r->at = text;
        r->end = comment != NULL ? comment : stop;
        if (read_line(r) < 0)
            return -1;
        text = next;
    }
    return 0;
}

/* ---- The whole --------------------------------------------------------------------------- */

static int resolve(struct reader *r, int ref, int *node)
{
    const struct reference *at = &r->refs[ref];
    int found = *slot_of(r, at->name, strlen(at->name)) - 1;

    if (found < 0)
        return refuse_at(r, at->line, at->column, "'%s' is no switch of this file", at->name);
    if (!r->topology->nodes[found].is_switch)
        return refuse_at(r, at->line, at->column, "'%s' is a host, not a switch", at->name);
    *node = found;
    return 0;
}

static int resolve_links(struct reader *r)
{
    for (int i = 0; i < r->topology->link_count; i++) {
        struct topology_link *link = &r->topology->links[i];
        int ref = r->first_ref[i];
        link->a = r->host_of[i];
        if (link->a < 0 && resolve(r, ref++, &link->a) < 0)
            return -1;
        if (resolve(r, ref, &link->b) < 0)
            return -1;
    }
    return 0;
}

/* The node that stands for all those connected to `node` so far. */
static int group_of(struct reader *r, int node)
{
    while (r->group[node] != node)
        node = r->group[node] = r->group[r->group[node]];
    return node;
}

static int check_tree(struct reader *r)
{
    const struct topology *t = r->topology;

    for (int i = 0; i < t->link_count; i++) {
        int a = group_of(r, t->links[i].a), b = group_of(r, t->links[i].b);
        const struct reference *second = &r->refs[r->first_ref[i] + 1];
        if (a == b)
            return refuse_at(r, second->line, second->column,
                             "the link from '%s' to '%s' closes a loop; switches form a tree",
                             t->nodes[t->links[i].a].name, t->nodes[t->links[i].b].name);
        r->group[a] = b;
    }
    int first = -1;
    for (int i = 0; i < t->node_count; i++) {
        if (!t->nodes[i].is_switch)
            continue;
        first = first < 0 ? i : first;
        if (group_of(r, i) != group_of(r, first))
            return refuse_at(r, t->nodes[i].line, 1,
                             "no link leads from switch '%s' to switch '%s'", t->nodes[i].name,
                             t->nodes[first].name);
    }
    return 0;
}

static int find_contended(struct reader *r, const struct reference *at, int *node)
{
    *node = *slot_of(r, at->name, strlen(at->name)) - 1;
    if (*node >= 0)
        return 0;
    return refuse_at(r, at->line, at->column, "'%s' is neither a switch nor a host of this file",
                     at->name);
}

static int resolve_contention(struct reader *r, int i)
{
    struct topology_contention *c = &r->topology->contentions[i];
    const struct reference *at = r->contended[i];

    c->b = -1;
    if (find_contended(r, &at[0], &c->a) < 0 ||
        (at[1].line > 0 && find_contended(r, &at[1], &c->b) < 0))
        return -1;
    if (c->b < 0 && r->topology->nodes[c->a].segment_rate == 0)
        return refuse_at(r, at->line, at->column,
                         "'%s' is no segment; a link has two names, from where and to where",
                         at->name);
    if (c->b >= 0 && topology_link_between(r->topology, c->a, c->b) == NULL)
        return refuse_at(r, at[1].line, at[1].column, "no link leads from '%s' to '%s'", at[0].name,
                         at[1].name);
    return 0;
}

static int parse_topology(struct reader *r, const char *text, size_t bytes)
{
    struct topology *t = r->topology;

    if (bytes > TOPOLOGY_BYTES_MAX)
        return refuse_at(r, 1, 1, "a topology file has at most %zu bytes, this has %zu",
                         TOPOLOGY_BYTES_MAX, bytes);
    t->nodes = calloc(NODES_MAX, sizeof *t->nodes);
    t->links = calloc(NODES_MAX, sizeof *t->links);
    if (t->nodes == NULL || t->links == NULL)
        return refuse_at(r, 1, 1, "memory is exhausted");
    if (read_lines(r, text, bytes) < 0)
        return -1;
    if (resolve_links(r) < 0 || check_tree(r) < 0)
        return -1;
    for (int i = 0; i < t->contention_count; i++)
        if (resolve_contention(r, i) < 0)
            return -1;
    if (r->topology->host_count == 0)
        return refuse_at(r, r->line ? r->line : 1, 1, "there is no host in this file");
    return 0;
}

int topology_parse(struct topology *topology, const char *text, size_t bytes, const char *name,
                   char *error)
{
    struct reader *r = calloc(1, sizeof *r);

    *topology = (struct topology){0};
    error[0] = '\0';
    if (r == NULL) {
        snprintf(error, TOPOLOGY_ERROR_BYTES, "%.200s: memory is exhausted", name);
        return -1;
    }
    r->topology = topology;
    r->file = name;
    r->error = error;
    int result = parse_topology(r, text, bytes);
    if (result < 0)
        topology_destroy(topology);
    free(r);
    return result;
}

void topology_destroy(struct topology *topology)
{
    free(topology->nodes);
    free(topology->links);
    *topology = (struct topology){0};
}

int topology_find(const struct topology *topology, const char *name)
{
    for (int i = 0; i < topology->node_count; i++) {
        if (strcmp(topology->nodes[i].name, name) == 0)
            return i;
    }
    return -1;
}

const struct topology_link *topology_link_between(const struct topology *topology, int a, int b)
{
    for (int i = 0; i < topology->link_count; i++) {
        const struct topology_link *link = &topology->links[i];
        if ((link->a == a && link->b == b) || (link->a == b && link->b == a))
            return link;
    }
    return NULL;
}

int topology_segment(const struct topology *topology)
{
    for (int i = 0; i < topology->node_count; i++) {
        if (topology->nodes[i].segment_rate > 0)
            return i;
    }
    return -1;
}
