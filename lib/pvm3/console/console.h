/*
 * console.h - the state of the pvm console and the parts of it. All of it rests on pvm3.h alone.
 */
#ifndef COVEY_PVM3_CONSOLE_H
#define COVEY_PVM3_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#define WORDS_MAX 512

struct alias;
struct job;

struct console {
    struct alias *aliases;
    struct job *jobs;
    int jobs_started;
    bool over;  /* leave the loop */
    bool quiet; /* nothing is said at the end: the virtual machine was halted */
};

/* A command gets its words, the command itself first, NULL behind the last. */
struct command {
    const char *name;
    void (*run)(struct console *c, int argc, char **argv);
    int least, most; /* words behind the command; most -1: any number */
    const char *summary, *usage;
};

/* What each file brings, ended by one without a name. */
extern const struct command host_commands[];   /* hosts.c */
extern const struct command task_commands[];   /* tasks.c */
extern const struct command spawn_commands[];  /* spawn.c */
extern const struct command job_commands[];    /* jobs.c */
extern const struct command option_commands[]; /* options.c */
extern const struct command box_commands[];    /* boxes.c */
extern const struct command trace_commands[];  /* trace.c */

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* ---- words.c ---- */

/* Splits a line into words at blanks; within quotes of either kind blanks stay. The words lie in
 * `text`, which is changed. Returns how many, or -1: a quote is not closed, or too many. */
int words_split(char *text, char **words, int max);

/* A tid as people write it: t40001, 40001 or 0x40001, always hexadecimal; -1: it is none. */
int words_tid(const char *word);

/* A decimal number; false: it is none, or beyond an int. */
bool words_number(const char *word, int *number);

/* ---- aliases.c ---- */

/* Puts the words of an alias where the first word names one; returns the new number of words. */
int alias_expand(const struct console *c, int argc, char **argv, char *text, size_t size);
void alias_set(struct console *c, const char *name, int argc, char **argv);
void alias_remove(struct console *c, const char *name);
void alias_list(const struct console *c);
void alias_free_all(struct console *c);

/* ---- jobs.c ---- */

/* A job whose output goes to the console, or to a file where that is not NULL, which it then owns.
 * Returns its number, and in *tag the tag of its messages; 0: no memory. */
int job_start(struct console *c, FILE *file, int *tag);
/* So many of its tasks were started. */
void job_spawned(struct console *c, int number, int count, const int *tids);
/* Shows what tasks of jobs have written since. Returns whether there may be more. */
bool job_poll(struct console *c);
void job_free_all(struct console *c);

/* ---- tasks.c ---- */

/* The head of a list of tasks, and a task of it. */
void task_head(bool is_long);
struct pvmtaskinfo;
void task_print(const struct pvmtaskinfo *task, bool is_long);

/* ---- hosts.c ---- */

/* The name of the host with that tid, "?" where there is none. */
const char *host_name(int dtid);
/* What a negative result of a call means, "?" where it is none of PVM's. */
const char *error_of(int code);

/* ---- trace.c ---- */

/* The console has begun: the events that PVM's console has chosen. */
void trace_begin(void);

/* ---- hoster.c ---- */

/* The words behind --host. Returns the program's exit status. */
int hoster_ask(char **words);

#endif
