/*
 * spawn.c - the command spawn and its options.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 4096

struct spawn {
    int count, flags;
    char *where;
    bool is_job, append;
    const char *path; /* of the job's output; "": the console */
    FILE *file;
};

/* The word behind the dash says where: a host, an architecture, or a folder. */
static bool spawn_place(struct spawn *s, char *word)
{
    int formats, count;
    struct pvmhostinfo *hosts;
    s->where = word;
    if (strncmp(word, "-host=", 6) == 0) {
        s->where = word + 6;
        s->flags |= PvmTaskHost;
        return s->where[0] != '\0';
    }
    size_t length = strcspn(word, ":");
    bool is_arch = false;
    if (pvm_config(&count, &formats, &hosts) < 0)
        return false;
    for (int i = 0; i < count; i++)
        is_arch = is_arch || (strlen(hosts[i].hi_arch) == length &&
                              strncmp(hosts[i].hi_arch, word, length) == 0);
    if (length > 0)
        s->flags |= is_arch ? PvmTaskArch : PvmTaskHost;
    return true;
}

/* One option, a word that begins with a dash; false: it is none, and why was said. */
static bool option(struct spawn *s, char *word)
{
    if (isdigit((unsigned char)word[1])) {
        bool is_number = words_number(word + 1, &s->count);
        if (!is_number || s->count < 1 || s->count > TASKS_MAX)
            printf("spawn: %s: a number from 1 to %d is wanted\n", word, TASKS_MAX);
        return is_number && s->count >= 1 && s->count <= TASKS_MAX;
    }
    if (word[1] == '>') {
        s->is_job = true;
        s->append = word[2] == '>';
        s->path = word + (s->append ? 3 : 2);
    } else if (strcmp(word, "-?") == 0) {
        s->flags |= PvmTaskDebug;
    } else if (word[1] == '@') {
        printf("spawn: %s: no file of events is written; see trace\n", word);
        return false;
    } else if (word[1] == '\0' || !spawn_place(s, word + 1)) {
        printf("spawn: %s: unknown option\n", word);
        return false;
    }
    return true;
}

/* A job never writes over a file that is there. */
static bool open_output(struct spawn *s)
{
    if (!s->is_job || s->path[0] == '\0')
        return true;
    s->file = fopen(s->path, s->append ? "a" : "wx");
    if (s->file == NULL)
        printf("%s: %s\n", s->path, strerror(errno));
    return s->file != NULL;
}

/* The console is nobody's parent: a program that asks whether it is the master is one. */
static void spawn_run(struct console *c, const struct spawn *s, char **argv)
{
    int tag = 0, *tids = calloc((size_t)s->count, sizeof *tids);
    int number = s->is_job ? job_start(c, s->file, &tag) : 0;
    if (tids == NULL || (s->is_job && number == 0)) {
        printf("spawn: out of memory\n");
        free(tids);
        return;
    }
    int before = pvm_setopt(PvmOutputTid, s->is_job ? pvm_mytid() : 0);
    int before_code = pvm_setopt(PvmOutputCode, tag);
    int started =
        pvm_spawn(argv[0], argv + 1, s->flags | PvmNoSpawnParent, s->where, s->count, tids);
    pvm_setopt(PvmOutputTid, before);
    pvm_setopt(PvmOutputCode, before_code);
    int count = s->count;
    printf("%d successful\n", started < 0 ? 0 : started);
    for (int i = 0; i < count; i++) {
        if (tids[i] > 0)
            printf("t%x\n", (unsigned)tids[i]);
        else
            printf("%s\n", error_of(tids[i]));
    }
    if (s->is_job)
        job_spawned(c, number, s->count, tids);
    free(tids);
}

static void spawn(struct console *c, int argc, char **argv)
{
    struct spawn s = {.count = 1};
    int at = 1;
    while (at < argc && argv[at][0] == '-') {
        if (!option(&s, argv[at++]))
            return;
    }
    if (at == argc) {
        printf("spawn: wrong #args\n");
        return;
    }
    if (open_output(&s))
        spawn_run(c, &s, argv + at);
}

const struct command spawn_commands[] = {
    {"spawn", spawn, 1, -1, "Start tasks",
     "spawn [OPTION ...] FILE [ARGUMENT ...]\n"
     "-NUMBER      so many tasks, 1 by default\n"
     "-HOST        on that host, -HOST:FOLDER in a folder of it\n"
     "--host=HOST  likewise\n"
     "-ARCH        on hosts of that architecture, -ARCH:FOLDER\n"
     "-:FOLDER     in that folder\n"
     "-?           under a debugger\n"
     "->           what the tasks write goes to the console\n"
     "->FILE       to a new file, ->>FILE to the end of a file"},
    {.name = NULL},
};
