/*
 * trace_file.c - the file of a trace, ended and read for a command.
 */
#include "tools/trace/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/command.h"
#include "tools/trace/trace_compress.h"

static uint8_t *read_file(const char *command, const char *path, size_t *size)
{
    FILE *f = fopen(path, "re");
    uint8_t *bytes = NULL;
    size_t room = 0;
    *size = 0;
    while (f != NULL && !feof(f) && !ferror(f)) {
        if (*size == room) {
            room = room == 0 ? 1 << 20 : 2 * room;
            uint8_t *more = realloc(bytes, room);
            if (more == NULL)
                break;
            bytes = more;
        }
        *size += fread(bytes + *size, 1, room - *size, f);
    }
    bool good = f != NULL && feof(f) && !ferror(f);
    int error = errno;
    if (f != NULL)
        fclose(f);
    if (good)
        return bytes;
    tool_error(command, "%s: %s", path,
               f == NULL || error != 0 ? strerror(error) : "memory is exhausted");
    free(bytes);
    return NULL;
}

/* What is not in it is said before what is. */
static void say_missing(const char *command, const char *path, const struct trace *trace)
{
    if (trace->cut)
        tool_error(command, "%s ends in the middle: what came before is read", path);
    if (trace->dropped > 0)
        tool_error(command,
                   "%llu records are missing: tasks wrote them faster than they were fetched",
                   (unsigned long long)trace->dropped);
    if (trace->untraced > 0)
        tool_error(command, "%llu tasks are missing: their hosts had no room for so many",
                   (unsigned long long)trace->untraced);
}

int trace_file_end(const char *command, const char *path)
{
    if (trace_compress(path) == 0)
        return TOOL_OK;
    return tool_error(command, "%s is not compressed: %s", path, strerror(errno));
}

int trace_file_use(const char *command, const char *path, trace_use *use, void *context)
{
    struct trace trace = {0};
    size_t size = 0;
    const char *why = "";
    uint8_t *bytes = read_file(command, path, &size);
    if (bytes == NULL)
        return TOOL_FAILED;
    bytes = trace_decompress(bytes, &size, &why);
    if (bytes == NULL)
        return tool_error(command, "%s: %s", path, why);
    int status = TOOL_FAILED;
    if (trace_read(&trace, bytes, size)) {
        say_missing(command, path, &trace);
        status = use(&trace, context);
    } else {
        tool_error(command, "%s: %s", path, trace.error);
    }
    trace_free(&trace);
    free(bytes);
    return status;
}
