/*
 * adding.h - how a guest that knows the code becomes a host: a thread of its own asks the VM to add
 * it, by the launcher exec, whose command is `covey class bring`. The daemon that coordinates the
 * VM runs that, on whichever host it is, and writes the invitation to its standard input, as to any
 * launcher. The command seals it for the guest's key, sends it to the class as a message of the VM,
 * and prints what the guest's coveyd has answered. So the class never has the VM's key, nor does
 * anybody on the way.
 */
#ifndef COVEY_TOOLS_CLASS_ADDING_H
#define COVEY_TOOLS_CLASS_ADDING_H

#include "covey.h"
#include "proto/class/channel.h"

/* The group that the class of a VM is in, alone. */
#define CLASS_GROUP "covey.class"

/* Messages of the VM to and from it. */
enum class_tag {
    CLASS_ASK = 1,    /* text: what `covey class` wants */
    CLASS_TELL = 2,   /* number, text: the answer */
    CLASS_BRING = 3,  /* number of a guest, bytes: its invitation, sealed */
    CLASS_BROUGHT = 4 /* text: what its coveyd says */
};

#define CLASS_BRING_S 29 /* for all that; the VM waits no longer either */

/* What comes of it. */
struct added {
    struct added *next;
    unsigned guest; /* its number */
    int error;      /* 0, or one of covey.h */
    char name[CLASS_NAME_MAX + 1];
    char text[CLASS_TEXT_MAX + 1]; /* why not */
};

struct adder;

/* NULL: memory or descriptors are exhausted. The handle stays the caller's. */
struct adder *adder_create(covey_t *vm);
/* Waits for the threads that there are. */
void adder_destroy(struct adder *adder);

/* Begins. `loopback`: the guest is on this machine, and is reached at 127.0.0.1. False: no thread
 * can be had. */
bool adder_add(struct adder *adder, unsigned guest, const char *name,
               const uint8_t key[CLASS_BOX_KEY_BYTES], bool loopback);

/* Readable when there is something to be taken; the caller frees it. NULL: nothing more. */
int adder_fd(const struct adder *adder);
struct added *adder_take(struct adder *adder);

#endif
