/*
 * inside.h - tasks in containers: what is started instead of a program when COVEY_IN names an
 * image.
 */
#ifndef COVEY_LIB_INSIDE_H
#define COVEY_LIB_INSIDE_H

#include "covey.h"

/* The words by which a host starts that in the image, to be freed at once: they refer to `what` and
 * to the environment. *words is NULL: in none. COVEY_OK or COVEY_ENOMEM. */
int inside_words(const struct covey_spawn *what, const char ***words);

#endif
