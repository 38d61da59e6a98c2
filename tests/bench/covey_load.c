/* links: tests/bench/load.c libcovey */
/* covey_load.c - the loads of load.c on Covey; a way is ROUTE/pack or ROUTE/array. */
#include "tests/bench/machine.h"

#include <covey.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_END 1000

struct machine {
    covey_t *vm;
    covey_group_t *group;
    int arrays; /* whole arrays are sent and received by one call each, instead of packed */
};

const char machine_ways[] = "auto|shm|udp|tcp / pack|array";

static void must(int result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "covey_load: %s: %s\n", what, covey_error_text());
    exit(1);
}

struct machine *machine_join(const char *way)
{
    char route[16];
    const char *slash = strchr(way, '/');
    struct machine *m = calloc(1, sizeof *m);
    if (m == NULL || slash == NULL || slash - way >= (int)sizeof route) {
        fprintf(stderr, "covey_load: '%s' is not one of %s\n", way, machine_ways);
        exit(2);
    }
    snprintf(route, sizeof route, "%.*s", (int)(slash - way), way);
    m->arrays = strcmp(slash, "/array") == 0;
    struct covey_options options = {.route = covey_route_parse(route)};
    must(options.route, "route");
    must(covey_join(&m->vm, &options), "covey_join");
    return m;
}

void machine_leave(struct machine *m)
{
    covey_leave(&m->vm);
    free(m);
}

int machine_parent(struct machine *m)
{
    return covey_parent(m->vm);
}

void machine_spawn(struct machine *m, const char *const *argv, const char *host, int n, int *tids)
{
    struct covey_spawn what = {.argv = argv,
                               .hosts = host ? (const char *const[]){host, NULL} : NULL,
                               .where = host ? COVEY_WHERE_HOSTS : COVEY_WHERE_ANY,
                               .output = COVEY_OUTPUT_DISCARD};
    int started = covey_spawn(m->vm, &what, n, tids);
    must(started, "covey_spawn");
    if (started == n)
        return;
    fprintf(stderr, "covey_load: only %d of %d tasks started\n", started, n);
    exit(1);
}

void machine_wait_ends(struct machine *m, const int *tids, int n)
{
    must(covey_notify(m->vm, COVEY_NOTIFY_TASK_EXIT, TAG_END, tids, (size_t)n), "covey_notify");
    for (int i = 0; i < n; i++) {
        covey_msg_t *msg;
        must(covey_recv(m->vm, COVEY_ANY_TASK, TAG_END, COVEY_FOREVER, &msg), "covey_recv");
        covey_msg_free(msg);
    }
}

static covey_msg_t *packed(const void *bytes, size_t size)
{
    covey_msg_t *msg = covey_msg_new();
    must(msg ? covey_pack_bytes(msg, bytes, size) : COVEY_ENOMEM, "covey_pack_bytes");
    return msg;
}

void machine_send(struct machine *m, int to, int tag, const void *bytes, size_t size)
{
    if (m->arrays) {
        must(covey_send_array(m->vm, to, tag, COVEY_BYTES, bytes, size), "covey_send_array");
        return;
    }
    covey_msg_t *msg = packed(bytes, size);
    must(covey_send(m->vm, to, tag, msg), "covey_send");
    covey_msg_free(msg);
}

void machine_mcast(struct machine *m, const int *to, int n, int tag, const void *bytes, size_t size)
{
    covey_msg_t *msg = covey_msg_new();
    if (msg == NULL)
        must(COVEY_ENOMEM, "covey_msg_new");
    must((m->arrays ? covey_pack_inplace(msg, COVEY_BYTES, bytes, size)
                    : covey_pack_bytes(msg, bytes, size)),
         "covey_pack");
    must(covey_mcast(m->vm, to, (size_t)n, tag, msg), "covey_mcast");
    covey_msg_free(msg);
}

void machine_recv(struct machine *m, int from, int tag, void *bytes, size_t size)
{
    if (m->arrays) {
        must(
            covey_recv_array(m->vm, from, tag, COVEY_FOREVER, COVEY_BYTES, bytes, size, NULL, NULL),
            "covey_recv_array");
        return;
    }
    covey_msg_t *msg;
    must(covey_recv(m->vm, from, tag, COVEY_FOREVER, &msg), "covey_recv");
    must(covey_unpack_bytes(msg, bytes, size), "covey_unpack_bytes");
    covey_msg_free(msg);
}

void machine_group_join(struct machine *m, const char *name)
{
    must(covey_group_join(m->vm, name, &m->group), "covey_group_join");
}

void machine_barrier(struct machine *m, const char *name, int n)
{
    (void)name;
    must(covey_group_barrier(m->group, n, COVEY_FOREVER), "covey_group_barrier");
}
