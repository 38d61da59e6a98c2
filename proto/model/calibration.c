/*
 * calibration.c - reads and writes the file of a calibration: a row of the table below for each
 * kind of line, which reads and prints it.
 */
#include "proto/model/calibration.h"
#include "proto/wire/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 8
#define WORD_BYTES 64
#define CORES_MAX 65536
#define TIME_MAX 1e6 /* seconds: nothing that is measured takes longer */
#define SPREAD_MAX 100

static const char *const route_names[CALIBRATION_ROUTES] = {"auto", "shm", "udp", "tcp", "ether"};

static const char *const packing_types[MODEL_PACKING_TYPES] = {
    "bytes", "string", "int16", "int32", "int64", "float", "double", "complex_double"};

static const char *const packing_ways[MODEL_PACKING_WAYS] = {"pack", "pack-strided", "unpack",
                                                             "unpack-strided", "convert"};

/* From MODEL_ORDER_LITTLE on. */
static const char *const orders[] = {"little", "big"};

enum { ORDERS = sizeof orders / sizeof *orders };

struct reader {
    struct calibration *calibration;
    const char *file;
    char *error;
    int line;
    char words[WORDS_MAX][WORD_BYTES];
    int count;
};

static int __attribute__((format(printf, 2, 3)))
line_refuse(struct reader *r, const char *format, ...)
{
    int used = snprintf(r->error, CALIBRATION_ERROR_BYTES, "%.200s:%d: ", r->file, r->line);
    FORMAT(r->error + used, CALIBRATION_ERROR_BYTES - (size_t)used, format);
    for (char *c = r->error; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?'; /* what the file says may be anything */
    return -1;
}

/* ---- Words --------------------------------------------------------------------------------- */

static bool calibration_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts a line into words; a comment ends it. */
static int cut_words(struct reader *r, const char *at, const char *end)
{
    for (r->count = 0;; r->count++) {
        while (at < end && calibration_is_blank(*at))
            at++;
        if (at == end || *at == '#')
            return 0;
        if (r->count == WORDS_MAX)
            return line_refuse(r, "more than %d words", WORDS_MAX);
        size_t length = 0;
        for (; at < end && !calibration_is_blank(*at) && *at != '#'; at++) {
            if (length + 1 == WORD_BYTES)
                return line_refuse(r, "a word is longer than %d bytes", WORD_BYTES - 1);
            r->words[r->count][length++] = *at;
        }
        r->words[r->count][length] = '\0';
        if (strlen(r->words[r->count]) != length)
            return line_refuse(r, "a byte of it is 0");
    }
}

/* A finite number; strtod() would take "nan" and hexadecimal ones as well. */
static int read_number(struct reader *r, int word, double min, double max, double *number)
{
    const char *text = r->words[word];
    char *end;
    double value = strtod(text, &end);
    bool plain = text[strspn(text, "0123456789.eE+-")] == '\0';
    if (!plain || end == text || *end != '\0')
        return line_refuse(r, "'%s' is no number", text);
    if (!(value >= min && value <= max))
        return line_refuse(r, "'%s' is not between %g and %g", text, min, max);
    *number = value;
    return 0;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool calibration_name_ok(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        if (!is_alnum(*c) && (c == name || strchr("._-", *c) == NULL))
            return false;
    }
    return name[0] != '\0' && strlen(name) < CALIBRATION_NAME_BYTES;
}

/* ---- Lines --------------------------------------------------------------------------------- */

static int read_date(struct reader *r)
{
    const char *word = r->words[1];
    if (r->calibration->date[0] != '\0')
        return line_refuse(r, "there is a date already");
    if (strlen(word) >= sizeof r->calibration->date || word[strspn(word, "0123456789-:TZ")] != '\0')
        return line_refuse(r, "'%s' is no date such as 2026-11-21T22:15:00Z", word);
    memcpy(r->calibration->date, word, strlen(word) + 1);
    return 0;
}

static int read_vm(struct reader *r)
{
    if (r->calibration->vm[0] != '\0')
        return line_refuse(r, "there is a vm already");
    if (!calibration_name_ok(r->words[1]))
        return line_refuse(r, "'%s' is no name", r->words[1]);
    memcpy(r->calibration->vm, r->words[1], WORD_BYTES);
    return 0;
}

/* NULL after the refusal. */
static struct calibration_route *find_route(struct reader *r)
{
    int route = 1;
    while (route < CALIBRATION_ROUTES && strcmp(route_names[route], r->words[1]) != 0)
        route++;
    if (route == CALIBRATION_ROUTES) {
        line_refuse(r, "'%s' is none of the routes shm, udp, tcp and ether", r->words[1]);
        return NULL;
    }
    return r->calibration->routes + route;
}

/* alpha is the word `first`; beta is at least beta_min. */
static int read_line_of(struct reader *r, int first, double beta_min, struct model_line *line)
{
    return read_number(r, first, -1, TIME_MAX, &line->alpha_s) ||
                   read_number(r, first + 1, beta_min, 1, &line->beta_s) ||
                   read_number(r, first + 2, -1e9, 1, &line->r2) ||
                   read_number(r, first + 3, 0, 1e9, &line->worst)
               ? -1
               : 0;
}

static int read_route(struct reader *r)
{
    struct calibration_route *to = find_route(r);
    if (to != NULL && to->known)
        return line_refuse(r, "route %s stands there already", r->words[1]);
    if (to == NULL || read_line_of(r, 2, 0, &to->line) != 0)
        return -1;
    to->known = 1;
    return read_number(r, 6, 0, 1, &to->load.drag_s) || read_number(r, 7, 0, 1, &to->load.busy_s)
               ? -1
               : 0;
}

/* The route that a line is about; NULL after the refusal. */
static struct calibration_route *route_of_line(struct reader *r)
{
    struct calibration_route *to = find_route(r);
    if (to != NULL && !to->known)
        line_refuse(r, "no line 'route %s ...' stands before it", r->words[1]);
    return to != NULL && to->known ? to : NULL;
}

static int read_all(struct reader *r)
{
    struct calibration_route *to = route_of_line(r);
    if (to != NULL && to->load.all_hosts > 0)
        return line_refuse(r, "all of route %s stand there already", r->words[1]);
    return to == NULL || read_number(r, 2, 2, MODEL_HOSTS_MAX, &to->load.all_hosts) ||
                   read_number(r, 3, 0, 1, &to->load.all_drag_s) ||
                   read_number(r, 4, 0, 1e3, &to->load.all_busy_s)
               ? -1
               : 0;
}

static int read_uneven(struct reader *r)
{
    struct calibration_route *to = route_of_line(r);
    if (to != NULL && (to->load.spread > 0 || to->load.all_spread > 0))
        return line_refuse(r, "uneven of route %s stands there already", r->words[1]);
    return to == NULL || read_number(r, 2, 0, SPREAD_MAX, &to->load.spread) ||
                   read_number(r, 3, 0, SPREAD_MAX, &to->load.all_spread)
               ? -1
               : 0;
}

static int read_start(struct reader *r)
{
    struct calibration_route *to = route_of_line(r);
    if (to != NULL && to->start_s > 0)
        return line_refuse(r, "start of route %s stands there already", r->words[1]);
    return to == NULL ? -1 : read_number(r, 2, 1e-12, TIME_MAX, &to->start_s);
}

static int read_inside(struct reader *r)
{
    struct calibration_route *to = route_of_line(r);
    if (to != NULL && to->inside_known)
        return line_refuse(r, "inside of route %s stands there already", r->words[1]);
    if (to == NULL || read_line_of(r, 2, 0, &to->inside) != 0)
        return -1;
    to->inside_known = 1;
    return read_number(r, 6, 0, 1, &to->inside_drag_s);
}

static int read_together(struct reader *r)
{
    if (r->calibration->together > 0)
        return line_refuse(r, "together stands there already");
    return read_number(r, 1, 0.01, 1e9, &r->calibration->together);
}

static int read_host(struct reader *r)
{
    struct calibration *c = r->calibration;
    double cores;
    if (!calibration_name_ok(r->words[1]))
        return line_refuse(r, "'%s' is no name of a host", r->words[1]);
    if (calibration_find(c, r->words[1]) >= 0)
        return line_refuse(r, "host %s stands there already", r->words[1]);
    if (c->host_count == MODEL_HOSTS_MAX)
        return line_refuse(r, "more than %d hosts", MODEL_HOSTS_MAX);
    struct calibration_host *host = &c->hosts[c->host_count++];
    memcpy(host->name, r->words[1], WORD_BYTES);
    if (read_number(r, 2, 1, CORES_MAX, &cores) != 0)
        return -1;
    host->cores = (int32_t)cores;
    return read_number(r, 3, 0.01, CORES_MAX, &host->speed.processors) ||
                   read_number(r, 4, 0.001, 1, &host->speed.share)
               ? -1
               : 0;
}

/* The host that a line is about; NULL after the refusal. */
static struct model_host *host_of_line(struct reader *r)
{
    int at = calibration_find(r->calibration, r->words[1]);
    if (at < 0)
        line_refuse(r, "no line 'host %s ...' stands before it", r->words[1]);
    return at < 0 ? NULL : &r->calibration->hosts[at].speed;
}

static int read_once(struct reader *r, int word, double *figure)
{
    if (*figure > 0)
        return line_refuse(r, "%s of host %s stands there already", r->words[0], r->words[1]);
    return read_number(r, word, 1e-15, TIME_MAX, figure);
}

static int read_matmul(struct reader *r)
{
    struct model_host *host = host_of_line(r);
    double block;
    if (host == NULL || read_number(r, 2, 1, TIME_MAX, &block) != 0)
        return -1;
    for (int i = 0; i < MODEL_BLOCKS; i++) {
        if (block == MODEL_BLOCK_SMALLEST << i)
            return read_once(r, 3, &host->madd_s[i]);
    }
    return line_refuse(r, "blocks of %s are not measured, but of %d, twice as much, ... %d",
                       r->words[2], MODEL_BLOCK_SMALLEST,
                       MODEL_BLOCK_SMALLEST << (MODEL_BLOCKS - 1));
}

static int read_sort(struct reader *r)
{
    struct model_host *host = host_of_line(r);
    return host == NULL || read_once(r, 2, &host->oper_s) || read_once(r, 3, &host->merge_s) ? -1
                                                                                             : 0;
}

static int read_mandel(struct reader *r)
{
    struct model_host *host = host_of_line(r);
    return host == NULL || read_once(r, 2, &host->iteration_s) ? -1 : 0;
}

static int read_touch(struct reader *r)
{
    struct model_host *host = host_of_line(r);
    return host == NULL ? -1 : read_once(r, 2, &host->touch_s);
}

/* The place of a word in a list; -1 after the refusal. */
static int find_word(struct reader *r, int word, const char *const *list, int count,
                     const char *what)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i], r->words[word]) == 0)
            return i;
    }
    return line_refuse(r, "'%s' is no %s", r->words[word], what);
}

