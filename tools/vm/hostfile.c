/*
 * hostfile.c - reads host files by the grammar of hostfile.h. An error names the file and the
 * line.
 */
#include "tools/vm/hostfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader stands. */
struct reader {
    struct hostfile *file;
    const char *name;
    int line;
    int column;
    struct hostspec defaults;
};

static int __attribute__((format(printf, 2, 3)))
refuse_line(struct reader *reader, const char *format, ...)
{
    char *error = reader->file->error;
    size_t size = sizeof reader->file->error;
    int used = snprintf(error, size, "%.255s:%d:%d: ", reader->name, reader->line, reader->column);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error + used, size - (size_t)used, format, arguments);
    for (char *at = error; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?'; /* what the file says may hold line ends and more */
    va_end(arguments);
    return -1;
}

/* Room for one more element, in steps that double; NULL when memory is exhausted. */
static void *grow_list(void *list, int count, size_t element)
{
    bool full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
    size_t capacity = count < 8 ? 8 : 2 * (size_t)count;
    return full ? reallocarray(list, capacity, element) : list;
}

static int read_field(struct reader *reader, const char *word, struct hostspec *host)
{
    char error[HOSTSPEC_ERROR_BYTES];
    const char *why;
    size_t length = strcspn(word, "=");
    if (length == 0 || !word[length])
        return refuse_line(reader, "%.60s: must be key=value", word);
    int key = hostspec_find(word, length, &why);
    if (key == 0)
        return refuse_line(reader, "%.*s: %s", (int)(length < 60 ? length : 60), word, why);
    if (hostspec_set(host, key, word + length + 1, error))
        return 0;
    reader->column += (int)length + 1;
    return refuse_line(reader, "%s", error);
}

static int read_fields(struct reader *reader, const struct words *words, int first,
                       struct hostspec *host)
{
    for (int i = first; i < words->count; i++) {
        reader->column = words->columns[i];
        if (read_field(reader, words->list[i], host) < 0)
            return -1;
    }
    return 0;
}

static int add_host(struct reader *reader, const struct words *words)
{
    struct hostfile *file = reader->file;
    struct hostfile_host new = {.host = reader->defaults, .later = *words->list[0] == '&'};
    char error[HOSTSPEC_ERROR_BYTES];
    int first = new.later && !words->list[0][1] && words->count > 1; /* "& name" or "&name" */
    int column = words->columns[first];
    new.host.spec.name = words->list[first] + (new.later && !first);
    if (read_fields(reader, words, first + 1, &new.host) < 0)
        return -1;
    reader->column = column;
    if (!hostspec_check(&new.host, error))
        return refuse_line(reader, "%s", error);
    if (hostfile_find(file, new.host.spec.name))
        return refuse_line(reader, "host %.63s: named before", new.host.spec.name);
    struct hostfile_host *hosts = grow_list(file->hosts, file->count, sizeof *hosts);
    if (!hosts)
        return refuse_line(reader, "memory is exhausted");
    file->hosts = hosts;
    hosts[file->count++] = new;
    return 0;
}

static int read_host_line(struct reader *reader, const char *text)
{
    struct hostfile *file = reader->file;
    const char *why;
    reader->column = 1;
    struct words *lines = grow_list(file->lines, file->line_count, sizeof *lines);
    if (!lines)
        return refuse_line(reader, "memory is exhausted");
    file->lines = lines;
    struct words *words = &lines[file->line_count];
    if (words_split_at(words, text, &why, &reader->column) < 0)
        return refuse_line(reader, "%s", why);
    file->line_count++;
    if (words->count == 0)
        return 0;
    if (strcmp(words->list[0], "*") == 0)
        return read_fields(reader, words, 1, &reader->defaults);
    return add_host(reader, words);
}

static int cannot_read(struct hostfile *file, const char *path)
{
    snprintf(file->error, sizeof file->error, "%.255s: %s", path, strerror(errno));
    return -1;
}

int hostfile_read(struct hostfile *file, FILE *in, const char *name)
{
    *file = (struct hostfile){0};
    struct reader reader = {.file = file, .name = name};
    char *text = NULL;
    size_t capacity = 0;
    int result = 0;
    while (result == 0 && getline(&text, &capacity, in) >= 0) {
        reader.line++;
        result = read_host_line(&reader, text);
    }
    if (result == 0 && ferror(in))
        result = cannot_read(file, name);
    free(text);
    return result;
}

int hostfile_load(struct hostfile *file, const char *path)
{
    if (strcmp(path, "-") == 0)
        return hostfile_read(file, stdin, "standard input");
    *file = (struct hostfile){0};
    FILE *in = fopen(path, "re");
    if (!in)
        return cannot_read(file, path);
    int result = hostfile_read(file, in, path);
    fclose(in);
    return result;
}

const struct hostfile_host *hostfile_find(const struct hostfile *file, const char *name)
{
    for (int i = 0; i < file->count; i++) {
        if (strcmp(file->hosts[i].host.spec.name, name) == 0)
            return &file->hosts[i];
    }
    return NULL;
}

void hostfile_free(struct hostfile *file)
{
    for (int i = 0; i < file->line_count; i++)
        words_free(&file->lines[i]);
    free(file->lines);
    free(file->hosts);
    *file = (struct hostfile){0};
}
