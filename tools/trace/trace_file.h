/*
 * trace_file.h - the file of a trace, ended and read for a command of covey.
 */
#ifndef COVEY_TOOLS_TRACE_FILE_H
#define COVEY_TOOLS_TRACE_FILE_H

#include "tools/trace/trace.h"

/* It is whole now: it is compressed. A status of the tool, after an error line. */
int trace_file_end(const char *command, const char *path);

/* What a command makes of a trace; a status of the tool. */
typedef int trace_use(const struct trace *trace, void *context);

/* Reads the file, says under the command's name what is missing in it, and has the trace used,
 * which lives as long as that. A status of the tool, after an error line if it is no trace. */
int trace_file_use(const char *command, const char *path, trace_use *use, void *context);

#endif