static int read_order(struct reader *r)
{
    int at = calibration_find(r->calibration, r->words[1]);
    if (at < 0)
        return line_refuse(r, "no line 'host %s ...' stands before it", r->words[1]);
    struct calibration_host *host = &r->calibration->hosts[at];
    if (host->order != MODEL_ORDER_UNKNOWN)
        return line_refuse(r, "order of host %s stands there already", r->words[1]);
    int order = find_word(r, 2, orders, ORDERS, "byte order: little or big");
    host->order = order < 0 ? MODEL_ORDER_UNKNOWN : MODEL_ORDER_LITTLE + order;
    return order < 0 ? -1 : 0;
}

static int read_packing(struct reader *r)
{
    int at = calibration_find(r->calibration, r->words[1]);
    if (at < 0)
        return line_refuse(r, "no line 'host %s ...' stands before it", r->words[1]);
    int type = find_word(r, 2, packing_types, MODEL_PACKING_TYPES, "type of packing");
    int way = type < 0 ? -1 : find_word(r, 3, packing_ways, MODEL_PACKING_WAYS, "way of packing");
    if (way < 0)
        return -1;
    struct model_line *line = &r->calibration->packing[at].lines[type][way];
    if (line->beta_s > 0)
        return line_refuse(r, "%s of %s of host %s stands there already", r->words[3], r->words[2],
                           r->words[1]);
    return read_line_of(r, 4, 1e-15, line);
}

