/*
 * sniff_note.h - what the payloads of frames say, as far as it is worth a word in a line.
 */
#ifndef COVEY_DAEMON_SNIFF_NOTE_H
#define COVEY_DAEMON_SNIFF_NOTE_H

#include "tools/wire/sniffer.h"

/* Fills in all but f->frame, from the beginning of its payload. */
void sniff_note(struct sniff_frame *f, const uint8_t *payload, size_t size);

#endif
