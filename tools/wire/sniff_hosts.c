/*
 * sniff_hosts.c - two lists, of addresses and of hosts, each with an end: whoever floods the wire
 * with inventions fills them and is shown without names from there on. The newest is at the front,
 * as what was just heard is asked for next.
 *
 * What the asker already knows of the VM on this machine (sniff_hosts_know) has no VM yet: a wire
 * names VMs by a number that only they can compute. It gets one when a datagram with that index
 * comes from that address.
 */
#include "tools/wire/sniff_hosts.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 4096
#define NAMES_MAX 4096

struct place {
    struct address address;
    uint32_t vm, index;
    bool proved; /* its VM is known */
    char name[HOST_NAME_MAX_BYTES + 1];
};

struct named {
    uint32_t vm, index;
    bool has_id;
    uint8_t id[HOST_ID_BYTES];
    char name[HOST_NAME_MAX_BYTES + 1];
};

struct sniff_hosts {
    struct place places[PLACES_MAX];
    size_t place_count;
    struct named names[NAMES_MAX];
    size_t name_count;
};

struct sniff_hosts *sniff_hosts_create(void)
{
    return calloc(1, sizeof(struct sniff_hosts));
}

void sniff_hosts_destroy(struct sniff_hosts *hosts)
{
    free(hosts);
}

static struct named *find_named(const struct sniff_hosts *hosts, uint32_t vm, uint32_t index)
{
    for (size_t i = 0; i < hosts->name_count; i++)
        if (hosts->names[i].index == index && hosts->names[i].vm == vm)
            return (struct named *)&hosts->names[i];
    return NULL;
}

static struct named *take_named(struct sniff_hosts *hosts, uint32_t vm, uint32_t index)
{
    struct named *named = find_named(hosts, vm, index);
    if (named != NULL || hosts->name_count == NAMES_MAX)
        return named;
    named = &hosts->names[hosts->name_count++];
    *named = (struct named){.vm = vm, .index = index};
    return named;
}

static void set_name(struct sniff_hosts *hosts, uint32_t vm, uint32_t index, const char *name)
{
    struct named *named = take_named(hosts, vm, index);
    size_t length = strnlen(name, HOST_NAME_MAX_BYTES);
    if (named == NULL)
        return;
    memcpy(named->name, name, length);
    named->name[length] = '\0';
}

static struct place *find_place(const struct sniff_hosts *hosts, uint32_t vm,
                                const struct address *address)
{
    for (size_t i = 0; i < hosts->place_count; i++) {
        const struct place *p = &hosts->places[i];
        if ((p->vm == vm || !p->proved) && address_equal(&p->address, address))
            return (struct place *)p;
    }
    return NULL;
}

void sniff_hosts_learn(struct sniff_hosts *hosts, uint32_t vm, uint32_t index,
                       const struct address *address)
{
    if (index == 0 || address->family == ADDRESS_NONE)
        return;
    struct place *place = find_place(hosts, vm, address);
    if (place == NULL && hosts->place_count != PLACES_MAX) {
        place = &hosts->places[hosts->place_count++];
        *place = (struct place){.address = *address, .vm = vm, .proved = true};
    }
    if (place == NULL)
        return;
    if (!place->proved && place->index == index)
        set_name(hosts, vm, index, place->name);
    place->proved = true;
    place->vm = vm;
    place->index = index;
}

void sniff_hosts_learn_row(struct sniff_hosts *hosts, uint32_t vm, const struct host *host)
{
    set_name(hosts, vm, host->index, host->name);
    if (host->state == HOST_DOWN)
        return;
    for (uint8_t i = 0; i < host->address_count; i++)
        sniff_hosts_learn(hosts, vm, host->index, &host->addresses[i]);
}

void sniff_hosts_know(struct sniff_hosts *hosts, const struct address *address, uint32_t index,
                      const char *name)
{
    if (hosts->place_count == PLACES_MAX)
        return;
    struct place *place = &hosts->places[hosts->place_count++];
    *place = (struct place){.address = *address, .index = index};
    strncpy(place->name, name, HOST_NAME_MAX_BYTES);
}

bool sniff_hosts_learn_id(struct sniff_hosts *hosts, uint32_t vm, uint32_t index,
                          const uint8_t id[HOST_ID_BYTES])
{
    struct named *named = take_named(hosts, vm, index);
    if (named == NULL)
        return false;
    bool other = named->has_id && memcmp(named->id, id, HOST_ID_BYTES) != 0;
    named->has_id = true;
    memcpy(named->id, id, HOST_ID_BYTES);
    return other;
}

uint32_t sniff_hosts_index(const struct sniff_hosts *hosts, uint32_t vm,
                           const struct address *address)
{
    const struct place *place = find_place(hosts, vm, address);
    return place == NULL ? 0 : place->index;
}

const char *sniff_hosts_name(const struct sniff_hosts *hosts, uint32_t vm, uint32_t index)
{
    const struct named *named = find_named(hosts, vm, index);
    return named == NULL || named->name[0] == '\0' ? NULL : named->name;
}

static bool is_called(uint32_t index, const char *name, const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    return (name[0] != '\0' && strcmp(name, text) == 0) || (*end == '\0' && number == index);
}

bool sniff_hosts_has(const struct sniff_hosts *hosts, const char *text)
{
    bool has = false;
    for (size_t i = 0; i < hosts->place_count && !has; i++)
        has = is_called(hosts->places[i].index, hosts->places[i].name, text);
    for (size_t i = 0; i < hosts->name_count && !has; i++)
        has = is_called(hosts->names[i].index, hosts->names[i].name, text);
    return has;
}
