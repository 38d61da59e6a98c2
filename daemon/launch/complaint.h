/*
 * complaint.h - why a launcher failed, in its own words: of the many lines that ssh and a shell may
 * print, the one that tells.
 */
#ifndef COVEY_DAEMON_COMPLAINT_H
#define COVEY_DAEMON_COMPLAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/launch/dialogue.h"

struct complaint {
    const struct complaint_kind *kind; /* NULL: none that is known */
    char line[DIALOGUE_LINE_MAX + 1];  /* "": nothing was said */
};

/* All zero: nothing was heard yet. Each line either tells more than what was heard, or is passed
 * over; among lines of no known kind the last one tells. */
void complaint_hear(struct complaint *complaint, const char *line);

/* The code (enum covey_error) that the telling line stands for; COVEY_EADDHOST for an unknown. */
int32_t complaint_error(const struct complaint *complaint);

/* The telling line, with what to do where that is known: "Connection refused; is ..." */
void complaint_print(const struct complaint *complaint, char *text, size_t size);

/* Whether a server closed the connection before it let anybody in, as one does that has too many
 * at a time: another try may succeed. */
bool complaint_again(const struct complaint *complaint);

#endif
