/*
 * identity.c - which virtual machine and host a daemon is, and what the other hosts are told of it.
 * The first daemon of a VM chooses, by its options and covey.conf, and makes the key; one that is
 * launched is told by its invitation.
 */
#include "daemon/host/identity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/base/bootstrap.h"
#include "daemon/base/sockaddr.h"
#include "daemon/link/candidate.h"
#include "daemon/link/media.h"

/* ---- which it is ---- */

static const char *vm_wanted(const struct options *options)
{
    const char *vm = getenv("COVEY_VM");
    if (options->vm != NULL)
        return options->vm;
    return vm != NULL && vm[0] != '\0' ? vm : "default";
}

static void identify(struct daemon *d)
{
    struct node_config *config = &d->node_config;
    if (d->options->join) {
        memcpy(config->vm, d->self.invitation.vm, sizeof config->vm);
        memcpy(config->key, d->self.invitation.key, sizeof config->key);
        memcpy(d->self.name, d->self.invitation.name, sizeof d->self.name);
        d->conf.fail_timeout_us = d->self.invitation.fail_timeout_us;
        config->encrypt = d->self.invitation.encrypt;
        d->conf.contention = d->self.invitation.contention;
        return;
    }
    snprintf(config->vm, sizeof config->vm, "%s", vm_wanted(d->options));
    randombytes_buf(config->key, sizeof config->key);
    config->encrypt = d->conf.encrypt || d->options->encrypt;
    if (d->options->host != NULL)
        snprintf(d->self.name, sizeof d->self.name, "%s", d->options->host);
    else if (d->options->local)
        snprintf(d->self.name, sizeof d->self.name, "h0");
    else if (gethostname(d->self.name, sizeof d->self.name - 1) == 0)
        d->self.name[strcspn(d->self.name, ".")] = '\0';
}

/* What the asker said about this host wins over its covey.conf. */
static int invitation_apply(struct daemon *d, struct failure *why)
{
    const struct control_bootstrap *b = &d->self.invitation;
    const struct {
        const char *name, *value;
    } given[] = {{"address", b->address}, {"bind", b->bind}, {"interface", b->interface}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (given[i].value[0] != '\0' &&
            conf_set(&d->conf, given[i].name, given[i].value, why) != 0)
            return -1;
    for (const char *v = NULL; (v = control_env_next(&b->env, v)) != NULL;) {
        char name[CONTROL_ENV_MAX];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(v, "="), v);
        if (setenv(name, strchr(v, '=') + 1, 1) != 0)
            return failure_set(why, "cannot set %s: %s", name, strerror(errno));
    }
    return 0;
}

int identity_take(struct daemon *d, struct failure *why)
{
    identify(d);
    if (d->options->join && invitation_apply(d, why) != 0)
        return -1;
    const struct options *o = d->options;
    const char *vm = o->join ? d->node_config.vm : vm_wanted(o);
    const char *name = o->host != NULL ? o->host : d->self.name;
    const char *rule = "1 to 63 letters, digits or ._-@, not - or . first";
    if (!bootstrap_name_ok(vm))
        return failure_set(why, "'%s' cannot be a VM's name: %s", vm, rule);
    if (!bootstrap_name_ok(name))
        return failure_set(why, "'%s' cannot be a host's name: %s", name, rule);
    return 0;
}

/* ---- what the others are told ---- */

static uint32_t count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

static void self_describe(struct daemon *d, struct host *self)
{
    struct utsname system;
    const struct control_bootstrap *invitation = &d->self.invitation;
    struct host_room *room = &d->self.room;
    *self = host_in(room);
    self->index = invitation->index;
    self->incarnation = invitation->incarnation;
    self->speed = invitation->speed != 0 ? invitation->speed : d->conf.speed;
    self->representation = representation_native();
    self->cores = count_cores();
    self->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    randombytes_buf(self->id, sizeof self->id);
    memcpy(room->name, d->self.name, sizeof room->name);
    if (uname(&system) == 0)
        snprintf(room->arch, sizeof room->arch, "%.31s", system.machine);
}

int identity_describe(struct daemon *d, struct host *self, struct failure *why)
{
    self_describe(d, self);
    struct candidate_wish wish = {.local = d->options->local,
                                  .loopback = d->options->loopback,
                                  .ipv6 = udp_ipv6(d->media->udp),
                                  .bind = d->conf.bind,
                                  .address = d->conf.address,
                                  .interface = d->conf.interface,
                                  .port = udp_port(d->media->udp)};
    int count = candidate_list(&wish, d->self.room.addresses, why);
    for (int i = 0; i < count; i++) {
        char text[SOCKADDR_TEXT_MAX];
        sockaddr_print(&self->addresses[i], text);
        log_line(&d->log, LOG_INFO, "address: %s", text);
    }
    self->address_count = (uint8_t)(count > 0 ? count : 0);
    return count > 0 ? 0 : -1;
}
