/*
 * Logs that daemons of a VM have left on this host: when no daemon of the VM runs here any more,
 * all that is known of its end. A VM that was halted leaves none.
 */
#ifndef COVEY_TOOLS_LOGFILE_H
#define COVEY_TOOLS_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>

enum { LOGFILE_PATH_BYTES = 512, LOGFILE_WORDS_BYTES = 700 };

/* Where the log of that host's daemon is on this host, whether it is there or not. */
void logfile_path(const char *vm_name, const char *host, char path[LOGFILE_PATH_BYTES]);

/* The host whose log was written last; false: there is none. */
bool logfile_latest(const char *vm_name, char host[64]);

/* Says in one line which daemon ended last, when, why, and how to read its log; false: no log is
 * there. */
bool logfile_last_words(const char *vm_name, char text[LOGFILE_WORDS_BYTES]);

#endif
