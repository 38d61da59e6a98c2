/*
 * shared_team.c - the segment of a team that is being made. The first member on a host makes it and
 * passes it to the others there through the daemon; all say whether they have it, and whether they
 * can read each other's memory. What one of them lacks none of them uses.
 */
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"
#include "lib/collective/teams.h"
#include "lib/drive/call.h"
#include "lib/drive/wait.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/member/home.h"
#include "lib/member/spread.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/wire/cursor.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define OFFERS_MAX 64     /* for teams that this task has not made yet */
#define OFFER_US 5000000u /* that a member waits for one */
#define OFFER_BYTES 8

enum { HAS_SEGMENT = 1, READS_OTHERS = 2, IS_CROWDED = 4 };

/* ---- offers ---------------------------------------------------------------------------------- */

struct shared_offer {
    struct shared_offer *next;
    uint32_t context, source;
    int fds[2]; /* memory, bell; -1: the first member could not make one */
};

static void offer_free(struct shared_offer *offer)
{
    for (int i = 0; i < 2; i++) {
        if (offer->fds[i] >= 0)
            close(offer->fds[i]);
    }
    free(offer);
}

/* NOLINTNEXTLINE(readability-function-size): the form of a handler that gets descriptors */
void shared_on_segment(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                       int *fds, int nfds)
{
    struct cursor c = cursor_reader(payload, frame->length);
    uint32_t context = cursor_get_u32(&c);
    struct shared_offer *offer = NULL;
    if (cursor_ok(&c) && !team_is_dead(vm, context) && teams_of(vm)->offer_count < OFFERS_MAX)
        offer = calloc(1, sizeof *offer);
    if (offer == NULL) {
        for (int i = 0; i < nfds; i++)
            close(fds[i]);
        return;
    }
    *offer = (struct shared_offer){
        .next = teams_of(vm)->offers, .context = context, .source = frame->source, .fds = {-1, -1}};
    for (int i = 0; i < nfds; i++) {
        if (nfds == 2)
            offer->fds[i] = fds[i];
        else
            close(fds[i]);
        fds[i] = -1;
    }
    teams_of(vm)->offers = offer;
    teams_of(vm)->offer_count++;
    wait_changed(vm);
}

/* Takes that of a team out of the list, and drops those of teams that are no more. */
static struct shared_offer *offer_take(struct covey *vm, uint32_t context, uint32_t source)
{
    struct shared_offer *found = NULL;
    for (struct shared_offer **at = &teams_of(vm)->offers; *at != NULL;) {
        struct shared_offer *offer = *at;
        bool wanted = found == NULL && offer->context == context && offer->source == source;
        if (!wanted && !team_is_dead(vm, offer->context)) {
            at = &offer->next;
            continue;
        }
        *at = offer->next;
        teams_of(vm)->offer_count--;
        if (wanted)
            found = offer;
        else
            offer_free(offer);
    }
    return found;
}

void shared_offers_free(struct covey *vm)
{
    for (struct shared_offer *offer; (offer = teams_of(vm)->offers) != NULL;) {
        teams_of(vm)->offers = offer->next;
        offer_free(offer);
    }
    teams_of(vm)->offer_count = 0;
}

/* ---- the members on this host ---------------------------------------------------------------- */

/* Their ranks, and what they have. */
struct companions {
    struct circle on; /* the lead is place 0 */
    uint8_t own, told[SEGMENT_MEMBERS_MAX];
    int ranks[SEGMENT_MEMBERS_MAX];
};

/* False: the caller is alone, or they are too many. */
static bool companions_find(const struct covey_team *team, struct companions *k)
{
    int n = 0;
    for (int i = 0; i < team->size; i++) {
        if (team->host_lead[i] != team->host_lead[team->rank])
            continue;
        if (n == SEGMENT_MEMBERS_MAX)
            return false;
        k->on.rank = i == team->rank ? n : k->on.rank;
        k->ranks[n++] = i;
    }
    k->on.size = n;
    k->on.ranks = k->ranks;
    return n > 1;
}

/* Whoever forces another route to one of them means that for collective calls, too. */
static bool companions_want(const struct covey_team *team, const struct companions *k)
{
    bool memory = true;
    for (int i = 0; i < k->on.size; i++)
        memory = memory &&
                 (i == k->on.rank || route_is_memory(team->vm, (uint32_t)team->tids[k->ranks[i]]));
    return memory;
}

/* Their ends are told from now on. */
static void companions_watch(const struct covey_team *team, const struct companions *k)
{
    for (int i = 0; i < k->on.size; i++) {
        if (i != k->on.rank)
            peer_get(team->vm, (uint32_t)team->tids[k->ranks[i]]);
    }
}

/* Members that find nothing offered wait in vain for a while, so they are told that, too (-1). The
 * bell is that of the segment. */
static void memory_offer(const struct covey_team *team, const struct companions *k, int memory)
{
    uint8_t bytes[OFFER_BYTES];
    const int fds[2] = {memory, memory >= 0 ? team->shared.segment->bell : -1};
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&c, team->context);
    cursor_put_u32(&c, 0);
    for (int i = 1; i < k->on.size; i++) {
        struct frame frame =
            home_frame(team->vm, FRAME_SEGMENT, (uint32_t)team->tids[k->ranks[i]], sizeof bytes);
        home_send_frame(team->vm, &frame, bytes, fds, memory >= 0 ? 2 : 0);
    }
}

static void segment_offer(struct covey_team *team, const struct companions *k, bool wanted)
{
    int memory = -1;
    team->shared.segment = wanted ? segment_create(k->on.size, &memory) : NULL;
    memory_offer(team, k, team->shared.segment != NULL ? memory : -1);
    if (memory >= 0)
        close(memory);
}

