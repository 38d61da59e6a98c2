/*
 * vm.c - the virtual machine itself: adding and removing hosts, and its end.
 */
#include "lib/member/vm.h"
#include "lib/calls/hosts.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/drive/wait.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/root/enrol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADD_US 60000000u    /* in which no result comes */
#define REMOVE_US 60000000u /* until the answer */
#define HALT_US 20000000u
#define ANSWER_US 5000000u
#define AGAIN_US 200000u
#define HALT_TRIES 4

static bool copy_field(char *to, size_t size, const char *from)
{
    int n = snprintf(to, size, "%s", from == NULL ? "" : from);
    return n >= 0 && (size_t)n < size;
}

static bool copy_fields(struct control_host_spec *s, const struct covey_host_spec *spec)
{
    s->launcher = (uint8_t)spec->launcher;
    s->port = (uint16_t)spec->port;
    s->speed = (uint32_t)spec->speed;
    return copy_field(s->name, sizeof s->name, spec->name) &&
           copy_field(s->hostname, sizeof s->hostname, spec->hostname) &&
           copy_field(s->user, sizeof s->user, spec->user) &&
           copy_field(s->template_, sizeof s->template_, spec->template_) &&
           copy_field(s->address, sizeof s->address, spec->address) &&
           copy_field(s->bind, sizeof s->bind, spec->bind) &&
           copy_field(s->interface, sizeof s->interface, spec->interface) &&
           copy_field(s->coveyd, sizeof s->coveyd, spec->coveyd) &&
           copy_field(s->cwd, sizeof s->cwd, spec->cwd) &&
           copy_field(s->config, sizeof s->config, spec->config);
}

/* NULL, or what is wrong with a spec. */
static const char *fill_spec(struct control_host_spec *s, const struct covey_host_spec *spec)
{
    if (spec->name == NULL || spec->name[0] == '\0')
        return "it has no name";
    if (spec->launcher < COVEY_LAUNCH_DEFAULT || spec->launcher > COVEY_LAUNCH_LOCAL)
        return "there is no such launcher";
    if (spec->port < 0 || spec->port > UINT16_MAX || spec->speed < 0)
        return "its port or speed is out of range";
    if (!copy_fields(s, spec))
        return "a field is too long";
    for (const char *const *e = spec->env; e != NULL && *e != NULL; e++)
        if (!control_env_add(&s->env, *e))
            return "its environment is too long, or not NAME=value";
    return NULL;
}

static int put_spec(struct cursor *c, const struct covey_host_spec *spec)
{
    struct control_host_spec *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_code(COVEY_ENOMEM);
    const char *wrong = fill_spec(s, spec);
    if (wrong == NULL)
        control_put_host_spec(c, s);
    free(s);
    if (wrong != NULL)
        return error_set(COVEY_EINVAL, "add: host '%s': %s", spec->name == NULL ? "" : spec->name,
                         wrong);
    return COVEY_OK;
}

/* How many results say success. */
static int take_results(const uint8_t *content, size_t size, int n,
                        struct covey_host_result *results)
{
    struct cursor c = cursor_reader(content, size);
    int good = 0;
    for (int i = 0; i < n; i++) {
        struct control_result r;
        control_get_result(&c, &r);
        if (!cursor_ok(&c))
            return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
        results[i] = (struct covey_host_result){r.error, (int32_t)r.number, ""};
        memcpy(results[i].text, r.text, sizeof r.text);
        good += r.error == COVEY_OK;
    }
    return good;
}

/* Who coordinates may have changed since the last look. */
static int find_coordinator(struct covey *vm)
{
    struct covey_host *hosts = NULL;
    int error = hosts_ask(vm, &hosts);
    free(hosts);
    return error < 0 ? error : COVEY_OK;
}

/* ---- add: in several requests if the hosts do not fit one ---- */

struct addition {
    const struct covey_host_spec *specs;
    struct covey_host_result *results;
    int n, asked; /* of the hosts those are on their way that come first */
    struct ask {
        struct request *request;
        int n;
    } * asks;
    int ask_count;
};

