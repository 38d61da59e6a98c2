/*
 * words.c - splits a line into words by the rules of words.h. Nothing is expanded: what people
 * type in a host file or at the console is taken as it stands.
 */
#include "tools/base/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies what stands between quotes; returns the position after the closing one, or NULL. */
static const char *copy_quoted(const char *in, char **out)
{
    char quote = *in++;
    while (*in && *in != quote) {
        if (quote == '"' && *in == '\\' && (in[1] == '"' || in[1] == '\\'))
            in++;
        *(*out)++ = *in++;
    }
    return *in ? in + 1 : NULL;
}

/* Copies one word; returns the position after it, or NULL when a quote is not closed. */
static const char *copy_word(const char *in, char **out)
{
    while (in && *in && !is_separator(*in)) {
        if (*in == '\'' || *in == '"') {
            in = copy_quoted(in, out);
        } else {
            if (*in == '\\' && in[1])
                in++;
            *(*out)++ = *in++;
        }
    }
    *(*out)++ = '\0';
    return in;
}

static int fail_split(struct words *words, const char **why, const char *text)
{
    *why = text;
    words_free(words);
    return -1;
}

int words_split_at(struct words *words, const char *line, const char **why, int *column)
{
    size_t size = strlen(line) + 1;
    const char *in = line;
    *column = 1;
    *words = (struct words){.text = malloc(2 * size),
                            .list = calloc(size / 2 + 2, sizeof(char *)),
                            .columns = calloc(size / 2 + 2, sizeof(int))};
    if (!words->text || !words->list || !words->columns)
        return fail_split(words, why, "memory is exhausted");
    char *out = words->text;
    for (;;) {
        while (is_separator(*in))
            in++;
        if (!*in || *in == '#')
            return 0;
        *column = words->columns[words->count] = (int)(in - line) + 1;
        words->list[words->count++] = out;
        in = copy_word(in, &out);
        if (!in)
            return fail_split(words, why, "a quote is not closed");
    }
}

int words_split(struct words *words, const char *line, const char **why)
{
    int column;
    return words_split_at(words, line, why, &column);
}

void words_free(struct words *words)
{
    free(words->list);
    free(words->columns);
    free(words->text);
    *words = (struct words){0};
}
