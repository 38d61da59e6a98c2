/*
 * token.c - tokens: a named right that one task at a time has, and that goes from task to task.
 *
 *   create ---> held by its maker                     destroy: by its holder, or while it rests
 *   held    --pass to the next in line--> held by it, or at rest when nobody waits
 *   held    --pass to a named task--> held by that one; if it did not wait, unclaimed: its next
 *             request gets it at once
 *   held    --its holder ends: regenerated--> as passed to the next in line
 *   at rest --request--> held
 *
 * Each time somebody gets it, it has a number larger than all before: a token is valid only with
 * its number, so a task that had it once can neither pass nor destroy it again. A token outlives
 * its maker, until it is destroyed.
 *
 *   tokens = count=u32 *(name=text holder=u32 request=u32 number=u64 unclaimed=u8 waiters)
 */
#include <stdlib.h>

#include "proto/state/state_engine.h"
#include "proto/state/waiters.h"
#include "proto/wire/names.h"

struct token {
    struct name name;
    uint32_t holder, request; /* 0: it rests */
    uint64_t number;
    bool unclaimed; /* its holder was given it by name and has not asked for it */
    struct waiters waiters;
};

struct tokens {
    struct state *state;
    struct names names;
};

static struct token *token_first(const struct tokens *t)
{
    return (struct token *)t->names.first;
}

static struct token *token_next(const struct token *token)
{
    return (struct token *)token->name.next;
}

static struct token *token_find(const struct tokens *t, const char *name)
{
    return (struct token *)names_find(&t->names, name);
}

static void *tokens_create(struct state *state)
{
    struct tokens *t = calloc(1, sizeof *t);
    if (t != NULL)
        t->state = state;
    return t;
}

static void token_remove(struct tokens *t, struct token *token)
{
    waiters_clear(&token->waiters);
    names_remove(&t->names, &token->name);
}

static void tokens_destroy(void *engine)
{
    struct tokens *t = engine;
    while (token_first(t) != NULL)
        token_remove(t, token_first(t));
    free(t);
}

/* ---- who gets it ---- */

static void answer_number(struct tokens *t, const struct token *token)
{
    uint8_t body[8];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, token->number);
    state_answer(t->state,
                 &(struct state_request){.task = token->holder, .request = token->request},
                 ERROR_OK, body, sizeof body);
}

static void grant(struct tokens *t, struct token *token, uint32_t task, uint32_t request)
{
    token->holder = task;
    token->request = request;
    token->number = state_fence(t->state);
    token->unclaimed = false;
    answer_number(t, token);
}

static void token_pass_on(struct tokens *t, struct token *token)
{
    struct waiter next;
    if (waiters_take(&token->waiters, &next)) {
        grant(t, token, next.task, next.request);
        return;
    }
    token->holder = token->request = 0;
    token->unclaimed = false;
}

/* ---- commands ---- */

static void token_create(struct tokens *t, const char *name, const struct state_request *r)
{
    struct token *token = token_find(t, name);
    if (token != NULL || t->names.count >= NAMES_MAX) {
        state_answer(t->state, r, token != NULL ? ERROR_EEXIST : ERROR_ERESOURCE, NULL, 0);
        return;
    }
    token = names_add(&t->names, name, sizeof *token);
    if (token == NULL)
        state_exhausted(t->state);
    else
        grant(t, token, r->task, r->request);
}

static void claim(struct tokens *t, struct token *token, const struct state_request *r)
{
    if (!token->unclaimed) {
        state_answer(t->state, r, ERROR_EEXIST, NULL, 0);
        return;
    }
    token->unclaimed = false;
    token->request = r->request;
    answer_number(t, token);
}

