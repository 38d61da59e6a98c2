/* links: libcovey */
/*
 * agree.c - what the calls about sessions, election and consensus return, in a VM that runs: one
 * line a check, `ok: name` or `FAILED: name`.
 *
 *   agree         several memberships of one process stand for several tasks
 */
#include <covey.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SECOND ((int64_t)1000000)
#define TAG 7

static int failed;

static void check(const char *name, bool good)
{
    printf("%s: %s%s%s\n", good ? "ok" : "FAILED", name, good ? "" : ": ",
           good ? "" : covey_error_text());
    failed += !good;
}

static bool says(const char *part)
{
    return strstr(covey_error_text(), part) != NULL;
}

static void sessions_refuse(covey_t *a)
{
    covey_session_t *s = NULL, *again = NULL;
    struct covey_value value = {.bytes = COVEY_SESSION_VALUE_MAX + 1};
    char name[65];

    memset(name, 'n', 64);
    name[64] = '\0';
    check("a name has bytes", covey_session_join(a, "", &s) == COVEY_EINVAL);
    check("a name is not too long", covey_session_join(a, name, &s) == COVEY_EINVAL);
    check("a session is joined", covey_session_join(a, name + 1, &s) == COVEY_OK);
    check("a session is joined once", covey_session_join(a, name + 1, &again) == COVEY_EEXIST);
    check("a value is not too large", covey_session_put(s, &value) == COVEY_EINVAL);
    check("nobody expels himself", covey_session_expel(s, covey_mytid(a)) == COVEY_EINVAL);
    check("nobody expels a stranger", covey_session_expel(s, covey_mytid(a) + 1) == COVEY_ENOTASK);
    check("a session is left", covey_session_leave(&s) == COVEY_OK && s == NULL);
    check("a session is left twice", covey_session_leave(&s) == COVEY_OK);
}

static void views_come_in_turn(covey_t *a, covey_t *b)
{
    covey_session_t *sa, *sb;
    struct covey_view first, view;
    uint64_t number = 0;
    covey_msg_t *msg;

    check("a joins", covey_session_join(a, "turn", &sa) == COVEY_OK);
    covey_session_view(sa, &first);
    check("the first view is one's own", first.change == COVEY_VIEW_JOINED && first.count == 1 &&
                                             first.members[0] == covey_mytid(a));
    check("there is no other view", covey_session_next(sa, COVEY_POLL, &view) == COVEY_ETIMEOUT);
    check("nor in a while", covey_session_next(sa, SECOND / 10, &view) == COVEY_ETIMEOUT);
    check("b joins", covey_session_join(b, "turn", &sb) == COVEY_OK);
    check("a sees it", covey_session_next(sa, 10 * SECOND, &view) == COVEY_OK &&
                           view.number == first.number + 1 && view.tid == covey_mytid(b) &&
                           view.count == 2);
    check("a is to be told", covey_session_notify(sa, TAG) == COVEY_OK);
    check("b leaves", covey_session_leave(&sb) == COVEY_OK);
    check("a is told", covey_recv(a, COVEY_ANY_TASK, TAG, 10 * SECOND, &msg) == COVEY_OK &&
                           covey_unpack_uint64(msg, &number, 1, 1) == COVEY_OK &&
                           number == first.number + 2);
    covey_msg_free(msg);
    check("and has the view at once", covey_session_next(sa, COVEY_POLL, &view) == COVEY_OK &&
                                          view.number == number && view.change == COVEY_VIEW_LEFT &&
                                          view.count == 1);
    check("a leaves", covey_session_leave(&sa) == COVEY_OK);
}

