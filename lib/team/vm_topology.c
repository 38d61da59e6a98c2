/*
 * vm_topology.c - the topology of the virtual machine: a file's text that its tasks can ask for.
 * The daemons keep it like all that they agree on, as decisions (covey_propose(3)):
 * proto/state/vm_topology.h says how.
 */
#include "proto/state/vm_topology.h"
#include "lib/msg/error.h"

#include <stdlib.h>
#include <string.h>

static int store(covey_t *vm, const char *text, size_t bytes)
{
    uint8_t head[VM_TOPOLOGY_HEAD_BYTES];
    int error = COVEY_OK;
    for (size_t i = 0; error == COVEY_OK; i++) {
        struct vm_topology_part part = vm_topology_part(text, bytes, i, head);
        if (part.size == 0)
            break;
        struct covey_decision d = {.bytes = (int32_t)part.size};
        memcpy(d.value, part.bytes, part.size);
        error = covey_propose(vm, VM_TOPOLOGY_SERIES, part.number, COVEY_FOREVER, &d);
        if (error == COVEY_OK &&
            ((size_t)d.bytes != part.size || memcmp(d.value, part.bytes, part.size) != 0))
            error = error_set(COVEY_EEXIST, "topology: another task sets one at the same time");
    }
    return error;
}

int covey_vm_set_topology(covey_t *vm, const covey_topology_t *topology)
{
    char *text = NULL;
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "topology: NULL");
    int error = COVEY_OK;
    if (topology != NULL)
        error = covey_topology_print(topology, COVEY_TOPOLOGY_FILE, &text);
    if (error == COVEY_OK && text != NULL && strlen(text) > VM_TOPOLOGY_BYTES_MAX)
        error = error_set(COVEY_ETOOBIG, "topology: %zu bytes are more than the VM keeps (%zu)",
                          strlen(text), VM_TOPOLOGY_BYTES_MAX);
    if (error == COVEY_OK)
        error = covey_forget(vm, VM_TOPOLOGY_SERIES, UINT64_MAX);
    if (error == COVEY_OK && text != NULL)
        error = store(vm, text, strlen(text));
    free(text);
    return error;
}

/* The parts of the text, in order; an error of any means that there is no topology. */
static int fetch_text(covey_t *vm, char *text, size_t bytes)
{
    struct covey_decision d;
    for (size_t at = 0, i = 1; at < bytes; at += (size_t)d.bytes, i++) {
        int error = covey_learn(vm, VM_TOPOLOGY_SERIES, i, COVEY_POLL, &d);
        if (error != COVEY_OK)
            return error;
        if (d.bytes <= 0 || (size_t)d.bytes > bytes - at)
            return error_set(COVEY_EPROTO, "topology: its parts do not belong together");
        memcpy(text + at, d.value, (size_t)d.bytes);
    }
    return COVEY_OK;
}

/* The VM's topology as text, freed by the caller. Errors: ENOENT (none), and those of asking. */
static int vm_topology_text(covey_t *vm, char **text, size_t *bytes)
{
    struct covey_decision d;
    int error = covey_learn(vm, VM_TOPOLOGY_SERIES, 0, COVEY_POLL, &d);
    if (error != COVEY_OK)
        return error == COVEY_ETIMEOUT ? error_set(COVEY_ENOENT, "the VM has no topology") : error;
    struct cursor c = cursor_reader(d.value, (size_t)d.bytes);
    uint64_t hash;
    size_t size = vm_topology_get_head(&c, &hash);
    if (!cursor_done(&c))
        return error_set(COVEY_EPROTO, "topology: its head makes no sense");
    char *read = malloc(size + 1);
    if (read == NULL)
        return error_code(COVEY_ENOMEM);
    error = fetch_text(vm, read, size);
    if (error == COVEY_OK && vm_topology_hash(read, size) != hash)
        error = error_set(COVEY_EPROTO, "topology: its parts do not belong together");
    if (error != COVEY_OK) {
        free(read);
        return error == COVEY_ETIMEOUT ? error_set(COVEY_ENOENT, "the VM has no topology") : error;
    }
    *text = read;
    *bytes = size;
    return COVEY_OK;
}

int covey_vm_topology(covey_t *vm, covey_topology_t **topology)
{
    char *text = NULL;
    size_t bytes = 0;
    if (vm == NULL || topology == NULL)
        return error_set(COVEY_EINVAL, "topology: NULL");
    int error = vm_topology_text(vm, &text, &bytes);
    if (error != COVEY_OK)
        return error;
    error = covey_topology_parse(text, bytes, "the VM's topology", topology);
    free(text);
    return error;
}
