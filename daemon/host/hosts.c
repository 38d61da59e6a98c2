/*
 * hosts.c - the part of the hosts of the VM: listing and removing them, and halting the VM. The
 * last two are for the coordinator alone. A removal is answered when all its hosts are gone, or too
 * late.
 */
#include "daemon/host/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/post/reply.h"
#include "lib/covey.h"

#define ROW_BYTES 1024
#define RESULT_BYTES (4 + 4 + 2 + CONTROL_REASON_MAX)
#define REMOVALS_MAX (2 * (HOST_INDEX_MAX + 1)) /* requests, and hosts that they name */
/* A host that has not gone by then is reported as still there. It leaves within four fail timeouts
 * even if the others cannot spare it (node_leave()); the console does not wait for ever. */
#define REMOVE_US 10000000u
#define REMOVE_TIMEOUTS 4
#define REMOVE_US_MAX 50000000u

/* A REMOVE_HOSTS under way: answered when all its hosts are gone. */
struct removal {
    struct removal *next;
    uint32_t to, request;
    uint64_t deadline_us; /* 0: not begun */
    size_t count;
    struct control_result results[];
};

struct hosts {
    struct removal *removals;
    bool halt_wanted;
};

bool hosts_not_coordinator(struct daemon *d, uint32_t source, uint32_t request)
{
    if (daemon_coordinates(d))
        return false;
    const struct host *host = node_host(d->node, node_coordinator(d->node));
    if (host == NULL)
        reply_error(d, source, request, COVEY_EINVAL, "the VM has no coordinator at the moment");
    else
        reply_error(d, source, request, COVEY_EINVAL,
                    "host %s does not coordinate the VM, host %s (index %u) does", d->self.name,
                    host->name, host->index);
    return true;
}

/* The living host of that name, NULL: none. */
static const struct host *hosts_find(const struct daemon *d, const char *name)
{
    const struct host *host;
    for (size_t i = 0; (host = node_host_at(d->node, i)) != NULL; i++)
        if (host->state != HOST_DOWN && strcmp(host->name, name) == 0)
            return host;
    return NULL;
}

/* Whether it is shown: not one that never came. */
static bool is_shown(const struct host *host)
{
    return host->state != HOST_DOWN || (host->address_count > 0 && !host->forgotten);
}

/* The latest host of that name that is gone, but still shown; NULL: none. */
static const struct host *gone_find(const struct daemon *d, const char *name)
{
    const struct host *host, *latest = NULL;
    for (size_t i = 0; (host = node_host_at(d->node, i)) != NULL; i++) {
        bool found = host->state == HOST_DOWN && is_shown(host) && strcmp(host->name, name) == 0;
        if (found && (latest == NULL || host->incarnation > latest->incarnation))
            latest = host;
    }
    return latest;
}

/* ---- HOSTS ---- */

static void host_row_add(struct reply *reply, const struct daemon *d, const struct host *host)
{
    const struct address *path = node_path(d->node, host->index);
    struct address none = {.family = ADDRESS_IPV4, .size = 6}; /* 0.0.0.0:0 while it is joining */
    if (path == NULL)
        path = host->address_count > 0 ? &host->addresses[0] : &none;
    struct cursor c = reply_room(reply, ROW_BYTES);
    control_put_host(&c, host);
    address_put(&c, path);
    reply_add(reply, &c);
}

