/*
 * conf.h - covey.conf: parsed into one struct, and printed back from it. See covey.conf(5).
 */
#ifndef COVEY_DAEMON_CONF_H
#define COVEY_DAEMON_CONF_H

#include <stdint.h>
#include <stdio.h>

#include "daemon/failure.h"

#define CONF_ADDRESS_MAX 127
#define CONF_INTERFACE_MAX 31

struct conf {
    uint64_t fail_timeout_us;               /* silence after which a host is declared gone */
    uint64_t join_timeout_us;               /* a new host must have joined by then */
    uint16_t port_first, port_last;         /* UDP ports to try; 0: any */
    char address[CONF_ADDRESS_MAX + 1];     /* advertised instead of those found; "": none */
    char interface[CONF_INTERFACE_MAX + 1]; /* only this interface's addresses; "": all */
    int log_level;                          /* enum log_level */
    uint32_t tasks_max;                     /* tasks at once on this host */
    uint32_t datagram_bytes_max;            /* largest datagram that may be probed for */
    uint32_t speed;                         /* relative speed of this host, 1000 is the default */
};

/* All defaults. */
void conf_init(struct conf *conf);

/* Reads the file over what *conf holds. Returns 0 or -1 with the file, line and cause. */
int conf_read(struct conf *conf, const char *path, struct failure *why);

/* The file that is read when none is named: $XDG_CONFIG_HOME/covey/covey.conf, otherwise
 * ~/.config/covey/covey.conf, otherwise /etc/covey.conf, whichever is there first. Returns 0 and
 * sets path, or -1 when there is none. */
int conf_find(char *path, size_t size);

/* Writes a file that conf_read() turns into the same struct. */
void conf_print(const struct conf *conf, FILE *out);

/* "N" or "FIRST-LAST". Returns 0 or -1. */
int conf_parse_ports(const char *text, uint16_t *first, uint16_t *last);

#endif
