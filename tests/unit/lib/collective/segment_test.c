/* links: lib/collective/segment.c lib/link/boxes.c lib/link/past_cache.c lib/link/shared_memory.c lib/link/barrier.c */
/*
 * segment_test.c - the memory that members of a team share: its members here are mappings of one
 * process, or threads.
 */
#include "lib/collective/segment.h"
#include "lib/link/shared_memory.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMBERS 4

static struct team_segment *members[MEMBERS];

static void make(int n)
{
    int fd;
    const char *why;
    members[0] = segment_create(n, &fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(members[0]);
    for (int i = 1; i < n; i++) {
        int bell = fcntl(members[0]->bell, F_DUPFD_CLOEXEC, 0);
        members[i] = segment_open(fd, bell, n, i, &why);
        CU_ASSERT_PTR_NOT_NULL_FATAL(members[i]);
    }
    close(fd);
}

static void unmake(int n)
{
    for (int i = 0; i < n; i++)
        segment_free(members[i]);
}

static bool rings(void)
{
    struct pollfd bell = {.fd = members[0]->bell, .events = POLLIN};
    uint64_t times;
    return poll(&bell, 1, 0) == 1 && read(members[0]->bell, &times, sizeof times) == sizeof times;
}

static void what_is_no_segment_is_refused(void)
{
    const char *why = NULL;
    int fd, bell = eventfd(0, EFD_NONBLOCK), other = open("/dev/null", O_RDWR | O_NONBLOCK);
    struct team_segment *s = segment_create(3, &fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_PTR_NULL(segment_open(fd, bell, 2, 1, &why)); /* of another size */
    CU_ASSERT_STRING_EQUAL(why, "its memory is not that of a team");
    CU_ASSERT_PTR_NULL(segment_open(other, bell, 3, 1, &why));
    CU_ASSERT_PTR_NULL(segment_open(fd, other, 3, 1, &why));
    CU_ASSERT_STRING_EQUAL(why, "its bell is no eventfd, or one that may block");
    int blank = shared_memory_create("test", s->bytes);
    CU_ASSERT_PTR_NULL(segment_open(blank, bell, 3, 1, &why));
    CU_ASSERT_STRING_EQUAL(why, "its memory is of another version, or byte order");
    int loose = memfd_create("test", 0); /* which somebody can shrink under the others */
    CU_ASSERT(ftruncate(loose, (off_t)s->bytes) == 0);
    CU_ASSERT_PTR_NULL(segment_open(loose, bell, 3, 1, &why));
    segment_free(s);
    close(fd);
    close(bell);
    close(other);
    close(blank);
    close(loose);
}

static void a_slot_is_free_when_all_have_left(void)
{
    uint32_t first = segment_sequence(5, 0), later = segment_sequence(5 + SEGMENT_CALLS, 0);
    make(3);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(segment_is_free(members[i], first) && segment_is_free(members[i], later));
        CU_ASSERT_FALSE(segment_all_arrived(members[i], first));
        CU_ASSERT_EQUAL(segment_stage_of(members[i], first, i), STAGE_ABSENT);
    }
    CU_ASSERT_FALSE(segment_arrive(members[1], first));
    CU_ASSERT_TRUE(segment_is_free(members[0], first));
    CU_ASSERT_FALSE(segment_is_free(members[0], later));
    CU_ASSERT_FALSE(segment_arrive(members[0], first));
    CU_ASSERT_EQUAL(segment_last(members[0], first), -1);
    CU_ASSERT_TRUE(segment_arrive(members[2], first));
    CU_ASSERT_TRUE(segment_all_arrived(members[0], first));
    CU_ASSERT_EQUAL(segment_last(members[1], first), 2);
    CU_ASSERT_FALSE(segment_is_released(members[1], first));
    segment_release(members[2], first);
    CU_ASSERT_TRUE(segment_is_released(members[1], first));
    CU_ASSERT_FALSE(segment_is_released(members[1], later));
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_FALSE(segment_all_at(members[0], first, STAGE_FIRST));
        segment_advance(members[i], first, STAGE_FIRST);
    }
    CU_ASSERT_TRUE(segment_all_at(members[0], first, STAGE_FIRST));
    CU_ASSERT_FALSE(segment_all_at(members[0], first, STAGE_SECOND));
    segment_leave(members[2], first);
    CU_ASSERT_FALSE(segment_others_left(members[1], first));
    segment_leave(members[0], first);
    CU_ASSERT_TRUE(segment_others_left(members[1], first));
    CU_ASSERT_EQUAL(segment_stage_of(members[1], first, 0), STAGE_LEFT);
    CU_ASSERT_FALSE(segment_is_free(members[0], later));
    segment_leave(members[1], first);
    CU_ASSERT_TRUE(segment_is_free(members[0], later));
    CU_ASSERT_FALSE(segment_arrive(members[0], later)); /* and nothing is left of the first */
    CU_ASSERT_FALSE(segment_all_at(members[0], later, STAGE_FIRST));
    CU_ASSERT_EQUAL(segment_stage_of(members[0], later, 1), STAGE_ABSENT);
    unmake(3);
}

