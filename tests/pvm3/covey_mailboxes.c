/*
 * covey_mailboxes.c - more changes of mailboxes, and longer messages, than the journal keeps in one
 * piece: they are summed up, and a task that comes late has the same.
 */
#include "tests/pvm3/say.h"

#include <string.h>

#define CHANGES 400 /* together more than the VM keeps of decisions */
#define CHANGE_INTS 800
#define LONG_INTS 5000

static void count_up(void)
{
    int sum = 0, x, numbers[CHANGE_INTS] = {0};
    for (int i = 0; i < CHANGES; i++) {
        numbers[0] = i;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(numbers, CHANGE_INTS, 1);
        sum += pvm_putinfo("count", pvm_getsbuf(), PvmMboxOverWritable);
    }
    SAY(sum);
    SAY_SIGN(pvm_recvinfo("count", 0, 0));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
}

static void be_long(void)
{
    static int in[LONG_INTS], out[LONG_INTS];
    for (int i = 0; i < LONG_INTS; i++)
        in[i] = i * i;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(in, LONG_INTS, 1);
    SAY(pvm_putinfo("long", pvm_getsbuf(), PvmMboxDefault));
    SAY_SIGN(pvm_recvinfo("long", 0, 0));
    SAY(pvm_upkint(out, LONG_INTS, 1));
    SAY(memcmp(in, out, sizeof in));
}

static int late(void)
{
    int x = -1, last = -1, again = -1;
    pvm_recvinfo("count", 0, 0);
    pvm_upkint(&x, 1, 1);
    pvm_recvinfo("long", 0, 0);
    for (int i = 0; i < LONG_INTS; i++)
        pvm_upkint(&last, 1, 1);
    pvm_recvinfo("awaited", 0, PvmMboxWaitForInfo | PvmMboxReadAndDelete);
    pvm_upkint(&again, 1, 1);
    pvm_packf("%+ %d %d %d", PvmDataDefault, x, last, again);
    pvm_send(pvm_parent(), 1);
    pvm_exit();
    return 0;
}

static void be_late(void)
{
    char *arguments[] = {"late", NULL};
    struct timeval some = {0, 200000};
    int tid, x = 0, last = 0, again = 77;
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY(pvm_trecv(tid, 1, &some)); /* it waits for a message that nobody has put yet */
    pvm_packf("%+ %d", PvmDataDefault, again);
    SAY(pvm_putinfo("awaited", pvm_getsbuf(), PvmMboxOverWritable));
    SAY_SIGN(pvm_recv(tid, 1));
    SAY(pvm_unpackf("%d %d %d", &x, &last, &again));
    printf("%d %d %d\n", x, last, again);
    SAY(pvm_recvinfo("awaited", 0, 0));
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return late();
    say_begin();
    count_up();
    be_long();
    be_late();
    pvm_exit();
    return 0;
}
