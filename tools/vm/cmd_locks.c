/* covey locks: who holds what in the VM. */
#include <inttypes.h>
#include <stdio.h>

#include "tools/base/command.h"
#include "tools/base/tid.h"
#include "tools/list/listing.h"
#include "tools/list/report.h"
#include "tools/list/table.h"

static const char *kind_name(int kind)
{
    switch (kind) {
    case COVEY_HELD_LOCK:
        return "lock";
    case COVEY_HELD_TOKEN:
        return "token";
    case COVEY_HELD_RENDEZVOUS:
        return "rendezvous";
    default:
        return "unknown";
    }
}

static int print_locks_json(const struct covey_held *held, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++) {
        char tid[TID_TEXT_BYTES];
        const char *holder = held[i].holder == 0 ? NULL : tid_format(held[i].holder, tid);
        report_add(&array, json_pack("{s:s, s:o, s:s?, s:I, s:i}", "kind", kind_name(held[i].kind),
                                     "name", report_text(held[i].name), "holder", holder, "number",
                                     (json_int_t)held[i].number, "waiting", (int)held[i].waiting));
    }
    return report_print("locks", array);
}

static int print_locks_table(const struct covey_held *held, int n)
{
    static const char *const headings[] = {"KIND", "NAME", "HOLDER", ">NUMBER", ">WAITING", NULL};
    struct table *table = table_create(headings);
    for (int i = 0; i < n; i++) {
        char tid[TID_TEXT_BYTES];
        TABLE_ROW(table, kind_name(held[i].kind), held[i].name,
                  held[i].holder == 0 ? "-" : tid_format(held[i].holder, tid),
                  CELL("%" PRIu64, held[i].number), CELL("%d", (int)held[i].waiting));
    }
    return report_table("locks", table);
}

static int locks_command(struct tool *tool, int argc, char **argv)
{
    struct covey_held *held = NULL;
    bool json;
    int status = listing_join(tool, argc, argv, &json);
    if (status != TOOL_OK)
        return status;
    int n = covey_held(tool->vm, &held);
    if (n < 0)
        return tool_failed(tool, "locks", n);
    status = (json ? print_locks_json : print_locks_table)(held, n);
    covey_free(held);
    return status;
}

const struct command cmd_locks = {
    .name = "locks",
    .run = locks_command,
    .usage = "[--json]",
    .help = "list locks, tokens and meetings: who holds them, how many wait",
    .options = listing_options,
};
