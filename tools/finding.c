#include "tools/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report.h"
#include "tools/tool.h"

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

static int print_json(const struct findings *findings)
{
    json_t *array = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->list[i];
        report_add(&array, json_pack("{s:o, s:o, s:o, s:o}", "code", report_text(f->code), "host",
                                     report_text(f->host), "text", report_text(f->text), "remedy",
                                     report_text(f->remedy)));
    }
    return report_print("doctor", array);
}

static bool same_but_host(const struct finding *a, const struct finding *b)
{
    return !strcmp(a->code, b->code) && !strcmp(a->text, b->text) && !strcmp(a->remedy, b->remedy);
}

static bool was_before(const struct findings *findings, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (same_but_host(&findings->list[i], &findings->list[at]))
            return true;
    }
    return false;
}

/* One line for all hosts of which the same was found. */
static void print_line(const struct findings *findings, size_t at)
{
    const struct finding *f = &findings->list[at];
    printf("%s", f->host);
    for (size_t i = at + 1; i < findings->count; i++) {
        if (same_but_host(f, &findings->list[i]))
            printf(", %s", findings->list[i].host);
    }
    printf(": %s [%s]; remedy: %s\n", f->text, f->code, f->remedy);
}

static void print_lines(const struct findings *findings, int hosts)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (!was_before(findings, i))
            print_line(findings, i);
    }
    if (findings->count == 0)
        printf("nothing found on %d host%s\n", hosts, hosts == 1 ? "" : "s");
}

static int by_host(const void *a, const void *b)
{
    const struct finding *x = a;
    const struct finding *y = b;
    int order = strverscmp(x->host, y->host);
    if (!order)
        order = strcmp(x->code, y->code);
    return order ? order : strcmp(x->text, y->text);
}

int findings_print(struct findings *findings, bool json, int hosts)
{
    if (findings->count)
        qsort(findings->list, findings->count, sizeof *findings->list, by_host);
    if (findings->lost)
        return tool_error("doctor", "memory is exhausted");
    int status = TOOL_OK;
    if (json)
        status = print_json(findings);
    else
        print_lines(findings, hosts);
    return findings->count ? TOOL_FAILED : status;
}

void findings_free(struct findings *findings)
{
    free(findings->list);
    *findings = (struct findings){0};
}