static void the_excluded_learn_why(covey_t *a, covey_t *b)
{
    covey_session_t *sa, *sb;
    struct covey_view view;
    struct covey_value value = {.bytes = 1};
    uint64_t number = 1;
    covey_msg_t *msg;

    check("two join", covey_session_join(a, "court", &sa) == COVEY_OK &&
                          covey_session_join(b, "court", &sb) == COVEY_OK &&
                          covey_session_notify(sb, TAG) == COVEY_OK);
    check("one expels the other", covey_session_expel(sa, covey_mytid(b)) == COVEY_OK);
    check("a message says so", covey_recv(b, COVEY_ANY_TASK, TAG, 10 * SECOND, &msg) == COVEY_OK &&
                                   covey_unpack_uint64(msg, &number, 1, 1) == COVEY_OK &&
                                   number == 0);
    covey_msg_free(msg);
    check("it learns why", covey_session_next(sb, 10 * SECOND, &view) == COVEY_ENOGROUP &&
                               says("excluded by another member"));
    check("it cannot put", covey_session_put(sb, &value) == COVEY_ENOGROUP);
    check("it cannot get", covey_session_get(sb, &value) == COVEY_ENOGROUP);
    check("it ends its handle", covey_session_leave(&sb) == COVEY_OK);
    check("it joins again", covey_session_join(b, "court", &sb) == COVEY_OK);
    check("and both leave",
          covey_session_leave(&sb) == COVEY_OK && covey_session_leave(&sa) == COVEY_OK);
}

static void the_slow_catch_up(covey_t *a, covey_t *b)
{
    covey_session_t *sa, *sb;
    struct covey_view first, view;
    bool in_turn = true;
    int error = COVEY_OK;
    uint64_t number = 0;
    covey_msg_t *msg;

    covey_session_join(a, "slow", &sa);
    covey_session_view(sa, &first);
    for (int i = 0; i < 10; i++)
        error |= covey_session_join(b, "slow", &sb) | covey_session_leave(&sb);
    for (uint64_t i = 1; i <= 20 && in_turn; i++)
        in_turn = covey_session_next(sa, 10 * SECOND, &view) == COVEY_OK &&
                  view.number == first.number + i;
    check("twenty changes are seen one by one", error == COVEY_OK && in_turn);
    for (int i = 0; i < 40; i++)
        error |= covey_session_join(b, "slow", &sb) | covey_session_leave(&sb);
    error |= covey_session_join(b, "slow", &sb);
    check("eighty-one more", error == COVEY_OK);
    check("a message comes for them",
          covey_session_notify(sa, TAG) == COVEY_OK &&
              covey_recv(a, COVEY_ANY_TASK, TAG, 10 * SECOND, &msg) == COVEY_OK &&
              covey_unpack_uint64(msg, &number, 1, 1) == COVEY_OK && number == first.number + 101);
    covey_msg_free(msg);
    check("a view stays until the next is taken",
          covey_session_view(sa, &view) == COVEY_OK && view.number == first.number + 20);
    check("of eighty-one, the whole", covey_session_next(sa, 10 * SECOND, &view) == COVEY_OK &&
                                          view.change == COVEY_VIEW_ROSTER && view.count == 2 &&
                                          view.number == first.number + 101);
    check("and nothing after it", covey_session_next(sa, COVEY_POLL, &view) == COVEY_ETIMEOUT);
    covey_session_leave(&sb);
    check("until there is a change", covey_session_next(sa, 10 * SECOND, &view) == COVEY_OK &&
                                         view.number == first.number + 102 && view.count == 1);
    covey_session_leave(&sa);
}

static void put(struct covey_value *value, const char *text)
{
    value->bytes = (int32_t)strlen(text);
    memcpy(value->value, text, strlen(text));
}

static void values_replace_what_was_read(covey_t *a, covey_t *b)
{
    covey_session_t *sa, *sb;
    struct covey_value va = {0}, vb = {0};

    covey_session_join(a, "value", &sa);
    covey_session_join(b, "value", &sb);
    check("there is no value", covey_session_get(sa, &va) == COVEY_OK && va.version == 0);
    put(&va, "one");
    check("it is put", covey_session_put(sa, &va) == 1 && va.version > 0);
    put(&vb, "two");
    check("not over what was not read", covey_session_put(sb, &vb) == 0);
    check("the version is told", vb.version == va.version);
    check("it is read", covey_session_get(sb, &vb) == COVEY_OK && vb.bytes == 3 &&
                            memcmp(vb.value, "one", 3) == 0 && vb.author == covey_mytid(a));
    put(&vb, "two");
    check("and then replaced", covey_session_put(sb, &vb) == 1 && vb.version > va.version);
    covey_session_leave(&sa);
    covey_session_leave(&sb);
}

