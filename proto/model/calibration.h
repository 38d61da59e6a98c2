/*
 * calibration.h - what was measured of a virtual machine's hosts and routes, as a text file.
 *
 *     file    = *( [ line ] [ "#" comment ] newline )
 *     line    = "date" word / "vm" word
 *             / "route" route alpha beta r2 worst drag busy
 *             / "all" route hosts drag busy
 *             / "uneven" route spread spread-of-all
 *             / "start" route start
 *             / "inside" route alpha beta r2 worst drag
 *             / "together" tasks
 *             / "peers" route host host alpha beta
 *             / "host" name cores processors share
 *             / "matmul" name block madd
 *             / "sort" name oper merge
 *             / "mandel" name iteration
 *             / "touch" name touch
 *             / "order" name ( "little" / "big" )
 *             / "packing" name type way alpha beta r2 worst
 *
 * A host or route stands before what is said of it, and nothing is said twice. Times are seconds;
 * `block` is 64, 128, ... 2048; `type` is a name of covey_type_name(), `way` is pack, pack-strided,
 * unpack, unpack-strided or convert; the figures are those of model.h.
 *
 * The text is foreign: what is wrong with it is refused in one line, FILE:LINE: what and why.
 */
#ifndef COVEY_PROTO_CALIBRATION_H
#define COVEY_PROTO_CALIBRATION_H

#include <stddef.h>
#include <stdint.h>

#include "proto/model/model.h"

enum {
    CALIBRATION_ROUTES = 5, /* by their number; the first, auto, is never measured */
    CALIBRATION_NAME_BYTES = 64,
    CALIBRATION_BYTES_MAX = 1 << 22, /* of a file */
    CALIBRATION_PEERS_MAX = 6048,    /* 64 hosts by three routes */
    CALIBRATION_ERROR_BYTES = 512
};

struct calibration_route {
    int32_t known;
    int32_t inside_known; /* the next but one */
    struct model_load load;
    struct model_line line;
    struct model_line inside; /* between tasks of one host that are told to take this route */
    double inside_drag_s;     /* processor time of a byte at either end */
    double start_s;           /* of a message between hosts, whatever its length; 0: unknown */
};

struct calibration_host {
    char name[CALIBRATION_NAME_BYTES];
    int32_t cores;
    int32_t order; /* enum model_order */
    struct model_host speed;
};

/* Two hosts. */
struct calibration_peers {
    int32_t route;
    int16_t hosts[2]; /* the lower number first */
    double alpha_s, beta_s;
};

struct calibration {
    char date[32]; /* such as 2026-11-21T22:15:00Z */
    char vm[CALIBRATION_NAME_BYTES];
    struct calibration_route routes[CALIBRATION_ROUTES];
    double together; /* tasks at full speed on all hosts at once; 0: as many as on each */
    int32_t host_count;
    int32_t peer_count; /* of peers */
    struct calibration_host hosts[MODEL_HOSTS_MAX];
    struct calibration_peers peers[CALIBRATION_PEERS_MAX];
    struct model_packing packing[MODEL_HOSTS_MAX]; /* of the hosts, in their order */
};

/* Reads a file's text; `name` is the file's, for errors. Returns 0, or -1 with the reason in error
 * (CALIBRATION_ERROR_BYTES) and *calibration undefined. */
int calibration_parse(struct calibration *calibration, const char *text, size_t bytes,
                      const char *name, char *error);

/* Writes the text, which ends with a NUL, as snprintf() does: returns its length, which may exceed
 * what there was room for. */
size_t calibration_print(const struct calibration *calibration, char *text, size_t size);

/* Whether it may be the name of a host or a VM. */
bool calibration_name_ok(const char *name);

/* The host of that name, or -1. */
int calibration_find(const struct calibration *calibration, const char *name);

/* Takes a host out, with what is known between it and others. */
void calibration_remove(struct calibration *calibration, int host);

#endif
