/* links: proto/raft/raft*.c proto/wire/cursor.c */
/*
 * raft_rules_test.c - one engine alone, given the messages of others: the rules that random weather
 * seldom needs. (Whole groups: tests/sim/raft_test.c.)
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/raft/raft.h"
#include "proto/raft/raft_wire.h"
#include "tests/unit/runner.h"

enum { ELECTION_US = 1000000, HEARTBEAT_US = 100000, SENT_MAX = 64 };

/* What the engine asked of its owner; only heads and short bodies of messages are looked at. */
struct witness {
    struct raft_message sent[SENT_MAX];
    size_t sent_count;
    unsigned applied, loaded;
    uint64_t leads_term;
};

static void on_send(void *context, const struct raft_id *to, const uint8_t *bytes, size_t size)
{
    struct witness *w = context;

    (void)to;
    if (w->sent_count < SENT_MAX)
        CU_ASSERT(raft_wire_get(bytes, size, &w->sent[w->sent_count++]));
}

static void on_apply(void *context, uint64_t index, uint64_t term, const uint8_t *bytes,
                     size_t size)
{
    struct witness *w = context;

    (void)index, (void)term, (void)bytes, (void)size;
    w->applied++;
}

static bool on_save(void *context, uint8_t **bytes, size_t *size)
{
    (void)context;
    *bytes = malloc(*size = 1);
    return *bytes != NULL;
}

static bool on_load(void *context, const uint8_t *bytes, size_t size)
{
    struct witness *w = context;

    w->loaded++;
    return size > 0 && bytes[0] == 'a';
}

static void on_leader(void *context, const struct raft_id *leader, uint64_t term)
{
    struct witness *w = context;

    w->leads_term = leader && leader->host == 0 ? term : 0;
}

static void on_log(void *context, const char *line)
{
    (void)context, (void)line;
}

/* The engine is host 0. */
static struct raft *create(struct witness *w)
{
    struct raft_config config = {
        .election_us = ELECTION_US, .heartbeat_us = HEARTBEAT_US, .log_bytes = 512};
    struct raft_owner owner = {w, on_send, on_apply, on_save, on_load, on_leader, on_log};

    memset(w, 0, sizeof *w);
    return raft_create(&config, &owner);
}

/* ---- messages of others ---- */

static const uint64_t *last_reply(const struct witness *w)
{
    CU_ASSERT_FATAL(w->sent_count > 0);
    CU_ASSERT_EQUAL_FATAL(w->sent[w->sent_count - 1].kind, RAFT_APPEND_REPLY);
    return &w->sent[w->sent_count - 1].index;
}

static bool last_is_yes(const struct witness *w)
{
    return w->sent_count > 0 && w->sent[w->sent_count - 1].flags & RAFT_YES;
}

static void give(struct raft *r, struct raft_message *m, uint32_t from, uint64_t now_us)
{
    uint8_t bytes[4096];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    m->from.host = from;
    raft_wire_put(&c, m);
    raft_on_message(r, bytes, (size_t)(c.at - bytes), now_us);
}

struct entries {
    uint64_t terms[8];
    uint8_t hosts; /* of an entry that is a configuration: voters 0 .. hosts - 1; 0: a command */
    uint32_t count;
};

static void put_entry(struct cursor *c, uint64_t term, uint8_t hosts)
{
    struct raft_configuration conf = {.count = hosts};
    uint8_t bytes[RAFT_CONFIGURATION_BYTES_MAX];
    struct cursor to = cursor_writer(bytes, sizeof bytes);
    struct raft_entry entry = {
        .term = term, .kind = RAFT_COMMAND, .size = 1, .bytes = (const uint8_t *)"x"};

    for (uint8_t i = 0; i < hosts; i++)
        conf.members[i] = (struct raft_member){{.host = i}, true};
    raft_wire_put_configuration(&to, &conf);
    if (hosts > 0)
        entry = (struct raft_entry){term, RAFT_CONFIGURATION, (uint32_t)(to.at - bytes), bytes};
    raft_wire_put_entry(c, &entry);
}

/* An APPEND of host 1; the last entry is a configuration when `hosts` says so. */
static void append(struct raft *r, uint64_t term, uint64_t prev_index, uint64_t prev_term,
                   uint64_t commit, struct entries entries)
{
    struct raft_message m = {.kind = RAFT_APPEND, .term = term, .from.host = 1};
    uint8_t bytes[4096];
    struct cursor c = cursor_writer(bytes, sizeof bytes);

    m.append = (struct raft_append){prev_index, prev_term, commit, entries.count, {0}};
    raft_wire_put(&c, &m);
    for (uint32_t i = 0; i < entries.count; i++)
        put_entry(&c, entries.terms[i], i + 1 == entries.count ? entries.hosts : 0);
    raft_on_message(r, bytes, (size_t)(c.at - bytes), 1);
}

