/*
 * conf_value.h - the types of covey.conf's values: from text to a member of struct conf, and back.
 */
#ifndef COVEY_DAEMON_CONF_VALUE_H
#define COVEY_DAEMON_CONF_VALUE_H

#include <stdint.h>
#include <stdio.h>

/* A number within it; of a text the fewest and the most bytes, without the end. */
struct conf_range {
    uint64_t least, most;
};

struct conf_type {
    int (*parse)(void *member, const char *text, const struct conf_range *range); /* 0 or -1 */
    void (*print)(const void *member, FILE *out); /* what parse() takes */
};

extern const struct conf_type conf_number;    /* uint32_t */
extern const struct conf_type conf_bytes;     /* uint32_t, printed and read with K or M */
extern const struct conf_type conf_size;      /* uint64_t: the same, and with G */
extern const struct conf_type conf_seconds;   /* uint64_t, in us; so is the range */
extern const struct conf_type conf_yes_no;    /* bool */
extern const struct conf_type conf_ports;     /* struct conf_ports: "N" or "FIRST-LAST" */
extern const struct conf_type conf_text;      /* char[] from here on */
extern const struct conf_type conf_path;      /* absolute */
extern const struct conf_type conf_ip;        /* without a port */
extern const struct conf_type conf_address;   /* with a port or without */
extern const struct conf_type conf_user;      /* no option of ssh */
extern const struct conf_type conf_template;  /* a command with {command} in it */
extern const struct conf_type conf_log_level; /* int: enum log_level */
extern const struct conf_type conf_launcher;  /* int: enum covey_launcher */
extern const struct conf_type conf_auto;      /* enum conf_auto */
extern const struct conf_type conf_ethertype; /* uint16_t */
extern const struct conf_type conf_metrics;   /* struct conf_metrics */
extern const struct conf_type conf_mode;      /* uint8_t: contention's */
extern const struct conf_type conf_rate;      /* uint64_t: bits per second */
extern const struct conf_type conf_fault;     /* struct fault_config */
extern const struct conf_type conf_slow;      /* struct slow_config */

#endif