/* One who brings something and goes on does not come to the slot again before the other one, who
 * may be far behind, has taken that. */
static void a_slot_of_two_is_free_when_both_have_left(void)
{
    uint32_t first = segment_sequence(5, 0), later = segment_sequence(5 + SEGMENT_CALLS, 0);
    uint32_t latest = segment_sequence(5 + 2 * SEGMENT_CALLS, 0);
    make(2);
    CU_ASSERT_TRUE(segment_is_free(members[0], first) && segment_is_free(members[1], first));
    CU_ASSERT_FALSE(segment_arrive(members[0], first));
    CU_ASSERT_FALSE(segment_all_arrived(members[1], first));
    CU_ASSERT_TRUE(segment_is_at(members[1], first, 0, STAGE_ARRIVED));
    segment_leave(members[0], first);
    CU_ASSERT_TRUE(segment_is_at(members[1], first, 0, STAGE_ARRIVED)); /* it is still to be read */
    CU_ASSERT_EQUAL(segment_stage_of(members[1], first, 0), STAGE_LEFT);
    CU_ASSERT_TRUE(segment_others_left(members[1], first));
    CU_ASSERT_FALSE(segment_others_left(members[0], first));
    CU_ASSERT_FALSE(segment_is_free(members[0], later));
    segment_leave(members[1], first); /* which need not arrive */
    CU_ASSERT_TRUE(segment_is_free(members[0], later));
    CU_ASSERT_TRUE(segment_arrive(members[0], later) || segment_arrive(members[1], later));
    segment_leave(members[0], later);
    CU_ASSERT_FALSE(segment_is_free(members[0], latest));
    CU_ASSERT_TRUE(segment_is_free(members[1], later));
    segment_advance(members[1], later, STAGE_FIRST);
    CU_ASSERT_FALSE(segment_all_at(members[1], later, STAGE_FIRST));
    CU_ASSERT_EQUAL(segment_last(members[1], later), -1);
    segment_leave(members[1], later);
    CU_ASSERT_TRUE(segment_is_free(members[0], latest));
    CU_ASSERT_FALSE(segment_is_at(members[0], latest, 1, STAGE_ARRIVED));
    unmake(2);
}

