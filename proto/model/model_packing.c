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

static enum model_order order_of(const struct model_machine *machine, int host)
{
    return machine->order == NULL ? MODEL_ORDER_UNKNOWN : machine->order[host];
}

/* A calibration has the time to turn an array and to copy it out of its message. */
double model_convert_s(const struct model_machine *machine, int from, int to,
                       enum model_packing_type type, double bytes)
{
    enum model_order sent = order_of(machine, from), own = order_of(machine, to);
    if (sent == own || sent == MODEL_ORDER_UNKNOWN || own == MODEL_ORDER_UNKNOWN)
        return 0;
    double both_s = model_packing_s(machine, to, type, MODEL_PACKING_CONVERT, bytes);
    double copy_s = model_packing_s(machine, to, type, MODEL_PACKING_UNPACK, bytes);
    return both_s > copy_s ? both_s - copy_s : 0;
}
