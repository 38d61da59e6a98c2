/*
 * finding.c - the list of findings, without doubles and without those that the user wants to
 * ignore. Text from other hosts is made printable here.
 */
#include "tools/doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void printable(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; *from && i < size - 1; from++)
        to[i++] = (unsigned char)*from < ' ' || *from == 127 ? '?' : *from;
    to[i] = '\0';
}

static bool is_ignored(const struct findings *findings, const char *code)
{
    size_t length = strlen(code);
    const char *at = findings->ignore;
    while (at && (at = strstr(at, code))) {
        bool begins = at == findings->ignore || at[-1] == ',';
        if (begins && (at[length] == ',' || !at[length]))
            return true;
        at += length;
    }
    return false;
}

static bool is_known(const struct findings *findings, const struct finding *new)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->list[i];
        if (!strcmp(f->code, new->code) && !strcmp(f->host, new->host) &&
            !strcmp(f->text, new->text))
            return true;
    }
    return false;
}

void findings_add(struct findings *findings, const char *code, const char *host, const char *remedy,
                  const char *format, ...)
{
    struct finding new;
    char text[FINDING_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printable(new.code, sizeof new.code, code);
    printable(new.host, sizeof new.host, host);
    printable(new.text, sizeof new.text, text);
    printable(new.remedy, sizeof new.remedy, remedy);
    if (is_ignored(findings, new.code) || is_known(findings, &new))
        return;
    struct finding *list = reallocarray(findings->list, findings->count + 1, sizeof *list);
    findings->lost |= !list;
    if (!list)
        return;
    findings->list = list;
    list[findings->count++] = new;
}

void findings_free(struct findings *findings)
{
    free(findings->list);
    *findings = (struct findings){0};
}
