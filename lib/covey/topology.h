/*
 * covey/topology.h - networks of switches, hosts and links, from a file or of the VM.
 */
#ifndef COVEY_TOPOLOGY_H
#define COVEY_TOPOLOGY_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_topology covey_topology_t; /* switches, hosts and links of a network */

/* A topology file describes a network as a tree: `switch NAME...`, `host NAME SWITCH [RATE]`,
 * `link SWITCH SWITCH [RATE]`, `#` comments; RATE like 100M, 2.5G, 10G, 1G by default. These calls
 * need no VM. */
struct covey_topology_node {
    char name[64];
    int32_t is_switch; /* 1: a switch, 0: a host */
};

/* Of a host's link, a is the host. */
struct covey_topology_link {
    int32_t a, b;      /* positions in the list of nodes */
    uint64_t rate_bps; /* bits per second each way */
};

enum covey_topology_form {
    COVEY_TOPOLOGY_TREE = 1, /* for people */
    COVEY_TOPOLOGY_DOT = 2,  /* for Graphviz */
    COVEY_TOPOLOGY_JSON = 3,
    COVEY_TOPOLOGY_FILE = 4 /* a topology file */
};

/* Reads the file of that path ("-": standard input), or a text; sets *topology. A mistake is named
 * by covey_error_text() as FILE:LINE:COLUMN: why. Errors: EINVAL (what is in the file), ESYS (it
 * cannot be read), ENOMEM. */
int covey_topology_load(const char *path, covey_topology_t **topology);
int covey_topology_parse(const char *text, size_t bytes, const char *name,
                         covey_topology_t **topology);

/* The nodes and the links in the order of the file; set *list (free with covey_free()) and return
 * their number. Errors: ENOMEM. */
int covey_topology_nodes(const covey_topology_t *topology, struct covey_topology_node **list);
int covey_topology_links(const covey_topology_t *topology, struct covey_topology_link **list);

/* Sets *text (free with covey_free()) to the topology in a form (enum covey_topology_form).
 * Errors: EINVAL, ENOMEM. */
int covey_topology_print(const covey_topology_t *topology, int form, char **text);

/* Frees a topology and sets *topology to NULL. NULL is fine. */
void covey_topology_free(covey_topology_t **topology);

/* The VM's topology, which its daemons keep: a team that is made takes it, if all its members'
 * hosts are in it (by name, or by what stands before the first dot of their names), and
 * covey_alltoall() may then go by its schedule. NULL: it has none from now on. Teams that are there
 * keep theirs. Errors: EINVAL, ETOOBIG (256 KiB), EEXIST (another task sets one), ERESOURCE,
 * EHOSTFAIL, EDAEMON. */
int covey_vm_set_topology(covey_t *vm, const covey_topology_t *topology);

/* Sets *topology to the VM's, to be freed by the caller. Errors: ENOENT (it has none), ENOMEM,
 * EHOSTFAIL, EDAEMON. */
int covey_vm_topology(covey_t *vm, covey_topology_t **topology);

/* Another topology for one team, or none (NULL): a call that all members make with the same, at the
 * same place among their collective calls. Errors: EINVAL (it names the hosts that the topology
 * lacks), ENOMEM, EDAEMON. */
int covey_team_set_topology(covey_team_t *team, const covey_topology_t *topology);

#ifdef __cplusplus
}
#endif
#endif
