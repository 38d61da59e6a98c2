/*
 * The budget of memory. Whoever holds something keeps its sum in struct budget; that of hosts is
 * taken once a round of the loop, for acknowledgements lower it unseen.
 */
#include "daemon/table/budget.h"

#include "daemon/table/connection.h"

static size_t budget_left(uint64_t limit, size_t used)
{
    uint64_t left = used < limit ? limit - used : 0;
    return left < SIZE_MAX ? (size_t)left : SIZE_MAX;
}

size_t budget_used(const struct daemon *d)
{
    const struct budget *b = &d->budget;
    return b->tasks + b->hosts + b->bags + b->incoming + b->outgoing;
}

size_t budget_queue_max(const struct daemon *d)
{
    const struct budget *b = &d->budget;
    bool too_much =
        budget_used(d) > d->conf.memory_bytes || b->tasks + b->hosts > d->conf.memory_bytes / 2;
    return too_much ? BUDGET_QUEUE_LEAST : CONNECTION_QUEUE_MAX;
}

size_t budget_for_puts(const struct daemon *d)
{
    return budget_left(d->conf.memory_bytes / 2, d->budget.bags);
}

size_t budget_for_results(const struct daemon *d)
{
    return budget_left(d->conf.memory_bytes / 4 * 3, d->budget.bags);
}

size_t budget_for_requests(const struct daemon *d)
{
    return budget_left(d->conf.memory_bytes / 2, 0);
}
