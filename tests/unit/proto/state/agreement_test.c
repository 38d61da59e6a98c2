/* links: proto/state/state.c proto/state/origin.c proto/wire/command.c proto/wire/names.c proto/state/waiters.c proto/state/listeners.c proto/state/lock.c proto/state/token.c proto/state/rendezvous.c proto/state/group.c proto/state/group_engine.c proto/state/view*.c proto/state/leader.c proto/state/consensus.c proto/state/bag_place.c proto/bag/bag_wire.c proto/wire/cursor.c */
/*
 * agreement_test.c - sessions, election and consensus one command at a time: what each asker is
 * told. How they bear faults is in tests/sim/agree_test.c.
 */
#include <CUnit/CUnit.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/state/consensus.h"
#include "proto/state/state.h"
#include "proto/state/view.h"
#include "proto/wire/frame.h"
#include "tests/unit/runner.h"

#define A tid_make(1, 1)
#define B tid_make(1, 2)
#define C tid_make(2, 1)

struct vm {
    struct state *state;
    uint64_t index, number[4];
    char told[8192];
};

/* "host.local=status:body" with the body in hex, of what is not all zero */
static void on_event(void *context, const struct event *e)
{
    struct vm *vm = context;
    size_t used = strlen(vm->told);
    used += (size_t)snprintf(vm->told + used, sizeof vm->told - used,
                             "%s%u.%u=%d:", used > 0 ? " " : "", tid_host(e->task),
                             tid_local(e->task), (int)e->status);
    for (size_t i = 0; i < e->size && used + 3 < sizeof vm->told; i++)
        used += (size_t)snprintf(vm->told + used, sizeof vm->told - used, "%02x", e->body[i]);
}

static void told(struct vm *vm, const char *expected)
{
    CU_ASSERT_STRING_EQUAL(vm->told, expected);
    if (strcmp(vm->told, expected) != 0)
        printf("told: %s\nnot:  %s\n", vm->told, expected);
    vm->told[0] = '\0';
}

static void put(struct vm *vm, uint8_t kind, uint32_t host, uint32_t task, const struct cursor *c,
                const uint8_t *body)
{
    uint8_t bytes[COMMAND_BYTES_MAX];
    struct cursor w = cursor_writer(bytes, sizeof bytes);
    command_put(&w, &(struct command){.kind = kind,
                                      .host = host,
                                      .session = host * 10,
                                      .number = host == 0 ? 0 : ++vm->number[host],
                                      .task = task,
                                      .request = 1,
                                      .body = body,
                                      .size = c == NULL ? 0 : (size_t)(c->at - body)});
    CU_ASSERT_EQUAL(state_apply(vm->state, ++vm->index, bytes, (size_t)(w.at - bytes)),
                    STATE_APPLIED);
}

static void start(struct vm *vm)
{
    memset(vm, 0, sizeof *vm);
    vm->state = state_create(on_event, vm);
    put(vm, COMMAND_OPEN, 1, 0, NULL, NULL);
    put(vm, COMMAND_OPEN, 2, 0, NULL, NULL);
}

/* A command about "x"; format: u8 'b', u32 'w', u64 'q', a text without its length 't'. */
static struct cursor body_of(uint8_t *body, size_t size, const char *format, va_list args)
{
    struct cursor c = cursor_writer(body, size);
    cursor_put_text(&c, "x");
    for (; *format != '\0'; format++) {
        const char *text = *format == 't' ? va_arg(args, const char *) : NULL;
        if (text != NULL)
            cursor_put_bytes(&c, text, strlen(text));
        else if (*format == 'w')
            cursor_put_u32(&c, va_arg(args, uint32_t));
        else
            cursor_put_u64(&c, va_arg(args, uint64_t));
    }
    return c;
}

static void ask(struct vm *vm, uint8_t kind, uint32_t task, const char *format, ...)
{
    uint8_t body[COMMAND_BODY_MAX];
    va_list args;
    va_start(args, format);
    struct cursor c = body_of(body, sizeof body, format, args);
    va_end(args);
    put(vm, kind, tid_host(task), task, &c, body);
}

