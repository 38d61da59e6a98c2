/* links: tools/trace/trace.c tools/trace/trace_clock.c tools/trace/trace_match.c tools/trace/trace_read.c tools/trace/seen.c tools/trace/waits.c tools/trace/why.c tools/trace/waits_print.c tools/trace/why_print.c tools/trace/slices.c tools/trace/to_csv.c tools/trace/to_html.c tools/trace/page_json.c tools/trace/link_use.c tools/trace/to_paje.c tools/trace/to_perfetto.c proto/wire/cursor.c proto/trace/trace_pack.c -lzstd -ljansson */
/*
 * A file of a trace as anybody may have written it: it is refused with a cause, or read as far as
 * it goes, and then no message arrives before it left, and all forms of it can be written.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tools/trace/forms.h"
#include "tools/trace/why.h"

static void look_at(const struct trace *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *e = &trace->events[i];
        REQUIRE(e->task < trace->task_count && e->name < trace->name_count);
        REQUIRE(e->begin_ns <= e->end_ns);
        if (e->match == TRACE_NONE)
            continue;
        REQUIRE(e->match < trace->event_count && trace->events[e->match].match == i);
        REQUIRE(!trace_is_receive(e) || e->end_ns >= trace->events[e->match].begin_ns);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace trace = {0};
    if (size > 4096)
        return 0;
    if (trace_read(&trace, data, size)) {
        FILE *out = fopen("/dev/null", "we");
        REQUIRE(out != NULL && trace.error[0] == '\0');
        look_at(&trace);
        REQUIRE(trace_to_csv(&trace, out) && trace_to_paje(&trace, out));
        REQUIRE(trace_to_perfetto(&trace, out) && why_print(&trace, 10, out));
        REQUIRE(trace_to_html(&trace, out));
        fclose(out);
    } else {
        REQUIRE(trace.error[0] != '\0');
    }
    trace_free(&trace);
    return 0;
}
