/*
 * complete.c - what the word under the cursor may become: a command, an option, or what its
 * placeholder stands for. It knows no terminal, so that shells and tests can ask it.
 */
#include "tools/console/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/words.h"
#include "tools/console/candidate.h"
#include "tools/console/commands.h"

void complete_add_helped(struct complete *complete, const char *text, const char *help)
{
    if (!complete->prefix || strncmp(text, complete->prefix, strlen(complete->prefix)) != 0)
        return;
    if (complete->count == complete->capacity) {
        int capacity = complete->capacity ? 2 * complete->capacity : 16;
        struct complete_candidate *list =
            reallocarray(complete->list, (size_t)capacity, sizeof *list);
        if (!list)
            return;
        complete->list = list;
        complete->capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy)
        complete->list[complete->count++] = (struct complete_candidate){copy, help};
}

void complete_add(struct complete *complete, const char *text)
{
    complete_add_helped(complete, text, NULL);
}

size_t complete_common(const struct complete *complete)
{
    if (complete->count == 0)
        return 0;
    size_t common = strlen(complete->list[0].text);
    for (int i = 1; i < complete->count; i++) {
        size_t same = 0;
        while (same < common && complete->list[i].text[same] == complete->list[0].text[same])
            same++;
        common = same;
    }
    return common;
}

void complete_free(struct complete *complete)
{
    for (int i = 0; i < complete->count; i++)
        free(complete->list[i].text);
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
        complete_add_helped(complete, text, o->help);
    }
}

/* What an operand may be: words and a placeholder, "start|stop|FILE". */
static void add_operand(struct complete *complete, struct tool *tool, const char *operand)
{
    char text[64];
    while (*operand) {
        size_t length = strcspn(operand, "|");
        snprintf(text, sizeof text, "%.*s", (int)length, operand);
        if (islower((unsigned char)text[0]))
            complete_add(complete, text);
        else
            candidate_add(complete, tool, text);
        operand += length + (operand[length] == '|');
    }
}

static int compare_candidates(const void *a, const void *b)
{
    const struct complete_candidate *first = a, *second = b;
    return strcmp(first->text, second->text);
}

/* The part of `value` that is completed: of a list, what follows the last comma. */
static bool set_prefix(struct complete *complete, const char *value, const char *placeholder)
{
    const char *comma = placeholder && strchr(placeholder, ',') ? strrchr(value, ',') : NULL;
    complete->prefix = strdup(comma ? comma + 1 : value);
    return complete->prefix != NULL;
}

/* --name=value: the option, and where its value begins; otherwise NULL. */
static const struct args_option *attached_option(const struct command *command, const char *word,
                                                 const char **value)
{
    char name[64];
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || word[length] != '=' || length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    *value = word + length + 1;
    return option_of(command, name);
}

/* Whether what is run has been named: what follows is its own. */
static bool is_program_named(const struct command *command, char *const *words, int count)
{
    if (!command->operand || strcmp(command->operand, "PROG") != 0)
        return false;
    for (int i = 0; i < count; i++) {
        const struct args_option *option = option_of(command, words[i]);
        if (option && option->argument)
            i++;
        else if (words[i][0] != '-')
            return true;
    }
    return false;
}

/* The word that follows words[count], which follow the command. */
static void complete_argument(struct complete *complete, struct tool *tool,
                              const struct command *command, char *const *words, int count,
                              const char *word)
{
    const char *value = word;
    bool of_program = is_program_named(command, words, count);
    const struct args_option *option = NULL;
    if (count && !of_program)
        option = option_of(command, words[count - 1]);
    if (!of_program && (!option || !option->argument))
        option = attached_option(command, word, &value);
    const char *placeholder = of_program                   ? "FILE"
                              : option && option->argument ? option->argument
                                                           : NULL;
    if (!set_prefix(complete, value, placeholder))
        return;
    if (placeholder)
        candidate_add(complete, tool, placeholder);
    else if (word[0] == '-')
        add_options(complete, command);
    else if (command->operand)
        add_operand(complete, tool, command->operand);
}

/* The place of the command among words, behind global options; count if there is none. */
static int find_place(const struct complete *complete, struct tool *tool, char *const *words,
                      int count)
{
    int place = 0;
    while (complete->for_shell && place < count && words[place][0] == '-') {
        const char *value = NULL;
        const struct args_option *option = attached_option(&command_none, words[place], &value);
        if (!option)
            option = option_of(&command_none, words[place]);
        if (option && option->argument && !value && place + 1 < count)
            value = words[++place];
        if (value && *value)
            tool_set_vm(tool, value);
        place++;
    }
    return place;
}

void complete_words(struct complete *complete, struct tool *tool, char *const *words, int count)
{
    static const struct command line = {.name = "", .operand = "COMMAND"};
    const char *word = words[count - 1];
    int place = find_place(complete, tool, words, count - 1);
    if (place >= count - 1)
        complete_argument(complete, tool, complete->for_shell ? &command_none : &line, words,
                          count - 1, word);
    else if (command_find(words[place]))
        complete_argument(complete, tool, command_find(words[place]), &words[place + 1],
                          count - 2 - place, word);
    if (complete->count)
        qsort(complete->list, (size_t)complete->count, sizeof *complete->list, compare_candidates);
}

void complete_find(struct complete *complete, struct tool *tool, const char *line, size_t bytes)
{
    const char *why;
    struct words words;
    *complete = (struct complete){0};
    size_t blank = bytes; /* the word under the cursor begins after the last one */
    while (blank > 0 && !strchr(" \t", line[blank - 1]))
        blank--;
    char *before = strndup(line, blank);
    char *word = strndup(line + blank, bytes - blank);
    if (before && word && words_split(&words, before, &why) == 0) {
        char **all = reallocarray(NULL, (size_t)words.count + 1, sizeof *all);
        if (all) {
            for (int i = 0; i < words.count; i++)
                all[i] = words.list[i];
            all[words.count] = word;
            complete_words(complete, tool, all, words.count + 1);
        }
        free(all);
        words_free(&words);
    }
    if (!complete->prefix)
        complete->prefix = strdup("");
    free(word);
    free(before);
}
