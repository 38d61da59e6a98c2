/*
 * model_play.h - computations and messages of tasks, played against each other in virtual time.
 *
 * An activity is a computation of one task or a message between two. It starts when those that it
 * waits for have ended. A task computes one thing at a time; one that takes no time is what it does
 * between two others, such as to post a message that has to go on. A message between hosts
 * uses the sender's link outwards and the receiver's inwards; those who use a link at once share
 * it, evenly or with the spread that was measured. The tasks that compute on a host get equal parts
 * of its processors, once what messages take is off.
 */
#ifndef COVEY_PROTO_MODEL_PLAY_H
#define COVEY_PROTO_MODEL_PLAY_H

#include "proto/model/model.h"

struct play;

enum { PLAY_NONE = -1 }; /* an activity that there is not: play_after() ignores it */

/* Tasks on hosts of the machine: host_of[task]. NULL: memory is exhausted. */
struct play *play_create(const struct model_machine *machine, const int *host_of, int tasks);
void play_destroy(struct play *play); /* NULL is fine */

/* Add an activity and return it. Memory that is exhausted shows in play_run(). */
int play_compute(struct play *play, int task, double seconds);
int play_send(struct play *play, int from, int to, double bytes);

/* The same of packing, which section 3 counts as communication. */
int play_pack(struct play *play, int task, double seconds);

/* What a message that play_send() added takes its receiver once it is there: it turns its arrays if
 * it comes from a host of the other byte order. Returns what the receiver has to wait for, the
 * message itself where nothing is turned. */
int play_receive(struct play *play, int sent, enum model_packing_type type, double bytes);

/* `activity` waits for `before`; either may be PLAY_NONE. */
void play_after(struct play *play, int activity, int before);

/* Is called while it is played, when an activity has ended, and may add more. */
typedef void play_ended_fn(void *context, int activity);
void play_on_end(struct play *play, play_ended_fn *ended, void *context);

/* Plays all and says where the time went. Returns 0, or -1: memory is exhausted, or activities wait
 * for each other. */
int play_run(struct play *play, struct model_time *time);

/* When the activity ended, after play_run(). */
double play_end(const struct play *play, int activity);

#endif
