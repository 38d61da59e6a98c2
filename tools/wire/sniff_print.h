/*
 * sniff_print.h - a sighting as a line, for people or as JSON. What comes from the wire is shown
 * without the characters that a terminal would obey.
 */
#ifndef COVEY_DAEMON_SNIFF_PRINT_H
#define COVEY_DAEMON_SNIFF_PRINT_H

#include <stdio.h>

#include "tools/wire/sniffer.h"

void sniff_print_text(FILE *out, const struct sighting *sighting);
void sniff_print_json(FILE *out, const struct sighting *sighting);

/* "hello", "stream-proof" ...: what a sighting is, in a word. */
const char *sniff_print_kind(const struct sighting *sighting);

/* A character of a name from the wire. */
static inline char sniff_print_safe(char c)
{
    return c < ' ' || c > '~' ? '?' : c;
}

#endif
