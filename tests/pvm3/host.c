/*
 * host.c - what there is: hosts and tasks, and what calls say of those that are not there.
 */
#include "tests/pvm3/say.h"

#include <string.h>

static void hosts(void)
{
    int count = 0, formats = 0;
    struct pvmhostinfo *list = NULL;
    SAY(pvm_config(&count, &formats, &list));
    SAY(count);
    SAY(formats);
    SAY(list[0].hi_tid);
    SAY_TEXT(list[0].hi_arch);
    SAY(list[0].hi_speed);
    SAY(list[0].hi_dsig);
    SAY(pvm_mstat(list[0].hi_name));
    SAY(pvm_mstat("no-such-host"));
    SAY(pvm_mstat(""));
    SAY(pvm_config(NULL, NULL, NULL));
    SAY(pvm_archcode("LINUX64"));
    SAY(pvm_archcode("SUN4"));
    SAY(pvm_tidtohost(pvm_mytid()));
    SAY(pvm_tidtohost(0x80001));
}

static void tasks(void)
{
    int count = 0, me = pvm_mytid();
    struct pvmtaskinfo *list = NULL;
    SAY(pvm_tasks(me, &count, &list));
    SAY(count);
    SAY(list[0].ti_tid == me);
    SAY(list[0].ti_host);
    SAY(list[0].ti_pid == getpid());
    SAY(pvm_tasks(0, &count, &list));
    SAY_SIGN(count);
    SAY(pvm_tasks(0x40000, &count, &list));
    SAY_SIGN(count);
    SAY(pvm_tasks(0x80000, &count, &list));
    SAY(pvm_tasks(0x4ffff, &count, &list));
    SAY(count);
    SAY(pvm_pstat(me));
    SAY(pvm_pstat(0x4ffff));
    SAY(pvm_pstat(0));
}

static void signals(void)
{
    SAY(pvm_kill(0));
    SAY(pvm_kill(0x4ffff));
    SAY(pvm_sendsig(0x4ffff, 15));
    SAY(pvm_sendsig(0, 15));
    SAY(pvm_sendsig(pvm_mytid(), 0));
}

static void changes(void)
{
    char *names[] = {"no-such-host"};
    int infos[1] = {0};
    SAY(pvm_delhosts(names, 1, infos));
    SAY(infos[0]);
    SAY(pvm_addhosts(names, 0, infos));
    SAY(pvm_start_pvmd(0, NULL, 1));
}

int main(void)
{
    say_begin();
    hosts();
    tasks();
    signals();
    changes();
    pvm_exit();
    return 0;
}
