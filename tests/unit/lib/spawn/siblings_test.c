/* links: lib/spawn/siblings.c proto/wire/cursor.c */
/*
 * Lists of siblings in parts, as a spawner sends them and as one does that is out of its mind. What
 * would wait or send is a stub.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>

#include "lib/drive/call.h"
#include "lib/engine/peer.h"
#include "lib/member/home.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/error.h"
#include "lib/spawn/siblings.h"
#include "tests/unit/runner.h"

#define PARENT 0x40001u
#define ANSWER 2

int home_send(struct covey *vm, uint8_t kind, uint32_t destination, const uint8_t *payload,
              size_t size)
{
    (void)vm, (void)kind, (void)destination, (void)payload, (void)size;
    return COVEY_OK;
}

struct peer *peer_get(struct covey *vm, uint32_t tid)
{
    (void)vm, (void)tid;
    return NULL;
}

struct call call_begin_as(struct covey *vm, const char *name)
{
    (void)vm, (void)name;
    return (struct call){0};
}

int call_end(struct covey *vm, const struct call *call, int result)
{
    (void)vm, (void)call;
    return result;
}

int call_idle(struct covey *vm, bool (*done)(void *), void *context, uint64_t deadline_us)
{
    (void)vm, (void)deadline_us;
    return done(context) ? COVEY_OK : COVEY_ETIMEOUT;
}

static int changes; /* that threads which wait were told of */

void wait_changed(struct covey *vm)
{
    (void)vm;
    changes++;
}

int error_set(int code, const char *format, ...)
{
    (void)format;
    return code;
}

int error_code(int code)
{
    return code;
}

/* So many tids, 1 and on behind `from`, of a list of `total`. */
static void answer(struct covey *vm, uint32_t source, uint32_t total, uint32_t from, uint32_t count)
{
    static uint8_t bytes[65536];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u8(&c, ANSWER);
    cursor_put_u32(&c, total);
    cursor_put_u32(&c, from);
    for (uint32_t i = 0; i < count; i++)
        cursor_put_u32(&c, from + i + 1);
    struct frame frame = {.length = (uint32_t)(c.at - bytes), .source = source};
    siblings_on_family(vm, &frame, bytes);
}

static void a_list_comes_in_parts(void)
{
    struct family family = {0};
    struct covey vm = {.self.parent = PARENT, .part[PART_SIBLINGS] = &family};
    covey_tid_t *tids = NULL;
    changes = 0;
    answer(&vm, PARENT, 5, 0, 3);
    CU_ASSERT_FALSE(family.told);
    answer(&vm, PARENT, 5, 3, 2);
    CU_ASSERT_EQUAL(changes, 1); /* a thread that waits is not the one that polls */
    CU_ASSERT_EQUAL_FATAL(covey_siblings(&vm, &tids), 5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(tids[i], i + 1);
    free(tids);
    siblings_free(&vm);
}

static void parts_that_do_not_go_on_are_dropped(void)
{
    struct family family = {0};
    struct covey vm = {.self.parent = PARENT, .part[PART_SIBLINGS] = &family};
    answer(&vm, PARENT + 1, 2, 0, 2); /* nobody's word but the parent's */
    answer(&vm, PARENT, 2, 3, 1);     /* behind the end */
    answer(&vm, PARENT, 2, 0, 3);     /* more than there are */
    answer(&vm, PARENT, UINT32_MAX, 0, 1);
    CU_ASSERT(family.tids == NULL && family.got == 0);
    answer(&vm, PARENT, 2, 0, 0);         /* none yet */
    answer(&vm, PARENT, 16000, 0, 16000); /* of another length: there is no room for it */
    CU_ASSERT(family.got == 0 && !family.told);
    answer(&vm, PARENT, 2, 0, 2);
    answer(&vm, PARENT, 2, 2, 1);
    CU_ASSERT(family.told && family.got == 2);
    siblings_free(&vm);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"a list comes in parts", a_list_comes_in_parts},
        {"parts that do not go on are dropped", parts_that_do_not_go_on_are_dropped},
    };
    return covey_test_main("siblings", cases, sizeof cases / sizeof cases[0]);
}
