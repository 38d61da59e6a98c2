/*
 * door_choose.h - on how many tasks a problem is solved.
 */
#ifndef COVEY_LIB_DOMAIN_DOOR_DOOR_CHOOSE_H
#define COVEY_LIB_DOMAIN_DOOR_DOOR_CHOOSE_H

#include "lib/domain/door/door_places.h"

enum door_source { DOOR_ASSUMED, DOOR_CALIBRATED, DOOR_MEASURED };

/* alpha and beta, and where they are from. */
struct door_line {
    enum door_source source;
    double alpha_s, beta_s;
    double one_alpha_s, one_beta_s; /* where only one sends; 0: as the others */
};

/* What calls of a handle have learnt. */
struct door_knowledge {
    struct door_line inside, between; /* of one machine, and of several */
    double start_s;                   /* of a crew */
    double missed_s;  /* that a crew would have saved, had there been one, since there was none */
    char problem[48]; /* of the last choice, as the history names it */
    int tasks;        /* that were best then */
    double formula_s[2]; /* of the caller alone, and of these */
};

void door_knowledge_init(struct door_knowledge *known, covey_t *vm);

/* A problem that is to be solved, and what there is for it. */
struct door_question {
    const struct door_op *op;
    const struct door_args *args;
    const struct door_options *options;
    const struct door_places *places;
    covey_team_t *alone; /* the caller as a team */
    int there;           /* members of the crew that there is, the caller among them; 0: none */
};

/* The line that counts among the first `tasks` ranks. */
struct door_line *door_line_of(struct door_knowledge *known, const struct door_places *places,
                               int tasks);
/* For so many members on so many hosts. */
struct covey_domain_network door_network_of(const struct door_line *line, int members, int hosts);

/* Whether the caller alone is through before the hosts were asked how they are, and nothing is
 * forced: then no places are needed, and the report tells of it. */
int door_choose_short(const struct door_question *question, struct covey_door_report *report);

/* Takes a number of tasks, 1: the caller alone; sets those fields of the report that tell of it. */
int door_choose_tasks(struct door_knowledge *known, const struct door_question *question,
                      struct covey_door_report *report);

/* What the run took by so many tasks is known for the next choice, if the last one predicted it: of
 * the caller alone, and of the number that was best. */
void door_choose_note(const struct door_knowledge *known, int tasks, double seconds);

#endif
