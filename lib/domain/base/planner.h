/*
 * planner.h - FFTW makes and destroys plans in one thread at a time (its manual, section 5.4): all
 * of this library take this lock meanwhile.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_PLANNER_H
#define COVEY_LIB_DOMAIN_BASE_PLANNER_H

void domain_planner_lock(void);
void domain_planner_unlock(void);

#endif
