/*
 * tables.h - the tables that stand above a template in a program that is made of it, here those of
 * three tasks, so that the templates are compiled. Nothing of this is printed.
 */
#ifndef COVEY_LIB_SCHEDULE_TEMPLATE_TABLES_H
#define COVEY_LIB_SCHEDULE_TEMPLATE_TABLES_H

#define RANKS 3
#define MESSAGES 3
#define SYNCS 1
#define SENDS 1
#define SYNCS_IN_MAX 1
#define SYNCS_OUT_MAX 1

static const struct message {
    unsigned short from, to;
} messages[] = {{0, 1}, {1, 2}, {2, 0}, {0, 0}};

static const struct sync {
    int before, after;
} syncs[] = {{0, 1}, {0, 0}};

static const unsigned short lanes[RANKS] = {1, 1, 1};

#endif