/* A follower of host 1 in a group of three: the configuration of term 1, then commands. */
static struct raft *create_follower(struct witness *w, struct entries entries, uint64_t commit)
{
    struct raft *r = create(w);

    append(r, 2, 0, 0, 1, (struct entries){{1}, 3, 1});
    append(r, 2, 1, 1, commit, entries);
    raft_step(r, 1);
    CU_ASSERT(last_is_yes(w));
    return r;
}

static void vote_reply(struct raft *r, uint64_t term, uint64_t asked, uint8_t flags)
{
    struct raft_message m = {.kind = RAFT_VOTE_REPLY, .term = term, .flags = flags | RAFT_YES};

    m.asked = asked;
    give(r, &m, 1, 2 * ELECTION_US);
}

static void agree(struct raft *r, uint64_t term, uint64_t index)
{
    struct raft_message m = {.kind = RAFT_APPEND_REPLY, .term = term, .flags = RAFT_YES};

    m.index = index;
    give(r, &m, 1, 2 * ELECTION_US);
    raft_step(r, 2 * ELECTION_US);
}

/* That follower, elected in term 3 by host 1; its own entry follows those it had. */
static struct raft *create_leader(struct witness *w, struct entries entries, uint64_t commit)
{
    struct raft *r = create_follower(w, entries, commit);