struct offer_wait {
    struct covey_team *team;
    uint32_t lead;
    struct shared_offer *offer;
};

static bool offer_came(void *context)
{
    struct offer_wait *w = context;
    const struct peer *lead = peer_find(w->team->vm, w->lead);
    if (w->offer == NULL) /* it is asked again behind that */
        w->offer = offer_take(w->team->vm, w->team->context, w->lead);
    return w->offer != NULL || w->team->broken != 0 || (lead != NULL && lead->gone);
}

/* What the first member offered; NULL: nothing came. */
static struct shared_offer *offer_await(struct covey_team *team, const struct companions *k)
{
    struct offer_wait w = {.team = team, .lead = (uint32_t)team->tids[k->ranks[0]]};
    call_idle(team->vm, offer_came, &w, clock_us() + OFFER_US);
    return w.offer;
}

static void segment_accept(struct covey_team *team, const struct companions *k)
{
    const char *why;
    struct shared_offer *offer = offer_await(team, k);
    if (offer == NULL)
        return;
    if (offer->fds[0] >= 0)
        team->shared.segment =
            segment_open(offer->fds[0], offer->fds[1], k->on.size, k->on.rank, &why);
    if (team->shared.segment != NULL)
        offer->fds[1] = -1; /* the segment's now */
    offer_free(offer);
}

/* False: there is none, or it cannot be watched. */
static bool segment_watch(struct covey_team *team)
{
    if (team->shared.segment == NULL)
        return false;
    if (watch_bell(team->vm, team->shared.segment->bell) != COVEY_OK) {
        shared_team_free(team);
        return false;
    }
    segment_show(team->shared.segment);
    return true;
}

/* ---- agreeing -------------------------------------------------------------------------------- */

static int combine(struct collective *c, void *arg)
{
    struct companions *k = arg;
    (void)c;
    for (int i = 1; i < k->on.size; i++)
        k->own &= k->told[i];
    return COVEY_OK;
}

/* What all of them have. */
static void companions_agree(struct collective *c, struct companions *k)
{
    if (k->on.rank != 0) {
        collective_send(c, k->ranks[0], COVEY_UINT8, &k->own, 1);
        collective_fence(c);
        collective_receive(c, k->ranks[0], COVEY_UINT8, &k->own, 1);
        collective_fence(c);
        return;
    }
    for (int i = 1; i < k->on.size; i++)
        collective_receive(c, k->ranks[i], COVEY_UINT8, &k->told[i], 1);
    collective_fence(c);
    collective_call(c, combine, k);
    collective_fence(c);
    for (int i = 1; i < k->on.size; i++)
        collective_send(c, k->ranks[i], COVEY_UINT8, &k->own, 1);
    collective_fence(c);
}

/* All have said where their numbers are, and whether they share processors is known. */
static int look_around(struct collective *c, void *arg)
{
    struct companions *k = arg;
    struct sharing *shared = &collective_team(c)->shared;
    struct team_segment *s = shared->segment;
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) == 0)
        shared->crowded = k->on.size > CPU_COUNT(&processors);
    if (shared->crowded)
        k->own |= IS_CROWDED;
    spread_beside(k->on.size);
    if ((k->own & HAS_SEGMENT) != 0 && collective_team(c)->vm->links.peeking != PEEKING_NEVER &&
        segment_can_read_all(s))
        k->own |= READS_OTHERS;
    return COVEY_OK;
}

static void segment_settle(struct covey_team *team, const struct companions *k)
{
    if ((k->own & HAS_SEGMENT) == 0) {
        shared_team_free(team);
    } else {
        segment_meet(team->shared.segment);
        team->shared.segment->readable = (k->own & READS_OTHERS) != 0;
        team->shared.segment->crowded = (k->own & IS_CROWDED) != 0;
    }
}

int shared_team_join(struct covey_team *team)
{
    struct collective *c = NULL;
    struct companions k = {0};
    if (team->hosts == team->size)
        return COVEY_OK;
    bool several = companions_find(team, &k);
    struct call call = call_begin(team->vm);
    bool wanted = companions_want(team, &k);
    companions_watch(team, &k);
    if (several && k.on.rank == 0)
        segment_offer(team, &k, wanted);
    else if (several)
        segment_accept(team, &k);
    call_end(team->vm, &call, COVEY_OK);
    if (segment_watch(team) && wanted)
        k.own = HAS_SEGMENT;
    int error = collective_create(team, "team", &c);
    if (error == COVEY_OK && several) {
        companions_agree(c, &k);
        collective_call(c, look_around, &k);
        collective_fence(c);
        companions_agree(c, &k);
    }
    error = collective_run(error, c);
    if (error == COVEY_OK)
        segment_settle(team, &k);
    else
        shared_team_free(team);
    /* A member that had made the team before may have given it up meanwhile: the team is broken. */
    return team->broken != 0 ? COVEY_OK : error;
}

void shared_team_free(struct covey_team *team)
{
    if (team->shared.segment != NULL)
        watch_bell_end(team->vm, team->shared.segment->bell);
    segment_free(team->shared.segment);
    team->shared.segment = NULL;
}

/* Whoever has the segment took the offer of that, so the next one is this. */
void shared_pass_memory(struct covey_team *team, int *fd)
{
    struct companions k = {0};
    bool several = companions_find(team, &k);
    assert(several && team->shared.segment != NULL);
    struct call call = call_begin(team->vm);
    if (k.on.rank == 0) {
        memory_offer(team, &k, *fd);
    } else {
        struct shared_offer *offer = offer_await(team, &k);
        if (offer != NULL) {
            *fd = offer->fds[0];
            offer->fds[0] = -1;
            offer_free(offer);
        }
    }
    call_end(team->vm, &call, COVEY_OK);
}
