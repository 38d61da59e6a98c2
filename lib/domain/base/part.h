/*
 * part.h - what a library carries out is a part of the program in its trace, with the time that was
 * predicted for it.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_PART_H
#define COVEY_LIB_DOMAIN_BASE_PART_H

#include "lib/covey.h"

struct domain_part {
    covey_t *vm;    /* NULL: nobody traces */
    char name[200]; /* problem and algorithm */
};

/* Not positive: it was not predicted. A team of NULL is nobody's. */
void domain_part_begin(struct domain_part *part, covey_team_t *team, const char *problem,
                       const char *algorithm, double predicted_s);
void domain_part_end(const struct domain_part *part);

#endif
