/*
 * model_packing.c - T_pack of a host (section 2.3 of Schmidt & Sunderam). What is not known costs
 * nothing, for a calibration may be older than these figures.
 */
#include "proto/model/model.h"

double model_packing_s(const struct model_machine *machine, int host, enum model_packing_type type,
                       enum model_packing_way way, double bytes)
{
    const struct model_packing *packing = machine->packing == NULL ? NULL : machine->packing[host];
    if (packing == NULL || !(packing->lines[type][way].beta_s > 0))
        return 0;
    double seconds = model_line_time(&packing->lines[type][way], bytes);
    return seconds > 0 ? seconds : 0;
}