/* Cards, and what is beside them, of operations that can be under way at once lie apart. */
static void operations_are_apart(void)
{
    make(2);
    for (uint32_t call = 0; call < SEGMENT_CALLS; call++) {
        for (int part = 0; part < 2; part++) {
            uint32_t sequence = segment_sequence(call, part);
            for (int i = 0; i < 2; i++) {
                const struct segment_card card = {call, (uint64_t)part, (uint64_t)i};
                memset(segment_short_area(members[i], sequence, i), (int)call * 4 + part * 2 + i,
                       SEGMENT_SHORT);
                segment_put_card(members[i], sequence, &card);
            }
            memset(segment_short_result(members[0], sequence), 255 - (int)call * 2 - part,
                   SEGMENT_SHORT);
        }
    }
    for (uint32_t call = 0; call < SEGMENT_CALLS; call++) {
        for (int part = 0; part < 2; part++) {
            uint32_t sequence = segment_sequence(call, part);
            for (int i = 0; i < 2; i++) {
                const uint8_t *area = segment_short_area(members[1 - i], sequence, i);
                struct segment_card card = segment_get_card(members[1 - i], sequence, i);
                uint8_t expected = (uint8_t)(call * 4 + (uint32_t)part * 2 + (uint32_t)i);
                CU_ASSERT(area[0] == expected && area[SEGMENT_SHORT - 1] == expected);
                CU_ASSERT(card.what == call && card.from == (uint64_t)part &&
                          card.to == (uint64_t)i);
            }
            const uint8_t *result = segment_short_result(members[1], sequence);
            uint8_t expected = (uint8_t)(255 - call * 2 - (uint32_t)part);
            CU_ASSERT(result[0] == expected && result[SEGMENT_SHORT - 1] == expected);
        }
    }
    unmake(2);
}

/* Those of SEGMENT_AREAS calls lie apart; who takes one is told who had it before. */
static void areas_are_taken_in_turn(void)
{
    make(2);
    for (uint32_t call = 0; call < SEGMENT_AREAS; call++)
        for (int i = 0; i <= 2; i++)
            memset(segment_area(members[i % 2], segment_sequence(call, 0), i), (int)call * 3 + i,
                   SEGMENT_AREA);
    for (uint32_t call = 0; call < SEGMENT_AREAS; call++)
        for (int i = 0; i <= 2; i++) {
            const uint8_t *area = segment_area(members[1 - i % 2], segment_sequence(call, 0), i);
            CU_ASSERT(area[0] == call * 3 + (uint32_t)i && area[SEGMENT_AREA - 1] == area[0]);
        }
    uint32_t first = segment_sequence(3, 0), second = segment_sequence(3, 1);
    uint32_t later = segment_sequence(3 + 2 * SEGMENT_AREAS, 0);
    CU_ASSERT_PTR_EQUAL(segment_result(members[0], first), segment_area(members[0], first, 2));
    CU_ASSERT_PTR_EQUAL(segment_area(members[0], first, 1), segment_area(members[0], later, 1));
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(segment_take_area(members[i], first), 0);
        CU_ASSERT_EQUAL(segment_take_area(members[i], second), first);
        CU_ASSERT_EQUAL(segment_take_area(members[i], segment_sequence(4, 0)), 0);
        CU_ASSERT_EQUAL(segment_take_area(members[i], later), second);
        /* which a slot's last operation would not be known to have come after */
        uint32_t much_later = segment_later(later, 1 << 29);
        CU_ASSERT_EQUAL(segment_take_area(members[i], much_later), 0);
        CU_ASSERT_EQUAL(segment_take_area(members[i], segment_later(much_later, SEGMENT_AREAS)),
                        much_later);
    }
    unmake(2);
}

/* Those of an operation and those of the next ones lie apart. Who has not come to an earlier
 * operation that had them, or waits for others there, does not use them for a later one. */
