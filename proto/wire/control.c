/*
 * control.c - the payloads of the control frames; each put stands beside the get that mirrors it.
 * The grammar stands in control.h.
 */
#include "proto/wire/control.h"

#include <stdlib.h>
#include <string.h>

static void put_zeros(struct cursor *c, size_t count)
{
    while (count-- > 0)
        cursor_put_u8(c, 0);
}

/* Reserved bytes: whoever sets them says what we would not understand. */
static void get_padding(struct cursor *c, size_t count)
{
    while (count-- > 0)
        if (cursor_get_u8(c) != 0)
            c->bad = true;
}

void control_put_reply(struct cursor *c, const struct control_reply *reply)
{
    cursor_put_u32(c, reply->request);
    cursor_put_i32(c, reply->status);
}

void control_get_reply(struct cursor *c, struct control_reply *reply)
{
    reply->request = cursor_get_u32(c);
    reply->status = cursor_get_i32(c);
}

void control_put_enrol(struct cursor *c, const struct control_enrol *enrol)
{
    cursor_put_u32(c, enrol->request);
    cursor_put_u8(c, enrol->version);
    cursor_put_u8(c, enrol->role);
    cursor_put_u16(c, 0);
    cursor_put_i32(c, enrol->pid);
    cursor_put_u64(c, enrol->cookie);
    cursor_put_text(c, enrol->command);
}

void control_get_enrol(struct cursor *c, struct control_enrol *enrol)
{
    memset(enrol, 0, sizeof *enrol);
    enrol->request = cursor_get_u32(c);
    enrol->version = cursor_get_u8(c);
    if (enrol->version != WIRE_VERSION)
        return; /* what follows may look otherwise there */
    enrol->role = cursor_get_u8(c);
    get_padding(c, 2);
    enrol->pid = cursor_get_i32(c);
    enrol->cookie = cursor_get_u64(c);
    cursor_get_text(c, enrol->command, sizeof enrol->command);
}

void control_put_enrolled(struct cursor *c, const struct control_enrolled *e)
{
    cursor_put_u32(c, e->tid);
    cursor_put_u32(c, e->parent);
    cursor_put_u32(c, e->sink);
    cursor_put_u32(c, e->host);
    cursor_put_u32(c, e->coordinator);
    cursor_put_u8(c, e->route);
    cursor_put_u8(c, e->direct);
    cursor_put_u8(c, e->print);
    put_zeros(c, 1);
    cursor_put_text(c, e->host_name);
    cursor_put_text(c, e->vm);
    contention_config_put(c, &e->contention);
}

void control_get_enrolled(struct cursor *c, struct control_enrolled *e)
{
    e->tid = cursor_get_u32(c);
    e->parent = cursor_get_u32(c);
    e->sink = cursor_get_u32(c);
    e->host = cursor_get_u32(c);
    e->coordinator = cursor_get_u32(c);
    e->route = cursor_get_u8(c);
    e->direct = cursor_get_u8(c) != 0;
    e->print = cursor_get_u8(c) != 0;
    get_padding(c, 1);
    cursor_get_text(c, e->host_name, sizeof e->host_name);
    cursor_get_text(c, e->vm, sizeof e->vm);
    contention_config_get(c, &e->contention);
}

void control_put_host(struct cursor *c, const struct host *host)
{
    cursor_put_u32(c, host->index);
    cursor_put_u8(c, host->state);
    cursor_put_u8(c, host->representation);
    cursor_put_u8(c, host->coordinator);
    cursor_put_u8(c, host->address_count);
    cursor_put_bytes(c, host->id, sizeof host->id);
    cursor_put_u64(c, host->incarnation);
    cursor_put_u64(c, host->memory_bytes);
    cursor_put_u32(c, host->cores);
    cursor_put_u32(c, host->speed);
    cursor_put_text(c, host->name);
    cursor_put_text(c, host->arch);
    for (unsigned i = 0; i < host->address_count && i < HOST_ADDRESSES_MAX; i++)
        address_put(c, &host->addresses[i]);
}

void control_get_host(struct cursor *c, struct host *host, struct host_room *room)
{
    memset(room, 0, sizeof *room);
    *host = host_in(room);
    host->index = cursor_get_u32(c);
    host->state = cursor_get_u8(c);
    host->representation = cursor_get_u8(c);
    host->coordinator = cursor_get_u8(c) != 0;
    unsigned count = cursor_get_u8(c);
    cursor_get_bytes(c, host->id, sizeof host->id);
    host->incarnation = cursor_get_u64(c);
    host->memory_bytes = cursor_get_u64(c);
    host->cores = cursor_get_u32(c);
    host->speed = cursor_get_u32(c);
    cursor_get_text(c, room->name, sizeof room->name);
    cursor_get_text(c, room->arch, sizeof room->arch);
    if (count > HOST_ADDRESSES_MAX || host->index > HOST_INDEX_MAX)
        c->bad = true;
    for (unsigned i = 0; i < count && cursor_ok(c); i++)
        address_get(c, &room->addresses[i]);
    host->address_count = (uint8_t)(cursor_ok(c) ? count : 0);
}

