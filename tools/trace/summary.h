/*
 * summary.h - a trace in some lines.
 */
#ifndef COVEY_TOOLS_TRACE_SUMMARY_H
#define COVEY_TOOLS_TRACE_SUMMARY_H

#include <stdio.h>

#include "tools/trace/trace.h"

/* A line for each task: where its time went, and what it sent; then the longest waits, `most` at
 * most. False: no memory. */
bool trace_summary(const struct trace *trace, size_t most, FILE *out);

#endif
