/*
 * conf.h - covey.conf: parsed into one struct, and printed back from it. See covey.conf(5).
 */
#ifndef COVEY_DAEMON_CONF_H
#define COVEY_DAEMON_CONF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/base/failure.h"
#include "proto/session/fault.h"
#include "proto/session/slow.h"
#include "proto/wire/contention_config.h"

#define CONF_ADDRESS_MAX 127
#define CONF_INTERFACE_MAX 31
#define CONF_FAULT_EXPECTS "loss=, dup=, reorder=, corrupt= (0 to 1), delay=, hold= (s), seed="
#define CONF_TEXT_MAX 1023 /* a path or a command */
#define CONF_USER_MAX 63
#define CONF_PROCFS_MAX 127

/* What is done to start daemons on other hosts, where the asker does not say. */
struct conf_launch {
    int launcher; /* enum covey_launcher: ssh or exec */
    char template_[CONF_TEXT_MAX + 1];
    char coveyd[CONF_TEXT_MAX + 1]; /* "": where this daemon's own is */
    char user[CONF_USER_MAX + 1];
    uint32_t port; /* of sshd; 0: the usual one */
};

enum conf_auto { CONF_AUTO, CONF_YES, CONF_NO };

/* Raw Ethernet between hosts. */
struct conf_ether {
    enum conf_auto enabled;                 /* auto: where it can be */
    char interface[CONF_INTERFACE_MAX + 1]; /* "": the one that has the advertised address */
    uint16_t type;                          /* EtherType of the frames */
    bool direct;                            /* tasks are given sockets of their own */
    bool direct_is_roots;                   /* root's own file says so: see conf.c */
    bool services;                          /* what the VM agrees on goes by it */
};

/* The first that is free is taken. */
struct conf_ports {
    uint16_t first, last; /* 0: any */
};

/* Where they can be fetched. */
struct conf_metrics {
    enum { CONF_METRICS_OFF, CONF_METRICS_SOCKET, CONF_METRICS_PORT } where;
    struct conf_ports ports; /* TCP */
};

/* What is sampled of this host, and who may fetch it. */
struct conf_monitor {
    uint64_t period_us;               /* unless somebody asks */
    char procfs[CONF_PROCFS_MAX + 1]; /* where /proc is */
    struct conf_metrics metrics;
    char metrics_bind[CONF_ADDRESS_MAX + 1];
};

struct conf {
    uint64_t fail_timeout_us;               /* silence after which a host is declared gone */
    uint64_t join_timeout_us;               /* a new host must have joined by then */
    struct conf_ports port;                 /* UDP */
    char bind[CONF_ADDRESS_MAX + 1];        /* the socket's own address; "": any */
    char address[CONF_ADDRESS_MAX + 1];     /* advertised instead of those found; "": none */
    char interface[CONF_INTERFACE_MAX + 1]; /* only this interface's addresses; "": all */
    int log_level;                          /* enum log_level */
    uint32_t tasks_max;                     /* tasks at once on this host */
    uint64_t memory_bytes;                  /* for what waits in the daemon; see budget.h */
    uint32_t datagram_bytes_max;            /* largest datagram that may be probed for */
    bool encrypt;                           /* what goes to other hosts; a new VM's */
    char topology[CONF_TEXT_MAX + 1];       /* a file: that of a new VM's network; "": none */
    uint32_t speed;                         /* relative speed of this host, 1000 is the default */
    bool withhold;                          /* tasks come here only by this host's name */
    struct fault_config fault;              /* what happens to the datagrams it sends, for tests */
    struct slow_config slow; /* a network of virtual hosts that is slow, to learn by */
    struct conf_launch launch;
    struct conf_ether ether;
    struct contention_config contention; /* a new VM's */
    struct conf_monitor monitor;
};

/* All defaults. */
void conf_init(struct conf *conf);

/* Reads the file over what *conf holds. Returns 0 or -1 with the file, line and cause. */
int conf_read(struct conf *conf, const char *path, struct failure *why);

/* All defaults, then what `file` says, or where that is NULL the first that is there, if any, of
 * $XDG_CONFIG_HOME/covey/covey.conf, ~/.config/covey/covey.conf and /etc/covey.conf. Returns as
 * conf_read() does. */
int conf_load(struct conf *conf, const char *file, struct failure *why);

/* Writes a file that conf_read() turns into the same struct. */
void conf_print(const struct conf *conf, FILE *out);

/* Sets one setting of [daemon] from the command line or a bootstrap line. Returns 0, or -1 with
 * "WHAT must be ...". */
int conf_set(struct conf *conf, const char *name, const char *value, struct failure *why);

/* The same of an option, in which the name is spelled with -: "--WHAT must be ...". NULL as a value
 * sets nothing. */
int conf_set_option(struct conf *conf, const char *name, const char *value, struct failure *why);

#endif
