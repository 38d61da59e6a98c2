/*
 * mailbox.c - mailboxes, of this task and of one that it spawns.
 */
#include "tests/pvm3/say.h"

#include <string.h>

#define MANY (PvmMboxMultiInstance)
#define OPEN (PvmMboxOverWritable)

static const char *owner(int tid)
{
    return tid == 0 ? "nobody" : tid == pvm_mytid() ? "me" : "another";
}

/* All of ours; PVM's group server has one, too. */
static void list(char *pattern)
{
    int count = 0;
    struct pvmmboxinfo *boxes = NULL;
    SAY(pvm_getmboxinfo(pattern, &count, &boxes));
    for (int i = 0; i < count; i++) {
        if (strncmp(boxes[i].mi_name, "say.", 4) != 0)
            continue;
        printf("  %s %d:", boxes[i].mi_name, boxes[i].mi_nentries);
        for (int k = 0; k < boxes[i].mi_nentries; k++)
            printf(" [%d] of %s flags %d", boxes[i].mi_indices[k], owner(boxes[i].mi_owners[k]),
                   boxes[i].mi_flags[k]);
        printf("\n");
    }
}

static void packed(const char *text)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkstr((char *)text);
}

static void say_box(char *name, int index, int flags)
{
    char text[64] = "";
    int bytes, tag, tid, id = pvm_recvinfo(name, index, flags);
    printf("%s[%d] with %d: ", name, index, flags);
    if (id < 0) {
        printf("%d\n", id);
        return;
    }
    pvm_bufinfo(id, &bytes, &tag, &tid);
    pvm_upkstr(text);
    printf("'%s', %d bytes, tag %d, active %d\n", text, bytes, tag, pvm_getrbuf() == id);
}

static void own(void)
{
    packed("eins");
    SAY(pvm_putinfo("say.a", pvm_getsbuf(), PvmMboxDefault));
    packed("zwei");
    SAY(pvm_putinfo("say.a", pvm_getsbuf(), PvmMboxDefault));
    SAY(pvm_putinfo("say.a", pvm_getsbuf(), MANY));
    SAY(pvm_putinfo("say.a", pvm_getsbuf(), OPEN));
    SAY(pvm_putinfo("", pvm_getsbuf(), PvmMboxDefault));
    SAY(pvm_putinfo("say.m", pvm_getsbuf(), MANY));
    SAY(pvm_putinfo("say.m", pvm_getsbuf(), MANY | PvmMboxPersistent));
    SAY(pvm_putinfo("say.m", pvm_getsbuf(), MANY | PvmMboxDirectIndex(7)));
    SAY(pvm_putinfo("say.m", pvm_getsbuf(), MANY | PvmMboxDirectIndex(7)));
    SAY(pvm_putinfo("say.m", pvm_getsbuf(), MANY));
    list("say");
    say_box("say.a", 0, 0);
    say_box("say.a", 2, 0);
    say_box("say.m", 3, 0);
    say_box("say.m", 3, PvmMboxFirstAvail);
    say_box("say.m", 0, PvmMboxReadAndDelete);
    say_box("say.m", 0, PvmMboxReadAndDelete);
    say_box("say.none", 0, 0);
    say_box("", 0, 0);
    SAY(pvm_delinfo("say.m", 1, 0));
    SAY(pvm_delinfo("say.m", 1, 0));
    SAY(pvm_delinfo("say.none", 1, 0));
    list("say.m");
    list("none");
}

static void numbers(void)
{
    int value = 0;
    SAY(pvm_insert("say.k", 0, 55));
    SAY(pvm_insert("say.k", -1, 56));
    SAY(pvm_insert("say.k", 0, 57));
    SAY(pvm_insert("say.k", 5, 58));
    SAY(pvm_insert("say.k", -2, 3));
    SAY(pvm_lookup("say.k", 1, &value));
    SAY(value);
    SAY(pvm_lookup("say.k", -1, &value));
    SAY(value);
    list("say.k");
    SAY(pvm_delete("say.k", 0));
    SAY(pvm_delete("say.k", 0));
    SAY(pvm_lookup("say.k", 0, &value));
    SAY(pvm_delete("say.k", -1));
    SAY(pvm_delete("say.k", 1));
    SAY(pvm_delete("say.k", 5));
}

static int child(void)
{
    say_begin();
    packed("child");
    int b = pvm_getsbuf();
    pvm_recv(pvm_parent(), 6);
    SAY(pvm_putinfo("say.locked", b, PvmMboxDefault));
    SAY(pvm_putinfo("say.locked", b, OPEN));
    SAY(pvm_putinfo("say.locked", b, MANY));
    SAY(pvm_putinfo("say.open", b, PvmMboxDefault));
    SAY(pvm_recvinfo("say.locked", 0, PvmMboxReadAndDelete));
    SAY(pvm_delinfo("say.locked", 0, 0));
    SAY(pvm_delinfo("say.open2", 0, 0));
    say_box("say.locked", 0, 0);
    SAY(pvm_putinfo("say.child", b, PvmMboxDefault));
    SAY(pvm_putinfo("say.stays", b, PvmMboxPersistent));
    list("say");
    pvm_exit();
    return 0;
}

static void two(void)
{
    char *arguments[] = {"child", NULL};
    int tid = 0;
    packed("parent");
    SAY(pvm_putinfo("say.locked", pvm_getsbuf(), PvmMboxDefault));
    SAY(pvm_putinfo("say.open", pvm_getsbuf(), OPEN));
    SAY(pvm_putinfo("say.open2", pvm_getsbuf(), OPEN));
    pvm_catchout(stdout);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    pvm_psend(tid, 6, "", 0, PVM_BYTE); /* it says nothing before that line is written */
    pvm_notify(PvmTaskExit, 5, 1, &tid);
    pvm_recv(-1, 5);
    usleep(100000); /* PVM's daemon removes entries after it has told of the end */
    list("say");
    SAY(pvm_putinfo("say.stays", pvm_getsbuf(), PvmMboxDefault));
    SAY(pvm_delinfo("say.stays", 0, 0));
}

static void spared(void)
{
    int count = -1, *tids = NULL;
    SAY(pvm_setopt(PvmNoReset, 1));
    SAY(pvm_getnoresets(&tids, &count));
    SAY(count == 1 && tids[0] == pvm_mytid());
    SAY(pvm_setopt(PvmNoReset, 0));
    SAY(pvm_getnoresets(&tids, &count));
    SAY(count);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return child();
    say_begin();
    own();
    numbers();
    two();
    spared();
    pvm_exit();
    return 0;
}