static void large_areas_are_taken_in_turn(void)
{
    uint32_t first = segment_sequence(3, 0), second = segment_sequence(3, 1);
    uint32_t later = segment_sequence(3 + SEGMENT_LARGES, 0);
    make(2);
    for (uint32_t call = 0; call < SEGMENT_LARGES; call++)
        for (int i = 0; i <= 2; i++)
            memset(segment_large_area(members[i % 2], segment_sequence(call, 0), i),
                   (int)call * 3 + i, SEGMENT_LARGE);
    for (uint32_t call = 0; call < SEGMENT_LARGES; call++)
        for (int i = 0; i <= 2; i++) {
            const uint8_t *area =
                segment_large_area(members[1 - i % 2], segment_sequence(call, 0), i);
            CU_ASSERT(area[0] == call * 3 + (uint32_t)i && area[SEGMENT_LARGE - 1] == area[0]);
        }
    CU_ASSERT_PTR_EQUAL(segment_large_result(members[0], first),
                        segment_large_area(members[0], first, 2));
    for (int i = 0; i < 2; i++) {
        uint32_t before[SEGMENT_LARGES] = {1, 1, 1, 1};
        segment_take_large(members[i], first, 1, before);
        CU_ASSERT_EQUAL(before[0], 0);
        segment_take_large(members[i], second, 1, before);
        CU_ASSERT_EQUAL(before[0], first);
        CU_ASSERT_EQUAL(before[1], 1);
        segment_take_large(members[i], later, SEGMENT_LARGES + 2, before);
        CU_ASSERT_EQUAL(before[0], second);
        CU_ASSERT(before[1] == 0 && before[2] == 0 && before[3] == 0);
        segment_take_large(members[i], segment_later(later, SEGMENT_LARGES + 2), 2, before);
        CU_ASSERT_EQUAL(before[0], segment_later(later, 2));
        CU_ASSERT_EQUAL(before[1], segment_later(later, 3));
        segment_take_large(members[i], segment_later(later, 2 * SEGMENT_LARGES), 1, before);
        CU_ASSERT_EQUAL(before[0], segment_later(later, SEGMENT_LARGES));
    }
    CU_ASSERT_EQUAL(segment_later(segment_sequence(0x3fffffff, 1), 1), segment_sequence(0, 1));
    CU_ASSERT_FALSE(segment_has_ended(members[0], first)); /* nobody has come */
    segment_arrive(members[0], first);
    segment_leave(members[0], first);
    CU_ASSERT_FALSE(segment_has_ended(members[0], first));
    CU_ASSERT_FALSE(segment_has_ended(members[1], first));
    segment_arrive(members[1], first);
    CU_ASSERT_FALSE(segment_has_ended(members[1], first));
    segment_leave(members[1], first);
    CU_ASSERT_TRUE(segment_has_ended(members[0], first));
    CU_ASSERT_TRUE(segment_has_ended(members[1], first));
    segment_arrive(members[0], segment_sequence(3 + SEGMENT_CALLS, 0)); /* has the slot now */
    CU_ASSERT_TRUE(segment_has_ended(members[0], first));
    CU_ASSERT_TRUE(segment_has_ended(members[1], first));
    CU_ASSERT_FALSE(segment_has_ended(members[1], segment_sequence(3 + SEGMENT_CALLS, 0)));
    unmake(2);
}

static void few_and_many_have_no_boxes(void)
{
    CU_ASSERT_EQUAL(boxes_bytes(2), 0);
    CU_ASSERT(boxes_bytes(3) > 0);
    CU_ASSERT(boxes_bytes(BOXES_MEMBERS_MAX) > 0);
    CU_ASSERT_EQUAL(boxes_bytes(BOXES_MEMBERS_MAX + 1), 0);
    make(2);
    CU_ASSERT_PTR_NULL(members[0]->boxes.base);
    unmake(2);
}

static void boxes_are_filled_and_emptied_in_turn(void)
{
    make(3);
    struct boxes *from = &members[0]->boxes, *to = &members[2]->boxes;
    uint32_t turn = boxes_take_turn(from), later = boxes_take_turn(from);
    CU_ASSERT(boxes_is_turn(from, turn) && !boxes_is_turn(from, later));
    boxes_take_turn(to);
    CU_ASSERT_FALSE(boxes_may_receive(to, 0));
    uint32_t sent = 0, received = 0, got;
    for (; boxes_may_send(from, 2); sent++)
        boxes_send(from, 2, &sent, sizeof sent);
    CU_ASSERT_EQUAL(sent, BOXES_EACH);
    CU_ASSERT(boxes_may_send(from, 1));          /* each pair has boxes of its own, */
    CU_ASSERT_FALSE(boxes_may_receive(from, 2)); /* each way */
    for (; sent < 5 * BOXES_EACH; sent++) {
        boxes_receive(to, 0, &got, sizeof got, received % 2 != 0);
        CU_ASSERT_EQUAL(got, received++);
        CU_ASSERT_FATAL(boxes_may_send(from, 2));
        boxes_send(from, 2, &sent, sizeof sent);
        CU_ASSERT_FALSE(boxes_may_send(from, 2));
    }
    for (; boxes_may_receive(to, 0); received++) {
        boxes_receive(to, 0, &got, sizeof got, received % 2 != 0);
        CU_ASSERT_EQUAL(got, received);
    }
    CU_ASSERT_EQUAL(boxes_sent(from, 2), sent);
    CU_ASSERT_EQUAL(boxes_received(to, 0), sent);
    boxes_end_turn(from, sent);
    CU_ASSERT_EQUAL(boxes_sent(from, 2), 0);
    CU_ASSERT(boxes_is_turn(from, later));
    unmake(3);
}

