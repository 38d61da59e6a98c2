#include "proto/member_state.h"

void election_step(struct member *m, uint64_t now_us)
{
    (void)m, (void)now_us;
}
uint64_t election_deadline(const struct member *m)
{
    (void)m;
    return UINT64_MAX;
}
void election_on_claim(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    (void)m, (void)host, (void)payload, (void)size, (void)now_us;
}
void election_on_reply(struct member *m, uint32_t host, const uint8_t *payload, size_t size,
                       uint64_t now_us)
{
    (void)m, (void)host, (void)payload, (void)size, (void)now_us;
}
