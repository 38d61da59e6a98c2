#include "tools/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
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
    while (in && *in && !is_blank(*in)) {
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

static int fail(struct words *words, const char **why, const char *text)
{
    *why = text;
    words_free(words);
    return -1;
}

int words_split(struct words *words, const char *line, const char **why)
{
    size_t size = strlen(line) + 1;
    *words = (struct words){.text = malloc(2 * size), .list = calloc(size / 2 + 2, sizeof(char *))};
    if (!words->text || !words->list)
        return fail(words, why, "memory is exhausted");
    char *out = words->text;
    for (;;) {
        while (is_blank(*line))
            line++;
        if (!*line || *line == '#')
            return 0;
        words->list[words->count++] = out;
        line = copy_word(line, &out);
        if (!line)
            return fail(words, why, "a quote is not closed");
    }
}

void words_free(struct words *words)
{
    free(words->list);
    free(words->text);
    *words = (struct words){0};
}
