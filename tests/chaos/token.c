/* links: libcovey */
/*
 * token.c - a token with 16 contenders whose holder is killed again and again.
 *
 *   token PASSES LOG [PID]   starts the contenders, kills, and at the end looks at what they wrote;
 *                            half-way it kills that process, too: the daemon of another host
 *   token contend LOG        one of them: gets the token, writes that it has it, and that it passes
 * it on
 *
 * Now and then one holds it for a while. All hosts are of one machine: the records of the log are
 * in the order in which they were written.
 */
#include <covey.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOKEN "baton"
#define CONTENDERS 16
#define TAG_EXIT 1
#define RECORD_BYTES 31 /* "h TID NUMBER\n", of fixed widths */
#define HOLD_EVERY 32
#define HOLD_US 60000
#define KILL_EVERY_US 40000
#define PATIENCE_US ((int64_t)60 * 1000000)
#define SPAWN_TRIES 5
#define DEAD_MAX 100000

static int complain(const char *what)
{
    printf("%s: %s\n", what, covey_error_text());
    return EXIT_FAILURE;
}

/* ---- a contender ---- */

static void record(int log, char what, covey_tid_t tid, uint64_t number)
{
    char line[RECORD_BYTES + 1];
    snprintf(line, sizeof line, "%c %08" PRIx32 " %019" PRIu64 "\n", what, (uint32_t)tid, number);
    if (write(log, line, RECORD_BYTES) != RECORD_BYTES)
        _exit(EXIT_FAILURE);
}

static int contend(covey_t *vm, const char *path)
{
    int log = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), error;
    uint64_t number;
    while ((error = covey_token_request(vm, TOKEN, COVEY_FOREVER, &number)) == COVEY_OK) {
        record(log, 'h', covey_mytid(vm), number);
        if (number % HOLD_EVERY == 0)
            usleep(HOLD_US); /* long enough to be killed with it in its hands */
        record(log, 'p', covey_mytid(vm), number);
        error = covey_token_pass(vm, TOKEN, number, COVEY_ANY_TASK);
        if (error != COVEY_OK)
            return complain("a holder could not pass it on");
    }
    return error == COVEY_ENOENT ? EXIT_SUCCESS : complain("request");
}

/* ---- what they wrote ---- */

struct reading {
    uint32_t holder;
    bool holds;
    uint64_t number, passes, lost;
    uint32_t dead[DEAD_MAX]; /* had it, and somebody else got it before they passed it on */
};

static bool is_dead(const struct reading *r, uint32_t tid)
{
    for (uint64_t i = 0; i < r->lost; i++)
        if (r->dead[i] == tid)
            return true;
    return false;
}

/* NULL, or what is wrong. */
static const char *read_one(struct reading *r, char what, uint32_t tid, uint64_t number)
{
    if (is_dead(r, tid))
        return "two had it: it was regenerated while its holder lived";
    if (what == 'p') {
        bool right = r->holds && r->holder == tid && r->number == number;
        r->holds = false;
        r->passes++;
        return right ? NULL : "passed on by one that did not have it";
    }
    if (number <= r->number)
        return "its number did not grow";
    if (r->holds && r->lost < DEAD_MAX)
        r->dead[r->lost++] = r->holder;
    r->holder = tid;
    r->number = number;
    r->holds = true;
    return NULL;
}

static int judge(const char *path, uint64_t passes, unsigned kills)
{
    static struct reading r;
    FILE *file = fopen(path, "re");
    const char *wrong = file == NULL ? "no log" : NULL;
    uint64_t number, line = 0;
    uint32_t tid;
    char what;
    while (wrong == NULL &&
           fscanf(file, "%c %" SCNx32 " %" SCNu64 "\n", &what, &tid, &number) == 3) {
        line++;
        wrong = read_one(&r, what, tid, number);
    }
    if (file != NULL)
        fclose(file);
    printf("%" PRIu64 " passes, %u kills, %" PRIu64 " of them of a holder that had not passed\n",
           r.passes, kills, r.lost);
    if (wrong != NULL)
        printf("line %" PRIu64 ": %s\n", line, wrong);
    if (r.lost < 1 + passes / 500)
        printf("hardly a holder was killed\n");
    return wrong == NULL && r.passes >= passes && r.lost >= 1 + passes / 500 ? EXIT_SUCCESS
                                                                             : EXIT_FAILURE;
}

