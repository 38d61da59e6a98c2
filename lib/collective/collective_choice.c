/*
 * collective_choice.c - the table of algorithms: its text, its wire form, and looking things up.
 *
 * The built-in rows were measured by `covey bench collectives` on hosts of two processors; a site
 * measures its own with --write. Those of exchange by `covey bench exchange` in labs of 32 hosts at
 * 20 Mbit/s, of 1 to 64 KiB: on one switch, at densities of 2 to 31, AC is the best or within 5 %
 * of it but for single runs (at most 1.6 times as long at 4 KiB, 1.14 from 16 KiB on; under BBR
 * 1.08 at a density of 8), where others have as many and worse ones. On a chain of four
 * switches the two are within 5 % up to 43 messages on the busiest link; with 65 of 16 KiB AC took
 * up to 1.8 times as long, for it lost frames, and was never more than 2 % ahead.
 * An allgather or an allreduce is cast only where the topology says that all hosts share one
 * medium: among 4 and 8 hosts casts were the best there, at 100 Mbit/s (allgather from 4 KiB,
 * allreduce from 16 KiB on, up to 4.9 times), and nowhere on a switch (1.1 times as long with links
 * of 100 Mbit/s, 2 to 81 times where processors are the limit). A reduce_scatter was faster
 * otherwise everywhere.
 */
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective.h"
#include "lib/collective/segment.h"
#include "lib/msg/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX 65536
#define LEAD_BYTES_MAX ((uint64_t)1 << 19) /* that a lead copies for its host in an alltoall */

static const char built_in[] = "barrier        *  *    shared\n"
                               "barrier        *  *    hosts\n"
                               "barrier        *  *    dissemination\n"
                               "bcast          *  *    shared\n"
                               "bcast          2  *    binomial\n"
                               "bcast          *  32K  hosts\n"
                               "bcast          *  32K  binomial\n"
                               "bcast          *  *    cast\n"
                               "bcast          *  128K binomial\n"
                               "bcast          4  *    chain\n"
                               "bcast          *  1M   scatter-allgather\n"
                               "bcast          *  *    chain\n"
                               "scatter        *  *    shared\n"
                               "scatter        *  4K   binomial\n"
                               "scatter        *  *    linear\n"
                               "gather         *  *    shared\n"
                               "gather         *  4K   binomial\n"
                               "gather         *  *    linear\n"
                               "allgather      *  *    shared\n"
                               "allgather      *  *    hosts\n"
                               "allgather      2  *    ring\n"
                               "allgather      *  8K   bruck\n"
                               "allgather      *  *    ring\n"
                               "reduce         *  *    shared\n"
                               "reduce         *  *    hosts\n"
                               "reduce         4  *    binomial\n"
                               "reduce         *  256K binomial\n"
                               "reduce         *  *    rabenseifner\n"
                               "allreduce      *  *    shared\n"
                               "allreduce      *  *    hosts\n"
                               "allreduce      2  *    recursive-doubling\n"
                               "allreduce      *  64K  recursive-doubling\n"
                               "allreduce      *  *    rabenseifner\n"
                               "reduce_scatter *  *    shared\n"
                               "reduce_scatter *  4K   reduce-scatterv\n"
                               "reduce_scatter *  *    pairwise\n"
                               "scan           *  *    shared\n"
                               "scan           4  *    chain\n"
                               "scan           *  *    recursive-doubling\n"
                               "alltoall       *  *    shared\n"
                               "alltoall       *  8K   hosts\n"
                               "alltoall       *  256  bruck\n"
                               "alltoall       *  8K   pairwise\n"
                               "alltoall       *  *    scheduled\n"
                               "alltoall       *  16K  hosts\n"
                               "alltoall       *  *    linear\n"
                               "alltoallv      *  *    adaptive\n"
                               "alltoallv      *  *    linear\n"
                               "exchange       *  8K   AC\n"
                               "exchange       48 *    AC\n"
                               "exchange       *  *    LONGEST\n";

/* Where all hosts share one medium: of n hosts n blocks are on it by casts, and n (n - 1) by
 * messages. */
static const char on_one_medium[] = "allgather      *  *    shared\n"
                                    "allgather      2  *    ring\n"
                                    "allgather      *  2K   hosts\n"
                                    "allgather      *  2K   bruck\n"
                                    "allgather      *  *    cast\n"
                                    "allreduce      *  *    shared\n"
                                    "allreduce      *  8K   hosts\n"
                                    "allreduce      *  8K   recursive-doubling\n"
                                    "allreduce      *  *    cast\n";

/* ---- names ----------------------------------------------------------------------------------- */

