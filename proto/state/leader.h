/*
 * leader.h - election among tasks: of the candidates of a group one leads, and each time that
 * another one comes to lead a new term begins. The candidate that stood first leads; when it
 * resigns or ends, the one that stood next does: a leader changes no more often than it must.
 *
 * There is at most one leader in a term, for ever: a term's number is a fencing number of the
 * VM (state_fence()), larger than those of all terms and grants before it; they are not
 * consecutive. Who keeps something for the leader refuses a term less than one it has seen.
 *
 * The engine is leader.c, leader_engine in the state; this header is what its callers share with
 * it.
 *
 *   LEADER_STAND:  name=text -> leader      ; a candidate already: nothing changes. ERESOURCE
 *   LEADER_RESIGN: name -> empty            ; ENOGROUP: the asker is no candidate
 *   LEADER_NEXT:   name after=u64 -> leader ; of a term after that, when there is one; terms that
 *                                           ; have ended by then are passed over. ERESOURCE
 *   LEADER_LOOK:   name -> leader           ; a question
 *
 *   leader = task=u32 term=u64              ; task 0: nobody leads; `term` was the last one, 0:
 * none
 */
#ifndef COVEY_PROTO_LEADER_H
#define COVEY_PROTO_LEADER_H

#define LEADER_GROUPS_MAX 4096
#define LEADER_CANDIDATES_MAX 4096 /* of one group */

#endif
