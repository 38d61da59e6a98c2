/*
 * What packing costs, from a calibration: as alpha + beta N by type and way, and beside sending as
 * in Table 1 of Schmidt & Sunderam.
 */
#ifndef COVEY_TOOLS_PREDICT_PACKING_H
#define COVEY_TOOLS_PREDICT_PACKING_H

#include <stdbool.h>

#include "tools/list/report.h"
#include "tools/predict/predict.h"

/* Whether it was measured on that host of the calibration. */
bool packing_known(const struct covey_calibration *calibration, int host);

/* alpha and beta of a host, as a table or an object. print: an exit status of `command`. */
int packing_print_lines(const char *command, const struct covey_calibration *calibration, int host);
json_t *packing_lines_json(const struct covey_calibration *calibration, int host);

/* All of covey predict packing. Returns an exit status. */
int predict_packing(const struct predict *predict);

#endif