void control_put_host_event(struct cursor *c, const struct control_host_event *e)
{
    cursor_put_u8(c, e->event);
    put_zeros(c, 3);
    cursor_put_u32(c, e->coordinator);
    control_put_host(c, &e->host);
}

void control_get_host_event(struct cursor *c, struct control_host_event *e)
{
    e->event = cursor_get_u8(c);
    get_padding(c, 3);
    e->coordinator = cursor_get_u32(c);
    control_get_host(c, &e->host, &e->room);
}

void control_put_task(struct cursor *c, const struct control_task *task)
{
    cursor_put_u32(c, task->tid);
    cursor_put_u32(c, task->parent);
    cursor_put_u32(c, task->sink);
    cursor_put_i32(c, task->pid);
    cursor_put_u8(c, task->state);
    cursor_put_text(c, task->command);
}

void control_get_task(struct cursor *c, struct control_task *task)
{
    task->tid = cursor_get_u32(c);
    task->parent = cursor_get_u32(c);
    task->sink = cursor_get_u32(c);
    task->pid = cursor_get_i32(c);
    task->state = cursor_get_u8(c);
    cursor_get_text(c, task->command, sizeof task->command);
}

static void put_strings(struct cursor *c, const char *const *strings)
{
    size_t count = 0;
    while (strings != NULL && strings[count] != NULL)
        count++;
    if (count > UINT16_MAX) {
        c->bad = true;
        return;
    }
    cursor_put_u16(c, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(strings[i]);
        cursor_put_u32(c, (uint32_t)size);
        cursor_put_bytes(c, strings[i], size);
    }
}

struct control_string *control_get_strings(struct cursor *c, size_t *count)
{
    size_t n = cursor_get_u16(c);
    if (n * 4 > cursor_left(c))
        c->bad = true;
    struct control_string *strings = cursor_ok(c) ? calloc(n + 1, sizeof *strings) : NULL;
    for (size_t i = 0; strings != NULL && i < n; i++) {
        struct control_string *s = &strings[i];
        s->size = cursor_get_u32(c);
        s->bytes = (const char *)cursor_get_view(c, s->size);
        if (s->bytes != NULL && memchr(s->bytes, '\0', s->size) != NULL)
            c->bad = true;
    }
    if (strings == NULL || !cursor_ok(c)) {
        free(strings);
        c->bad = true;
        return NULL;
    }
    *count = n;
    return strings;
}

void control_put_spawn(struct cursor *c, const struct control_spawn *s, const char *const *argv,
                       const char *const *env)
{
    cursor_put_u32(c, s->request);
    cursor_put_u32(c, s->count);
    cursor_put_u32(c, s->parent);
    cursor_put_u32(c, s->sink);
    cursor_put_u8(c, s->route);
    cursor_put_u8(c, s->tether);
    cursor_put_u8(c, s->print);
    cursor_put_u8(c, s->input);
    cursor_put_text(c, s->cwd);
    put_strings(c, argv);
    put_strings(c, env);
}

void control_get_spawn(struct cursor *c, struct control_spawn *s)
{
    s->request = cursor_get_u32(c);
    s->count = cursor_get_u32(c);
    s->parent = cursor_get_u32(c);
    s->sink = cursor_get_u32(c);
    s->route = cursor_get_u8(c);
    s->tether = cursor_get_u8(c);
    s->print = cursor_get_u8(c) != 0;
    s->input = cursor_get_u8(c) != 0;
    cursor_get_text(c, s->cwd, sizeof s->cwd);
}

void control_put_result(struct cursor *c, const struct control_result *r)
{
    cursor_put_i32(c, r->error);
    cursor_put_u32(c, r->number);
    cursor_put_text(c, r->text);
}

void control_get_result(struct cursor *c, struct control_result *r)
{
    r->error = cursor_get_i32(c);
    r->number = cursor_get_u32(c);
    cursor_get_text(c, r->text, sizeof r->text);
}

void control_put_signal(struct cursor *c, const struct control_signal *s)
{
    cursor_put_u32(c, s->request);
    cursor_put_u32(c, s->tid);
    cursor_put_i32(c, s->signal);
}