static int find_peer(struct reader *r, int word)
{
    int at = calibration_find(r->calibration, r->words[word]);
    return at < 0 ? line_refuse(r, "no line 'host %s ...' stands before it", r->words[word]) : at;
}

static bool has_peers(const struct calibration *c, const struct calibration_peers *p)
{
    for (int i = 0; i < c->peer_count; i++) {
        const struct calibration_peers *there = &c->peers[i];
        if (there->route == p->route && there->hosts[0] == p->hosts[0] &&
            there->hosts[1] == p->hosts[1])
            return true;
    }
    return false;
}

static int read_peers(struct reader *r)
{
    struct calibration *c = r->calibration;
    const struct calibration_route *route = find_route(r);
    int first = route != NULL ? find_peer(r, 2) : -1, second = first < 0 ? -1 : find_peer(r, 3);
    if (second < 0)
        return -1;
    if (first >= second)
        return line_refuse(r, "'%s' stands before '%s' in the file", r->words[3], r->words[2]);
    struct calibration_peers peers = {.route = (int32_t)(route - c->routes),
                                      .hosts = {(int16_t)first, (int16_t)second}};
    if (has_peers(c, &peers))
        return line_refuse(r, "peers %s and %s stand there already", r->words[2], r->words[3]);
    if (c->peer_count == CALIBRATION_PEERS_MAX)
        return line_refuse(r, "more than %d pairs", CALIBRATION_PEERS_MAX);
    if (read_number(r, 4, 0, TIME_MAX, &peers.alpha_s) || read_number(r, 5, 0, 1, &peers.beta_s))
        return -1;
    c->peers[c->peer_count++] = peers;
    return 0;
}

