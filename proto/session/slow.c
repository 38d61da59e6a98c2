/*
 * slow.c - the rules of a slow network, read and applied. A lane is a switch with one port: it
 * sends bytes at a rate, and each arrives alpha later.
 */
#include "proto/session/slow.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 160
#define RATE_MIN 100e3
#define RATE_MAX 100e9
#define SPEED_MIN 0.05

/* ---- from text ---- */

struct unit {
    const char *name;
    double times;
};

/* A number with one of the units. */
static bool number_read(const char *text, const struct unit *units, size_t count, double *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(end, units[i].name) == 0) {
            *value = number * units[i].times;
            return true;
        }
    return false;
}

static bool name_read(const char *text, size_t size, char *name)
{
    if (size == 0 || size > SLOW_NAME_MAX)
        return false;
    memcpy(name, text, size);
    name[size] = '\0';
    return true;
}

static bool ends_read(const char *word, struct slow_rule *rule)
{
    const char *dash = strchr(word, '-');
    if (dash == NULL)
        return name_read(word, strlen(word), rule->host);
    return name_read(word, (size_t)(dash - word), rule->host) &&
           name_read(dash + 1, strlen(dash + 1), rule->other);
}

static bool value_read(const char *word, struct slow_rule *rule)
{
    static const struct unit share[] = {{"", SLOW_WHOLE}};
    static const struct unit times[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
    static const struct unit rates[] = {{"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}};
    double value;
    if (strncmp(word, "speed=", 6) == 0) {
        if (!number_read(word + 6, share, 1, &value) || value < SPEED_MIN * SLOW_WHOLE ||
            value > SLOW_WHOLE)
            return false;
        rule->speed = (uint32_t)lround(value);
        return true;
    }
    if (strncmp(word, "alpha=", 6) == 0) {
        if (!number_read(word + 6, times, 3, &value) || value > SLOW_ALPHA_US_MAX)
            return false;
        rule->has_alpha = true;
        rule->alpha_us = (uint32_t)lround(value);
        return true;
    }
    if (strncmp(word, "rate=", 5) != 0 || !number_read(word + 5, rates, 3, &value) ||
        value < RATE_MIN || value > RATE_MAX)
        return false;
    rule->rate_bps = (uint64_t)llround(value);
    return true;
}

/* A speed is a host's, all else a link's; "*" alone may be all links. */
static bool rule_is_whole(struct slow_rule *rule)
{
    bool link = rule->has_alpha || rule->rate_bps != 0;
    if (link && rule->other[0] == '\0' && strcmp(rule->host, "*") == 0)
        snprintf(rule->other, sizeof rule->other, "*");
    return link ? rule->speed == 0 && rule->other[0] != '\0'
                : rule->speed != 0 && rule->other[0] == '\0';
}

/* The words of one rule; count 0: it is empty. */
static bool rule_read(char *text, struct slow_config *config)
{
    struct slow_rule rule = {.speed = 0};
    char *rest = NULL, *word;
    word = strtok_r(text, " \t\r", &rest);
    if (word == NULL)
        return true;
    if (config->count == SLOW_RULES_MAX || !ends_read(word, &rule))
        return false;
    while ((word = strtok_r(NULL, " \t\r", &rest)) != NULL)
        if (!value_read(word, &rule))
            return false;
    if (!rule_is_whole(&rule))
        return false;
    config->rules[config->count++] = rule;
    return true;
}

/* A comment goes to the end of its line, and what separates rules in it with it. */
int slow_parse(const char *text, struct slow_config *config)
{
    struct slow_config *read = calloc(1, sizeof *read);
    char *copy = strdup(text), *lines = NULL;
    bool good = read != NULL && copy != NULL && strlen(text) < SLOW_TEXT_MAX;
    for (char *line = good ? strtok_r(copy, "\n", &lines) : NULL; good && line != NULL;
         line = strtok_r(NULL, "\n", &lines)) {
        char *rules = NULL;
        line[strcspn(line, "#")] = '\0';
        for (char *rule = strtok_r(line, ",;", &rules); good && rule != NULL;
             rule = strtok_r(NULL, ",;", &rules))
            good = rule_read(rule, read);
    }
    if (good)
        *config = *read;
    free(copy);
    free(read);
    return good ? 0 : -1;
}

/* ---- to text ---- */

void slow_print(const struct slow_config *config, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < config->count; i++) {
        const struct slow_rule *r = &config->rules[i];
        char rule[2 * SLOW_NAME_MAX + 2 + WORD_MAX];
        int n = snprintf(rule, sizeof rule, "%s%s%s%s", i == 0 ? "" : ", ", r->host,
                         r->other[0] == '\0' ? "" : "-", r->other);
        if (r->speed != 0)
            n += snprintf(rule + n, WORD_MAX, " speed=%.3f", (double)r->speed / SLOW_WHOLE);
        if (r->has_alpha)
            n += snprintf(rule + n, WORD_MAX / 2, " alpha=%uus", r->alpha_us);
        if (r->rate_bps != 0)
            n += snprintf(rule + n, WORD_MAX / 2, " rate=%.3fkbit", (double)r->rate_bps / 1e3);
        if (used + (size_t)n < SLOW_TEXT_MAX) {
            memcpy(text + used, rule, (size_t)n + 1);
            used += (size_t)n;
        }
    }
}

/* ---- what it says ---- */

static bool matches(const char *pattern, const char *name)
{
    return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

uint32_t slow_speed(const struct slow_config *config, const char *host)
{
    uint32_t speed = SLOW_WHOLE;
    for (int i = 0; i < config->count; i++)
        if (config->rules[i].speed != 0 && matches(config->rules[i].host, host))
            speed = config->rules[i].speed;
    return speed;
}

bool slow_any_link(const struct slow_config *config)
{
    for (int i = 0; i < config->count; i++)
        if (config->rules[i].other[0] != '\0')
            return true;
    return false;
}

void slow_lane_init(struct slow_lane *lane, const struct slow_config *config, const char *from,
                    const char *to)
{
    *lane = (struct slow_lane){.alpha_us = 0};
    for (int i = 0; i < config->count; i++) {
        const struct slow_rule *r = &config->rules[i];
        if (r->other[0] == '\0' || !((matches(r->host, from) && matches(r->other, to)) ||
                                     (matches(r->host, to) && matches(r->other, from))))
            continue;
        if (r->has_alpha)
            lane->alpha_us = r->alpha_us;
        if (r->rate_bps != 0)
            lane->rate_bps = r->rate_bps;
    }
}

uint64_t slow_lane_send(struct slow_lane *lane, size_t bytes, bool queued, uint64_t now_us)
{
    uint64_t begin_us = lane->free_us > now_us ? lane->free_us : now_us;
    if (!queued || lane->rate_bps == 0)
        return lane->alpha_us;
    lane->free_us = begin_us + (uint64_t)ceil((double)bytes * 8e6 / (double)lane->rate_bps);
    return lane->free_us - now_us + lane->alpha_us;
}
