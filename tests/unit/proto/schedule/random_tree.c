#include "tests/unit/proto/schedule/random_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/splitmix.h"

uint64_t tree_random(uint64_t *seed)
{
    return splitmix_next(seed);
}

uint32_t tree_below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)((tree_random(seed) >> 32) * limit >> 32);
}

#define RATE_BYTES 16

static void host_rate(uint64_t *seed, enum tree_rates rates, char *text)
{
    static const char *const any[] = {"100M", "1G", "2.5G", "10G"};

    if (rates == TREE_ODD_RATES)
        snprintf(text, RATE_BYTES, "%uM", (10 + tree_below(seed, 90)) << tree_below(seed, 8));
    else
        snprintf(text, RATE_BYTES, "%s",
                 rates == TREE_ANY_RATES ? any[tree_below(seed, 4)]
                 : rates == TREE_TRUNKS  ? "1G"
                                         : "");
}

static void trunk_rate(uint64_t *seed, enum tree_rates rates, char *text)
{
    static const char *const trunks[] = {"1G", "2.5G", "10G", "40G"};

    if (rates == TREE_TRUNKS)
        snprintf(text, RATE_BYTES, "%s", trunks[tree_below(seed, 4)]);
    else
        host_rate(seed, rates, text);
}

/* The switch that a new one hangs on: of a chain the last, of a star the first. */
static uint32_t parent_of(uint64_t *seed, uint32_t shape, uint32_t i)
{
    return shape == 0 ? i - 1 : shape == 1 ? 0 : tree_below(seed, i);
}

static uint32_t switch_of(uint64_t *seed, uint32_t spread, uint32_t host, uint32_t switches)
{
    if (spread == 0)
        return host % switches; /* equal subtrees */
    if (spread == 1)
        return tree_below(seed, switches);
    uint32_t a = tree_below(seed, switches), b = tree_below(seed, switches);
    return a < b ? a : b;
}

char *tree_text(uint64_t seed, int most, enum tree_rates rates)
{
    uint32_t hosts = 2 + tree_below(&seed, (uint32_t)most - 1);
    uint32_t switches = 1 + tree_below(&seed, hosts < 12 ? hosts : 12);
    uint32_t shape = tree_below(&seed, 4), spread = tree_below(&seed, 3);
    char *text, rate[RATE_BYTES];
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (uint32_t i = 0; i < switches; i++)
        fprintf(out, "switch s%u\n", i);
    for (uint32_t i = 0; i < hosts; i++) {
        uint32_t at = switch_of(&seed, spread, i, switches);
        host_rate(&seed, rates, rate);
        fprintf(out, "host n%u s%u %s\n", i, at, rate);
    }
    for (uint32_t i = 1; i < switches; i++) {
        uint32_t at = parent_of(&seed, shape, i);
        trunk_rate(&seed, rates, rate);
        fprintf(out, "link s%u s%u %s\n", i, at, rate);
    }
    fclose(out);
    return text;
}

void tree_make(struct topology *topology, uint64_t seed, int most, enum tree_rates rates)
{
    char error[TOPOLOGY_ERROR_BYTES], *text = tree_text(seed, most, rates);

    if (topology_parse(topology, text, strlen(text), "tree", error) < 0) {
        fprintf(stderr, "%s\n%s", error, text);
        abort();
    }
    free(text);
}
