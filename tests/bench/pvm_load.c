/*
 * pvm_load.c - the loads of load.c on PVM 3; a way is ROUTE/PACKING.
 *
 * Routes: daemon (PVM's default) and direct (PvmRouteDirect). Packings: default (XDR), raw and
 * inplace, which are the three of pvm_initsend(), and psend (pvm_psend() and pvm_precv()); with
 * "+big" behind it in fragments of 1 MiB instead of 4 KiB (PvmFragSize). A multicast is
 * pvm_mcast(), or with the route "each" a send to each task over the direct route.
 */
#include "tests/bench/machine.h"

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_END 1000
#define FRAGMENT_BYTES (1 << 20)

struct machine {
    int encoding;
    int psend;
    int each; /* a multicast is one send a task */
};

const char machine_ways[] = "daemon|direct|each / default|raw|inplace|psend [+big]";

static int must(int result, const char *what)
{
    if (result >= 0)
        return result;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "pvm_load: %s", what);
    pvm_perror(prefix);
    exit(1);
}

static int encoding_of(const char *packing)
{
    if (strncmp(packing, "/default", 8) == 0)
        return PvmDataDefault;
    return strncmp(packing, "/inplace", 8) == 0 ? PvmDataInPlace : PvmDataRaw;
}

struct machine *machine_join(const char *way)
{
    const char *slash = strchr(way, '/');
    struct machine *m = calloc(1, sizeof *m);
    if (m == NULL || slash == NULL) {
        fprintf(stderr, "pvm_load: '%s' is not one of %s\n", way, machine_ways);
        exit(2);
    }
    must(pvm_mytid(), "pvm_mytid");
    m->encoding = encoding_of(slash);
    m->psend = strncmp(slash, "/psend", 6) == 0;
    m->each = strncmp(way, "each", 4) == 0;
    must(pvm_setopt(PvmRoute, strncmp(way, "daemon", 6) ? PvmRouteDirect : PvmAllowDirect),
         "PvmRoute");
    if (strstr(slash, "+big"))
        must(pvm_setopt(PvmFragSize, FRAGMENT_BYTES), "PvmFragSize");
    return m;
}

void machine_leave(struct machine *m)
{
    pvm_exit();
    free(m);
}

int machine_parent(struct machine *m)
{
    (void)m;
    int tid = pvm_parent();
    return tid > 0 ? tid : 0;
}

void machine_spawn(struct machine *m, const char *const *argv, const char *host, int n, int *tids)
{
    (void)m;
    int started = pvm_spawn((char *)argv[0], (char **)(argv + 1),
                            host ? PvmTaskHost : PvmTaskDefault, (char *)host, n, tids);
    must(started, "pvm_spawn");
    if (started == n)
        return;
    fprintf(stderr, "pvm_load: only %d of %d tasks started\n", started, n);
    exit(1);
}

void machine_wait_ends(struct machine *m, const int *tids, int n)
{
    (void)m;
    must(pvm_notify(PvmTaskExit, TAG_END, n, (int *)tids), "pvm_notify");
    for (int i = 0; i < n; i++)
        must(pvm_recv(-1, TAG_END), "pvm_recv");
}

static void pack(const struct machine *m, const void *bytes, size_t size)
{
    must(pvm_initsend(m->encoding), "pvm_initsend");
    must(pvm_pkbyte((char *)bytes, (int)size, 1), "pvm_pkbyte");
}

void machine_send(struct machine *m, int to, int tag, const void *bytes, size_t size)
{
    if (m->psend) {
        must(pvm_psend(to, tag, (void *)bytes, (int)size, PVM_BYTE), "pvm_psend");
        return;
    }
    pack(m, bytes, size);
    must(pvm_send(to, tag), "pvm_send");
}

void machine_mcast(struct machine *m, const int *to, int n, int tag, const void *bytes, size_t size)
{
    if (!m->psend || !m->each)
        pack(m, bytes, size);
    if (!m->each) {
        must(pvm_mcast((int *)to, n, tag), "pvm_mcast");
        return;
    }
    for (int i = 0; i < n; i++)
        must(m->psend ? pvm_psend(to[i], tag, (void *)bytes, (int)size, PVM_BYTE)
                      : pvm_send(to[i], tag),
             "pvm_send");
}

void machine_recv(struct machine *m, int from, int tag, void *bytes, size_t size)
{
    if (m->psend) {
        must(pvm_precv(from, tag, bytes, (int)size, PVM_BYTE, NULL, NULL, NULL), "pvm_precv");
        return;
    }
    must(pvm_recv(from, tag), "pvm_recv");
    must(pvm_upkbyte(bytes, (int)size, 1), "pvm_upkbyte");
}

void machine_group_join(struct machine *m, const char *name)
{
    (void)m;
    must(pvm_joingroup((char *)name), "pvm_joingroup");
}

void machine_barrier(struct machine *m, const char *name, int n)
{
    (void)m;
    must(pvm_barrier((char *)name, n), "pvm_barrier");
}
