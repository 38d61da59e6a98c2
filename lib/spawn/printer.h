/*
 * printer.h - output that the library prints.
 */
#ifndef COVEY_LIB_SPAWN_PRINTER_H
#define COVEY_LIB_SPAWN_PRINTER_H

#include "lib/member/vm.h"
#include <stdbool.h>
#include <stdint.h>

struct frame;
struct printer;

/* The output of the tasks that inherit the caller's: see printer.c. */
enum printing {
    PRINTING_NOT,   /* the task's sink gets it as messages */
    PRINTING_ABOVE, /* the library of the sink, another task, prints it */
    PRINTING_PLAIN,
    PRINTING_TAGGED
};

/* Output of the tasks that this one spawns. */
struct output {
    enum printing printing;
    struct printer *printer; /* NULL: nothing was spawned whose output is printed */
};

static inline struct output *output_of(const struct covey *vm)
{
    return vm->part[PART_OUTPUT];
}

/* The value of $COVEY_OUTPUT, or COVEY_EINVAL. */
int printer_printing(void);
/* Tasks are being spawned whose output is printed here, tethered ones or others. */
int printer_start(struct covey *vm, bool tethered);
void printer_on_output(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void printer_on_end(struct covey *vm, const struct frame *frame, const uint8_t *payload);
/* The task leaves: gets what the others have written so far, or write soon. */
void printer_gather(struct covey *vm);
/* Prints what is there and ends; the lock is let go meanwhile. */
void printer_destroy(struct covey *vm);

#endif