static void question(struct vm *vm, uint8_t kind, uint32_t task, const char *format, ...)
{
    uint8_t body[256], answer[8192];
    struct cursor out = cursor_writer(answer, sizeof answer);
    va_list args;
    va_start(args, format);
    struct cursor c = body_of(body, sizeof body, format, args);
    va_end(args);
    c = cursor_reader(body, (size_t)(c.at - body));
    int32_t status = state_query(vm->state, kind, task, &c, &out);
    on_event(
        vm, &(struct event){
                .task = task, .status = status, .body = answer, .size = (size_t)(out.at - answer)});
}

static void host_lost(struct vm *vm, uint32_t host)
{
    uint8_t body[12];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u32(&c, host);
    cursor_put_u64(&c, host * 10);
    put(vm, COMMAND_HOST_GONE, 0, 0, &c, body);
}

/* What comes after is the same when the state was saved and loaded in between. */
static void reload(struct vm *vm)
{
    static uint8_t bytes[1 << 20];
    size_t size = state_save(vm->state, bytes, sizeof bytes);
    CU_ASSERT_FATAL(size > 0);
    state_destroy(vm->state);
    vm->state = state_load(on_event, vm, bytes, size);
    CU_ASSERT_FATAL(vm->state != NULL);
    for (size_t cut = 0; cut < size; cut += 1 + size / 97)
        CU_ASSERT_PTR_NULL(state_load(on_event, vm, bytes, cut));
}

/* ---- sessions ---- */

#define FIRST(n) "000000000000000" n
#define ROSTER "01"
#define CHANGES "00"
#define TASK_A "00040001"
#define TASK_B "00040002"
#define TASK_C "00080001"

static void members_see_each_change(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    told(&vm, "1.1=0:" FIRST("1") ROSTER "00000001" TASK_A);
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    told(&vm, "1.1=-18:");
    ask(&vm, COMMAND_VIEW_NEXT, A, "q", UINT64_C(1));
    told(&vm, "");
    reload(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, C, "");
    told(&vm, "1.1=0:" FIRST("2") CHANGES "00000001"
                                          "01" TASK_C " 2.1=0:" FIRST("2") ROSTER
         "00000002" TASK_A TASK_C);
    ask(&vm, COMMAND_VIEW_JOIN, B, "");
    ask(&vm, COMMAND_VIEW_LEAVE, C, "");
    vm.told[0] = '\0';
    ask(&vm, COMMAND_VIEW_NEXT, A, "q", UINT64_C(2));
    told(&vm, "1.1=0:" FIRST("3") CHANGES "00000002"
                                          "01" TASK_B "02" TASK_C);
    question(&vm, COMMAND_VIEW_LOOK, A, "q", UINT64_C(4));
    told(&vm, "1.1=0:" FIRST("5") CHANGES "00000000");
    state_destroy(vm.state);
}

static void deaths_make_views(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, C, "");
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    ask(&vm, COMMAND_VIEW_JOIN, B, "");
    ask(&vm, COMMAND_VIEW_NEXT, B, "q", UINT64_C(3));
    vm.told[0] = '\0';
    put(&vm, COMMAND_TASK_GONE, 1, A, NULL, NULL);
    told(&vm, "1.2=0:" FIRST("4") CHANGES "00000001"
                                          "03" TASK_A);
    ask(&vm, COMMAND_VIEW_NEXT, B, "q", UINT64_C(4));
    host_lost(&vm, 2);
    told(&vm, "1.2=0:" FIRST("5") CHANGES "00000001"
                                          "0400080000");
    put(&vm, COMMAND_TASK_GONE, 1, B, NULL, NULL);
    told(&vm, "");
    ask(&vm, COMMAND_VIEW_JOIN, A, ""); /* another session of that name: its numbers go on */
    told(&vm, "1.1=0:" FIRST("7") ROSTER "00000001" TASK_A);
    state_destroy(vm.state);
}

