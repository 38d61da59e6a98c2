/*
 * model_agenda.h - a bag of items played in virtual time, as apps/agenda.c has it: a coordinator
 * puts items, whoever is free takes the next one, and what comes of it goes back.
 *
 * A worker takes items ahead: the data of the next one comes while it works on the one before, and
 * results leave while it works on the next. The coordinator is on the first host and computes
 * nothing itself.
 */
#ifndef COVEY_PROTO_MODEL_AGENDA_H
#define COVEY_PROTO_MODEL_AGENDA_H

#include "proto/model/model_play.h"

struct agenda;

/* Where an item's data and result are packed and unpacked, in the order in which they are. Memory
 * that a message needs is written for the first time there. */
enum agenda_packing {
    AGENDA_PACK_DATA,     /* by the coordinator */
    AGENDA_UNPACK_DATA,   /* by the worker */
    AGENDA_PACK_RESULT,   /* by the worker */
    AGENDA_UNPACK_RESULT, /* by the coordinator */
    AGENDA_PACKINGS
};

/* What a program says of its items, which have numbers of its own. */
struct agenda_program {
    void *context;
    int taken_max; /* items that a worker has at a time, those on their way included */
    int sent_max;  /* results that may be on their way from a worker before it waits; 0: any number
                    */
    /* Bytes that must reach the worker before it begins; once for each item. */
    double (*fetched)(void *context, int item, int worker);
    double (*work_s)(void *context, int item, const struct model_host *host);
    double (*result)(void *context, int item); /* its bytes */
    /* Bytes that are copied there, 0 for an array that is sent or received in place. NULL: none. */
    double (*packed)(void *context, int item, enum agenda_packing where);
    enum model_packing_type packed_type;
    /* Bytes of memory that are written there for the first time, beside those that are kept from
     * one item to the next. NULL: none. */
    double (*touched)(void *context, int item, enum agenda_packing where);
    /* The system has messages that are on their way in memory that is new, too: they are long, and
     * so much memory comes and goes that what it had of the messages before is somewhere else. */
    bool touches_streams;
    /* The result has reached the coordinator, which may put more. May be NULL. */
    void (*done)(void *context, struct agenda *agenda, int item);
};

/* Workers are put on the machine's hosts in turn. NULL: memory is exhausted. */
struct agenda *agenda_create(const struct model_machine *machine, int workers,
                             const struct agenda_program *program);
void agenda_destroy(struct agenda *agenda); /* NULL is fine */

/* Urgent ones go before those that are not; otherwise in the order in which they were put. */
void agenda_put(struct agenda *agenda, int item, bool urgent);

/* Plays it until no item is left. Returns 0 or -1: memory is exhausted. */
int agenda_play(struct agenda *agenda, struct model_time *time);

#endif