static const struct kind {
    const char *name;
    int words;
    int (*read)(struct reader *r);
} kinds[] = {
    {"date", 2, read_date},       {"vm", 2, read_vm},         {"route", 8, read_route},
    {"all", 5, read_all},         {"inside", 7, read_inside}, {"together", 2, read_together},
    {"host", 5, read_host},       {"matmul", 4, read_matmul}, {"sort", 4, read_sort},
    {"mandel", 3, read_mandel},   {"peers", 6, read_peers},   {"uneven", 4, read_uneven},
    {"packing", 8, read_packing}, {"start", 3, read_start},   {"touch", 3, read_touch},
    {"order", 3, read_order},
};

static int read_line(struct reader *r)
{
    for (size_t i = 0; r->count > 0 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, r->words[0]) != 0)
            continue;
        if (r->count != kinds[i].words)
            return line_refuse(r, "a line '%s' has %d words, not %d", r->words[0], kinds[i].words,
                               r->count);
        return kinds[i].read(r);
    }
    return r->count == 0 ? 0 : line_refuse(r, "'%s' begins no line of a calibration", r->words[0]);
}

/* ---- The whole ----------------------------------------------------------------------------- */

/* A matrix block that was left out would be taken for one that costs nothing. */
static int calibration_check(struct reader *r)
{
    const struct calibration *c = r->calibration;
    if (c->host_count == 0)
        return line_refuse(r, "it names no host");
    for (int i = 0; i < c->host_count; i++) {
        int known = 0;
        for (int k = 0; k < MODEL_BLOCKS; k++)
            known += c->hosts[i].speed.madd_s[k] > 0;
        if (known > 0 && known < MODEL_BLOCKS)
            return line_refuse(r, "matmul of host %s lacks %d of %d blocks", c->hosts[i].name,
                               MODEL_BLOCKS - known, MODEL_BLOCKS);
    }
    return 0;
}

