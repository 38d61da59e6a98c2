/*
 * topology.h - the file that describes the switches, hosts and links of a network.
 *
 *     file    = *( [ line ] [ "#" comment ] newline )
 *     line    = "switch" 1*( blank name )
 *             / "host" blank name blank switch [ blank rate ]
 *             / "link" blank switch blank switch [ blank rate ]
 *             / "segment" blank name blank rate
 *             / "contention" blank ( "off" / "stagger" / "token" ) blank name [ blank name ]
 *     rate    = 1*digit [ "." 1*digit ] [ "K" / "M" / "G" ]       bits per second, 8K .. 400G
 *     name    = a letter or digit, then up to 62 of letters, digits, ".", "_", "-"
 *
 * Lines stand in any order; blanks are spaces and tabs, and a line may end in CR LF. The network is
 * a tree: switches inside, hosts at its leaves, each name once, everything connected (Faraj & Yuan,
 * section 3: what the spanning tree of Ethernet leaves of any wiring).
 *
 * A segment is a switch whose hosts share one medium of its rate, as on a coaxial cable or a hub,
 * and is meant wherever `switch` stands. A `contention` line says how bulk messages that cross a
 * segment (one name), or the link of two nodes from the first to the second, keep out of each
 * other's way: see contention.h. A segment without one goes by the VM's configuration.
 *
 * The text is foreign: what is wrong with it is refused in one line, FILE:LINE:COLUMN: what and
 * why.
 */
#ifndef COVEY_PROTO_TOPOLOGY_H
#define COVEY_PROTO_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPOLOGY_NAME_MAX 63
#define TOPOLOGY_HOSTS_MAX 4000
#define TOPOLOGY_SWITCHES_MAX 4000
#define TOPOLOGY_BYTES_MAX ((size_t)4 << 20)
#define TOPOLOGY_RATE_MIN ((uint64_t)8000)
#define TOPOLOGY_RATE_MAX ((uint64_t)400000000000)
#define TOPOLOGY_RATE_DEFAULT ((uint64_t)1000000000) /* of a line that gives none */
#define TOPOLOGY_ERROR_BYTES 512

struct topology_node {
    char name[TOPOLOGY_NAME_MAX + 1];
    bool is_switch;
    int line;              /* that declares it */
    uint64_t segment_rate; /* bits per second that its hosts share; 0: no segment */
};

#define TOPOLOGY_CONTENTIONS_MAX 64
struct topology_contention {
    int mode; /* enum contention_mode */
    int a, b; /* nodes; b -1: the segment a, otherwise the link from a to b */
};

/* Of a host's link, a is the host. */
struct topology_link {
    int a, b;      /* nodes */
    uint64_t rate; /* bits per second each way; 0: the file gives none */
};

/* Nodes and links stand in the order of the file; a tree of n nodes has n - 1 links. */
struct topology {
    struct topology_node *nodes;
    struct topology_link *links;
    int node_count, link_count;
    int host_count, switch_count; /* segments are switches, too */
    struct topology_contention contentions[TOPOLOGY_CONTENTIONS_MAX];
    int contention_count;
};

/* Reads a file's text; `name` is the file's, for errors. Returns 0, or -1 with the reason in error
 * (TOPOLOGY_ERROR_BYTES) and *topology empty. topology_destroy() frees it in either case. */
int topology_parse(struct topology *topology, const char *text, size_t bytes, const char *name,
                   char *error);

/* Frees what the topology holds and empties it. */
void topology_destroy(struct topology *topology);

/* The node of that name, or -1. */
int topology_find(const struct topology *topology, const char *name);

/* The link between two nodes, or NULL. */
const struct topology_link *topology_link_between(const struct topology *topology, int a, int b);

/* The first segment, or -1. */
int topology_segment(const struct topology *topology);

/* Whether the words are a rate: its bits per second, otherwise 0. */
uint64_t topology_rate_parse(const char *text, size_t length);

#endif