static void the_bell_rings_for_those_that_sleep(void)
{
    uint32_t sequence = segment_sequence(1, 0);
    make(2);
    segment_arrive(members[0], sequence);
    CU_ASSERT_FALSE(rings());
    segment_ask_bell(members[0], sequence);
    CU_ASSERT_FALSE(rings());
    segment_arrive(members[1], sequence);
    CU_ASSERT_TRUE(rings());
    segment_release(members[1], sequence); /* nobody sleeps any more */
    CU_ASSERT_FALSE(rings());
    segment_ask_bell(members[0], sequence);
    segment_release(members[1], sequence);
    CU_ASSERT_TRUE(rings());
    segment_ask_bell(members[0], sequence);
    segment_leave(members[1], sequence); /* all others have */
    CU_ASSERT_TRUE(rings());
    segment_leave(members[0], sequence);
    unmake(2);
}

static void members_read_each_others_memory(void)
{
    uint8_t from[100], to[100] = {0};
    make(2);
    memset(from, 7, sizeof from);
    segment_show(members[0]);
    segment_show(members[1]);
    if (!segment_can_read_all(members[0])) {
        covey_test_skip("reading another process's memory is forbidden here");
        unmake(2);
        return;
    }
    CU_ASSERT_TRUE(segment_read(members[0], 1, to, (uint64_t)(uintptr_t)from, sizeof from));
    CU_ASSERT_EQUAL(memcmp(from, to, sizeof from), 0);
    CU_ASSERT_FALSE(segment_read(members[0], 1, to, 0, sizeof from)); /* nothing is there */
    members[0]->pids[1] = 0;
    CU_ASSERT_FALSE(segment_read(members[0], 1, to, (uint64_t)(uintptr_t)from, sizeof from));
    unmake(2);
}

/* ---- threads ---- */

#define ROUNDS 20000

static uint64_t sums[MEMBERS];

/* Edge by edge, as tasks watch it: nobody reads it, and each hears every time it rings. */
static void sleep_until(const struct team_segment *s, int epoll, uint32_t sequence,
                        bool (*done)(const struct team_segment *, uint32_t))
{
    struct epoll_event event;
    while (!done(s, sequence)) {
        segment_ask_bell(s, sequence);
        if (!done(s, sequence))
            epoll_wait(epoll, &event, 1, -1);
    }
}

static void *member_main(void *arg)
{
    const struct team_segment *s = arg;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int epoll = epoll_create1(0);
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, s->bell, &event) != 0)
        return NULL;
    for (uint32_t call = 0; call < ROUNDS; call++) {
        uint32_t sequence = segment_sequence(call, 0);
        uint64_t number = call * MEMBERS + (uint32_t)s->me;
        sleep_until(s, epoll, sequence, segment_is_free);
        memcpy(segment_area(s, sequence, s->me), &number, sizeof number);
        if (segment_arrive(s, sequence)) {
            uint64_t sum = 0;
            for (int i = 0; i < s->members; i++) {
                memcpy(&number, segment_area(s, sequence, i), sizeof number);
                sum += number;
            }
            memcpy(segment_result(s, sequence), &sum, sizeof sum);
            segment_release(s, sequence);
        }
        sleep_until(s, epoll, sequence, segment_is_released);
        memcpy(&number, segment_result(s, sequence), sizeof number);
        sums[s->me] += number;
        segment_leave(s, sequence);
    }
    close(epoll);
    return NULL;
}