void control_get_signal(struct cursor *c, struct control_signal *s)
{
    s->request = cursor_get_u32(c);
    s->tid = cursor_get_u32(c);
    s->signal = cursor_get_i32(c);
}

void control_put_sync(struct cursor *c, const struct control_sync *s)
{
    cursor_put_u32(c, s->context);
    cursor_put_u32(c, s->number);
    cursor_put_u16(c, s->from);
    cursor_put_u16(c, s->about);
}

void control_get_sync(struct cursor *c, struct control_sync *s)
{
    s->context = cursor_get_u32(c);
    s->number = cursor_get_u32(c);
    s->from = cursor_get_u16(c);
    s->about = cursor_get_u16(c);
}

void control_put_offer(struct cursor *c, const struct control_offer *o)
{
    cursor_put_u64(c, o->number);
    for (int i = 0; i < o->count; i++) {
        cursor_put_u64(c, o->pieces[i].address);
        cursor_put_u64(c, o->pieces[i].size);
    }
}

bool control_get_offer(struct cursor *c, struct control_offer *o, uint64_t bytes)
{
    struct control_offer read = {.number = cursor_get_u64(c)};
    while (cursor_ok(c) && cursor_left(c) > 0 && read.count < OFFER_PIECES_MAX) {
        struct offer_piece *piece = &read.pieces[read.count++];
        piece->address = cursor_get_u64(c);
        piece->size = cursor_get_u64(c);
        if (!cursor_ok(c) || piece->size == 0 || piece->size > bytes)
            return false;
        bytes -= piece->size;
    }
    if (!cursor_done(c) || bytes > 0)
        return false;
    *o = read;
    return true;
}

void control_put_gone(struct cursor *c, const struct control_gone *g)
{
    cursor_put_u32(c, g->tid);
    cursor_put_u8(c, g->kind);
    put_zeros(c, 3);
    cursor_put_i32(c, g->value);
}

void control_get_gone(struct cursor *c, struct control_gone *g)
{
    g->tid = cursor_get_u32(c);
    g->kind = cursor_get_u8(c);
    get_padding(c, 3);
    g->value = cursor_get_i32(c);
}

void control_put_output(struct cursor *c, const struct control_output *o)
{
    cursor_put_u32(c, o->tid);
    cursor_put_u8(c, o->stream);
    cursor_put_u8(c, o->print);
    put_zeros(c, 2);
}

void control_get_output(struct cursor *c, struct control_output *o)
{
    o->tid = cursor_get_u32(c);
    o->stream = cursor_get_u8(c);
    o->print = cursor_get_u8(c) != 0;
    get_padding(c, 2);
    o->bytes = (uint32_t)cursor_left(c);
}

void control_put_output_ack(struct cursor *c, const struct control_output *o)
{
    cursor_put_u32(c, o->tid);
    cursor_put_u32(c, o->bytes);
}

void control_get_output_ack(struct cursor *c, struct control_output *o)
{
    o->tid = cursor_get_u32(c);
    o->stream = 0;
    o->print = false;
    o->bytes = cursor_get_u32(c);
}

void control_put_ended(struct cursor *c, const struct control_ended *e)
{
    cursor_put_u32(c, e->tid);
    cursor_put_u32(c, e->parent);
    cursor_put_u8(c, e->kind);
    cursor_put_u8(c, e->asked);
    cursor_put_u8(c, e->print);
    put_zeros(c, 1);
    cursor_put_i32(c, e->value);
    cursor_put_text(c, e->host);
    cursor_put_text(c, e->command);
}

void control_get_ended(struct cursor *c, struct control_ended *e)
{
    e->tid = cursor_get_u32(c);
    e->parent = cursor_get_u32(c);
    e->kind = cursor_get_u8(c);
    e->asked = cursor_get_u8(c) != 0;
    e->print = cursor_get_u8(c) != 0;
    get_padding(c, 1);
    e->value = cursor_get_i32(c);
    cursor_get_text(c, e->host, sizeof e->host);
    cursor_get_text(c, e->command, sizeof e->command);
}

bool control_env_add(struct control_env *env, const char *variable)
{
    size_t size = strlen(variable) + 1;
    const char *equals = strchr(variable, '=');
    if (equals == NULL || equals == variable || size > sizeof env->bytes - env->size)
        return false;
    memcpy(env->bytes + env->size, variable, size);
    env->size = (uint16_t)(env->size + size);
    return true;
}

const char *control_env_next(const struct control_env *env, const char *last)
{
    const char *next = last == NULL ? env->bytes : last + strlen(last) + 1;
    return next < env->bytes + env->size ? next : NULL;
}

