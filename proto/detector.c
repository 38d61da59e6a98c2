#include "proto/member_state.h"

void detector_start(struct member *m, uint64_t now_us)
{
    m->tick_us = now_us;
}

void detector_step(struct member *m, uint64_t now_us)
{
    (void)m;
    (void)now_us;
}

uint64_t detector_deadline(const struct member *m)
{
    (void)m;
    return UINT64_MAX;
}

void member_on_heard(struct member *m, uint32_t host, uint64_t now_us)
{
    struct row *row = table_row(&m->table, host);

    if (row)
        row->heard_us = row->direct_us = now_us;
}

void member_on_probe(struct member *m, uint32_t host, uint8_t kind, uint32_t target,
                     uint64_t now_us)
{
    (void)m, (void)host, (void)kind, (void)target, (void)now_us;
}

void member_on_late(struct member *m, uint64_t late_us)
{
    (void)m, (void)late_us;
}