    raft_step(r, 2 * ELECTION_US);
    vote_reply(r, 2, 3, RAFT_PRE);
    vote_reply(r, 3, 3, 0);
    CU_ASSERT_EQUAL(raft_term(r), 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(raft_leader(r));
    CU_ASSERT_EQUAL(raft_leader(r)->host, 0);
    return r;
}

/* ---- rules ---- */

/* 3.6.2, figure 3.7: a majority has the entry of term 2, and yet it is not committed by that. */
static void old_terms_are_not_counted(void)
{
    struct witness w;
    struct raft *r = create_leader(&w, (struct entries){{2}, 0, 1}, 1);

    agree(r, 3, 2);
    CU_ASSERT_EQUAL(raft_commit_index(r), 1);
    CU_ASSERT_EQUAL(w.leads_term, 0);
    agree(r, 3, 3);
    CU_ASSERT_EQUAL(raft_commit_index(r), 3);
    CU_ASSERT_EQUAL(w.leads_term, 3);
    CU_ASSERT_EQUAL(w.applied, 1);
    raft_destroy(r);
}

/* A refusal that leaves nothing to be sent is no work: the next heartbeat is. A deadline that is
 * always past looks like a process that stood still. */
static void no_work_is_not_due_at_once(void)
{
    struct witness w;
    struct raft *r = create_leader(&w, (struct entries){{2}, 0, 1}, 1);
    struct raft_message m = {.kind = RAFT_APPEND_REPLY, .term = 3, .index = 3};

    agree(r, 3, 3);
    CU_ASSERT(raft_step(r, 2 * ELECTION_US) > 2 * ELECTION_US);
    give(r, &m, 1, 2 * ELECTION_US);
    CU_ASSERT(raft_step(r, 2 * ELECTION_US) > 2 * ELECTION_US);
    raft_destroy(r);
}

/* Figure 2: entries behind the last one that is known to agree may be wrong, whatever is
 * committed elsewhere. */
static void commit_ends_where_agreement_ends(void)
{
    struct witness w;
    struct raft *r = create_follower(&w, (struct entries){{2, 2, 2}, 0, 3}, 1);

    append(r, 3, 2, 2, 4, (struct entries){{0}, 0, 0});
    CU_ASSERT(last_is_yes(&w));
    CU_ASSERT_EQUAL(*last_reply(&w), 2);
    CU_ASSERT_EQUAL(raft_commit_index(r), 2);
    append(r, 3, 2, 2, 3, (struct entries){{3}, 0, 1});
    CU_ASSERT_EQUAL(raft_commit_index(r), 3);
    CU_ASSERT_EQUAL(raft_last_index(r), 3);
    raft_destroy(r);
}

/* The fault of 2015: no change of members before an entry of the own term is committed. */
static void members_change_after_the_own_term_began(void)
{
    static const struct raft_id WANTED[] = {{.host = 0}, {.host = 1}, {.host = 2}, {.host = 7}};
    struct witness w;
    struct raft *r = create_leader(&w, (struct entries){{2}, 0, 1}, 2);

    CU_ASSERT_EQUAL(raft_want_voters(r, WANTED, 4), 0);
    raft_step(r, 2 * ELECTION_US);
    CU_ASSERT_EQUAL(raft_configuration(r)->count, 3);
    agree(r, 3, 3);
    raft_step(r, 2 * ELECTION_US);
    CU_ASSERT_EQUAL(raft_configuration(r)->count, 4);
    CU_ASSERT(!raft_is_settled(r));
    raft_destroy(r);
}

/* 4.1: the configuration counts from when it is in the log, and no longer than that. */
static void configurations_come_and_go_with_their_entries(void)
{
    struct witness w;
    struct raft *r = create_follower(&w, (struct entries){{2, 2}, 5, 2}, 2);

    CU_ASSERT_EQUAL(raft_configuration(r)->count, 5);
    append(r, 3, 2, 2, 2, (struct entries){{3}, 0, 1});
    CU_ASSERT_EQUAL(raft_configuration(r)->count, 3);
    CU_ASSERT_EQUAL(raft_configuration_index(r), 1);
    raft_destroy(r);
}

/* 3.5: the answer to what does not fit says where to go on, past a whole term. */
static void a_conflict_skips_its_term(void)
{
    struct witness w;
    struct raft *r = create_follower(&w, (struct entries){{2, 2, 2, 2}, 0, 4}, 1);

    append(r, 4, 9, 3, 1, (struct entries){{0}, 0, 0});
    CU_ASSERT(!last_is_yes(&w));
    CU_ASSERT_EQUAL(*last_reply(&w), 5);
    append(r, 4, 5, 3, 1, (struct entries){{0}, 0, 0});
    CU_ASSERT_EQUAL(*last_reply(&w), 1);
    append(r, 4, 1, 1, 1, (struct entries){{3, 4}, 0, 2});
    CU_ASSERT(last_is_yes(&w));
    CU_ASSERT_EQUAL(raft_last_index(r), 3);
    CU_ASSERT_EQUAL(raft_entry_term(r, 2), 3);
    raft_destroy(r);
}

/* Terms end at RAFT_NUMBER_MAX: a follower of the last one follows, and never asks for the next. */
static void nobody_stands_behind_the_last_term(void)
{
    struct witness w;
    struct raft *r = create_follower(&w, (struct entries){{2}, 0, 1}, 1);
    struct raft_message now = {.kind = RAFT_TIMEOUT_NOW, .term = RAFT_NUMBER_MAX};

    append(r, RAFT_NUMBER_MAX, 2, 2, 2, (struct entries){{0}, 0, 0});
    CU_ASSERT(last_is_yes(&w));
    size_t sent = w.sent_count;
    give(r, &now, 1, 1);
    raft_step(r, 3 * ELECTION_US);
    CU_ASSERT_EQUAL(w.sent_count, sent);
    CU_ASSERT_EQUAL(raft_term(r), RAFT_NUMBER_MAX);
    raft_destroy(r);
}

static bool asks(struct raft *r, struct witness *w, uint32_t from, struct raft_vote vote,
                 uint8_t flags)
{
    struct raft_message m = {
        .kind = RAFT_VOTE, .term = flags & RAFT_PRE ? vote.term - 1 : vote.term, .flags = flags};
    size_t before = w->sent_count;

    m.vote = vote;
    give(r, &m, from, 5 * ELECTION_US);
    return w->sent_count > before && last_is_yes(w);
}

/* 3.4, 3.6.1, 9.6: one vote a term, for a log that is not older; a pre-vote binds nobody. */
static void votes(void)
{
    struct witness w;
    struct raft *r = create_follower(&w, (struct entries){{2, 2}, 0, 2}, 1);

    CU_ASSERT(!asks(r, &w, 2, (struct raft_vote){5, 2, 2}, RAFT_PRE)); /* shorter */
    CU_ASSERT(!asks(r, &w, 2, (struct raft_vote){5, 9, 1}, RAFT_PRE)); /* of an older term */
    CU_ASSERT(asks(r, &w, 2, (struct raft_vote){5, 3, 2}, RAFT_PRE));
    CU_ASSERT(asks(r, &w, 1, (struct raft_vote){5, 3, 2}, RAFT_PRE));
    CU_ASSERT(!asks(r, &w, 2, (struct raft_vote){5, 2, 2}, 0));
    CU_ASSERT(asks(r, &w, 1, (struct raft_vote){5, 3, 2}, 0));
    CU_ASSERT(asks(r, &w, 1, (struct raft_vote){5, 3, 2}, 0)); /* its request came twice */
    CU_ASSERT(!asks(r, &w, 2, (struct raft_vote){5, 3, 2}, 0));
    CU_ASSERT(asks(r, &w, 2, (struct raft_vote){6, 1, 3}, 0));
    raft_destroy(r);
}

/* 4.2.3: for an election timeout after it heard the leader, unless that one hands over (3.10). */
static void who_hears_a_leader_does_not_vote(void)
{
    struct witness w;
    struct raft *r = create_follower(&w, (struct entries){{2}, 0, 1}, 1);
    struct raft_message m = {.kind = RAFT_VOTE, .term = 9};
    size_t before = w.sent_count;

    m.vote = (struct raft_vote){9, 9, 9};
    give(r, &m, 2, ELECTION_US / 2);
    CU_ASSERT_EQUAL(w.sent_count, before);
    CU_ASSERT_EQUAL(raft_term(r), 2);
    m.flags = RAFT_TRANSFER;
    give(r, &m, 2, ELECTION_US / 2);
    CU_ASSERT(last_is_yes(&w));
    raft_destroy(r);
}

static void give_chunk(struct raft *r, uint32_t offset, const char *bytes)
{
    struct raft_message m = {.kind = RAFT_SNAPSHOT, .term = 3};

    m.chunk = (struct raft_chunk){.index = 20,
                                  .last_term = 2,
                                  .configuration = {1, {{{.host = 1}, true}}},
                                  .total = 6,
                                  .offset = offset,
                                  .size = (uint32_t)strlen(bytes),
                                  .bytes = (const uint8_t *)bytes};
    give(r, &m, 1, 1);
}

/* Chunks that come late, twice or malformed cost time, nothing else. */
static void snapshots_in_pieces(void)
{
    struct witness w;
    struct raft *r = create(&w);

    give_chunk(r, 3, "bbb");
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].have.offset, 0);
    give_chunk(r, 0, "xxx");
    give_chunk(r, 0, "aaa");
    CU_ASSERT_EQUAL(w.sent[w.sent_count - 1].have.offset, 3);
    CU_ASSERT_EQUAL(w.loaded, 0);
    give_chunk(r, 3, "bbb");
    CU_ASSERT_EQUAL(w.loaded, 1); /* and refused */
    CU_ASSERT_EQUAL(raft_commit_index(r), 0);
    give_chunk(r, 0, "aaa");
    give_chunk(r, 3, "bbb");
    CU_ASSERT_EQUAL(w.loaded, 2);
    CU_ASSERT_EQUAL(raft_commit_index(r), 20);
    CU_ASSERT_EQUAL(*last_reply(&w), 20);
    give_chunk(r, 0, "aaa");
    CU_ASSERT_EQUAL(w.loaded, 2);
    CU_ASSERT_EQUAL(raft_configuration(r)->count, 1);
    raft_destroy(r);
}

