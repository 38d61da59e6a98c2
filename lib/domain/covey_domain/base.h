/*
 * covey_domain/base.h - what all domain libraries share: errors, and what the choice of an
 * algorithm knows of the network.
 */
#ifndef COVEY_DOMAIN_BASE_H
#define COVEY_DOMAIN_BASE_H

#include <covey.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line with the exact cause of the calling thread's last failed call of this library; never
 * NULL. It belongs to the library and stays valid until the thread's next call. */
const char *covey_domain_error_text(void);

/* A message of n bytes to another member, whichever that is, takes alpha_s + n * beta_s seconds
 * while every member sends one and receives one. */
struct covey_domain_network {
    int32_t members;
    int32_t hosts; /* on which they are */
    double alpha_s;
    double beta_s;
    double one_beta_s;  /* a byte to rank 0 while the others wait; 0: as beta_s */
    double one_alpha_s; /* a message of no bytes while all others wait; 0: as alpha_s */
};

/* Measures it in some dozens of messages: a collective call of all members, which all get the same
 * numbers. A handle that is created without a network measures it by itself.
 * Errors: EINVAL, ENOMEM, and those of all collective calls. */
int covey_domain_network(covey_team_t *team, struct covey_domain_network *network);

/* The same of a calibration, for so many members on so many hosts that use this route (enum
 * covey_route) between these. Needs no VM.
 * Errors: EINVAL (an argument is out of range), ENOHOST (the route was not calibrated). */
int covey_domain_network_of(const struct covey_calibration *calibration, int route, int members,
                            int hosts, struct covey_domain_network *network);

/* Where a problem is solved: what predictions know besides the speeds of kernels. */
struct covey_domain_place {
    struct covey_domain_network network;
    double processors; /* of a host, that of the fewest */
    double touch_s;    /* a byte of memory that is written for the first time; 0: not known */
    /* How many times longer a member computes because of what others run there: on the host where
     * that is most, and on that of rank 0. 1: at rest. */
    double load, load_root;
    /* As many members at rest compute what all do, if each has as much to do as others leave it
     * of its host; 0: not known, as members / load. */
    double capacity;
    /* That of the members alone on whose hosts nobody else computes; no members: there are none, or
     * all are, or it is not known. */
    struct covey_domain_network at_rest;
};

/* The same of a calibration: hosts[0] is that of rank 0, and members are dealt to the hosts in
 * turn. The load is what covey_calibration_now() set. Errors: EINVAL, ENOHOST (a host or the route
 * was not calibrated). */
int covey_domain_place_of(const struct covey_calibration *calibration, int route, int members,
                          const char *const *hosts, int host_count,
                          struct covey_domain_place *place);

#ifdef __cplusplus
}
#endif
#endif
