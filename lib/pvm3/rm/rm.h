/*
 * rm.h - the resource manager: a task that is asked instead of the daemons where tasks and hosts
 * go.
 */
#ifndef COVEY_PVM3_RM_H
#define COVEY_PVM3_RM_H

#include "lib/pvm3/core/export.h"
#include "lib/pvm3/message/buffer.h"

/* The membership has begun: the manager that this task has to do with, or 0. */
void rm_start(bool spawned, int manager);
void rm_clear(void);

/* Who is to be asked; 0: the daemons, as this task is it itself, or nobody is. */
int rm_tid(void);

/* What tasks need to know that are spawned now. Returns 0 or an error. */
int rm_export(struct exports *e);

/* Asks the manager, with the request's message, and waits for the answer, which the caller frees:
 * *answer. Takes the request; NULL is PvmNoMem. Returns 0 or an error. */
int rm_ask(int tag, struct buffer **request, struct buffer **answer);

/* The same for a request that is not answered. */
int rm_tell(int tag, struct buffer **request);

/* pvm_config(), pvm_tasks(), and with SM_ADDHOST or SM_DELHOST pvm_addhosts() and pvm_delhosts().
 */
int rm_config(int *count, int *formats, struct pvmhostinfo **list);
int rm_tasks(int where, int *count, struct pvmtaskinfo **list);
int rm_hosts(int tag, char **names, int count, int *infos);

/* Whether a message of this task to a daemon is one that a manager may send; what came of it. */
bool rm_serves(int tag);
int rm_serve(struct buffer *b, int daemon, int tag);

/* What a manager is told: of a task that has begun, where the message says so; of ends. */
void rm_on_message(struct buffer *b);
void rm_on_end(int tid, int status);
void rm_on_host_gone(int tid);

/* What SM_EXEC asks for: output and events go to tid, context and tag each. */
struct rm_order {
    int parent, flags, count;
    char *program;
    char **arguments, **variables; /* ended by NULL */
    int targets[6];
};

/* Reads one that begins zeroed, and ends it, also when it could not be read. */
int rm_order_read(struct buffer *b, struct rm_order *order);
void rm_order_fini(struct rm_order *order);

/* Starts its tasks on a daemon's host. Returns 0 or an error; tids or errors of all are in tids. */
int rm_order_run(const struct rm_order *order, int daemon, int *tids);

/* A string of the message, in memory of its own: NULL when there is none. */
char *rm_string(struct buffer *b);

#endif