static void the_excluded_are_told(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    ask(&vm, COMMAND_VIEW_JOIN, C, "");
    ask(&vm, COMMAND_VIEW_NEXT, C, "q", UINT64_C(2));
    vm.told[0] = '\0';
    ask(&vm, COMMAND_VIEW_EXPEL, A, "w", A);
    ask(&vm, COMMAND_VIEW_EXPEL, A, "w", B);
    ask(&vm, COMMAND_VIEW_EXPEL, B, "w", A);
    told(&vm, "1.1=-1: 1.1=-4: 1.2=-17:");
    ask(&vm, COMMAND_VIEW_EXPEL, A, "w", C);
    told(&vm, "2.1=0:" FIRST("3") "020000000005 1.1=0:" FIRST("3"));
    ask(&vm, COMMAND_VIEW_NEXT, C, "q", UINT64_C(2));
    told(&vm, "2.1=0:" FIRST("3") "020000000005");
    ask(&vm, COMMAND_VIEW_NEXT, B, "q", UINT64_C(2));
    told(&vm, "1.2=0:" FIRST("0") "020000000000");
    ask(&vm, COMMAND_VIEW_LEAVE, C, "");
    told(&vm, "2.1=-17:");
    state_destroy(vm.state);
}

static void the_history_is_bounded(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, A, ""); /* view 1 */
    for (int i = 0; i < VIEW_HISTORY / 2; i++) {
        ask(&vm, COMMAND_VIEW_JOIN, B, "");
        ask(&vm, COMMAND_VIEW_LEAVE, B, "");
    }
    reload(&vm);
    vm.told[0] = '\0';
    question(&vm, COMMAND_VIEW_LOOK, A, "q", UINT64_C(1));
    CU_ASSERT_EQUAL(strncmp(vm.told, "1.1=0:" FIRST("2") CHANGES "00000040", 32), 0);
    vm.told[0] = '\0';
    ask(&vm, COMMAND_VIEW_JOIN, B, "");
    vm.told[0] = '\0';
    question(&vm, COMMAND_VIEW_LOOK, A, "q", UINT64_C(1));
    told(&vm, "1.1=0:0000000000000042" ROSTER "00000002" TASK_A TASK_B);
    question(&vm, COMMAND_VIEW_LOOK, A, "q", UINT64_C(1000)); /* of a number that never was */
    told(&vm, "1.1=0:0000000000000042" ROSTER "00000002" TASK_A TASK_B);
    state_destroy(vm.state);
}

static void a_value_is_put_over_the_version_that_was_read(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    ask(&vm, COMMAND_VIEW_JOIN, B, "");
    vm.told[0] = '\0';
    question(&vm, COMMAND_VIEW_GET, A, "");
    told(&vm, "1.1=0:" FIRST("0") "00000000" FIRST("0"));
    ask(&vm, COMMAND_VIEW_PUT, A, "qt", UINT64_C(0), "one");
    ask(&vm, COMMAND_VIEW_PUT, B, "qt", UINT64_C(0), "two");
    told(&vm, "1.1=0:01" FIRST("1") " 1.2=0:00" FIRST("1"));
    reload(&vm);
    question(&vm, COMMAND_VIEW_GET, B, "");
    told(&vm, "1.2=0:" FIRST("1") TASK_A FIRST("2") "6f6e65");
    ask(&vm, COMMAND_VIEW_PUT, C, "qt", UINT64_C(1), "three");
    question(&vm, COMMAND_VIEW_GET, C, "");
    told(&vm, "2.1=-17: 2.1=-17:");
    ask(&vm, COMMAND_VIEW_PUT, B, "qt", UINT64_C(1), "");
    told(&vm, "1.2=0:01" FIRST("2"));
    state_destroy(vm.state);
}

