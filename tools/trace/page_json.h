/*
 * page_json.h - what the page of a trace shows beside its events, as JSON.
 */
#ifndef COVEY_TOOLS_PAGE_JSON_H
#define COVEY_TOOLS_PAGE_JSON_H

#include <jansson.h>

#include "tools/trace/trace.h"

/* Any bytes: those that are no text become '?'. */
json_t *page_text(const char *text);

/* {hosts, bags, links, outside, quiet, logs, left}: see page_json.c. NULL: no memory. */
json_t *page_seen(const struct trace *trace);

#endif
