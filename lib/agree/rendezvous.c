/*
 * rendezvous.c - tasks that meet under a name. What it is is described in proto/state/rendezvous.c.
 */
#include "lib/agree/service.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"

_Static_assert(COVEY_RENDEZVOUS_MAX == RENDEZVOUS_MAX, "as many meet as the state lets");
_Static_assert(COVEY_RENDEZVOUS_VALUE_MAX == RENDEZVOUS_VALUE_MAX, "and bring as much");

/* Who came, and the place of the caller among them. */
static int take_parties(const struct covey *vm, struct cursor *c, int count,
                        struct covey_party *parties)
{
    int place = COVEY_EPROTO;
    for (int i = 0; i < count; i++) {
        struct covey_party party = {.tid = (covey_tid_t)cursor_get_u32(c)};
        party.bytes = cursor_get_u8(c);
        if (party.bytes > (int)sizeof party.value)
            break;
        cursor_get_bytes(c, party.value, (size_t)party.bytes);
        if (party.tid == (covey_tid_t)vm->self.tid)
            place = i;
        if (parties != NULL)
            parties[i] = party;
    }
    if (cursor_done(c) && place >= 0)
        return place;
    return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
}

/* NOLINTNEXTLINE(readability-function-size): see covey.h */
int covey_rendezvous(covey_t *vm, const char *name, int count, const void *value, size_t bytes,
                     int64_t timeout_us, struct covey_party *parties)
{
    struct service s;
    if (service_name_check(vm, "rendezvous", name) != COVEY_OK)
        return COVEY_EINVAL;
    if (count < 1 || count > COVEY_RENDEZVOUS_MAX || bytes > COVEY_RENDEZVOUS_VALUE_MAX ||
        (bytes > 0 && value == NULL))
        return error_set(COVEY_EINVAL, "rendezvous %s: 1 .. %d tasks bring 0 .. %d bytes each",
                         name, COVEY_RENDEZVOUS_MAX, COVEY_RENDEZVOUS_VALUE_MAX);
    service_begin(&s, vm, COMMAND_RENDEZVOUS, "rendezvous", name);
    cursor_put_u32(&s.body, (uint32_t)count);
    cursor_put_u8(&s.body, (uint8_t)bytes);
    cursor_put_bytes(&s.body, value, bytes);
    int error = service_call(&s, timeout_us == COVEY_POLL ? 1 : timeout_us);
    if (error != COVEY_OK)
        return error;
    int place = take_parties(vm, &s.answer, count, parties);
    service_drop(&s);
    return place;
}
