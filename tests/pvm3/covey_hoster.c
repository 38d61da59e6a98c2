/*
 * covey_hoster.c - a hoster: what it is asked when a host is to be added, and what comes of its
 * answers. One that does what it is asked, and one that dies instead.
 *
 * PVM asks the same where its first host has an address that is not of the loopback, and says it
 * with its own command; the program is not run there, as machines without such an address have to
 * do. The first process is the hoster and has another task add hosts.
 */
#include "tests/pvm3/say.h"

#include <pvmproto.h>
#include <string.h>
#include <unistd.h>

#define TAG_ADDED 11
#define TAG_READY 12
#define TEXT 65536

/* ---- who adds hosts -------------------------------------------------------------------------- */

static int add(char *name)
{
    char *names[] = {name};
    int body[3] = {0, 0, 0}, before = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO); /* why it was not added */
    body[0] = pvm_addhosts(names, 1, &body[1]);
    dup2(before, STDERR_FILENO);
    body[2] = body[1] > 0 && pvm_mstat(name) == PvmOk;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(body, 3, 1);
    pvm_send(pvm_parent(), TAG_ADDED);
    pvm_exit();
    return 0;
}

/* ---- the hoster ------------------------------------------------------------------------------ */

static char command[TEXT], line[TEXT];

static void ask_for(char *name)
{
    char *arguments[] = {name, NULL};
    int tid;
    printf("host %s:\n", name);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
}

static int read_request(char *name, struct pvmminfo *info)
{
    char options[TEXT], login[TEXT];
    SAY_SIGN(pvm_recv(-1, SM_STHOST));
    pvm_getminfo(pvm_getrbuf(), info);
    int count = upk(), tid = upk();
    pvm_upkstr(options);
    pvm_upkstr(login);
    pvm_upkstr(command);
    printf("%d host, its tid: %d, options '%s', login: %d\n", count,
           tid > 0 && (tid & 0x3ffff) == 0, options, strcmp(login, name) == 0);
    return tid;
}

/* With the number of hosts, as PVM 3.4.6 wants it, or without, as its manual says. */
static void answer(int tid, char *status, int counted, const struct pvmminfo *request)
{
    struct pvmminfo info;
    int count = 1;
    pvm_initsend(PvmDataDefault);
    if (counted)
        pvm_pkint(&count, 1, 1);
    pvm_pkint(&tid, 1, 1);
    pvm_pkstr(status);
    pvm_getminfo(pvm_getsbuf(), &info);
    info.wid = request->wid;
    pvm_setminfo(pvm_getsbuf(), &info);
    SAY(pvm_send(request->src, SM_STHOSTACK));
}

static void await_outcome(void)
{
    SAY_SIGN(pvm_recv(-1, TAG_ADDED));
    int added = upk(), info = upk(), up = upk();
    printf("added %d, info %s %d, up %d\n", added, info < 0 ? "=" : ">", info < 0 ? info : 0, up);
}

static void refuse(char *name, char *status, int counted)
{
    struct pvmminfo request;
    ask_for(name);
    int tid = read_request(name, &request);
    answer(tid, status, counted, &request);
    await_outcome();
}

/* Runs the command here: a second host of this machine, as `covey start --local` has them. The key
 * is no word of it. */
static void obey(char *name)
{
    struct pvmminfo request;
    ask_for(name);
    int tid = read_request(name, &request);
    strcat(command, " --local");
    FILE *output = popen(command, "r");
    line[0] = '\0';
    if (output != NULL && fgets(line, sizeof line, output) != NULL)
        line[strcspn(line, "\n")] = '\0';
    if (output != NULL)
        pclose(output);
    answer(tid, line, 1, &request);
    await_outcome();
}

/* ---- one that dies --------------------------------------------------------------------------- */

static int die(void)
{
    pvm_reg_hoster();
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), TAG_READY);
    pvm_recv(-1, SM_STHOST);
    _exit(1);
}

/* Its host is started by the daemons. */
static void outlive(char *name)
{
    char hoster[] = "die", *arguments[] = {hoster, NULL}, *names[] = {name};
    int tid, info = 0;
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY_SIGN(pvm_recv(tid, TAG_READY));
    SAY(pvm_addhosts(names, 1, &info));
    SAY_SIGN(info);
    SAY(pvm_delhosts(names, 1, &info));
}

int main(int argc, char **argv)
{
    char refused[] = "refused", garbled[] = "garbled", joined[] = "joined", late[] = "late";
    char cannot[] = "PvmCantStart", words[] = "no route to host";
    if (argc > 1)
        return strcmp(argv[1], "die") == 0 ? die() : add(argv[1]);
    say_begin();
    SAY(pvm_reg_hoster());
    SAY_SIGN(pvm_setopt(PvmResvTids, 1));
    refuse(refused, cannot, 1);
    refuse(garbled, words, 0);
    obey(joined);
    char *names[] = {joined};
    int info = 0;
    SAY(pvm_delhosts(names, 1, &info));
    SAY(info);
    SAY(say_exit());
    SAY_SIGN(pvm_mytid());
    outlive(late);
    SAY(say_exit());
    return 0;
}
