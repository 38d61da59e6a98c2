/*
 * entrance.h - one try of a code at one class: connects, goes through the exchange
 * (proto/class/knock.h), and, once each knows that the other has the code, starts coveyd with the
 * invitation that comes.
 */
#ifndef COVEY_TOOLS_CLASS_ENTRANCE_H
#define COVEY_TOOLS_CLASS_ENTRANCE_H

#include "proto/class/knock.h"
#include "tools/class/sockets.h"

#define ENTRANCE_WHY_BYTES 400

enum entrance_result {
    ENTRANCE_JOINED,
    ENTRANCE_WRONG,  /* the code is not that of this class */
    ENTRANCE_VOID,   /* it was, or its first letters are: the class has another one now */
    ENTRANCE_CLOSED, /* it takes nobody in */
    ENTRANCE_PLAYED, /* who answers does not know the code, and is no class */
    ENTRANCE_DEAF,   /* it does not answer, or is no class: nobody had a guess of the code */
    ENTRANCE_LOST,   /* it has not answered the proof, which was one guess */
    ENTRANCE_FAILED  /* the code was right, and yet: see why */
};

struct entrance {
    const struct passcode *code;
    const char *name; /* that this host wants */
    /* what came of it: */
    char joined[CLASS_TEXT_MAX + 1]; /* its name in the VM, */
    char vm[CLASS_NAME_MAX + 1];     /* the VM's, */
    char host[CLASS_NAME_MAX + 1];   /* and that of the teacher's host */
    char why[ENTRANCE_WHY_BYTES];
};

enum entrance_result entrance_try(struct entrance *entrance, const struct place *place);

#endif
