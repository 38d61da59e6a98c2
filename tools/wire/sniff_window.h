/*
 * sniff_window.h - which window's stream a datagram's pieces belong to.
 */
#ifndef COVEY_DAEMON_SNIFF_WINDOW_H
#define COVEY_DAEMON_SNIFF_WINDOW_H

#include "tools/wire/sniff_stream.h"
#include "tools/wire/sniffer.h"

struct sniff_windows;

struct sniff_windows *sniff_windows_create(void); /* NULL: no memory */
void sniff_windows_destroy(struct sniff_windows *all);

/* The stream of the DATA that was sighted, in that session; NULL: no memory. Valid until the next
 * call: of too many the one that was not heard for longest is forgotten. */
struct sniff_stream *sniff_windows_stream(struct sniff_windows *all, const struct sighting *g,
                                          uint32_t session);
/* Another daemon has the index: its streams begin anew. */
void sniff_windows_forget(struct sniff_windows *all, uint32_t vm, uint32_t index);

#endif
