/*
 * mailbox.h - what a task has in the mailboxes.
 */
#ifndef COVEY_PVM3_MAILBOX_H
#define COVEY_PVM3_MAILBOX_H

/* The task leaves the VM: what is not persistent goes with it. */
void mailbox_leave(void);

/* PvmNoReset: a reset by the console spares the task, or not any more. Returns 0 or an error. */
int mailbox_noreset(int on);

#endif
