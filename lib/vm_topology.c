/*
 * vm_topology.c - the topology of the virtual machine: a file's text that its tasks can ask for.
 *
 * It is kept by the daemons like all that they agree on, as decisions of a series of its own
 * (covey_propose(3)): number 0 says how many bytes there are and hashes them, the others hold them
 * in order. A new topology takes the place of an old one; who reads in the middle of that sees by
 * the hash that the parts do not belong together, and has none.
 */
#include "lib/team_topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES "covey.topology"
#define HEAD_BYTES 16
#define TEXT_BYTES_MAX ((size_t)256 * 1024)

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return hash;
}

static int propose(covey_t *vm, uint64_t number, const void *value, size_t bytes)
{
    struct covey_decision d = {.bytes = (int32_t)bytes};
    memcpy(d.value, value, bytes);
    int error = covey_propose(vm, SERIES, number, COVEY_FOREVER, &d);
    if (error == COVEY_OK && ((size_t)d.bytes != bytes || memcmp(d.value, value, bytes) != 0))
        error = error_set(COVEY_EEXIST, "topology: another task sets one at the same time");
    return error;
}

/* The head comes last: what is there before it is not seen. */
static int store(covey_t *vm, const char *text, size_t bytes)
{
    uint8_t head[HEAD_BYTES];
    struct cursor c = cursor_writer(head, sizeof head);
    int error = COVEY_OK;
    for (size_t at = 0, i = 1; at < bytes && error == COVEY_OK; at += COVEY_DECISION_MAX, i++) {
        size_t part = bytes - at < COVEY_DECISION_MAX ? bytes - at : COVEY_DECISION_MAX;
        error = propose(vm, i, text + at, part);
    }
    cursor_put_u64(&c, bytes);
    cursor_put_u64(&c, hash_of(text, bytes));
    return error == COVEY_OK ? propose(vm, 0, head, sizeof head) : error;
}

int covey_vm_set_topology(covey_t *vm, const covey_topology_t *topology)
{
    char *text = NULL;
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "topology: NULL");
    int error = COVEY_OK;
    if (topology != NULL)
        error = covey_topology_print(topology, COVEY_TOPOLOGY_FILE, &text);
    if (error == COVEY_OK && text != NULL && strlen(text) > TEXT_BYTES_MAX)
        error = error_set(COVEY_ETOOBIG, "topology: %zu bytes are more than the VM keeps (%zu)",
                          strlen(text), TEXT_BYTES_MAX);
    if (error == COVEY_OK)
        error = covey_forget(vm, SERIES, UINT64_MAX);
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
        int error = covey_learn(vm, SERIES, i, COVEY_POLL, &d);
        if (error != COVEY_OK)
            return error;
        if (d.bytes <= 0 || (size_t)d.bytes > bytes - at)
            return error_set(COVEY_EPROTO, "topology: its parts do not belong together");
        memcpy(text + at, d.value, (size_t)d.bytes);
    }
    return COVEY_OK;
}

int vm_topology_text(covey_t *vm, char **text, size_t *bytes)
{
    struct covey_decision d;
    int error = covey_learn(vm, SERIES, 0, COVEY_POLL, &d);
    if (error != COVEY_OK)
        return error == COVEY_ETIMEOUT ? error_set(COVEY_ENOENT, "the VM has no topology") : error;
    struct cursor c = cursor_reader(d.value, (size_t)d.bytes);
    uint64_t size = cursor_get_u64(&c), hash = cursor_get_u64(&c);
    char *read = cursor_done(&c) && size <= TEXT_BYTES_MAX ? malloc((size_t)size + 1) : NULL;
    if (read == NULL)
        return error_code(COVEY_ENOMEM);
    error = fetch_text(vm, read, (size_t)size);
    if (error == COVEY_OK && hash_of(read, (size_t)size) != hash)
        error = error_set(COVEY_EPROTO, "topology: its parts do not belong together");
    if (error != COVEY_OK) {
        free(read);
        return error == COVEY_ETIMEOUT ? error_set(COVEY_ENOENT, "the VM has no topology") : error;
    }
    *text = read;
    *bytes = (size_t)size;
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
