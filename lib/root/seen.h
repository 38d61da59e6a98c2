/*
 * seen.h - what is round the tasks of a trace: how busy their hosts are, bags, the network, and
 * what daemons log meanwhile, as lines of text (chunks of kind 'S', trace_record.h).
 */
#ifndef COVEY_LIB_ROOT_SEEN_H
#define COVEY_LIB_ROOT_SEEN_H

#include <stddef.h>

#include "lib/covey.h"

struct seen;

/* Logs are told from now on. NULL: no memory. */
struct seen *seen_create(covey_t *vm);
void seen_destroy(struct seen *seen);

/* The lines of this moment; *text is the caller's to free, NULL: there is nothing. Hosts that do
 * not answer in half a second are left out. */
void seen_now(struct seen *seen, char **text, size_t *bytes);

/* The network, if it is known, and what was logged since the beginning; to be called once. */
void seen_last(struct seen *seen, char **text, size_t *bytes);

#endif
