/* What `covey doctor` has found: one line each, with its remedy. */
#ifndef COVEY_TOOLS_FINDING_H
#define COVEY_TOOLS_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#define FINDING_TEXT_BYTES 600

struct finding {
    char code[32]; /* for programs and --ignore */
    char host[64];
    char text[FINDING_TEXT_BYTES];
    char remedy[FINDING_TEXT_BYTES];
};

struct findings {
    struct finding *list;
    size_t count;
    const char *ignore; /* codes with commas between them, or NULL */
    bool lost;          /* memory was exhausted: there is more than the list says */
};

/* Adds one, unless its code is to be ignored or the same is there already. What comes from other
 * hosts is made printable. */
void findings_add(struct findings *findings, const char *code, const char *host, const char *remedy,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Prints them by host, as lines or as a JSON array; what was found of several hosts is one line.
 * Returns an exit status: TOOL_OK when nothing was found. `hosts` is how many were examined. */
int findings_print(struct findings *findings, bool json, int hosts);

void findings_free(struct findings *findings);

#endif
