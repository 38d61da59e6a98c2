/*
 * finding_print.c - prints findings as lines or as JSON. The same finding of several hosts is one
 * line that names them all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/tool.h"
#include "tools/doctor/finding.h"
#include "tools/list/report.h"

static int print_findings_json(const struct findings *findings)
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
        status = print_findings_json(findings);
    else {
        for (size_t i = 0; i < findings->count; i++) {
            if (!was_before(findings, i))
                print_line(findings, i);
        }
        if (findings->count == 0)
            printf("nothing found on %d host%s\n", hosts, hosts == 1 ? "" : "s");
    }
    return findings->count ? TOOL_FAILED : status;
}