#define OPERATION_NAME(id, name) name,
static const char *const operations[] = {COLLECTIVE_OPERATIONS(OPERATION_NAME)};

#define ALGORITHM_ROW(operation, id, name) {OPERATION_##operation, name},
static const struct {
    enum operation operation;
    const char *name;
} algorithms[] = {{OPERATIONS, "none"}, COLLECTIVE_ALGORITHMS(ALGORITHM_ROW)};

enum operation operation_parse(const char *name)
{
    int i = 0;
    while (i < OPERATIONS && strcmp(operations[i], name) != 0)
        i++;
    return (enum operation)i;
}

enum algorithm algorithm_parse(enum operation operation, const char *name)
{
    for (int i = 1; i < ALGORITHMS; i++) {
        if (algorithms[i].operation == operation && strcmp(algorithms[i].name, name) == 0)
            return (enum algorithm)i;
    }
    return ALGORITHM_NONE;
}

enum algorithm algorithm_at(enum operation operation, int at)
{
    for (int i = 1; i < ALGORITHMS; i++) {
        if (algorithms[i].operation == operation && at-- == 0)
            return (enum algorithm)i;
    }
    return ALGORITHM_NONE;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool parse_bound(const char *word, uint64_t *bound)
{
    char *end;
    if (strcmp(word, "*") == 0) {
        *bound = CHOICE_ANY;
        return true;
    }
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (!isdigit((unsigned char)word[0]) || errno != 0 || end[shift > 0] != '\0' ||
        value > UINT64_MAX >> (shift + 1))
        return false;
    *bound = (uint64_t)value << shift;
    return true;
}

static const char *parse_row(char *line, struct choice_row *row)
{
    char *save = NULL, *words[5];
    for (int i = 0; i < 5; i++)
        words[i] = strtok_r(i == 0 ? line : NULL, " \t\r", &save);
    if (words[3] == NULL || words[4] != NULL)
        return "a row is OPERATION MEMBERS BYTES ALGORITHM";
    enum operation operation = operation_parse(words[0]);
    if (operation == OPERATIONS)
        return "no such operation";
    if (!parse_bound(words[1], &row->members) || !parse_bound(words[2], &row->bytes))
        return "members and bytes are numbers, perhaps with K, M or G, or *";
    row->operation = (uint8_t)operation;
    row->algorithm = (uint8_t)algorithm_parse(operation, words[3]);
    return row->algorithm == ALGORITHM_NONE ? "the operation has no such algorithm" : NULL;
}

static bool rule_is_blank(const char *line)
{
    return line[strspn(line, " \t\r")] == '\0';
}

/* One line into the table, if it is a row. */
static const char *parse_line(struct choice_table *table, const char *text, size_t bytes)
{
    char line[256];
    if (bytes >= sizeof line)
        return "the line is too long";
    memcpy(line, text, bytes);
    line[bytes] = '\0';
    line[strcspn(line, "#")] = '\0';
    if (rule_is_blank(line))
        return NULL;
    if (table->count == CHOICE_ROWS_MAX)
        return "more rows than a table has";
    const char *wrong = parse_row(line, &table->rows[table->count]);
    table->count += wrong == NULL;
    return wrong;
}

static void note_first_rows(struct choice_table *table)
{
    for (int i = 0; i < OPERATIONS; i++)
        table->first[i] = (uint8_t)table->count;
    for (int i = table->count - 1; i >= 0; i--)
        table->first[table->rows[i].operation] = (uint8_t)i;
}

const char *choice_parse(struct choice_table *table, const char *text, int *line)
{
    const char *wrong = NULL;
    struct choice_table read = {0};
    *line = 0;
    for (const char *at = text; *at != '\0' && wrong == NULL;) {
        size_t bytes = strcspn(at, "\n");
        *line += 1;
        wrong = parse_line(&read, at, bytes);
        at += bytes + (at[bytes] == '\n');
    }
    if (wrong != NULL)
        return wrong;
    for (int i = 0; i < table->count && read.count < CHOICE_ROWS_MAX; i++)
        read.rows[read.count++] = table->rows[i];
    note_first_rows(&read);
    *table = read;
    return NULL;
}

void choice_default(struct choice_table *table)
{
    int line;
    table->count = 0;
    choice_parse(table, built_in, &line);
}

/* ---- for other members ----------------------------------------------------------------------- */

/* Bounds of members fit 32 bits: a team has no more. */
void choice_encode(const struct choice_table *table, uint64_t *words)
{
    for (int i = 0; i < table->count; i++) {
        const struct choice_row *row = &table->rows[i];
        uint64_t members = row->members < UINT32_MAX ? row->members : UINT32_MAX;
        words[2 * i] = (uint64_t)row->operation << 40 | (uint64_t)row->algorithm << 32 | members;
        words[2 * i + 1] = row->bytes;
    }
}

bool choice_decode(struct choice_table *table, const uint64_t *words, size_t count)
{
    if (count % 2 != 0 || count / 2 > CHOICE_ROWS_MAX)
        return false;
    table->count = (int)(count / 2);
    for (int i = 0; i < table->count; i++) {
        struct choice_row *row = &table->rows[i];
        row->operation = (uint8_t)(words[2 * i] >> 40);
        row->algorithm = (uint8_t)(words[2 * i] >> 32);
        row->members = words[2 * i] & UINT32_MAX;
        row->members = row->members == UINT32_MAX ? CHOICE_ANY : row->members;
        row->bytes = words[2 * i + 1];
        if (words[2 * i] >> 48 != 0 || row->algorithm == ALGORITHM_NONE ||
            row->algorithm >= ALGORITHMS || algorithms[row->algorithm].operation != row->operation)
            return false;
    }
    note_first_rows(table);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The user's file, if there is one. */
static FILE *open_own(char *path, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] == '/')
        snprintf(path, size, "%s/covey/collectives", config);
    else if (home != NULL && home[0] == '/')
        snprintf(path, size, "%s/.config/covey/collectives", home);
    else
        return NULL;
    return fopen(path, "re");
}

