/*
 * door_options.c - takes the keys of all calls out of the text; what it does not know is left to
 * the library that solves, which names what it allows.
 */
#include "lib/domain/door/door_options.h"

#include "lib/domain/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "COVEY_DOOR"
#define TASKS_MOST 4096
#define RETRY_MOST 100
#define SECONDS_MOST 86400
#define KEEP_S 10

struct number {
    const char *key;
    double least, most;
    int is_whole;
};

enum { HOSTS, TASKS, RETRY, KEEP, LIMIT, NUMBERS };

static const struct number numbers[NUMBERS] = {[HOSTS] = {"hosts", 0, TASKS_MOST, 1},
                                               [TASKS] = {"tasks", 1, TASKS_MOST, 1},
                                               [RETRY] = {"retry", 0, RETRY_MOST, 1},
                                               [KEEP] = {"keep", 0, SECONDS_MOST, 0},
                                               [LIMIT] = {"limit", 0, SECONDS_MOST, 0}};

static void set_number(struct door_options *options, int which, double value)
{
    int *const whole[NUMBERS] = {&options->hosts, &options->tasks, &options->retry};
    double *const any[NUMBERS] = {[KEEP] = &options->keep_s, [LIMIT] = &options->limit_s};
    if (whole[which] != NULL)
        *whole[which] = (int)value;
    else
        *any[which] = value;
}

static int read_number(const struct number *number, const char *text, size_t length, double *value)
{
    char word[32], *end;
    if (length > 0 && length < sizeof word) {
        memcpy(word, text, length);
        word[length] = '\0';
        *value = strtod(word, &end);
        if (*end == '\0' && *value >= number->least && *value <= number->most &&
            (!number->is_whole || *value == (double)(int)*value))
            return 0;
    }
    return domain_fail(COVEY_EINVAL, "%s has no '%.*s': allowed are %snumbers from %g to %g",
                       number->key, (int)length, text, number->is_whole ? "whole " : "",
                       number->least, number->most);
}

static int keep_rest(struct door_options *options, const char *word, size_t length)
{
    size_t used = strlen(options->rest);
    if (used + length + 2 > sizeof options->rest)
        return domain_fail(COVEY_EINVAL, "the options have more than %zu characters",
                           sizeof options->rest - 2);
    snprintf(options->rest + used, sizeof options->rest - used, "%s%.*s", used > 0 ? "," : "",
             (int)length, word);
    return 0;
}

static int read_word(struct door_options *options, const char *word, size_t length)
{
    double value = 0;
    if (length == strlen("explain") && strncmp(word, "explain", length) == 0) {
        options->explain = 1;
        return 0;
    }
    for (int i = 0; i < NUMBERS; i++) {
        size_t key = strlen(numbers[i].key);
        if (length <= key || strncmp(word, numbers[i].key, key) != 0 || word[key] != '=')
            continue;
        int error = read_number(&numbers[i], word + key + 1, length - key - 1, &value);
        if (error < 0)
            return error;
        set_number(options, i, value);
        return 0;
    }
    return keep_rest(options, word, length);
}

static int read_words(struct door_options *options, const char *text)
{
    int error = 0;
    while (error == 0 && text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        error = length > 0 ? read_word(options, text, length) : 0;
        text += length;
        text += *text == ',';
    }
    return error;
}

int door_options_read(const char *text, struct door_options *options)
{
    *options = (struct door_options){.hosts = -1, .tasks = -1, .keep_s = KEEP_S};
    int error = read_words(options, text);
    if (error == 0)
        error = read_words(options, getenv(VARIABLE));
    if (error == 0 && options->tasks > (options->hosts == 0 ? 1 : TASKS_MOST))
        return domain_fail(COVEY_EINVAL, "%d tasks cannot be the caller alone", options->tasks);
    if (error == 0 && options->tasks > 0 && options->tasks < options->hosts)
        return domain_fail(COVEY_EINVAL, "%d tasks cannot be on %d hosts", options->tasks,
                           options->hosts);
    return error;
}