/* ---- the one that kills ---- */

static int contender_start(covey_t *vm, const char *program, const char *path)
{
    const char *argv[] = {program, "contend", path, NULL};
    const struct covey_spawn what = {.argv = argv, .tether = 1};
    covey_tid_t tid = 0;
    int tries = 0;
    while (covey_spawn(vm, &what, 1, &tid) != 1) /* on a host that is dying, perhaps */
        if (tid != COVEY_EHOSTFAIL || ++tries == SPAWN_TRIES)
            return -1;
    return covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, &tid, 1);
}

/* Waits a moment; others take the places of those who died. False: one ended by itself. */
static bool replace(covey_t *vm, const char *program, const char *path)
{
    covey_msg_t *msg;
    struct covey_notice notice;
    while (covey_recv(vm, COVEY_ANY_TASK, TAG_EXIT, KILL_EVERY_US, &msg) == COVEY_OK) {
        int error = covey_unpack_notice(msg, &notice);
        covey_msg_free(msg);
        if (error != COVEY_OK || notice.exit_kind == COVEY_EXIT_STATUS) {
            printf("a contender ended with status %d\n", (int)notice.value);
            return false;
        }
        if (contender_start(vm, program, path) != COVEY_OK) {
            complain("another contender");
            return false;
        }
    }
    return true;
}

static uint64_t records(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size / RECORD_BYTES : 0;
}

static bool in_time(time_t *moved_at, uint64_t *last, uint64_t now)
{
    if (now != *last)
        *moved_at = time(NULL);
    *last = now;
    return time(NULL) - *moved_at < PATIENCE_US / 1000000;
}

static int start(covey_t *vm, const char *program, const char *path)
{
    uint64_t number;
    if (covey_token_create(vm, TOKEN, &number) != COVEY_OK)
        return complain("create");
    for (int i = 0; i < CONTENDERS; i++)
        if (contender_start(vm, program, path) != COVEY_OK)
            return complain("spawn");
    if (covey_token_pass(vm, TOKEN, number, COVEY_ANY_TASK) != COVEY_OK)
        return complain("pass");
    return EXIT_SUCCESS;
}

/* Kills whoever has it; half-way, the daemon of a host with all its tasks. */
static unsigned kill_some(covey_t *vm, bool half, pid_t *daemon)
{
    covey_tid_t holder = covey_token_holder(vm, TOKEN, NULL);
    if (half && *daemon != 0 && kill(*daemon, SIGKILL) == 0)
        *daemon = 0;
    return holder > 0 && covey_signal(vm, holder, SIGKILL) == COVEY_OK;
}

static int drive(covey_t *vm, const char *program, uint64_t passes, const char *path, pid_t daemon)
{
    uint64_t number, last = 0, now = 0;
    unsigned kills = 0;
    time_t moved_at = time(NULL);
    if (start(vm, program, path) != EXIT_SUCCESS)
        return EXIT_FAILURE;
    while (now < 2 * passes + kills) { /* of each kill one record is missing */
        if (!replace(vm, program, path))
            return EXIT_FAILURE;
        now = records(path);
        if (!in_time(&moved_at, &last, now))
            return complain("the token is lost: nobody gets it");
        kills += kill_some(vm, now > passes, &daemon);
    }
    if (covey_token_request(vm, TOKEN, PATIENCE_US, &number) != COVEY_OK)
        return complain("the token is lost");
    if (covey_token_destroy(vm, TOKEN, number) != COVEY_OK)
        return complain("destroy");
    return judge(path, passes, kills);
}

int main(int argc, char **argv)
{
    covey_t *vm;
    int status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3 || argc > 4 || covey_join(&vm, NULL) != COVEY_OK)
        return complain("join");
    if (strcmp(argv[1], "contend") == 0)
        status = contend(vm, argv[2]);
    else
        status = drive(vm, argv[0], strtoull(argv[1], NULL, 10), argv[2],
                       argc == 4 ? (pid_t)atoi(argv[3]) : 0);
    covey_leave(&vm);
    return status;
}
