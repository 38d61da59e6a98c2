/*
 * boxes.c - names and put: the mailboxes of the virtual machine.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"

static void names(struct console *c, int argc, char **argv)
{
    char all[] = "*";
    int count;
    struct pvmmboxinfo *boxes;
    (void)c;
    if (pvm_getmboxinfo(argc > 1 ? argv[1] : all, &count, &boxes) < 0)
        return;
    for (int i = 0; i < count; i++) {
        printf("<%s>:\n", boxes[i].mi_name);
        for (int k = 0; k < boxes[i].mi_nentries; k++)
            printf("\tindex=%d owner=0x%x/%d flags=0x%x\n", boxes[i].mi_indices[k],
                   (unsigned)boxes[i].mi_owners[k], boxes[i].mi_owners[k],
                   (unsigned)boxes[i].mi_flags[k]);
        putchar('\n');
    }
}

/* An empty message, as a mark that others can look for. */
static void box_put(struct console *c, int argc, char **argv)
{
    int flags;
    (void)c, (void)argc;
    if (!words_number(argv[2], &flags)) {
        printf("put: %s: not a number\n", argv[2]);
        return;
    }
    int bufid = pvm_mkbuf(PvmDataDefault);
    if (bufid < 0)
        return;
    pvm_putinfo(argv[1], bufid, flags);
    pvm_freebuf(bufid);
}

const struct command box_commands[] = {
    {"mbox", names, 0, 1, "As names", "mbox [PATTERN]"},
    {"names", names, 0, 1, "List the names of mailboxes",
     "names [PATTERN]   (a regular expression, or * for all)"},
    {"put", box_put, 2, 2, "Put an empty message into a mailbox", "put NAME FLAGS"},
    {.name = NULL},
};