/* Asks for those that are next and fit one request. */
static int ask_some(struct covey *vm, struct addition *a)
{
    uint8_t body[FRAME_PAYLOAD_MAX - 4];
    struct cursor c = cursor_writer(body, sizeof body), fits;
    struct ask *ask = &a->asks[a->ask_count];
    int count = 0, error = COVEY_OK;
    cursor_put_u16(&c, 0);
    fits = c;
    while (error == COVEY_OK && a->asked + count < a->n && cursor_ok(&c)) {
        error = put_spec(&c, &a->specs[a->asked + count]);
        if (error != COVEY_OK || !cursor_ok(&c))
            break;
        fits = c;
        count++;
    }
    if (error != COVEY_OK)
        return error;
    if (count == 0)
        return error_set(COVEY_EINVAL, "add: what is said of host '%s' is too long",
                         a->specs[a->asked].name);
    struct cursor head = cursor_writer(body, 2);
    cursor_put_u16(&head, (uint16_t)count);
    ask->request =
        request_begin(vm, FRAME_ADD_HOSTS, vm->self.coordinator, body, (size_t)(fits.at - body));
    ask->n = count;
    a->asked += count;
    a->ask_count++;
    return ask->request != NULL ? COVEY_OK : vm->home.lost != 0 ? vm->home.lost : COVEY_EINVAL;
}

static int vm_add(struct covey *vm, struct addition *a)
{
    int good = 0, first = 0, error = find_coordinator(vm);
    while (error == COVEY_OK && a->asked < a->n)
        error = ask_some(vm, a);
    for (int i = 0; error >= 0 && i < a->ask_count; i++) {
        uint8_t *content = NULL;
        size_t size = 0;
        error = request_end_idle(vm, &a->asks[i].request, ADD_US, &content, &size);
        if (error == COVEY_OK)
            error = take_results(content, size, a->asks[i].n, &a->results[first]);
        free(content);
        good += error;
        first += a->asks[i].n;
    }
    for (int i = 0; i < a->ask_count; i++)
        request_forget(vm, &a->asks[i].request);
    return error < 0 ? error : good;
}

static const struct covey_host *find_joined(const struct covey_host *hosts, int n, int32_t index)
{
    for (int i = 0; i < n; i++)
        if (hosts[i].index == index)
            return &hosts[i];
    return NULL;
}

/* Removes those of another architecture than was asked for; returns how many. A program of the
 * wrong one would only fail when it is started. */
static int refuse_strange(covey_t *vm, const struct covey_host_spec *specs, int n,
                          struct covey_host_result *results)
{
    struct covey_host *hosts = NULL;
    int refused = 0, count = covey_hosts(vm, &hosts);
    for (int i = 0; i < n && count >= 0; i++) {
        const struct covey_host *host =
            results[i].error == COVEY_OK ? find_joined(hosts, count, results[i].index) : NULL;
        if (host == NULL || specs[i].arch == NULL || strcmp(host->arch, specs[i].arch) == 0)
            continue;
        struct covey_host_result gone = {0};
        covey_remove_hosts(vm, &specs[i].name, 1, &gone);
        results[i].error = COVEY_EADDHOST;
        snprintf(results[i].text, sizeof results[i].text, "it is %s, not %s", host->arch,
                 specs[i].arch);
        refused++;
    }
    free(hosts);
    return count < 0 ? count : refused;
}

