/*
 * complete.c - what the word under the cursor may become: a command, an option, or what its
 * placeholder stands for. It knows no terminal, so that the tests can ask it.
 */
#include "tools/console/complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/words.h"
#include "tools/console/candidate.h"
#include "tools/console/commands.h"

void complete_add(struct complete *complete, const char *text)
{
    if (!complete->prefix || strncmp(text, complete->prefix, strlen(complete->prefix)) != 0)
        return;
    if (complete->count == complete->capacity) {
        int capacity = complete->capacity ? 2 * complete->capacity : 16;
        char **list = reallocarray(complete->list, (size_t)capacity, sizeof *list);
        if (!list)
            return;
        complete->list = list;
        complete->capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy)
        complete->list[complete->count++] = copy;
}

size_t complete_common(const struct complete *complete)
{
    if (complete->count == 0)
        return 0;
    size_t common = strlen(complete->list[0]);
    for (int i = 1; i < complete->count; i++) {
        size_t same = 0;
        while (same < common && complete->list[i][same] == complete->list[0][same])
            same++;
        common = same;
    }
    return common;
}

void complete_free(struct complete *complete)
{
    for (int i = 0; i < complete->count; i++)
        free(complete->list[i]);
    free(complete->list);
    free(complete->prefix);
    *complete = (struct complete){0};
}

/* The option that `word` names, in either form and without a value attached, or NULL. */
static const struct args_option *option_of(const struct command *command, const char *word)
{
    for (const struct args_option *o = command->options; o && o->name; o++) {
        bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0;
        if (is_long || (word[0] == '-' && word[1] == o->key && !word[2]))
            return o;
    }
    return NULL;
}

static void add_options(struct complete *complete, const struct command *command)
{
    char text[64];
    for (const struct args_option *o = command->options; o && o->name; o++) {
        snprintf(text, sizeof text, "--%s", o->name);
        complete_add(complete, text);
    }
}

/* Where the word under the cursor begins: after the last blank or, in a list, comma. */
static size_t word_start(const char *line, size_t bytes, const char *separators)
{
    while (bytes > 0 && !strchr(separators, line[bytes - 1]))
        bytes--;
    return bytes;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void complete_find(struct complete *complete, struct tool *tool, const char *line, size_t bytes)
{
    const char *why;
    struct words words;
    *complete = (struct complete){0};
    size_t blank = word_start(line, bytes, " \t");
    size_t start = word_start(line, bytes, " \t,");
    char *before = strndup(line, blank);
    complete->prefix = strndup(line + start, bytes - start);
    if (before && complete->prefix && words_split(&words, before, &why) == 0) {
        if (words.count == 0)
            candidate_add(complete, tool, "COMMAND");
        else {
            /* The candidates after the words before: words->list[0] is a command. */
            const struct command *command = command_find(words.list[0]);
            if (command) {
                const struct args_option *option = option_of(command, words.list[words.count - 1]);
                if (option && option->argument)
                    candidate_add(complete, tool, option->argument);
                else if (complete->prefix[0] == '-')
                    add_options(complete, command);
                else if (command->operand)
                    candidate_add(complete, tool, command->operand);
            }
        }
        words_free(&words);
    }
    if (complete->count)
        qsort(complete->list, (size_t)complete->count, sizeof *complete->list, compare_words);
    free(before);
}