static void kinds_have_names(void)
{
    unsigned named = 0;

    for (int kind = 0; kind < 256; kind++)
        named += raft_wire_kind_name(kind) != NULL;
    CU_ASSERT_EQUAL(named, 9);
    CU_ASSERT_STRING_EQUAL(raft_wire_kind_name(RAFT_TIMEOUT_NOW), "TIMEOUT_NOW");
}

/* Who was a voter once keeps its engine, and would look up again and again for ever. */
static void who_has_no_vote_sleeps(void)
{
    struct witness w;
    struct raft *r = create(&w);

    append(r, 2, 0, 0, 1, (struct entries){{1}, 0, 1});
    CU_ASSERT(raft_step(r, 1) < UINT64_MAX);
    CU_ASSERT_EQUAL(raft_step(r, 2 * ELECTION_US), UINT64_MAX);
    append(r, 2, 1, 1, 2, (struct entries){{2}, 3, 1});
    CU_ASSERT(raft_step(r, 1) < 2 * ELECTION_US);
    raft_destroy(r);
}

static const struct test_case CASES[] = {
    {"old terms are not counted", old_terms_are_not_counted},
    {"no work is not due at once", no_work_is_not_due_at_once},
    {"commit ends where agreement ends", commit_ends_where_agreement_ends},
    {"members change after the own term began", members_change_after_the_own_term_began},
    {"configurations come and go with their entries",
     configurations_come_and_go_with_their_entries},
    {"a conflict skips its term", a_conflict_skips_its_term},
    {"nobody stands behind the last term", nobody_stands_behind_the_last_term},
    {"votes", votes},
    {"who hears a leader does not vote", who_hears_a_leader_does_not_vote},
    {"who has no vote sleeps", who_has_no_vote_sleeps},
    {"snapshots in pieces", snapshots_in_pieces},
    {"kinds have names", kinds_have_names},
};

int main(void)
{
    return covey_test_main("raft_rules", CASES, sizeof CASES / sizeof CASES[0]);
}
