/*
 * covey_hostile.c - tasks that lie: about the end of others, about siblings, and in the journal of
 * the mailboxes. What they say is not believed, and nobody waits for it without end.
 */
#include "tests/pvm3/say.h"

#include <covey.h>
#include <pvmproto.h>
#include <string.h>

#define SERIES "pvm.mailbox"
#define TAG_DONE 1
#define TAG_EXIT 2
#define NOTICE_TAG 0x3f70766e

covey_t *pvm_covey(void);

enum { CHANGE = 1, BLOB = 2, PUT = 1, GARBAGE = 40 };

/* The next number of the journal gets this value; byte order and form are those of the library. */
static void write_change(const int *words, size_t bytes)
{
    covey_t *vm = pvm_covey();
    struct covey_decision d;
    for (uint64_t number = 0;; number++) {
        if (covey_learn(vm, SERIES, number, COVEY_POLL, &d) != COVEY_ETIMEOUT)
            continue;
        d.bytes = (int32_t)bytes;
        memcpy(d.value, words, bytes);
        covey_propose(vm, SERIES, number, COVEY_FOREVER, &d);
        return;
    }
}

/* Changes that name parts which there are not, another's name, nothing, and a foreign owner. */
static void spoil_journal(void)
{
    const int me = pvm_mytid();
    const int blob[] = {1, me, 7, BLOB, me, 12345, 3};
    const int too_long[] = {1, me, 8, BLOB, me, 12345, 1 << 30};
    const int author[] = {1, me + 1, 9, CHANGE, PUT, me + 1, 0, 0};
    const int owner[] = {1, me, 10, CHANGE, PUT, me + 1, 0, 0};
    int garbage[GARBAGE];
    memset(garbage, 0x7f, sizeof garbage);
    write_change(blob, sizeof blob);
    write_change(too_long, sizeof too_long);
    write_change(author, sizeof author);
    write_change(owner, sizeof owner);
    write_change(garbage, sizeof garbage);
    write_change(blob, 1);
}

/* As if the parent had sent the list, as if another task had ended, and as if a host had gone. */
static void lie(int victim, int innocent)
{
    const int siblings[] = {2, 0x40111, 0x40112};
    covey_t *vm = pvm_covey();
    covey_msg_t *msg = covey_msg_new();
    const int32_t notice[] = {COVEY_NOTIFY_TASK_EXIT, innocent, 1, COVEY_EXIT_STATUS, 0};
    pvm_setopt(PvmResvTids, 1);
    pvm_initsend(PvmDataDefault);
    pvm_pkint((int *)siblings, 3, 1);
    pvm_setcontext(SYSCTX_TC);
    pvm_send(victim, TC_SIBLINGS);
    pvm_setcontext(0);
    covey_pack_int32(msg, notice, 5, 1);
    covey_send(vm, victim, NOTICE_TAG, msg);
    covey_msg_free(msg);
}

static int child(const char *what)
{
    if (strcmp(what, "wait") == 0) {
        pvm_recv(pvm_parent(), TAG_DONE);
    } else if (strcmp(what, "spoil") == 0) {
        spoil_journal();
    } else {
        int innocent;
        pvm_recv(pvm_parent(), TAG_DONE);
        pvm_upkint(&innocent, 1, 1);
        lie(pvm_parent(), innocent);
    }
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), TAG_DONE);
    pvm_exit();
    return 0;
}

static int start(char *what)
{
    char *arguments[] = {what, NULL};
    int tid = 0;
    if (pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid) != 1)
        printf("it was not spawned: %d\n", tid);
    return tid;
}

static void journal(void)
{
    int x = 5;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&x, 1, 1);
    SAY(pvm_putinfo("before", pvm_getsbuf(), PvmMboxDefault));
    pvm_recv(start("spoil"), TAG_DONE);
    SAY_SIGN(pvm_recvinfo("before", 0, 0));
    SAY(pvm_putinfo("after", pvm_getsbuf(), PvmMboxDefault));
    SAY_SIGN(pvm_recvinfo("after", 0, 0));
}

static void lies(void)
{
    int innocent = start("wait"), liar = start("lie"), *siblings = NULL;
    SAY(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &innocent));
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&innocent, 1, 1);
    pvm_send(liar, TAG_DONE);
    SAY_SIGN(pvm_recv(liar, TAG_DONE));
    SAY(pvm_nrecv(-1, TAG_EXIT));
    SAY(pvm_siblings(&siblings));
    SAY(siblings[0] == pvm_mytid());
    pvm_send(innocent, TAG_DONE);
    SAY_SIGN(pvm_recv(innocent, TAG_DONE));
    SAY_SIGN(pvm_recv(-1, TAG_EXIT));
}

/* All numbers forgotten: an error, and not a search without end. */
static void forgotten(void)
{
    covey_forget(pvm_covey(), SERIES, (uint64_t)1 << 40);
    SAY_SIGN(pvm_recvinfo("before", 0, 0));
    covey_forget(pvm_covey(), SERIES, UINT64_MAX); /* as if there had never been any */
    SAY(pvm_putinfo("anew", pvm_getsbuf(), PvmMboxDefault));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    say_begin();
    journal();
    lies();
    pvm_setopt(PvmAutoErr, 0);
    forgotten();
    pvm_exit();
    return 0;
}