static int read_table(struct choice_table *table, FILE *file, const char *path)
{
    int line = 0;
    char *text = malloc(TEXT_BYTES_MAX);
    if (text == NULL)
        return error_code(COVEY_ENOMEM);
    size_t bytes = fread(text, 1, TEXT_BYTES_MAX, file);
    const char *wrong = bytes == TEXT_BYTES_MAX ? "the file is too long" : NULL;
    if (wrong == NULL) {
        text[bytes] = '\0';
        wrong =
            memchr(text, '\0', bytes) != NULL ? "it is no text" : choice_parse(table, text, &line);
    }
    free(text);
    return wrong == NULL ? COVEY_OK : error_set(COVEY_EINVAL, "%s:%d: %s", path, line, wrong);
}

int choice_load(struct choice_table *table, bool one_medium)
{
    char path[4096];
    int line;
    const char *named = getenv("COVEY_COLLECTIVES");
    bool chosen = named != NULL && named[0] != '\0';
    choice_default(table);
    if (one_medium)
        choice_parse(table, on_one_medium, &line);
    if (chosen)
        snprintf(path, sizeof path, "%s", named);
    FILE *file = chosen ? fopen(path, "re") : open_own(path, sizeof path);
    if (file == NULL)
        return chosen
                   ? error_set(COVEY_ESYS, "COVEY_COLLECTIVES names %s, which cannot be read: %s",
                               path, strerror(errno))
                   : COVEY_OK;
    int error = read_table(table, file, path);
    fclose(file);
    return error;
}

/* ---- of a team ------------------------------------------------------------------------------- */

/* Whether a call of so many bytes can go through the memory that the members share: they are on one
 * host, and what each brings fits, or they can read each other's memory. */
static bool fits_segment(const struct covey_team *team, enum operation operation, uint64_t bytes)
{
    if (team->shared.segment == NULL || team->hosts != 1)
        return false;
    bool blocks = operation == OPERATION_SCATTER || operation == OPERATION_ALLTOALL;
    uint64_t brought = blocks ? bytes * (uint64_t)team->size : bytes;
    uint64_t most = operation == OPERATION_SCAN ? SEGMENT_AREA : SEGMENT_LARGE;
    return brought <= most || team->shared.segment->readable;
}

/* Which cannot be carried out where it does not suit, as others can. */
static bool is_shared(enum algorithm algorithm)
{
    switch (algorithm) {
    case BARRIER_SHARED:
    case BCAST_SHARED:
    case SCATTER_SHARED:
    case GATHER_SHARED:
    case ALLGATHER_SHARED:
    case REDUCE_SHARED:
    case ALLREDUCE_SHARED:
    case REDUCE_SCATTER_SHARED:
    case SCAN_SHARED:
    case ALLTOALL_SHARED:
        return true;
    default:
        return false;
    }
}

/* What a lead has of its host's members in an alltoall. */
static uint64_t lead_bytes(const struct covey_team *team, uint64_t bytes)
{
    uint64_t size = (uint64_t)team->size;
    return size * size / (uint64_t)team->hosts * bytes;
}

/* What can be done in this team: casts need a way, a division by hosts needs hosts of several. And
 * what is worth doing: between two hosts a chain carries the array across once (1 MiB to 2 x 4
 * members in 3.3 ms), and a ring of blocks most of it twice (3.8 ms). */
