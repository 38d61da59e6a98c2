/*
 * class_told.c - the words of a class; see class_told.h. What does not fit is left out: names
 * beyond some hundreds, lines beyond the last ones.
 */
#include "tools/class/class_told.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void told_line(struct told *told, const char *format, ...)
{
    char *line = told->lines[told->count++ % TOLD_LINES];
    time_t now = time(NULL);
    struct tm tm;
    va_list arguments;
    size_t used = strftime(line, TOLD_LINE_BYTES, "%H:%M:%S ", localtime_r(&now, &tm));
    va_start(arguments, format);
    vsnprintf(line + used, TOLD_LINE_BYTES - used, format, arguments);
    va_end(arguments);
}

void told_joined(struct told *told, const char *name, const char *from)
{
    told->joined++;
    told_line(told, "%s joined from %s", name, from);
    if (strlen(told->names) + strlen(name) + 3 < sizeof told->names)
        append(told->names, sizeof told->names, ", %s", name);
}

int32_t told_since(const struct told *told, int32_t since, char text[TOLD_TEXT_BYTES])
{
    int32_t first = told->count > TOLD_LINES ? told->count - TOLD_LINES : 0;
    text[0] = '\0';
    if (since < first || since > told->count)
        since = since < first ? first : told->count;
    for (; since < told->count; since++) {
        const char *line = told->lines[since % TOLD_LINES];
        if (strlen(text) + strlen(line) + 2 > TOLD_TEXT_BYTES)
            break;
        append(text, TOLD_TEXT_BYTES, "%s\n", line);
    }
    return since;
}

static void status_open(const struct door_status *status, uint16_t port, uint16_t tcp_port,
                        uint64_t now_ms, char text[TOLD_TEXT_BYTES])
{
    char code[PASSCODE_TEXT_MAX], at[16] = "";
    passcode_print(&status->code, code);
    if (port != BEACON_PORT)
        snprintf(at, sizeof at, " --port %u", port);
    append(text, TOLD_TEXT_BYTES, "code %s\n", code);
    append(text, TOLD_TEXT_BYTES, "students join by: covey join --code %s%s\n", code, at);
    append(text, TOLD_TEXT_BYTES, "UDP port %u, TCP port %u; open for %u more minutes\n", port,
           tcp_port,
           (unsigned)((status->until_ms - (now_ms < status->until_ms ? now_ms : status->until_ms) +
                       59999) /
                      60000));
    if (status->wrong > 0 || status->voided > 0)
        append(text, TOLD_TEXT_BYTES, "wrong tries of this code: %u of %u; codes void: %u of %u\n",
               status->wrong, DOOR_WRONG_MAX, status->voided, DOOR_VOID_MAX);
}

void told_status(const struct told *told, const struct door_status *status, uint16_t port,
                 uint16_t tcp_port, uint64_t now_ms, char text[TOLD_TEXT_BYTES])
{
    text[0] = '\0';
    if (status->state == DOOR_OPEN)
        status_open(status, port, tcp_port, now_ms, text);
    else
        append(text, TOLD_TEXT_BYTES, "the class is closed%s; open it by: covey class open\n",
               status->state == DOOR_TRIED ? ": somebody tried wrong codes, and too many are void"
               : status->state == DOOR_TIMEOUT ? ": its time is over"
                                               : "");
    append(text, TOLD_TEXT_BYTES, "joined: %u%s%s\n", told->joined, told->joined > 0 ? ": " : "",
           told->joined > 0 ? told->names + 2 : "");
}
