/* What several hosts, examined one by one, have wrong with each other. */
#ifndef COVEY_TOOLS_DIAGNOSIS_H
#define COVEY_TOOLS_DIAGNOSIS_H

#include "tools/doctor/patient.h"

/* Versions, byte orders, clocks and addresses of all that are ready, and what their probes of each
 * other came to. */
void diagnosis_compare(const struct patients *patients, struct findings *findings);

/* Why a host could not be examined: its launcher's last words and exit status,
 * -1 if it did not end in time. */
void diagnosis_launch(const struct patient *patient, int status, struct findings *findings);

#endif