static bool suits(const struct covey_team *team, enum algorithm algorithm, uint64_t bytes)
{
    if (is_shared(algorithm))
        return fits_segment(team, algorithms[algorithm].operation, bytes);
    switch (algorithm) {
    case BARRIER_CAST:
    case BCAST_CAST:
    case ALLGATHER_CAST:
    case ALLREDUCE_CAST:
    case REDUCE_SCATTER_CAST:
        return team->casts != CASTS_NEVER;
    case BARRIER_HOSTS:
    case BCAST_HOSTS:
    case REDUCE_HOSTS:
    case ALLREDUCE_HOSTS:
    case ALLGATHER_HOSTS:
        return team->hosts > 1 && team->hosts < team->size;
    case ALLTOALL_HOSTS:
        return team->hosts > 1 && team->hosts < team->size &&
               lead_bytes(team, bytes) <= LEAD_BYTES_MAX;
    case BCAST_SCATTER_ALLGATHER:
        return team->hosts != 2 || team->size == 2; /* of two no ring is made */
    case ALLTOALL_SCHEDULED:
    case ALLTOALLV_SCHEDULED:
        return team->extra != NULL;
    case ALLTOALLV_ADAPTIVE:
        return team->extra != NULL && team->hosts > 1;
    default:
        return true;
    }
}

/* Where raw Ethernet is the route, what it does best. */
static enum algorithm by_route(const struct covey_team *team, enum operation operation)
{
    if (team->casts != CASTS_ALWAYS)
        return ALGORITHM_NONE;
    return operation == OPERATION_BCAST     ? BCAST_CAST
           : operation == OPERATION_BARRIER ? BARRIER_CAST
                                            : ALGORITHM_NONE;
}

/* Rows of algorithms that do not suit count as if they were not there. */
static enum algorithm choose(const struct covey_team *team, enum operation operation,
                             uint64_t bytes, bool messages)
{
    const struct choice_table *table = team->choices;
    enum algorithm forced = (enum algorithm)team->forced[operation];
    if (forced != ALGORITHM_NONE &&
        (!is_shared(forced) || (!messages && suits(team, forced, bytes))))
        return forced;
    if (by_route(team, operation) != ALGORITHM_NONE)
        return by_route(team, operation);
    for (int i = table->first[operation]; i < table->count; i++) {
        const struct choice_row *row = &table->rows[i];
        enum algorithm algorithm = (enum algorithm)row->algorithm;
        if (row->operation == operation && (uint64_t)team->size <= row->members &&
            bytes <= row->bytes && !(messages && is_shared(algorithm)) &&
            suits(team, algorithm, bytes))
            return algorithm;
    }
    return algorithm_at(operation, 0);
}

enum algorithm team_choose(const struct covey_team *team, enum operation operation, uint64_t bytes)
{
    return choose(team, operation, bytes, false);
}

bool team_chooses(const struct covey_team *team, enum algorithm algorithm, uint64_t bytes)
{
    return team_choose(team, algorithms[algorithm].operation, bytes) == algorithm;
}

enum algorithm team_choose_messages(const struct covey_team *team, enum operation operation,
                                    uint64_t bytes)
{
    return choose(team, operation, bytes, true);
}

int covey_team_force(covey_team_t *team, const char *operation, const char *algorithm)
{
    if (team == NULL || operation == NULL)
        return error_set(COVEY_EINVAL, "team force: NULL");
    enum operation o = operation_parse(operation);
    enum algorithm a = ALGORITHM_NONE;
    if (o != OPERATIONS && algorithm != NULL)
        a = algorithm_parse(o, algorithm);
    if (o == OPERATIONS || (algorithm != NULL && a == ALGORITHM_NONE))
        return error_set(COVEY_EINVAL, "team force: no algorithm %s of %s",
                         algorithm == NULL ? "" : algorithm, operation);
    team->forced[o] = (uint8_t)a;
    return !suits(team, a, 0);
}

const char *covey_team_algorithm(const covey_team_t *team, const char *operation, uint64_t bytes)
{
    enum operation o = operation == NULL ? OPERATIONS : operation_parse(operation);
    return team == NULL || o == OPERATIONS ? NULL : algorithms[team_choose(team, o, bytes)].name;
}

const char *covey_algorithm(const char *operation, int index)
{
    enum operation o = operation == NULL ? OPERATIONS : operation_parse(operation);
    if (o == OPERATIONS || index < 0)
        return NULL;
    enum algorithm found = algorithm_at(o, index);
    return found == ALGORITHM_NONE ? NULL : algorithms[found].name;
}