static void request(struct tokens *t, struct token *token, const struct state_request *r, bool try)
{
    if (token == NULL)
        state_answer(t->state, r, ERROR_ENOENT, NULL, 0);
    else if (token->holder == r->task)
        claim(t, token, r);
    else if (waiters_find(&token->waiters, r->task) != NULL)
        state_answer(t->state, r, ERROR_EEXIST, NULL, 0);
    else if (token->holder == 0)
        grant(t, token, r->task, r->request);
    else if (try || token->waiters.count >= WAITERS_MAX)
        state_answer(t->state, r, try ? ERROR_ETIMEOUT : ERROR_ERESOURCE, NULL, 0);
    else if (!waiters_add(&token->waiters, r->task, r->request))
        state_exhausted(t->state);
}

static bool is_held_by(const struct token *token, uint32_t task, uint64_t number)
{
    return token->holder == task && token->number == number;
}

/* Why the token does not pass from the asker to that task (0: to the next in line), or OK. */
static int32_t pass_refused(const struct tokens *t, const struct token *token,
                            const struct state_request *r, uint64_t number, uint32_t to)
{
    if (token == NULL)
        return ERROR_ENOENT;
    if (!is_held_by(token, r->task, number))
        return ERROR_EDENIED;
    if (to == r->task)
        return ERROR_EINVAL;
    return to == 0 || state_reaches(t->state, to) ? ERROR_OK : ERROR_ENOTASK;
}

static void token_pass(struct tokens *t, struct token *token, const struct state_request *r,
                       uint64_t number, uint32_t to)
{
    int32_t refused = pass_refused(t, token, r, number, to);
    state_answer(t->state, r, refused, NULL, 0);
    if (refused != ERROR_OK)
        return;
    if (to == 0)
        token_pass_on(t, token);
    else {
        struct waiter waiter;
        if (waiters_drop(&token->waiters, to, &waiter))
            grant(t, token, waiter.task, waiter.request);
        else {
            /* The notice makes sure that there is such a task: its daemon says so if not. */
            uint8_t body[NAME_BYTES_MAX + 2 + 8];
            struct cursor c = cursor_writer(body, sizeof body);
            token->holder = to;
            token->request = 0;
            token->number = state_fence(t->state);
            token->unclaimed = true;
            cursor_put_u64(&c, token->number);
            cursor_put_text(&c, token->name.text);
            state_notice(t->state, to, NOTICE_TOKEN, body, (size_t)(c.at - body));
        }
    }
}

static void destroy(struct tokens *t, struct token *token, const struct state_request *r,
                    uint64_t number)
{
    bool may = token != NULL && (token->holder == 0 || is_held_by(token, r->task, number));
    struct waiter waiter;
    state_answer(t->state, r,
                 token == NULL ? ERROR_ENOENT
                 : may         ? ERROR_OK
                               : ERROR_EDENIED,
                 NULL, 0);
    if (!may)
        return;
    while (waiters_take(&token->waiters, &waiter))
        state_answer(t->state,
                     &(struct state_request){.task = waiter.task, .request = waiter.request},
                     ERROR_ENOENT, NULL, 0);
    token_remove(t, token);
}

/* What follows the name, as the kind has it. */
struct token_body {
    uint64_t number;
    uint32_t to;
    uint8_t try;
};

static bool body_get(uint8_t kind, struct cursor *c, struct token_body *body)
{
    *body = (struct token_body){.number = 0};
    if (kind == COMMAND_TOKEN_REQUEST)
        body->try = cursor_get_u8(c);
    if (kind == COMMAND_TOKEN_PASS || kind == COMMAND_TOKEN_DESTROY)
        body->number = cursor_get_u64(c);
    if (kind == COMMAND_TOKEN_PASS)
        body->to = cursor_get_u32(c);
    return cursor_done(c) && body->try <= 1 && body->to <= tid_make(HOST_INDEX_MAX, TID_LOCAL_MAX);
}