static void put_env(struct cursor *c, const struct control_env *env)
{
    cursor_put_u16(c, env->size);
    cursor_put_bytes(c, env->bytes, env->size);
}

static void get_env(struct cursor *c, struct control_env *env)
{
    size_t size = cursor_get_u16(c);
    const char *bytes = (const char *)cursor_get_view(c, size);
    memset(env, 0, sizeof *env);
    if (bytes == NULL || size == 0)
        return;
    if (bytes[size - 1] != '\0')
        c->bad = true;
    for (size_t at = 0; cursor_ok(c) && at < size; at += strlen(bytes + at) + 1)
        if (!control_env_add(env, bytes + at))
            c->bad = true;
}

void control_put_host_spec(struct cursor *c, const struct control_host_spec *s)
{
    cursor_put_u8(c, s->launcher);
    put_zeros(c, 1);
    cursor_put_u16(c, s->port);
    cursor_put_u32(c, s->speed);
    cursor_put_text(c, s->name);
    cursor_put_text(c, s->hostname);
    cursor_put_text(c, s->user);
    cursor_put_text(c, s->template_);
    cursor_put_text(c, s->address);
    cursor_put_text(c, s->bind);
    cursor_put_text(c, s->interface);
    cursor_put_text(c, s->coveyd);
    cursor_put_text(c, s->cwd);
    cursor_put_text(c, s->config);
    put_env(c, &s->env);
}

void control_get_host_spec(struct cursor *c, struct control_host_spec *s)
{
    s->launcher = cursor_get_u8(c);
    get_padding(c, 1);
    s->port = cursor_get_u16(c);
    s->speed = cursor_get_u32(c);
    cursor_get_text(c, s->name, sizeof s->name);
    cursor_get_text(c, s->hostname, sizeof s->hostname);
    cursor_get_text(c, s->user, sizeof s->user);
    cursor_get_text(c, s->template_, sizeof s->template_);
    cursor_get_text(c, s->address, sizeof s->address);
    cursor_get_text(c, s->bind, sizeof s->bind);
    cursor_get_text(c, s->interface, sizeof s->interface);
    cursor_get_text(c, s->coveyd, sizeof s->coveyd);
    cursor_get_text(c, s->cwd, sizeof s->cwd);
    cursor_get_text(c, s->config, sizeof s->config);
    get_env(c, &s->env);
}

void control_put_mcast(struct cursor *c, const struct control_mcast *m)
{
    cursor_put_u16(c, m->count);
    cursor_put_u8(c, m->flags);
    put_zeros(c, 1);
    for (uint16_t i = 0; i < m->count; i++) {
        cursor_put_u32(c, m->receivers[i].tid);
        cursor_put_u64(c, m->receivers[i].sequence);
    }
}

void control_get_mcast(struct cursor *c, struct control_mcast *m)
{
    m->count = cursor_get_u16(c);
    m->flags = cursor_get_u8(c);
    get_padding(c, 1);
    if (m->count == 0 || m->count > CONTROL_RECEIVERS_MAX ||
        (m->flags & ~(FRAME_FIRST | FRAME_LAST)) != 0)
        c->bad = true;
    for (uint16_t i = 0; !c->bad && i < m->count; i++) {
        m->receivers[i].tid = cursor_get_u32(c);
        m->receivers[i].sequence = cursor_get_u64(c);
    }
}

void control_put_link_open(struct cursor *c, const struct control_link *l)
{
    cursor_put_bytes(c, l->nonce, sizeof l->nonce);
    cursor_put_u8(c, l->route);
    cursor_put_u8(c, l->encrypt);
    cursor_put_u8(c, l->direct);
    put_zeros(c, 1);
    if (l->has_key)
        cursor_put_bytes(c, l->key, sizeof l->key);
    if (l->has_key && l->has_address) {
        cursor_put_u32(c, l->vm);
        cursor_put_u64(c, l->detour_us);
        address_put(c, &l->address);
    }
}

void control_get_link_open(struct cursor *c, struct control_link *l)
{
    memset(l, 0, sizeof *l);
    cursor_get_bytes(c, l->nonce, sizeof l->nonce);
    l->route = cursor_get_u8(c);
    l->encrypt = cursor_get_u8(c) != 0;
    l->direct = cursor_get_u8(c) != 0;
    get_padding(c, 1);
    l->has_key = cursor_left(c) > 0;
    if (l->has_key)
        cursor_get_bytes(c, l->key, sizeof l->key);
    l->has_address = cursor_left(c) > 0;
    if (l->has_address) {
        l->vm = cursor_get_u32(c);
        l->detour_us = cursor_get_u64(c);
        address_get(c, &l->address);
    }
}

