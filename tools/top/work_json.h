/* A task with what it does as a JSON object. */
#ifndef COVEY_TOOLS_WORK_JSON_H
#define COVEY_TOOLS_WORK_JSON_H

#include <jansson.h>

#include "tools/top/work.h"

/* NULL: memory is exhausted. */
json_t *work_json(const struct work *row);

#endif