static void numbers_go_on_after_a_state_that_was_lost(void)
{
    struct vm vm;
    memset(&vm, 0, sizeof vm);
    vm.state = state_create(on_event, &vm);
    state_begin(vm.state, 7);
    put(&vm, COMMAND_OPEN, 1, 0, NULL, NULL);
    reload(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    ask(&vm, COMMAND_LEADER_STAND, A, "");
    told(&vm, "1.1=0:" FIRST("8") ROSTER "00000001" TASK_A " 1.1=0:" TASK_A FIRST("8"));
    state_destroy(vm.state);
}

/* ---- election ---- */

static void the_next_in_line_leads(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_LEADER_NEXT, C, "q", UINT64_C(0));
    told(&vm, "");
    ask(&vm, COMMAND_LEADER_STAND, A, "");
    told(&vm, "2.1=0:" TASK_A FIRST("1") " 1.1=0:" TASK_A FIRST("1"));
    ask(&vm, COMMAND_LEADER_STAND, B, "");
    ask(&vm, COMMAND_LEADER_STAND, A, "");
    told(&vm, "1.2=0:" TASK_A FIRST("1") " 1.1=0:" TASK_A FIRST("1"));
    ask(&vm, COMMAND_LEADER_NEXT, C, "q", UINT64_C(1));
    reload(&vm);
    ask(&vm, COMMAND_LEADER_RESIGN, A, "");
    told(&vm, "2.1=0:" TASK_B FIRST("2") " 1.1=0:");
    ask(&vm, COMMAND_LEADER_RESIGN, A, "");
    told(&vm, "1.1=-17:");
    put(&vm, COMMAND_TASK_GONE, 1, B, NULL, NULL);
    question(&vm, COMMAND_LEADER_LOOK, C, "");
    told(&vm, "2.1=0:00000000" FIRST("0")); /* nobody stands: nothing is left */
    ask(&vm, COMMAND_LEADER_STAND, C, "");
    told(&vm, "2.1=0:" TASK_C FIRST("3"));
    state_destroy(vm.state);
}

static void those_who_die_together_do_not_lead(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_LEADER_STAND, A, "");
    ask(&vm, COMMAND_LEADER_STAND, B, "");
    ask(&vm, COMMAND_LEADER_STAND, C, "");
    ask(&vm, COMMAND_LEADER_NEXT, C, "q", UINT64_C(1));
    vm.told[0] = '\0';
    host_lost(&vm, 1);
    told(&vm, "2.1=0:" TASK_C FIRST("2"));
    state_destroy(vm.state);
}

/* ---- consensus ---- */

static void the_first_proposal_is_decided(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_CONSENSUS_LEARN, C, "q", UINT64_C(7));
    question(&vm, COMMAND_CONSENSUS_LOOK, B, "q", UINT64_C(7));
    told(&vm, "1.2=0:00000000");
    reload(&vm);
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "qt", UINT64_C(7), "one");
    told(&vm, "1.1=0:" TASK_A "6f6e65 2.1=0:" TASK_A "6f6e65");
    put(&vm, COMMAND_TASK_GONE, 1, A, NULL, NULL);
    reload(&vm);
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, B, "qt", UINT64_C(7), "two");
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, B, "qt", UINT64_C(6), "");
    ask(&vm, COMMAND_CONSENSUS_LEARN, B, "q", UINT64_C(6));
    told(&vm, "1.2=0:" TASK_A "6f6e65 1.2=0:" TASK_B " 1.2=0:" TASK_B);
    state_destroy(vm.state);
}

static void what_is_forgotten_is_refused(void)
{
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "qt", UINT64_C(7), "one");
    ask(&vm, COMMAND_CONSENSUS_LEARN, C, "q", UINT64_C(5));
    vm.told[0] = '\0';
    ask(&vm, COMMAND_CONSENSUS_FORGET, A, "q", UINT64_C(8));
    told(&vm, "2.1=-14: 1.1=0:");
    reload(&vm);
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, B, "qt", UINT64_C(7), "two");
    question(&vm, COMMAND_CONSENSUS_LOOK, B, "q", UINT64_C(7));
    ask(&vm, COMMAND_CONSENSUS_FORGET, A, "q", UINT64_C(3)); /* never back */
    ask(&vm, COMMAND_CONSENSUS_LEARN, B, "q", UINT64_C(7));
    told(&vm, "1.2=-14: 1.2=-14: 1.1=0: 1.2=-14:");
    ask(&vm, COMMAND_CONSENSUS_FORGET, A, "q", CONSENSUS_WHOLE);
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, B, "qt", UINT64_C(7), "two");
    told(&vm, "1.1=0: 1.2=0:" TASK_B "74776f");
    state_destroy(vm.state);
}

