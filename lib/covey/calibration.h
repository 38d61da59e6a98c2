/*
 * covey/calibration.h - what covey calibrate measured of hosts and routes.
 */
#ifndef COVEY_CALIBRATION_H
#define COVEY_CALIBRATION_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The figures of the models of Schmidt & Sunderam, section 3. Times are seconds, sizes bytes. These
 * calls need no VM; see covey_predict(3), covey_calibration(5). */

/* The time of a message of N bytes as alpha + beta N (section 2.3), and the residuals of the fit.
 */
struct covey_line {
    double alpha_s;
    double beta_s; /* a byte */
    double r2;     /* share of the variance that the line explains, of the weighted points */
    double worst;  /* the largest deviation of a point, as a share of its time */
};

/* Fits by least squares of the deviations relative to the times. Errors: EINVAL (fewer than two
 * different sizes, a time that is not above 0). */
int covey_line_fit(const double *bytes, const double *seconds, size_t n, struct covey_line *line);

/* The same for a route whose queues swallow messages of middle size: beta is the slope of the least
 * squares, alpha what short messages take besides. */
int covey_line_fit_ends(const double *bytes, const double *seconds, size_t n,
                        struct covey_line *line);

#define COVEY_MODEL_HOSTS_MAX 256
#define COVEY_MODEL_BLOCKS 6 /* matrix blocks that are measured: of 64, 128, ... 2048 rows */

/* What messages between hosts do to computations, and these to them: two hosts that compute and
 * send to each other, and all of them, each sending to the next. */
struct covey_load {
    double drag_s;     /* processor time that a byte takes at either end */
    double busy_s;     /* time of a byte then; 0: not measured */
    double all_drag_s; /* the same of all_hosts hosts; all_hosts 0: not measured */
    double all_busy_s;
    double all_hosts;
    double spread, all_spread; /* of what messages take then: standard deviation over mean */
};

struct covey_calibration_route {
    int32_t known;        /* 1: measured */
    int32_t inside_known; /* 1: the next but one, too */
    struct covey_load load;
    struct covey_line line;
    struct covey_line inside; /* between tasks of one host that are told to take this route */
    double inside_drag_s;     /* processor time that a byte takes there at either end */
    double start_s; /* processor time that a message takes at either end, whatever its length, and
                     * that a program which computes meanwhile loses (t_startup of Koziris,
                     * Sotiropoulos & Goumas); the rest of alpha is latency. 0: not measured */
};

/* Of a host's processor. */
enum covey_byte_order {
    COVEY_ORDER_UNKNOWN = 0,
    COVEY_ORDER_LITTLE = 1, /* the least byte of a number first */
    COVEY_ORDER_BIG = 2
};

/* What one task alone on the host needs; 0: not measured. */
struct covey_calibration_host {
    char name[64];
    int32_t cores;
    int32_t order;                     /* enum covey_byte_order */
    double processors;                 /* tasks that run as fast as one alone */
    double share;                      /* processor seconds that one task gets in a second */
    double madd_s[COVEY_MODEL_BLOCKS]; /* T_mult + T_add, section 3.1, by block size */
    double oper_s;                     /* T_oper, section 3.2 */
    double merge_s;                    /* a key that is merged */
    double iteration_s;                /* of the Mandelbrot set */
    double touch_s;                    /* a byte of memory that is written for the first time */
    /* What others do there now, see covey_calibration_now(); 0 in a file. */
    double demand;            /* tasks that compete for the processors */
    double link_out, link_in; /* part of the link's rate that they use each way, 0 to 1 */
};

/* What packing is measured of: the classes of types that are copied or converted differently. */
enum covey_packing_type {
    COVEY_PACKING_BYTES,
    COVEY_PACKING_STRING,
    COVEY_PACKING_INT16,
    COVEY_PACKING_INT32,
    COVEY_PACKING_INT64,
    COVEY_PACKING_FLOAT,
    COVEY_PACKING_DOUBLE,
    COVEY_PACKING_COMPLEX, /* of doubles */
    COVEY_PACKING_TYPES
};

enum covey_packing_way {
    COVEY_PACKING_PACK,         /* a message is made, an array is copied into it */
    COVEY_PACKING_PACK_STRIDED, /* the same of every other element of an array */
    COVEY_PACKING_UNPACK,       /* an array is copied out of a message */
    COVEY_PACKING_UNPACK_STRIDED,
    COVEY_PACKING_CONVERT, /* unpacked from a message of a host of the other byte order */
    COVEY_PACKING_WAYS
};

/* T_pack = alpha + beta N of section 2.3, on one host; beta 0: not measured. */
struct covey_packing {
    struct covey_line lines[COVEY_PACKING_TYPES][COVEY_PACKING_WAYS];
};

/* A message between two hosts of the calibration. */
struct covey_calibration_peers {
    int32_t route;
    int16_t hosts[2]; /* their places in it, the lower first */
    double alpha_s, beta_s;
};

#define COVEY_CALIBRATION_PEERS_MAX 6048

struct covey_calibration {
    char date[32]; /* such as 2026-11-21T22:15:00Z */
    char vm[64];
    struct covey_calibration_route routes[5]; /* by enum covey_route */
    double
        together; /* tasks at full speed on all hosts at once, where these share one machine; 0 */
    int32_t host_count;
    int32_t peer_count;
    struct covey_calibration_host hosts[COVEY_MODEL_HOSTS_MAX];
    struct covey_calibration_peers peers[COVEY_CALIBRATION_PEERS_MAX]; /* each pair once a route */
    struct covey_packing packing[COVEY_MODEL_HOSTS_MAX]; /* of the hosts, in their order */
};

/* The file that holds the calibration of a VM: what COVEY_CALIBRATION names, otherwise
 * calibration.VM in covey/ of $XDG_STATE_HOME or ~/.local/state. Errors: EINVAL (no such name,
 * neither variable nor home), ETRUNC (size is too small). */
int covey_calibration_path(const char *vm_name, char *path, size_t size);

/* Reads it; sets *calibration (free with covey_free()). Errors: ENOENT (there is none), EINVAL (the
 * file makes no sense; covey_error_text() says FILE:LINE: why), ESYS, ENOMEM. */
int covey_calibration_load(const char *vm_name, struct covey_calibration **calibration);

/* Writes it, whole or not at all. Errors: EINVAL, ESYS, ENOMEM. */
int covey_calibration_save(const char *vm_name, const struct covey_calibration *calibration);

/* Sets what others do on the hosts of the calibration now, from what covey_host_stats() gave:
 * predictions are for hosts so loaded then. `route` is that of the problem: by its beta the traffic
 * of a host is a part of its link. A host that pages is taken out, unless all of them do, and one
 * whose figures are not known is left at rest. Returns the number of hosts whose figures are known.
 * Errors: EINVAL. */
int covey_calibration_now(struct covey_calibration *calibration, int route,
                          const struct covey_host *hosts, const struct covey_host_stat *stats,
                          int n);

#ifdef __cplusplus
}
#endif
#endif
