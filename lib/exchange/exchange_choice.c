/*
 * exchange_choice.c - which algorithm: by density and mean size, as in the region map of Wang &
 * Ranka (Figure 5), from the rows `exchange` of the team's table (collective_choice.c), which
 * `covey bench exchange --write` measures.
 *
 * The density is the most messages that a rank sends or receives, or where links or sizes put more
 * on one than that, as many of mean size as the busiest link carries.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_choice.h"
#include "lib/exchange/exchange.h"

static double density_of(const struct exchange_order *order, double mean)
{
    double links = mean > 0 ? order->bound_bytes / mean : 0;
    return links > order->density ? links : order->density;
}

/* Rows of algorithms stand in the order of enum covey_exchange_algorithm. */
static int by_table(const struct choice_table *table, double density, double bytes, bool network)
{
    for (int i = 0; i < table->count; i++) {
        const struct choice_row *row = &table->rows[i];
        int algorithm = COVEY_EXCHANGE_AC + row->algorithm - UNSTRUCTURED_AC;
        if (row->operation == OPERATION_UNSTRUCTURED && density <= (double)row->members &&
            bytes <= (double)row->bytes && (network || algorithm != COVEY_EXCHANGE_RS_NL))
            return algorithm;
    }
    return COVEY_EXCHANGE_AC;
}

int exchange_choose(const struct exchange_order *order, const struct covey_team *team, bool network)
{
    struct choice_table own;
    double sum = 0;

    for (size_t i = 0; i < order->x.count; i++)
        sum += (double)order->x.messages[i].bytes;
    double mean = order->x.count > 0 ? sum / (double)order->x.count : 0;
    uint8_t forced = team != NULL ? team->forced[OPERATION_UNSTRUCTURED] : ALGORITHM_NONE;

    if (forced != ALGORITHM_NONE && (network || forced != UNSTRUCTURED_RS_NL))
        return COVEY_EXCHANGE_AC + forced - UNSTRUCTURED_AC;
    if (order->one_host) /* no link is between the ranks */
        return COVEY_EXCHANGE_AC;
    if (team == NULL)
        choice_default(&own);
    return by_table(team != NULL ? team->choices : &own, density_of(order, mean), mean, network);
}