static bool first_has_come(const struct team_segment *s, uint32_t sequence)
{
    return segment_is_at(s, sequence, 0, STAGE_ARRIVED);
}

static void bring_number(const struct team_segment *s, uint32_t sequence, uint64_t number)
{
    memcpy(segment_short_area(s, sequence, s->me), &number, sizeof number);
    segment_arrive(s, sequence);
}

/* Of two members: by turns all need each other, the second needs the first, which goes on, and the
 * other way round. */
static void *pair_main(void *arg)
{
    const struct team_segment *s = arg;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int epoll = epoll_create1(0);
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, s->bell, &event) != 0)
        return NULL;
    for (uint32_t call = 0; call < ROUNDS; call++) {
        uint32_t sequence = segment_sequence(call, 0);
        uint64_t number = call * 2 + (uint32_t)s->me, other = 0;
        bool gets = call % 3 == 1 && s->me == 1;
        if (!gets) {
            sleep_until(s, epoll, sequence, segment_is_free);
            bring_number(s, sequence, number);
        }
        if (call % 3 == 0 || (call % 3 == 2 && s->me == 0))
            sleep_until(s, epoll, sequence, segment_all_arrived);
        else if (gets)
            sleep_until(s, epoll, sequence, first_has_come);
        if (call % 3 == 0 || gets || (call % 3 == 2 && s->me == 0))
            memcpy(&other, segment_short_area(s, sequence, 1 - s->me), sizeof other);
        sums[s->me] += other;
        segment_leave(s, sequence);
    }
    close(epoll);
    return NULL;
}

static void run_members(int n, void *(*main_of)(void *), bool meet)
{
    pthread_t threads[MEMBERS];
    memset(sums, 0, sizeof sums);
    make(n);
    for (int i = 0; i < n && meet; i++)
        segment_show(members[i]);
    for (int i = 0; i < n && meet; i++)
        segment_meet(members[i]);
    for (int i = 0; i < n; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, main_of, members[i]) == 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    unmake(n);
}

static void many_operations_side_by_side(void)
{
    uint64_t expected = 0;
    for (uint64_t i = 0; i < (uint64_t)ROUNDS * MEMBERS; i++)
        expected += i;
    for (int meet = 0; meet < 2; meet++) {
        run_members(MEMBERS, member_main, meet);
        for (int i = 0; i < MEMBERS; i++)
            CU_ASSERT_EQUAL(sums[i], expected);
    }
}

static void many_operations_of_two(void)
{
    uint64_t expected[2] = {0, 0};
    for (uint64_t call = 0; call < ROUNDS; call++) {
        expected[0] += call % 3 == 1 ? 0 : call * 2 + 1;
        expected[1] += call % 3 == 2 ? 0 : call * 2;
    }
    for (int meet = 0; meet < 2; meet++) {
        run_members(2, pair_main, meet);
        CU_ASSERT_EQUAL(sums[0], expected[0]);
        CU_ASSERT_EQUAL(sums[1], expected[1]);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"what is no segment is refused", what_is_no_segment_is_refused},
        {"a slot is free when all have left", a_slot_is_free_when_all_have_left},
        {"a slot of two is free when both have left", a_slot_of_two_is_free_when_both_have_left},
        {"operations are apart", operations_are_apart},
        {"areas are taken in turn", areas_are_taken_in_turn},
        {"large areas are taken in turn", large_areas_are_taken_in_turn},
        {"few and many have no boxes", few_and_many_have_no_boxes},
        {"boxes are filled and emptied in turn", boxes_are_filled_and_emptied_in_turn},
        {"the bell rings for those that sleep", the_bell_rings_for_those_that_sleep},
        {"members read each other's memory", members_read_each_others_memory},
        {"many operations side by side", many_operations_side_by_side},
        {"many operations of two", many_operations_of_two},
    };
    return covey_test_main("segment", cases, sizeof cases / sizeof cases[0]);
}