void control_put_link_key(struct cursor *c, const struct control_link *l)
{
    cursor_put_bytes(c, l->nonce, sizeof l->nonce);
    cursor_put_bytes(c, l->key, sizeof l->key);
    cursor_put_u8(c, l->encrypt);
    put_zeros(c, 3);
}

void control_get_link_key(struct cursor *c, struct control_link *l)
{
    memset(l, 0, sizeof *l);
    cursor_get_bytes(c, l->nonce, sizeof l->nonce);
    cursor_get_bytes(c, l->key, sizeof l->key);
    l->encrypt = cursor_get_u8(c) != 0;
    get_padding(c, 3);
    l->has_key = true;
}

void control_put_link_accept(struct cursor *c, const struct control_link *l)
{
    cursor_put_bytes(c, l->nonce, sizeof l->nonce);
    cursor_put_u8(c, l->route);
    cursor_put_u8(c, l->direct);
    cursor_put_u16(c, l->port);
    if (l->has_address)
        address_put(c, &l->address);
    if (l->has_address && l->has_key) {
        cursor_put_u32(c, l->vm);
        cursor_put_u64(c, l->detour_us);
        cursor_put_u8(c, l->encrypt);
        cursor_put_bytes(c, l->key, sizeof l->key);
    }
}

void control_get_link_accept(struct cursor *c, struct control_link *l)
{
    memset(l, 0, sizeof *l);
    cursor_get_bytes(c, l->nonce, sizeof l->nonce);
    l->route = cursor_get_u8(c);
    l->direct = cursor_get_u8(c) != 0;
    l->port = cursor_get_u16(c);
    l->has_address = cursor_left(c) > 0;
    if (l->has_address)
        address_get(c, &l->address);
    l->has_key = cursor_left(c) > 0;
    if (l->has_key) {
        l->vm = cursor_get_u32(c);
        l->detour_us = cursor_get_u64(c);
        l->encrypt = cursor_get_u8(c) != 0;
        cursor_get_bytes(c, l->key, sizeof l->key);
    }
}

void control_put_link_refuse(struct cursor *c, const struct control_link *l)
{
    cursor_put_bytes(c, l->nonce, sizeof l->nonce);
    cursor_put_u8(c, l->route);
    put_zeros(c, 3);
    cursor_put_i32(c, l->error);
    cursor_put_text(c, l->text);
}

void control_get_link_refuse(struct cursor *c, struct control_link *l)
{
    memset(l, 0, sizeof *l);
    cursor_get_bytes(c, l->nonce, sizeof l->nonce);
    l->route = cursor_get_u8(c);
    get_padding(c, 3);
    l->error = cursor_get_i32(c);
    cursor_get_text(c, l->text, sizeof l->text);
}

void control_put_bootstrap(struct cursor *c, const struct control_bootstrap *b)
{
    cursor_put_u8(c, b->version);
    cursor_put_u32(c, b->index);
    cursor_put_u64(c, b->incarnation);
    cursor_put_bytes(c, b->key, sizeof b->key);
    cursor_put_text(c, b->vm);
    cursor_put_text(c, b->name);
    cursor_put_u32(c, b->speed);
    cursor_put_u64(c, b->fail_timeout_us);
    cursor_put_u8(c, b->encrypt);
    contention_config_put(c, &b->contention);
    cursor_put_text(c, b->address);
    cursor_put_text(c, b->bind);
    cursor_put_text(c, b->interface);
    put_env(c, &b->env);
    control_put_host(c, &b->coordinator);
}

void control_get_bootstrap(struct cursor *c, struct control_bootstrap *b)
{
    memset(b, 0, sizeof *b);
    b->coordinator = host_in(&b->room);
    b->version = cursor_get_u8(c);
    if (b->version != WIRE_VERSION)
        return; /* what follows may look otherwise there */
    b->index = cursor_get_u32(c);
    b->incarnation = cursor_get_u64(c);
    cursor_get_bytes(c, b->key, sizeof b->key);
    cursor_get_text(c, b->vm, sizeof b->vm);
    cursor_get_text(c, b->name, sizeof b->name);
    b->speed = cursor_get_u32(c);
    b->fail_timeout_us = cursor_get_u64(c);
    b->encrypt = cursor_get_u8(c) != 0;
    contention_config_get(c, &b->contention);
    cursor_get_text(c, b->address, sizeof b->address);
    cursor_get_text(c, b->bind, sizeof b->bind);
    cursor_get_text(c, b->interface, sizeof b->interface);
    get_env(c, &b->env);
    control_get_host(c, &b->coordinator, &b->room);
}
