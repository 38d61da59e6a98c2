/*
 * keyfile.c - files of keys: text, a number to a word, or 64-bit binary. A word that is no number
 * is refused, and memory grows with the file, for a pipe does not say its size before.
 */
#include "apps/sort/keys.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define WORD_MAX 32 /* longer than any 64-bit number with its sign */

struct growing {
    int64_t *keys;
    size_t n;
    size_t capacity;
};

static int growing_append(struct growing *list, int64_t key)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity == 0 ? 4096 : 2 * list->capacity;
        int64_t *keys = realloc(list->keys, capacity * sizeof *keys);
        if (keys == NULL)
            return -1;
        list->keys = keys;
        list->capacity = capacity;
    }
    list->keys[list->n++] = key;
    return 0;
}

/* Reads one word. Returns its length, 0 at the end of the file, WORD_MAX for one too long. */
static int read_word(FILE *stream, char *word)
{
    int byte = getc_unlocked(stream);
    while (byte != EOF && isspace(byte))
        byte = getc_unlocked(stream);
    int length = 0;
    while (byte != EOF && !isspace(byte) && length < WORD_MAX) {
        word[length++] = (char)byte;
        byte = getc_unlocked(stream);
    }
    word[length] = '\0';
    return length;
}

static int read_text(FILE *stream, const char *path, struct growing *list)
{
    char word[WORD_MAX + 1];
    int length;
    while ((length = read_word(stream, word)) > 0) {
        char *end = NULL;
        errno = 0;
        int64_t key = strtoll(word, &end, 10);
        if (length == WORD_MAX || errno != 0 || *end != '\0') {
            warnx("'%s': key %zu, '%s', is not an integer of 64 bits", path, list->n + 1, word);
            return -1;
        }
        if (growing_append(list, key) < 0) {
            warnx("'%s' has more keys than memory holds", path);
            return -1;
        }
    }
    return 0;
}

static int read_binary(FILE *stream, const char *path, struct growing *list)
{
    int64_t key;
    size_t bytes;
    while ((bytes = fread(&key, 1, sizeof key, stream)) == sizeof key) {
        if (growing_append(list, key) < 0) {
            warnx("'%s' has more keys than memory holds", path);
            return -1;
        }
    }
    if (bytes == 0)
        return 0;
    warnx("'%s' ends within a key of %zu bytes", path, sizeof key);
    return -1;
}

int keys_read(const char *path, enum keys_format format, int64_t **keys, size_t *n)
{
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        warn("cannot read '%s'", path);
        return -1;
    }
    struct growing list = {0};
    int result =
        format == KEYS_TEXT ? read_text(stream, path, &list) : read_binary(stream, path, &list);
    if (result == 0 && ferror(stream)) {
        warn("cannot read '%s'", path);
        result = -1;
    }
    fclose(stream);
    if (result < 0) {
        free(list.keys);
        return -1;
    }
    *keys = list.keys;
    *n = list.n;
    return 0;
}

int keys_write(FILE *stream, enum keys_format format, const int64_t *keys, size_t n)
{
    if (format == KEYS_BINARY)
        return fwrite(keys, sizeof *keys, n, stream) == n ? 0 : -1;
    for (size_t i = 0; i < n; i++)
        if (fprintf(stream, "%" PRId64 "\n", keys[i]) < 0)
            return -1;
    return 0;
}
