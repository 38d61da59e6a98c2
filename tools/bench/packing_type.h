/* The types whose packing is measured (enum covey_packing_type), as enum covey_type has them. */
#ifndef COVEY_TOOLS_BENCH_PACKING_TYPE_H
#define COVEY_TOOLS_BENCH_PACKING_TYPE_H

#include "covey.h"

static inline int packing_type(int place)
{
    static const int types[COVEY_PACKING_TYPES] = {
        [COVEY_PACKING_BYTES] = COVEY_BYTES,   [COVEY_PACKING_STRING] = COVEY_STRING,
        [COVEY_PACKING_INT16] = COVEY_INT16,   [COVEY_PACKING_INT32] = COVEY_INT32,
        [COVEY_PACKING_INT64] = COVEY_INT64,   [COVEY_PACKING_FLOAT] = COVEY_FLOAT,
        [COVEY_PACKING_DOUBLE] = COVEY_DOUBLE, [COVEY_PACKING_COMPLEX] = COVEY_COMPLEX_DOUBLE};
    return types[place];
}

#endif
