/*
 * choice.h - how many tasks run on which hosts, where the user does not say: as many as are worth
 * it (Schmidt & Sunderam, section 4.1), by the calibration of the virtual machine.
 */
#ifndef APPS_CHOICE_H
#define APPS_CHOICE_H

#include "apps/hosts.h"
#include "apps/options.h"

struct choice {
    const struct covey_calibration *calibration; /* the caller's; NULL: there is none, or it is
                                                    unreadable, as covey_error_text() says */
    const struct covey_problem *problem;         /* the caller's; NULL: there is no model of it */
    int given;                 /* tasks that the user asked for, in whatever form; 0: none */
    struct covey_choice *made; /* NULL: there was nothing to choose, or nothing by which */
    char reason[256];          /* then: why */
};

/* Chooses, if the user left it open or asked for it, and narrows the list to the chosen hosts.
 * Returns 0, or -1 after saying why what the user asked for cannot be. */
int choice_make(struct choice *choice, const struct app_options *options, struct host_list *hosts);

/* Prints to standard error what led to so many tasks on so many hosts. */
void choice_explain(const struct choice *choice, const char *program, int tasks, int hosts);

void choice_free(struct choice *choice);

#endif