int calibration_parse(struct calibration *calibration, const char *text, size_t bytes,
                      const char *name, char *error)
{
    struct reader r = {.calibration = calibration, .file = name, .error = error};
    const char *end = text + bytes;
    memset(calibration, 0, sizeof *calibration);
    if (bytes > CALIBRATION_BYTES_MAX)
        return line_refuse(&r, "larger than %d bytes", CALIBRATION_BYTES_MAX);
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline != NULL ? newline : end;
        r.line++;
        if (cut_words(&r, text, line_end) != 0 || read_line(&r) != 0)
            return -1;
        text = newline != NULL ? newline + 1 : end;
    }
    return calibration_check(&r);
}

int calibration_find(const struct calibration *calibration, const char *name)
{
    for (int i = 0; i < calibration->host_count; i++) {
        if (strcmp(calibration->hosts[i].name, name) == 0)
            return i;
    }
    return -1;
}

void calibration_remove(struct calibration *c, int host)
{
    int kept = 0;
    memmove(&c->hosts[host], &c->hosts[host + 1],
            (size_t)(c->host_count - host - 1) * sizeof *c->hosts);
    memmove(&c->packing[host], &c->packing[host + 1],
            (size_t)(c->host_count - host - 1) * sizeof *c->packing);
    c->host_count--;
    for (int i = 0; i < c->peer_count; i++) {
        struct calibration_peers peers = c->peers[i];
        if (peers.hosts[0] == host || peers.hosts[1] == host)
            continue;
        for (int k = 0; k < 2; k++)
            peers.hosts[k] = (int16_t)(peers.hosts[k] - (peers.hosts[k] > host));
        c->peers[kept++] = peers;
    }
    c->peer_count = kept;
}

/* ---- Writing ------------------------------------------------------------------------------- */

struct writer {
    char *text;
    size_t size, used;
};

static void __attribute__((format(printf, 2, 3)))
writer_put(struct writer *w, const char *format, ...)
{
    va_list args;
    size_t room = w->used < w->size ? w->size - w->used : 0;
    va_start(args, format);
    int length = vsnprintf(room > 0 ? w->text + w->used : NULL, room, format, args);
    va_end(args);
    w->used += length > 0 ? (size_t)length : 0;
}

static void put_host(struct writer *w, const struct calibration_host *host)
{
    const struct model_host *speed = &host->speed;
    writer_put(w, "host %s %d %.4g %.4g\n", host->name, host->cores, speed->processors,
               speed->share);
    for (int i = 0; i < MODEL_BLOCKS && speed->madd_s[i] > 0; i++)
        writer_put(w, "matmul %s %d %.6g\n", host->name, MODEL_BLOCK_SMALLEST << i,
                   speed->madd_s[i]);
    if (speed->oper_s > 0 && speed->merge_s > 0)
        writer_put(w, "sort %s %.6g %.6g\n", host->name, speed->oper_s, speed->merge_s);
    if (speed->iteration_s > 0)
        writer_put(w, "mandel %s %.6g\n", host->name, speed->iteration_s);
    if (speed->touch_s > 0)
        writer_put(w, "touch %s %.6g\n", host->name, speed->touch_s);
    if (host->order != MODEL_ORDER_UNKNOWN)
        writer_put(w, "order %s %s\n", host->name, orders[host->order - MODEL_ORDER_LITTLE]);
}

