/*
 * fault.c - draws lots for datagrams. The same seed and the same sizes give the same lots. A chance
 * of 0 draws no number, so that a fault that is switched off does not change what the others do.
 */
#include "proto/session/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/splitmix.h"

#define HOLD_US 2000 /* where reordering is wanted and nothing is said of how much */
#define SECONDS_MAX 60

/* ---- text ---- */

struct field {
    const char *name;
    size_t offset; /* of a u32 in the config */
    double most;
};

static const struct field FIELDS[] = {
    {"loss", offsetof(struct fault_config, loss_ppm), 1},
    {"dup", offsetof(struct fault_config, duplicate_ppm), 1},
    {"reorder", offsetof(struct fault_config, reorder_ppm), 1},
    {"corrupt", offsetof(struct fault_config, corrupt_ppm), 1},
    {"delay", offsetof(struct fault_config, delay_us), SECONDS_MAX},
    {"hold", offsetof(struct fault_config, hold_us), SECONDS_MAX},
};
#define FIELD_COUNT (sizeof FIELDS / sizeof FIELDS[0])

/* All are parts in a million: of certainty, or of a second. */
static int parse_millionths(const char *text, double most, uint32_t *value)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end != '\0' || !(number >= 0 && number <= most))
        return -1;
    *value = (uint32_t)(number * FAULT_MILLION + 0.5);
    return 0;
}

static int parse_seed(const char *text, uint64_t *seed)
{
    char *end;

    errno = 0;
    *seed = strtoull(text, &end, 10);
    return errno != 0 || end == text || *end != '\0' || *text == '-' ? -1 : 0;
}

static int parse_field(const char *name, const char *value, struct fault_config *config)
{
    if (strcmp(name, "seed") == 0)
        return parse_seed(value, &config->seed);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        uint32_t *field = (void *)((char *)config + FIELDS[i].offset);

        if (strcmp(name, FIELDS[i].name) == 0)
            return parse_millionths(value, FIELDS[i].most, field);
    }
    return -1;
}

int fault_parse(const char *text, struct fault_config *config)
{
    struct fault_config read = {0};
    char copy[FAULT_TEXT_MAX], *rest = copy, *word;
    size_t length = strlen(text);

    if (length >= sizeof copy)
        return -1;
    memcpy(copy, text, length + 1);
    while ((word = strsep(&rest, ",")) != NULL && *text != '\0') {
        char *value = strchr(word, '=');

        if (value == NULL)
            return -1;
        *value++ = '\0';
        if (parse_field(word, value, &read) < 0)
            return -1;
    }
    if (read.reorder_ppm != 0 && read.hold_us == 0)
        read.hold_us = HOLD_US;
    *config = read;
    return 0;
}

void fault_print(const struct fault_config *config, char *text)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        uint32_t value = *(const uint32_t *)(const void *)((const char *)config + FIELDS[i].offset);

        if (value != 0)
            used += (size_t)snprintf(text + used, FAULT_TEXT_MAX - used, "%s=%.8g,", FIELDS[i].name,
                                     (double)value / FAULT_MILLION);
    }
    if (config->seed != 0)
        used += (size_t)snprintf(text + used, FAULT_TEXT_MAX - used, "seed=%llu,",
                                 (unsigned long long)config->seed);
    if (used > 0)
        text[used - 1] = '\0';
}

bool fault_any(const struct fault_config *config)
{
    return config->loss_ppm != 0 || config->duplicate_ppm != 0 || config->reorder_ppm != 0 ||
           config->corrupt_ppm != 0 || config->delay_us != 0;
}

/* ---- lots ---- */

static uint64_t draw_below(struct fault *fault, uint64_t bound)
{
    uint64_t lot = splitmix_next(&fault->random);
    return bound == 0 ? 0 : lot % bound;
}

static bool draw_chance(struct fault *fault, uint32_t ppm, uint64_t *count)
{
    bool hit = ppm != 0 && draw_below(fault, FAULT_MILLION) < ppm;

    *count += hit;
    return hit;
}

void fault_init(struct fault *fault, const struct fault_config *config)
{
    *fault = (struct fault){.config = *config, .random = config->seed};
}

static struct fault_copy draw_copy(struct fault *fault, size_t size)
{
    const struct fault_config *c = &fault->config;
    struct fault_copy copy = {.after_us = c->delay_us, .bit = FAULT_INTACT};

    copy.reordered = draw_chance(fault, c->reorder_ppm, &fault->stats.reordered);
    if (copy.reordered)
        copy.after_us += 1 + draw_below(fault, c->hold_us);
    if (draw_chance(fault, c->corrupt_ppm, &fault->stats.corrupted))
        copy.bit = (size_t)draw_below(fault, 8 * (uint64_t)size);
    return copy;
}

unsigned fault_draw(struct fault *fault, size_t size, struct fault_copy copies[FAULT_COPIES_MAX])
{
    const struct fault_config *c = &fault->config;
    unsigned count = 1;

    if (draw_chance(fault, c->loss_ppm, &fault->stats.lost))
        return 0;
    count += draw_chance(fault, c->duplicate_ppm, &fault->stats.duplicated);
    for (unsigned i = 0; i < count; i++)
        copies[i] = draw_copy(fault, size);
    return count;
}
