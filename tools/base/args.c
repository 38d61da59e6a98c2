/*
 * args.c - parses the options of a subcommand from its table. It has no globals, unlike getopt(),
 * for the console parses one line after the other.
 */
#include "tools/base/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void args_init(struct args *args, const struct args_option *options, int argc, char **argv)
{
    *args = (struct args){.options = options, .argc = argc, .argv = argv, .next = 1};
}

static int refuse_word(struct args *args, const char *text, size_t length, const char *why)
{
    snprintf(args->error, sizeof args->error, "%.*s: %s", (int)(length < 80 ? length : 80), text,
             why);
    return ARGS_BAD;
}

static const struct args_option *find_long(const struct args *args, const char *name, size_t length)
{
    for (const struct args_option *o = args->options; o && o->name; o++) {
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    }
    return NULL;
}

static const struct args_option *find_short(const struct args *args, char letter)
{
    for (const struct args_option *o = args->options; o && o->name; o++) {
        if (o->key == (unsigned char)letter)
            return o;
    }
    return NULL;
}

/* Gives an option its value: the attached one, otherwise the next argument. */
static int take_value(struct args *args, const struct args_option *option, const char *attached)
{
    args->value = attached;
    if (!option->argument || attached)
        return option->key;
    if (args->next == args->argc) {
        snprintf(args->error, sizeof args->error, "--%s needs a value (%s)", option->name,
                 option->argument);
        return ARGS_BAD;
    }
    args->value = args->argv[args->next++];
    return option->key;
}

static int take_short(struct args *args, const char *word)
{
    const struct args_option *option = find_short(args, word[1]);
    if (!option)
        return refuse_word(args, word, strlen(word), "unknown option");
    if (word[2] && !option->argument)
        return refuse_word(args, word, strlen(word), "takes no value");
    return take_value(args, option, word[2] ? word + 2 : NULL);
}

int args_next(struct args *args)
{
    if (args->next == args->argc)
        return ARGS_END;
    const char *word = args->argv[args->next++];
    if (args->operands_only || word[0] != '-' || !word[1]) {
        args->value = word;
        return ARGS_OPERAND;
    }
    if (word[1] != '-')
        return take_short(args, word);
    if (word[2]) {
        size_t length = strcspn(word, "=");
        const char *attached = word[length] ? word + length + 1 : NULL;
        const struct args_option *option = find_long(args, word + 2, length - 2);
        if (!option)
            return refuse_word(args, word, length, "unknown option");
        if (attached && !option->argument)
            return refuse_word(args, word, length, "takes no value");
        return take_value(args, option, attached);
    }
    args->operands_only = true;
    return args_next(args);
}

int args_choice(const char *const *words, const char *text)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0)
            return i;
    }
    return -1;
}

bool args_number(const char *text, long min, long max, long *number)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < min || value > max)
        return false;
    *number = value;
    return true;
}

bool args_real(const char *text, double min, double max, double *number)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max))
        return false;
    *number = value;
    return true;
}

bool args_size(const char *text, int64_t max, int64_t *size)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || end == text || (*end && (!unit || end[1])) || value < 1 || value > max >> shift)
        return false;
    *size = (int64_t)value << shift;
    return true;
}