static void decisions_take_no_more_than_their_room(void)
{
    struct vm vm;
    char value[CONSENSUS_VALUE_MAX + 2];
    uint64_t number = 0;
    start(&vm);
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = '\0';
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "qt", number, value);
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "qt", CONSENSUS_WHOLE, "");
    told(&vm, "1.1=-1: 1.1=-1:");
    value[CONSENSUS_VALUE_MAX] = '\0';
    while (strncmp(vm.told, "1.1=-16", 7) != 0 && number < CONSENSUS_BYTES_MAX) {
        vm.told[0] = '\0';
        ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "qt", number++, value);
    }
    CU_ASSERT(number > 200 && number <= CONSENSUS_BYTES_MAX / CONSENSUS_VALUE_MAX);
    ask(&vm, COMMAND_CONSENSUS_FORGET, A, "q", number);
    vm.told[0] = '\0';
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "qt", number, "");
    told(&vm, "1.1=0:" TASK_A);
    state_destroy(vm.state);
}

/* ---- all ---- */

static void bodies_that_make_no_sense_are_refused(void)
{
    static const struct {
        uint8_t kind;
        const char *format;
    } bad[] = {{COMMAND_VIEW_JOIN, "w"},        {COMMAND_VIEW_NEXT, ""},
               {COMMAND_VIEW_NEXT, "qw"},       {COMMAND_VIEW_EXPEL, ""},
               {COMMAND_VIEW_PUT, "w"},         {COMMAND_LEADER_STAND, "q"},
               {COMMAND_LEADER_NEXT, "w"},      {COMMAND_CONSENSUS_PROPOSE, "w"},
               {COMMAND_CONSENSUS_LEARN, "qw"}, {COMMAND_CONSENSUS_FORGET, ""}};
    struct vm vm;
    start(&vm);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *format = bad[i].format;
        if (*format == 'w')
            ask(&vm, bad[i].kind, A, format, 1u);
        else
            ask(&vm, bad[i].kind, A, format, UINT64_C(1), 1u);
        told(&vm, "1.1=-21:");
    }
    state_destroy(vm.state);
}

static void who_gives_up_waits_no_more(void)
{
    uint8_t body[4] = {0, 0, 0, 1}; /* request 1 */
    struct cursor c = cursor_writer(body, sizeof body);
    struct vm vm;
    start(&vm);
    ask(&vm, COMMAND_VIEW_JOIN, C, "");
    ask(&vm, COMMAND_VIEW_NEXT, C, "q", UINT64_C(1));
    ask(&vm, COMMAND_LEADER_NEXT, C, "q", UINT64_C(0));
    ask(&vm, COMMAND_CONSENSUS_LEARN, C, "q", UINT64_C(1));
    vm.told[0] = '\0';
    c.at += sizeof body;
    put(&vm, COMMAND_CANCEL, 2, C, &c, body);
    told(&vm, "2.1=-19: 2.1=-19: 2.1=-19:");
    ask(&vm, COMMAND_VIEW_JOIN, A, "");
    ask(&vm, COMMAND_LEADER_STAND, A, "");
    ask(&vm, COMMAND_CONSENSUS_PROPOSE, A, "q", UINT64_C(1));
    CU_ASSERT_PTR_NULL(strstr(vm.told, "2.1"));
    state_destroy(vm.state);
}

int main(void)
{
    const struct test_case cases[] = {
        {"members see each change", members_see_each_change},
        {"deaths make views", deaths_make_views},
        {"the excluded are told", the_excluded_are_told},
        {"the history is bounded", the_history_is_bounded},
        {"a value is put over the version that was read",
         a_value_is_put_over_the_version_that_was_read},
        {"numbers go on after a state that was lost", numbers_go_on_after_a_state_that_was_lost},
        {"the next in line leads", the_next_in_line_leads},
        {"those who die together do not lead", those_who_die_together_do_not_lead},
        {"the first proposal is decided", the_first_proposal_is_decided},
        {"what is forgotten is refused", what_is_forgotten_is_refused},
        {"decisions take no more than their room", decisions_take_no_more_than_their_room},
        {"bodies that make no sense are refused", bodies_that_make_no_sense_are_refused},
        {"who gives up waits no more", who_gives_up_waits_no_more},
    };
    return covey_test_main("agreement", cases, sizeof cases / sizeof cases[0]);
}
