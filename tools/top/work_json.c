/* work_json.c - a task with what it does as a JSON object, for `covey ps` and `covey top`. */
#include "tools/top/work_json.h"

#include "tools/base/tid.h"
#include "tools/list/report.h"

json_t *work_json(const struct work *row)
{
    char tid[TID_TEXT_BYTES], parent[TID_TEXT_BYTES], wait[COLUMN_CELL_BYTES];
    const struct covey_task *task = &row->task;
    const struct work_rates *r = &row->rates;
    bool orphan = task->parent == COVEY_NO_PARENT, waits = row->stat.waits != COVEY_WAITS_NOT;
    work_print_wait(&row->stat, wait);
    json_t *object = json_pack("{s:s, s:s?, s:o, s:i, s:s, s:o}", "tid", tid_format(task->tid, tid),
                               "parent", orphan ? NULL : tid_format(task->parent, parent), "host",
                               report_text(row->host), "pid", (int)task->pid, "state",
                               work_state_name(task->state), "command", report_text(task->command));
    json_t *figures = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu",
        report_not_negative(r->cpu), "memory_bytes", report_not_negative(row->stat.memory_bytes),
        "computing", report_not_negative(r->computing), "communicating",
        report_not_negative(r->communicating), "idle", report_not_negative(r->idle),
        "sent_messages_per_s", report_not_negative(r->sent), "received_messages_per_s",
        report_not_negative(r->received), "sent_bytes_per_s", report_not_negative(r->sent_bytes),
        "received_bytes_per_s", report_not_negative(r->received_bytes), "waits",
        waits ? report_text(wait) : json_null(), "waits_s",
        report_not_negative(waits ? row->stat.waits_s : -1));
    if (!object || !figures || json_object_update(object, figures) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(figures);
    return object;
}
