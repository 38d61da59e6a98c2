/*
 * plugin.h - tasks that take over work of the VM's daemons: the resource manager, which decides
 * where tasks and hosts go; the hoster, which starts daemons; the tasker of a host, which starts
 * tasks there; and the tracer, which is told what all tasks do.
 *
 * Each holds a lock of the VM, so that there is one, everybody can ask who it is, and it is free
 * again when the task ends. As in PVM each also has a mailbox that says so.
 */
#ifndef COVEY_PVM3_PLUGIN_H
#define COVEY_PVM3_PLUGIN_H

#include <stdbool.h>

enum plugin { PLUGIN_RM, PLUGIN_HOSTER, PLUGIN_TASKER, PLUGIN_TRACER, PLUGINS };

/* Who is there: tids, or 0. */
struct plugins {
    int tid[PLUGINS]; /* PLUGIN_TASKER: that of this host */
    bool taskers;     /* some host has one */
};

/* Asks the VM. Nobody is there when it cannot answer. */
void plugin_look(struct plugins *plugins);

/* This task becomes it, and is it no longer. The mailbox holds what is packed in the buffer, which
 * begins with this task's tid; plugin_take(): nothing but that. Returns 0 or an error: PvmAlready
 * when another task is. */
struct buffer;
int plugin_register(enum plugin plugin, struct buffer *about);
int plugin_take(enum plugin plugin);
int plugin_withdraw(enum plugin plugin);
bool plugin_is_own(enum plugin plugin);

/* The membership has ended. */
void plugin_clear(void);

#endif
