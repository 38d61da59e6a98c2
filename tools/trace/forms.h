/*
 * forms.h - a trace as others read it. Each writes all of it; errors show in the stream.
 */
#ifndef COVEY_TOOLS_TRACE_FORMS_H
#define COVEY_TOOLS_TRACE_FORMS_H

#include <stdio.h>

#include "tools/trace/trace.h"

bool trace_to_csv(const struct trace *trace, FILE *out);
bool trace_to_html(const struct trace *trace, FILE *out);     /* false: no memory */
bool trace_to_paje(const struct trace *trace, FILE *out);     /* false: no memory */
bool trace_to_perfetto(const struct trace *trace, FILE *out); /* false: no memory */

/* What a task did from when to when: calls, parts of the program, sends that are held back. One of
 * a task ends before or together with one that it began in. */
struct trace_slice {
    uint64_t begin_ns, end_ns;
    uint32_t task, name; /* name: in names */
    uint8_t kind;
};

/* Of all tasks, by task and time; free them. NULL: no memory. */
struct trace_slice *trace_slices(const struct trace *trace, size_t *count);

#endif
