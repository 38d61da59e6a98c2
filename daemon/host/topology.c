/*
 * topology.c - the first daemon of a VM makes the file that its covey.conf names the VM's topology,
 * as a task would (lib/calls/vm_topology.c): it may be set and taken away later like any other.
 * Text that is no topology is refused before there is a VM.
 */
#include "daemon/host/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agree/services.h"
#include "proto/network/topology.h"
#include "proto/state/consensus.h"
#include "proto/state/vm_topology.h"
#include "proto/wire/names.h"

#define BODY_BYTES (2 + NAME_BYTES_MAX + 8 + CONSENSUS_VALUE_MAX)

/* The whole file, with a zero behind it; NULL: errno says why. */
static char *read_whole(const char *path)
{
    char *text = malloc(VM_TOPOLOGY_BYTES_MAX + 2); /* one byte more, to see that it is too large */
    FILE *file = text == NULL ? NULL : fopen(path, "re");
    if (file == NULL) {
        free(text);
        return NULL;
    }
    size_t bytes = fread(text, 1, VM_TOPOLOGY_BYTES_MAX + 1, file);
    errno = ferror(file) ? EIO : bytes > VM_TOPOLOGY_BYTES_MAX ? EFBIG : 0;
    int error = errno;
    fclose(file);
    errno = error;
    text[bytes] = '\0';
    if (error == 0)
        return text;
    free(text);
    return NULL;
}

int topology_read(struct daemon *d, struct failure *why)
{
    const char *path = d->conf.topology;
    struct topology topology;
    char error[TOPOLOGY_ERROR_BYTES];
    if (path[0] == '\0')
        return 0;
    d->topology = read_whole(path);
    if (d->topology == NULL)
        return failure_set(why, "the topology %.300s cannot be read: %s", path, strerror(errno));
    int status = topology_parse(&topology, d->topology, strlen(d->topology), path, error);
    topology_destroy(&topology);
    return status == 0 ? 0 : failure_set(why, "%.500s", error);
}

void topology_propose(struct daemon *d)
{
    uint8_t head[VM_TOPOLOGY_HEAD_BYTES];
    bool done = d->topology == NULL;
    for (size_t i = 0; !done; i++) {
        struct vm_topology_part part = vm_topology_part(d->topology, strlen(d->topology), i, head);
        done = part.size == 0;
        if (!done) {
            uint8_t body[BODY_BYTES];
            struct cursor c = cursor_writer(body, sizeof body);
            cursor_put_text(&c, VM_TOPOLOGY_SERIES);
            cursor_put_u64(&c, part.number);
            cursor_put_bytes(&c, part.bytes, part.size);
            services_propose(d,
                             &(struct command){.kind = COMMAND_CONSENSUS_PROPOSE,
                                               .task = tid_make(daemon_host(d), TASK_LOCAL_DAEMON),
                                               .body = body,
                                               .size = (size_t)(c.at - body)});
        }
    }
    free(d->topology);
    d->topology = NULL;
}
