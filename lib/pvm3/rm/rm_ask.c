/*
 * rm_ask.c - questions about tasks and hosts that the resource manager answers. What a call gives
 * stays until the same call is made again.
 */
#include <pvm3.h>
#include <pvmproto.h>
#include <stdlib.h>

#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/rm/rm.h"

static int ask_with(int tag, const int *numbers, int count, struct buffer **answer)
{
    struct buffer *request = buffer_create(ENC_DEFAULT);
    int error = request == NULL ? PvmNoMem : pack_array(request, PVM_INT, numbers, count, 1);
    if (error == PvmOk)
        return rm_ask(tag, &request, answer);
    buffer_destroy(request);
    return error;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static struct pvmhostinfo *hosts;
static int host_count;

static int host_read(struct buffer *b, struct pvmhostinfo *h)
{
    int numbers[2] = {0, 0};
    int error = unpack_array(b, PVM_INT, &h->hi_tid, 1, 1);
    h->hi_name = error == PvmOk ? rm_string(b) : NULL;
    h->hi_arch = h->hi_name == NULL ? NULL : rm_string(b);
    error = h->hi_arch == NULL ? PvmBadMsg : unpack_array(b, PVM_INT, numbers, 2, 1);
    h->hi_speed = numbers[0];
    h->hi_dsig = numbers[1];
    return error;
}

static int hosts_read(struct buffer *b, int *formats)
{
    int head[2] = {0, 0};
    for (int i = 0; i < host_count; i++) {
        free(hosts[i].hi_name);
        free(hosts[i].hi_arch);
    }
    free(hosts);
    hosts = NULL;
    host_count = 0;
    if (unpack_array(b, PVM_INT, head, 2, 1) != PvmOk || head[0] < 0 ||
        (size_t)head[0] > body_left(&b->body)) /* each takes some bytes */
        return PvmBadMsg;
    hosts = calloc((size_t)head[0] + 1, sizeof *hosts);
    int error = hosts == NULL ? PvmNoMem : PvmOk;
    for (; host_count < head[0] && error == PvmOk; host_count++)
        error = host_read(b, &hosts[host_count]);
    *formats = head[1];
    return error;
}

int rm_config(int *count, int *formats, struct pvmhostinfo **list)
{
    struct buffer *answer = NULL;
    int differing = 0, error = ask_with(SM_CONFIG, NULL, 0, &answer);
    if (error == PvmOk)
        error = hosts_read(answer, &differing);
    buffer_destroy(answer);
    if (error != PvmOk)
        return error;
    call_give(count, host_count, PvmOk);
    call_give(formats, differing, PvmOk);
    if (list != NULL)
        *list = hosts;
    return PvmOk;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static struct pvmtaskinfo *tasks;
static int task_count;

static int task_read(struct buffer *b)
{
    int f[4], pid = 0;
    struct pvmtaskinfo *grown = realloc(tasks, ((size_t)task_count + 1) * sizeof *grown);
    if (grown == NULL)
        return PvmNoMem;
    tasks = grown;
    if (unpack_array(b, PVM_INT, f, 4, 1) != PvmOk)
        return PvmBadMsg;
    char *program = rm_string(b);
    if (program == NULL || unpack_array(b, PVM_INT, &pid, 1, 1) != PvmOk) {
        free(program);
        return PvmBadMsg;
    }
    tasks[task_count++] = (struct pvmtaskinfo){.ti_tid = f[0],
                                               .ti_ptid = f[1],
                                               .ti_host = f[2],
                                               .ti_flag = f[3],
                                               .ti_a_out = program,
                                               .ti_pid = pid};
    return PvmOk;
}

int rm_tasks(int where, int *count, struct pvmtaskinfo **list)
{
    struct buffer *answer = NULL;
    int code = 0, error = ask_with(SM_TASK, &where, 1, &answer);
    for (int i = 0; i < task_count; i++)
        free(tasks[i].ti_a_out);
    free(tasks);
    tasks = NULL;
    task_count = 0;
    if (error == PvmOk)
        error = unpack_array(answer, PVM_INT, &code, 1, 1);
    if (error == PvmOk && code < 0)
        error = code;
    while (error == PvmOk && body_left(&answer->body) > 0)
        error = task_read(answer);
    buffer_destroy(answer);
    if (error != PvmOk)
        return error;
    call_give(count, task_count, PvmOk);
    if (list != NULL)
        *list = tasks;
    return PvmOk;
}

/* ---- hosts that come and go ------------------------------------------------------------------ */

static struct buffer *names_pack(char **names, int count)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int error = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, &count, 1, 1);
    for (int i = 0; i < count && error == PvmOk; i++)
        error = names[i] == NULL ? PvmBadParam : pack_string(b, names[i]);
    if (error == PvmOk)
        return b;
    buffer_destroy(b);
    return NULL;
}

/* A host that was added comes with all that is known of it, one that was removed as a number. */
static int outcome_read(struct buffer *b, int tag, int *outcome)
{
    struct pvmhostinfo host = {0};
    if (tag == SM_DELHOST)
        return unpack_array(b, PVM_INT, outcome, 1, 1);
    int error = host_read(b, &host);
    *outcome = host.hi_tid;
    free(host.hi_name);
    free(host.hi_arch);
    return error;
}

static int outcomes_read(struct buffer *b, int tag, int count, int *infos)
{
    int head[2] = {0, 0}, good = 0, outcome = 0;
    int error = unpack_array(b, PVM_INT, head, 1, 1);
    if (error == PvmOk && head[0] >= 0 && tag == SM_ADDHOST)
        error = unpack_array(b, PVM_INT, &head[1], 1, 1);
    if (error == PvmOk && head[0] != count)
        error = head[0] < 0 ? head[0] : PvmOutOfRes;
    for (int i = 0; i < count && error == PvmOk; i++) {
        error = outcome_read(b, tag, &outcome);
        good += error == PvmOk && outcome >= 0;
        if (infos != NULL)
            infos[i] = outcome;
    }
    return error == PvmOk ? good : error;
}

int rm_hosts(int tag, char **names, int count, int *infos)
{
    struct buffer *answer = NULL;
    struct buffer *request = names == NULL || count < 1 ? NULL : names_pack(names, count);
    if (request == NULL)
        return PvmBadParam;
    int result = rm_ask(tag, &request, &answer);
    if (result == PvmOk)
        result = outcomes_read(answer, tag, count, infos);
    buffer_destroy(answer);
    return result;
}
