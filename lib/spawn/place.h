/*
 * place.h - where spawn puts tasks.
 */
#ifndef COVEY_LIB_SPAWN_PLACE_H
#define COVEY_LIB_SPAWN_PLACE_H

#include "lib/covey.h"
#include "lib/member/vm.h"
#include <stdbool.h>
#include <stdint.h>

/* Hosts by their indices, in the order in which tasks are dealt to them; a host that is not to be
 * used any more has index 0. */
struct deal {
    uint32_t *hosts;
    int count;
    bool free_choice; /* the tasks go where they should end first; else to the hosts in turn */
};

/* What placing remembers from one spawn to the next. */
struct placing {
    unsigned next;           /* where the next spawn starts in the list of hosts */
    struct outlook *outlook; /* what was last heard of the hosts' load */
    int told;                /* how many hosts covey_spawn_count() counted last, of all ... */
    char told_arch[32];      /* ... that are that, "": any */
};

static inline struct placing *placing_of(const struct covey *vm)
{
    return vm->part[PART_PLACING];
}
int deal_make(struct covey *vm, const struct covey_spawn *what, struct deal *deal);
void deal_free(struct deal *deal);
/* Forgets hosts with index 0; false: none had it, or none is left. */
bool deal_drop(struct deal *deal);
/* Sets host_of[i] to the index of the host for the i-th of n tasks. The VM's turn goes on. */
int deal_tasks(struct covey *vm, const struct covey_spawn *what, const struct deal *deal, int n,
               uint32_t *host_of);
/* What covey_place() gives. */
int place_explain(struct covey *vm, const struct covey_spawn *what, int n,
                  struct covey_place **places);
/* What covey_place_idle() gives. */
int place_idle(struct covey *vm, const struct covey_spawn *what, struct covey_place **places);
void place_free(struct covey *vm);

#endif
