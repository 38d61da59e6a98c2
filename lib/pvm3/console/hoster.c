/*
 * hoster.c - `pvm --host HOSTER LOGIN TID COMMAND`: asks a hoster to start a daemon, and prints
 * what it answers. The daemon that adds the host runs it; see lib/pvm3/rm/hoster.c.
 */
#include "lib/pvm3/console/console.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdio.h>
#include <stdlib.h>

#define STATUS_MAX 65536  /* an answer may be as long as its message */
#define TID_FIRST 0x40000 /* of a host; less is a count */

static int start_ask(int hoster, char *login, int tid, char *command)
{
    int count = 1;
    char options[] = "";
    struct pvmminfo info;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&count, 1, 1);
    pvm_pkint(&tid, 1, 1);
    pvm_pkstr(options);
    pvm_pkstr(login);
    pvm_pkstr(command);
    pvm_getminfo(pvm_getsbuf(), &info);
    info.wid = tid;
    pvm_setminfo(pvm_getsbuf(), &info);
    return pvm_send(hoster, SM_STHOST);
}

/* The host's tid is next, behind other answers and the count that PVM 3.4.6 has before them, but
 * not its manual. */
static bool hoster_find_host(int tid, char *status)
{
    int number = 0;
    while (pvm_upkint(&number, 1, 1) == PvmOk && number != tid) {
        bool is_count = number < TID_FIRST;
        if (!is_count && pvm_upkstr(status) != PvmOk)
            return false;
    }
    return number == tid;
}

/* Of the host that was asked for; another answer is passed over. */
static bool print_answer(int bufid, int tid)
{
    int bytes = 0;
    pvm_bufinfo(bufid, &bytes, NULL, NULL);
    char *status = bytes < 0 || bytes > STATUS_MAX ? NULL : malloc((size_t)bytes + 1);
    bool good = status != NULL && hoster_find_host(tid, status) && pvm_upkstr(status) == PvmOk;
    if (good)
        puts(status);
    free(status);
    return good;
}

int hoster_ask(char **words)
{
    int hoster = (int)strtol(words[0], NULL, 0), tid = (int)strtol(words[2], NULL, 0);
    if (pvm_mytid() < 0)
        return 1;
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmResvTids, 1);
    int bufid = start_ask(hoster, words[1], tid, words[3]);
    while (bufid >= 0 && (bufid = pvm_recv(hoster, SM_STHOSTACK)) >= 0) {
        if (print_answer(bufid, tid))
            break;
    }
    if (bufid < 0)
        puts("PvmNoTask: the hoster has ended");
    pvm_exit();
    return bufid < 0;
}
