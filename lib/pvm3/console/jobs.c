/*
 * jobs.c - jobs: tasks that were spawned together, and whose output the console shows or files.
 * Each job has a tag of its own for the messages in which the output comes: tid, length and bytes,
 * or in the place of the length what happened to the task (TO_ in pvmproto.h).
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"
#include "lib/pvm3/include/pvmproto.h"

#include <stdlib.h>
#include <string.h>

#define TAG_FIRST 5
#define LINE_BYTES 4096
#define LOOK_MESSAGES 1000 /* between two looks at the console's input */

struct task {
    int tid;
    bool ended;
    size_t used; /* of a line that is not whole */
    char line[LINE_BYTES];
};

struct job {
    struct job *next;
    int number, tag, count;
    bool complete; /* all that will ever be of it are in the list */
    struct task *tasks;
    FILE *file; /* NULL: the console */
};

int job_start(struct console *c, FILE *file, int *tag)
{
    struct job *job = calloc(1, sizeof *job), **at = &c->jobs;
    if (job == NULL) {
        if (file != NULL)
            fclose(file);
        return 0;
    }
    job->number = ++c->jobs_started;
    *tag = job->tag = TAG_FIRST + job->number;
    job->file = file;
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
    printf("[%d]\n", job->number);
    return job->number;
}

static struct job *job_numbered(const struct console *c, int number)
{
    struct job *job = c->jobs;
    while (job != NULL && job->number != number)
        job = job->next;
    return job;
}

static struct job *job_tagged(const struct console *c, int tag)
{
    struct job *job = c->jobs;
    while (job != NULL && job->tag != tag)
        job = job->next;
    return job;
}

static struct task *task_add(struct job *job, int tid)
{
    for (int i = 0; i < job->count; i++) {
        if (job->tasks[i].tid == tid)
            return &job->tasks[i];
    }
    struct task *tasks = realloc(job->tasks, (size_t)(job->count + 1) * sizeof *tasks);
    if (tasks == NULL)
        return NULL;
    job->tasks = tasks;
    tasks[job->count].tid = tid;
    tasks[job->count].ended = false;
    tasks[job->count].used = 0;
    return &tasks[job->count++];
}

void job_spawned(struct console *c, int number, int count, const int *tids)
{
    struct job *job = job_numbered(c, number);
    for (int i = 0; i < count && job != NULL; i++) {
        if (tids[i] > 0)
            task_add(job, tids[i]);
    }
    if (job != NULL)
        job->complete = true;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void show(const struct job *job, int tid, const char *text, size_t size)
{
    FILE *to = job->file != NULL ? job->file : stdout;
    fprintf(to, "[%d:t%x] ", job->number, (unsigned)tid);
    fwrite(text, 1, size, to);
    putc('\n', to);
    fflush(to);
}

static void show_line(const struct job *job, struct task *task)
{
    show(job, task->tid, task->line, task->used);
    task->used = 0;
}

static void take_end(const struct job *job, struct task *task)
{
    if (task->used > 0)
        show_line(job, task);
    if (!task->ended)
        show(job, task->tid, "EOF", 3);
    task->ended = true;
}

/* The message in the receive buffer. */
static void take_message(struct job *job)
{
    int tid, length, parent;
    char bytes[LINE_BYTES];
    if (pvm_upkint(&tid, 1, 1) < 0 || pvm_upkint(&length, 1, 1) < 0)
        return;
    struct task *task = length == TO_SPAWN ? NULL : task_add(job, tid);
    if (length == TO_SPAWN || length == TO_NEW)
        (void)pvm_upkint(&parent, 1, 1);
    else if (length == TO_EOF && task != NULL)
        take_end(job, task);
    while (length > 0 && task != NULL) {
        int part = length < LINE_BYTES ? length : LINE_BYTES;
        if (pvm_upkbyte(bytes, part, 1) < 0)
            return;
        for (int i = 0; i < part; i++) {
            if (bytes[i] != '\n')
                task->line[task->used++] = bytes[i];
            if (bytes[i] == '\n' || task->used == LINE_BYTES)
                show_line(job, task);
        }
        length -= part;
    }
}

static bool job_is_over(const struct job *job)
{
    for (int i = 0; i < job->count; i++) {
        if (!job->tasks[i].ended)
            return false;
    }
    return job->complete;
}

static void job_free(struct job *job)
{
    if (job->file != NULL)
        fclose(job->file);
    free(job->tasks);
    free(job);
}

static void take_finished(struct console *c)
{
    for (struct job **at = &c->jobs; *at != NULL;) {
        struct job *job = *at;
        if (!job_is_over(job)) {
            at = &job->next;
            continue;
        }
        printf("[%d] finished\n", job->number);
        *at = job->next;
        job_free(job);
    }
}

bool job_poll(struct console *c)
{
    int id, tag = 0, taken = 0;
    while (c->jobs != NULL && taken < LOOK_MESSAGES && (id = pvm_nrecv(-1, -1)) > 0) {
        pvm_bufinfo(id, NULL, &tag, NULL);
        struct job *job = job_tagged(c, tag);
        if (job != NULL)
            take_message(job);
        taken++;
    }
    take_finished(c);
    fflush(stdout);
    return taken == LOOK_MESSAGES;
}

void job_free_all(struct console *c)
{
    while (c->jobs != NULL) {
        struct job *job = c->jobs;
        c->jobs = job->next;
        job_free(job);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void list_tasks(const struct job *job)
{
    int count;
    struct pvmtaskinfo *tasks;
    if (pvm_tasks(0, &count, &tasks) < 0)
        return;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < job->count; k++) {
            if (job->tasks[k].tid == tasks[i].ti_tid)
                task_print(&tasks[i], false);
        }
    }
}

static void jobs(struct console *c, int argc, char **argv)
{
    bool is_long = argc > 1 && strcmp(argv[1], "-l") == 0;
    if (argc > 1 && !is_long) {
        printf("jobs: %s: unknown option\n", argv[1]);
        return;
    }
    if (is_long)
        task_head(false);
    for (const struct job *job = c->jobs; job != NULL; job = job->next) {
        printf("%2d:", job->number);
        for (int k = 0; k < job->count && !is_long; k++)
            printf(" t%x%s", (unsigned)job->tasks[k].tid, job->tasks[k].ended ? "(EOF)" : "");
        putchar('\n');
        if (is_long)
            list_tasks(job);
    }
}

const struct command job_commands[] = {
    {"jobs", jobs, 0, 1, "List the jobs that run",
     "jobs [-l]\n-l  with their tasks as ps has them"},
    {.name = NULL},
};