int covey_add_hosts(covey_t *vm, const struct covey_host_spec *specs, int n,
                    struct covey_host_result *results)
{
    struct addition a = {.specs = specs, .results = results, .n = n};
    if (vm == NULL || specs == NULL || results == NULL || n < 1 || n > (int)HOST_INDEX_MAX)
        return error_set(COVEY_EINVAL, "add: NULL or a bad number of hosts");
    a.asks = calloc((size_t)n, sizeof *a.asks);
    if (a.asks == NULL)
        return error_code(COVEY_ENOMEM);
    struct call call = call_begin(vm);
    int good = call_end(vm, &call, vm_add(vm, &a));
    free(a.asks);
    bool asked = false;
    for (int i = 0; i < n; i++)
        asked = asked || specs[i].arch != NULL;
    int refused = good > 0 && asked ? refuse_strange(vm, specs, n, results) : 0;
    return refused < 0 ? refused : good - refused;
}

int covey_remove_hosts(covey_t *vm, const char *const *names, int n,
                       struct covey_host_result *results)
{
    uint8_t body[FRAME_PAYLOAD_MAX - 4];
    struct cursor c = cursor_writer(body, sizeof body);
    if (vm == NULL || names == NULL || results == NULL || n < 1 || n > (int)HOST_INDEX_MAX)
        return error_set(COVEY_EINVAL, "remove: NULL or a bad number of hosts");
    cursor_put_u16(&c, (uint16_t)n);
    for (int i = 0; i < n; i++)
        cursor_put_text(&c, names[i]);
    if (!cursor_ok(&c))
        return error_set(COVEY_EINVAL, "remove: the names are too long");
    uint8_t *content = NULL;
    size_t size = 0;
    struct call call = call_begin(vm);
    int result = find_coordinator(vm);
    if (result == COVEY_OK)
        result = request_call(vm, FRAME_REMOVE_HOSTS, vm->self.coordinator, body,
                              (size_t)(c.at - body), clock_us() + REMOVE_US, &content, &size);
    if (result == COVEY_OK)
        result = take_results(content, size, n, results);
    free(content);
    return call_end(vm, &call, result);
}

static bool daemon_gone(void *context)
{
    return ((struct covey *)context)->home.lost != 0;
}

/* EDAEMON and EHOSTFAIL: a daemon ended before it answered, for this or for another reason. */
static int halt_through(covey_t *vm)
{
    struct covey_host *hosts = NULL;
    struct call call = call_begin(vm);
    int error = hosts_ask(vm, &hosts);
    if (error >= 0) {
        free(hosts);
        error = request_call(vm, FRAME_HALT, vm->self.coordinator, NULL, 0, clock_us() + ANSWER_US,
                             NULL, NULL);
    }
    if (error == COVEY_OK &&
        wait_until(vm, daemon_gone, vm, clock_us() + HALT_US) == COVEY_ETIMEOUT)
        error = error_set(COVEY_ETIMEOUT, "halt: the daemon has not ended in time");
    return call_end(vm, &call, error);
}

/* A coordinator that died a moment ago does not answer, and another one may not be elected yet. */
static bool may_answer_later(int error)
{
    return error == COVEY_ETIMEOUT || error == COVEY_EINVAL;
}

/* Through the same daemon, or another one of the VM on this host if one still takes tasks. */
static int halt_again(covey_t *broken, int error)
{
    const char *vm_name = broken->self.vm_name;
    if (may_answer_later(error)) {
        usleep(AGAIN_US);
        return halt_through(broken);
    }
    struct covey_options options = {.vm = vm_name, .role = COVEY_ROLE_CONSOLE};
    covey_t *vm;
    if (covey_join(&vm, &options) != COVEY_OK)
        return COVEY_OK;
    error = halt_through(vm);
    covey_leave(&vm);
    return error;
}

static bool is_worth_another_try(int error)
{
    return error == COVEY_EDAEMON || error == COVEY_EHOSTFAIL || may_answer_later(error);
}

int covey_halt(covey_t *vm)
{
    if (vm == NULL)
        return error_set(COVEY_EINVAL, "halt: NULL");
    int error = halt_through(vm);
    for (int i = 0; i < HALT_TRIES && is_worth_another_try(error); i++)
        error = halt_again(vm, error);
    if (error == COVEY_OK)
        enrol_await_end(vm->self.vm_name, clock_us() + HALT_US);
    return error;
}