static void leaders_follow_each_other(covey_t *a, covey_t *b)
{
    struct covey_leader la, lb;

    check("nobody leads", covey_elect_leader(a, "chair", 0, COVEY_POLL, &la) == COVEY_ETIMEOUT);
    check("nor in a while", covey_elect_leader(a, "chair", 0, SECOND / 10, &la) == COVEY_ETIMEOUT);
    check("who is no candidate cannot resign", covey_elect_resign(a, "chair") == COVEY_ENOGROUP);
    check("a stands and leads", covey_elect_stand(a, "chair", &la) == COVEY_OK &&
                                    la.tid == covey_mytid(a) && la.term > 0);
    check("b stands behind it",
          covey_elect_stand(b, "chair", &lb) == COVEY_OK && lb.tid == la.tid && lb.term == la.term);
    check("a resigns", covey_elect_resign(a, "chair") == COVEY_OK);
    check("b leads in a later term",
          covey_elect_leader(b, "chair", lb.term, 10 * SECOND, &lb) == COVEY_OK &&
              lb.tid == covey_mytid(b) && lb.term > la.term);
    covey_elect_resign(b, "chair");
}

static void decisions_stay(covey_t *a, covey_t *b)
{
    struct covey_decision da = {.bytes = 3, .value = "one"}, db = {.bytes = 3, .value = "two"};

    check("nothing is decided", covey_learn(a, "series", 1, COVEY_POLL, &da) == COVEY_ETIMEOUT);
    check("a proposal is decided", covey_propose(a, "series", 1, 10 * SECOND, &da) == COVEY_OK &&
                                       da.proposer == covey_mytid(a));
    check("for the other one, too", covey_propose(b, "series", 1, 10 * SECOND, &db) == COVEY_OK &&
                                        db.proposer == covey_mytid(a) &&
                                        memcmp(db.value, "one", 3) == 0);
    check("another number is another",
          covey_propose(b, "series", 2, 10 * SECOND, &db) == COVEY_OK &&
              db.proposer == covey_mytid(b));
    check("it is forgotten", covey_forget(a, "series", 2) == COVEY_OK);
    check("and refused",
          covey_propose(b, "series", 1, 10 * SECOND, &db) == COVEY_ENOENT && says("forgotten"));
    check("the other is still there", covey_learn(a, "series", 2, COVEY_POLL, &da) == COVEY_OK &&
                                          da.proposer == covey_mytid(b));
    da.bytes = COVEY_DECISION_MAX + 1;
    check("a value is not too large", covey_propose(a, "series", 3, SECOND, &da) == COVEY_EINVAL);
    covey_forget(a, "series", UINT64_MAX);
}

static void ends_are_seen(covey_t *a)
{
    covey_session_t *sa, *sc;
    struct covey_view view;
    covey_tid_t tid;
    covey_t *c;

    check("a third one comes", covey_join(&c, NULL) == COVEY_OK);
    tid = covey_mytid(c);
    covey_session_join(a, "ends", &sa);
    covey_session_join(c, "ends", &sc);
    covey_session_next(sa, 10 * SECOND, &view);
    covey_leave(&c);
    check("and ends", covey_session_next(sa, 10 * SECOND, &view) == COVEY_OK &&
                          view.change == COVEY_VIEW_ENDED && view.tid == tid && view.count == 1);
    covey_session_leave(&sa);
}

int main(void)
{
    covey_t *a, *b;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (covey_join(&a, NULL) != COVEY_OK || covey_join(&b, NULL) != COVEY_OK) {
        printf("FAILED: joining: %s\n", covey_error_text());
        return 1;
    }
    sessions_refuse(a);
    views_come_in_turn(a, b);
    the_excluded_learn_why(a, b);
    the_slow_catch_up(a, b);
    values_replace_what_was_read(a, b);
    leaders_follow_each_other(a, b);
    decisions_stay(a, b);
    ends_are_seen(a);
    covey_leave(&b);
    covey_leave(&a);
    return failed > 0;
}
