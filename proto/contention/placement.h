/*
 * placement.h - which hosts tasks should go to: each where the model expects it to end first.
 *
 * The model. A task computes for `work_s` seconds on a core of speed 1 that it has for itself. On a
 * machine with c cores for which d compete it gets the share min(1, c / (d + 1)) of one. Who shares
 * a link or a disk of which others use the part u takes 1 / (1 - u) times as long for it, which is
 * u / (1 - u) more. So what the caller says that the task exchanges with others, in traffic_s
 * seconds from that host, takes that much longer; and of a task of which nothing is known, a second
 * of computing is taken to come with PLACEMENT_WAITS seconds of each:
 *
 *   end = work_s / (speed * share) + work_s * PLACEMENT_WAITS * (disk / (1 - disk)
 *             + network / (1 - network), unless its traffic is known) + traffic_s / (1 - network)
 *
 * The waits themselves, without others, are the same everywhere and left out. So where hosts are
 * equal but for that, others' use of a link or a disk counts from 43 % on: the 15 to 20 % of a
 * lightly loaded network (Schmidt & Sunderam, section 2.3) change nothing.
 *
 * A host that is withheld gets no task, unless all are: then those that are so the least get them.
 * A host that pages gets no task, unless all others that could get some do (section 5: paging is to
 * be avoided).
 *
 * Tasks are placed one after the other, and each that was placed competes with the next. What is
 * expected is never exact, so hosts within PLACEMENT_EQUAL of the best count as equal: next is who
 * has the fewest of these tasks, and of several the first in turn. On hosts that are alike and idle
 * that is round robin.
 */
#ifndef COVEY_PROTO_PLACEMENT_H
#define COVEY_PROTO_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_EQUAL 0.15
#define PLACEMENT_WAITS 0.2
#define PLACEMENT_USED_MAX 0.95 /* of a link or a disk: more is taken for that much */

struct placement_host {
    uint64_t machine;   /* hosts with the same share its cores; 0: it shares with none */
    double cores;       /* > 0 */
    double speed;       /* of a core, > 0; 1 is ordinary */
    double demand;      /* how many compete for the machine's cores */
    double memory_free; /* bytes; < 0: not known */
    double traffic_s;
    double network;   /* part of its link that others use, 0 .. 1 */
    double disk;      /* part of the time in which its disks are busy, 0 .. 1 */
    bool pages;       /* it has too little memory for what runs there */
    uint8_t withheld; /* it should get nothing: 0 no; the more, the less it should */

    /* what placement_choose() leaves */
    uint32_t placed;    /* tasks for this host */
    uint32_t turns;     /* of them: as one of several that were equal */
    double share;       /* that the first of them gets, or would have got */
    double end_s;       /* likewise */
    bool short_of_room; /* it had too little memory for the first, or for one it got */

    uint32_t leader;   /* the first host of the machine */
    uint32_t together; /* of a leader: tasks for the hosts of the machine */
};

struct placement_wish {
    double work_s;       /* > 0 */
    double memory_bytes; /* of each task; 0: not known */
    bool traffic_known;  /* traffic_s of the hosts is all that it exchanges */
};

/* Chooses for `tasks` tasks; chosen[i] is a position in hosts, of which there are `count` > 0.
 * Turns begin at hosts[start]; returns where they go on. Where no host has memory enough, the one
 * with the most is as good as any: of those that may get tasks, as above. */
size_t placement_choose(struct placement_host *hosts, size_t count,
                        const struct placement_wish *wish, size_t start, uint32_t *chosen,
                        size_t tasks);

#endif