static bool token_apply(void *engine, const struct state_request *r, struct cursor *c)
{
    struct tokens *t = engine;
    char name[NAME_BYTES_MAX + 1];
    struct token_body body;
    bool named = name_get(c, name);
    if (!body_get(r->kind, c, &body))
        return false;
    struct token *token = named ? token_find(t, name) : NULL;
    if (!named)
        state_answer(t->state, r, ERROR_EINVAL, NULL, 0);
    else if (r->kind == COMMAND_TOKEN_CREATE)
        token_create(t, name, r);
    else if (r->kind == COMMAND_TOKEN_REQUEST)
        request(t, token, r, body.try == 1);
    else if (r->kind == COMMAND_TOKEN_PASS)
        token_pass(t, token, r, body.number, body.to);
    else
        destroy(t, token, r, body.number);
    return true;
}

static int32_t token_query(const void *engine, const struct state_request *r, struct cursor *body,
                           struct cursor *out)
{
    const struct tokens *t = engine;
    char name[NAME_BYTES_MAX + 1];
    if (r->kind == COMMAND_TOKEN_LIST) {
        for (const struct token *token = token_first(t); token != NULL; token = token_next(token)) {
            cursor_put_text(out, token->name.text);
            cursor_put_u32(out, token->holder);
            cursor_put_u64(out, token->number);
            waiters_list(&token->waiters, out);
        }
        return ERROR_OK;
    }
    if (!name_get(body, name) || !cursor_done(body))
        return ERROR_EINVAL;
    const struct token *token = token_find(t, name);
    if (token == NULL)
        return ERROR_ENOENT;
    cursor_put_u32(out, token->holder);
    cursor_put_u64(out, token->number);
    return ERROR_OK;
}

/* ---- ends ---- */

static void token_cancel(void *engine, uint32_t task, uint32_t number)
{
    struct tokens *t = engine;
    const struct state_request r = {.task = task, .request = number};
    for (struct token *token = token_first(t); token != NULL; token = token_next(token)) {
        const struct waiter *waiter = waiters_find(&token->waiters, task);
        struct waiter dropped;
        if (waiter != NULL && waiter->request == number) {
            waiters_drop(&token->waiters, task, &dropped);
            state_answer(t->state, &r, ERROR_ECANCELED, NULL, 0);
        } else if (token->holder == task && !token->unclaimed && token->request == number) {
            token_pass_on(t, token);
        }
    }
}

static void token_gone(void *engine, const struct state_gone *gone)
{
    struct tokens *t = engine;
    for (struct token *token = token_first(t); token != NULL; token = token_next(token)) {
        waiters_drop_gone(&token->waiters, gone);
        if (token->holder != 0 && state_is_gone(gone, token->holder))
            token_pass_on(t, token);
    }
}

/* ---- snapshots ---- */

static void token_save(const void *engine, struct cursor *c)
{
    const struct tokens *t = engine;
    cursor_put_u32(c, (uint32_t)t->names.count);
    for (const struct token *token = token_first(t); token != NULL; token = token_next(token)) {
        cursor_put_text(c, token->name.text);
        cursor_put_u32(c, token->holder);
        cursor_put_u32(c, token->request);
        cursor_put_u64(c, token->number);
        cursor_put_u8(c, token->unclaimed);
        waiters_save(&token->waiters, c);
    }
}

static bool token_load(void *engine, struct cursor *c)
{
    struct tokens *t = engine;
    uint32_t count = cursor_get_u32(c);
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_BYTES_MAX + 1];
        if (!name_get(c, name) || token_find(t, name) != NULL)
            return false;
        struct token *token = names_add(&t->names, name, sizeof *token);
        if (token == NULL)
            return false;
        token->holder = cursor_get_u32(c);
        token->request = cursor_get_u32(c);
        token->number = cursor_get_u64(c);
        uint8_t unclaimed = cursor_get_u8(c);
        token->unclaimed = unclaimed == 1;
        if (unclaimed > 1 || !waiters_load(&token->waiters, c) ||
            (token->holder == 0 && token->waiters.count > 0))
            return false;
    }
    return cursor_ok(c);
}

const struct state_engine token_engine = {
    .create = tokens_create,
    .destroy = tokens_destroy,
    .apply = token_apply,
    .query = token_query,
    .cancel = token_cancel,
    .gone = token_gone,
    .save = token_save,
    .load = token_load,
};
