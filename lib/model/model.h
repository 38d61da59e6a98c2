/*
 * model.h - what the files of this room share.
 */
#ifndef COVEY_LIB_MODEL_H
#define COVEY_LIB_MODEL_H

#include "lib/covey.h"
#include "proto/model/calibration.h"

/* The calibrated route between hosts that a program takes when it is told `route`, which may be
 * AUTO; 0: there is none. */
int model_route(const struct calibration *calibration, int route);

/* covey_predict(). *rows is NULL at first; of a picture it is set to the iterations of its rows,
 * which further calls with the same problem take from there. The caller frees it. */
int model_predict(const struct calibration *calibration, const struct covey_problem *problem,
                  const char *const *names, int hosts, double **rows,
                  struct covey_prediction *prediction);

#endif