static void put_packing(struct writer *w, const char *host, const struct model_packing *packing)
{
    for (int type = 0; type < MODEL_PACKING_TYPES; type++) {
        for (int way = 0; way < MODEL_PACKING_WAYS; way++) {
            const struct model_line *line = &packing->lines[type][way];
            if (line->beta_s > 0)
                writer_put(w, "packing %s %s %s %.6g %.6g %.6g %.4g\n", host, packing_types[type],
                           packing_ways[way], line->alpha_s, line->beta_s, line->r2, line->worst);
        }
    }
}

static void put_route(struct writer *w, const char *name, const struct calibration_route *route)
{
    const struct model_line *line = &route->line, *inside = &route->inside;
    const struct model_load *load = &route->load;
    writer_put(w, "route %s %.6g %.6g %.6g %.4g %.6g %.6g\n", name, line->alpha_s, line->beta_s,
               line->r2, line->worst, load->drag_s, load->busy_s);
    if (load->all_hosts > 0)
        writer_put(w, "all %s %.4g %.6g %.6g\n", name, load->all_hosts, load->all_drag_s,
                   load->all_busy_s);
    if (load->spread > 0 || load->all_spread > 0)
        writer_put(w, "uneven %s %.4g %.4g\n", name, load->spread, load->all_spread);
    if (route->start_s > 0)
        writer_put(w, "start %s %.6g\n", name, route->start_s);
    if (route->inside_known)
        writer_put(w, "inside %s %.6g %.6g %.6g %.4g %.6g\n", name, inside->alpha_s, inside->beta_s,
                   inside->r2, inside->worst, route->inside_drag_s);
}

size_t calibration_print(const struct calibration *calibration, char *text, size_t size)
{
    struct writer w = {.text = text, .size = size};
    writer_put(&w, "# Measured by covey calibrate; seconds.\n");
    if (calibration->date[0] != '\0')
        writer_put(&w, "date %s\n", calibration->date);
    if (calibration->vm[0] != '\0')
        writer_put(&w, "vm %s\n", calibration->vm);
    writer_put(&w, "# route, alpha, beta a byte, r2, worst residual, processor time of a byte, "
                   "that of one where two hosts compute\n"
                   "# all: the last two where so many do so at once; inside: of tasks of one host\n"
                   "# uneven: deviation of what messages take then, of two hosts and of all\n"
                   "# start: processor time of a message at either end, whatever its length\n");
    for (int i = 1; i < CALIBRATION_ROUTES; i++) {
        if (calibration->routes[i].known)
            put_route(&w, route_names[i], &calibration->routes[i]);
    }
    if (calibration->together > 0)
        writer_put(&w, "# one machine: tasks at full speed on all hosts at once\ntogether %.4g\n",
                   calibration->together);
    writer_put(&w,
               "# host, cores, tasks at full speed, share of a processor that one task gets\n"
               "# matmul, block, T_mult + T_add; sort, T_oper, a merged key; mandel, an iteration\n"
               "# touch, a byte of new memory; order, little or big: of the bytes of a number\n"
               "# packing, type, way, alpha, beta a byte, r2, worst residual\n"
               "# peers, route, two hosts, alpha, beta a byte\n");
    for (int i = 0; i < calibration->host_count; i++) {
        put_host(&w, &calibration->hosts[i]);
        put_packing(&w, calibration->hosts[i].name, &calibration->packing[i]);
    }
    for (int i = 0; i < calibration->peer_count; i++) {
        const struct calibration_peers *peers = &calibration->peers[i];
        writer_put(&w, "peers %s %s %s %.4g %.6g\n", route_names[peers->route],
                   calibration->hosts[peers->hosts[0]].name,
                   calibration->hosts[peers->hosts[1]].name, peers->alpha_s, peers->beta_s);
    }
    return w.used;
}
