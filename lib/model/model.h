/*
 * model.h - what the files of this room share.
 */
#ifndef COVEY_LIB_MODEL_H
#define COVEY_LIB_MODEL_H

#include "proto/model/calibration.h"

/* The calibrated route between hosts that a program takes when it is told `route`, which may be
 * AUTO; 0: there is none. */
int model_route(const struct calibration *calibration, int route);

#endif