static int by_index(const void *a, const void *b)
{
    const struct host *const *x = a, *const *y = b;
    return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

static const char *hosts_on_hosts(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    const struct host *rows[HOST_INDEX_MAX], *host;
    struct reply reply;
    if (!cursor_done(payload))
        return "bad payload";
    size_t count = 0;
    for (size_t i = 0; count < HOST_INDEX_MAX && (host = node_host_at(d->node, i)) != NULL; i++)
        if (is_shown(host))
            rows[count++] = host;
    qsort(rows, count, sizeof rows[0], by_index);
    reply_begin(&reply, d, source, request);
    for (size_t i = 0; i < count; i++)
        host_row_add(&reply, d, rows[i]);
    reply_send(&reply, 0);
    return NULL;
}

/* ---- HALT ---- */

static const char *hosts_on_halt(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    if (!cursor_done(payload))
        return "bad payload";
    if (hosts_not_coordinator(d, source, request))
        return NULL;
    log_line(&d->log, LOG_INFO, "t%x halts the VM", source);
    reply_done(d, source, request);
    d->own.hosts->halt_wanted = true;
    return NULL;
}

/* ---- REMOVE_HOSTS ---- */

static void removal_name(struct daemon *d, struct cursor *payload, struct control_result *result)
{
    char name[CONTROL_NAME_MAX + 1] = "";
    cursor_get_text(payload, name, sizeof name);
    const struct host *host = hosts_find(d, name);
    if (host == NULL && (host = gone_find(d, name)) != NULL)
        snprintf(result->text, sizeof result->text, "it was down, and is forgotten");
    if (host != NULL) {
        result->number = host->index;
        return;
    }
    result->error = COVEY_ENOHOST;
    snprintf(result->text, sizeof result->text, "the VM has no host '%s'", name);
}

static const char *hosts_on_remove(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint32_t request = cursor_get_u32(payload);
    size_t count = cursor_get_u16(payload);
    if (!cursor_ok(payload) || count * 2 > cursor_left(payload))
        return "bad payload";
    if (hosts_not_coordinator(d, source, request))
        return NULL;
    size_t waiting = 0;
    for (const struct removal *other = d->own.hosts->removals; other != NULL; other = other->next)
        waiting += 1 + other->count;
    if (waiting + count > REMOVALS_MAX) {
        reply_error(d, source, request, COVEY_ERESOURCE, "too many hosts are being removed");
        return NULL;
    }
    struct removal *r = calloc(1, sizeof *r + count * sizeof r->results[0]);
    if (r == NULL)
        return "memory is exhausted";
    r->to = source;
    r->request = request;
    r->count = count;
    for (size_t i = 0; i < count; i++)
        removal_name(d, payload, &r->results[i]);
    if (!cursor_done(payload)) {
        free(r);
        return "bad payload";
    }
    r->next = d->own.hosts->removals;
    d->own.hosts->removals = r;
    return NULL;
}

static void result_fail(struct control_result *result, const char *text)
{
    result->error = COVEY_EINVAL;
    snprintf(result->text, sizeof result->text, "%s", text);
}

static uint64_t removal_us(const struct daemon *d)
{
    uint64_t time_us = REMOVE_US + REMOVE_TIMEOUTS * d->conf.fail_timeout_us;
    return time_us < REMOVE_US_MAX ? time_us : REMOVE_US_MAX;
}

static void removal_begin(struct daemon *d, struct removal *r, uint64_t now_us)
{
    r->deadline_us = now_us + removal_us(d);
    for (size_t i = 0; i < r->count; i++) {
        struct control_result *result = &r->results[i];
        if (result->error != 0)
            continue;
        if (result->number == daemon_host(d)) {
            result_fail(result, "this host coordinates the VM; halt the VM instead");
            continue;
        }
        int error = node_remove(d->node, result->number, now_us);
        if (error != 0)
            result_fail(result, strerror(-error));
    }
}

static bool result_pending(const struct daemon *d, const struct control_result *result)
{
    const struct host *host = node_host(d->node, result->number);
    bool is_gone =
        host == NULL || (result->text[0] == '\0' ? host->state == HOST_DOWN : host->forgotten != 0);
    return result->error == 0 && !is_gone;
}

static bool removal_pending(const struct daemon *d, const struct removal *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (result_pending(d, &r->results[i]))
            return true;
    return false;
}

static void removals_settle(struct daemon *d, uint64_t now_us)
{
    for (struct removal **at = &d->own.hosts->removals, *r; (r = *at) != NULL;) {
        if (r->deadline_us == 0)
            removal_begin(d, r, now_us);
        if (removal_pending(d, r) && now_us < r->deadline_us) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        for (size_t i = 0; i < r->count; i++) {
            struct control_result *result = &r->results[i];
            if (!result_pending(d, result))
                continue;
            result->error = COVEY_ETIMEOUT;
            snprintf(result->text, sizeof result->text,
                     "it was told to leave and is still there after %llu s",
                     (unsigned long long)(removal_us(d) / 1000000));
        }
        struct reply reply;
        reply_begin(&reply, d, r->to, r->request);
        for (size_t i = 0; i < r->count; i++) {
            struct cursor c = reply_room(&reply, RESULT_BYTES);
            control_put_result(&c, &r->results[i]);
            reply_add(&reply, &c);
        }
        reply_send(&reply, 0);
        free(r);
    }
}

/* The engine must not be called back from inside itself, so what was asked for waits until all
 * events of the round were handled. Nobody tells that a host is gone for good: while one is being
 * removed each round looks. */
static uint64_t hosts_settle(struct daemon *d, uint64_t now_us)
{
    struct hosts *hosts = d->own.hosts;
    removals_settle(d, now_us);
    if (hosts->halt_wanted) {
        hosts->halt_wanted = false;
        node_shutdown(d->node, now_us);
    }
    if (hosts->removals != NULL)
        part_want(d, PART_hosts);
    return UINT64_MAX;
}

static void hosts_destroy(struct daemon *d)
{
    struct hosts *hosts = d->own.hosts;
    for (struct removal *r; (r = hosts->removals) != NULL; free(r))
        hosts->removals = r->next;
}

const struct part hosts_part = {
    .name = "hosts",
    .kinds = (const struct part_kind[]){{FRAME_HOSTS, hosts_on_hosts, true},
                                        {FRAME_REMOVE_HOSTS, hosts_on_remove, true},
                                        {FRAME_HALT, hosts_on_halt, true},
                                        {0}},
    .state_bytes = sizeof(struct hosts),
    .destroy = hosts_destroy,
    .settle = hosts_settle};
