/*
 * aliases.c - words that stand for a command and its first arguments.
 */
#include "lib/pvm3/console/console.h"

#include <stdlib.h>
#include <string.h>

struct alias {
    struct alias *next;
    char *name, *text; /* words with a blank between them */
};

static struct alias **alias_find(struct alias **at, const char *name)
{
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static void alias_free(struct alias *alias)
{
    free(alias->name);
    free(alias->text);
    free(alias);
}

void alias_remove(struct console *c, const char *name)
{
    struct alias **at = alias_find(&c->aliases, name), *gone = *at;
    if (gone == NULL)
        return;
    *at = gone->next;
    alias_free(gone);
}

void alias_set(struct console *c, const char *name, int argc, char **argv)
{
    struct alias *alias = calloc(1, sizeof *alias);
    alias_remove(c, name);
    if (alias != NULL) {
        alias->name = strdup(name);
        size_t size = 1;
        for (int i = 0; i < argc; i++)
            size += strlen(argv[i]) + 1;
        char *text = calloc(1, size), *end = text;
        for (int i = 0; i < argc && text != NULL; i++) {
            end = stpcpy(end, argv[i]);
            *end++ = i + 1 < argc ? ' ' : '\0';
        }
        alias->text = text;
    }
    if (alias == NULL || alias->name == NULL || alias->text == NULL) {
        printf("alias: out of memory\n");
        if (alias != NULL)
            alias_free(alias);
        return;
    }
    struct alias **at = &c->aliases;
    while (*at != NULL)
        at = &(*at)->next;
    *at = alias;
}

void alias_list(const struct console *c)
{
    for (const struct alias *a = c->aliases; a != NULL; a = a->next)
        printf("%s\t%s\n", a->name, a->text);
}

int alias_expand(const struct console *c, int argc, char **argv, char *text, size_t size)
{
    char *words[WORDS_MAX];
    const struct alias *a = c->aliases;
    while (a != NULL && strcmp(a->name, argv[0]) != 0)
        a = a->next;
    if (a == NULL || strlen(a->text) >= size)
        return argc;
    memcpy(text, a->text, strlen(a->text) + 1);
    int count = words_split(text, words, WORDS_MAX);
    if (count < 1 || count + argc > WORDS_MAX)
        return argc;
    memmove(argv + count, argv + 1, (size_t)argc * sizeof *argv);
    memcpy(argv, words, (size_t)count * sizeof *argv);
    return count + argc - 1;
}

void alias_free_all(struct console *c)
{
    while (c->aliases != NULL)
        alias_remove(c, c->aliases->name);
}
