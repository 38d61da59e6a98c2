/* links: libcovey */
/*
 * council.c - tasks in one session that elect a leader and decide on one number after the other,
 * while one of them after the other is killed, and daemons, too.
 *
 *   council ROUNDS LOG   starts the members, kills and replaces them, and at the end looks at what
 *                        they wrote; prints `round N` as it goes
 *   council member LOG   one of them: writes every view, term and decision that it is told
 *
 * All hosts are of one machine: the lines of the log are whole.
 *   v TID NUMBER CHANGE COUNT HASH   a view, and the hash of its members
 *   l TID TERM LEADER      d TID NUMBER PROPOSER VALUE      e TID TEXT   what went wrong
 */
#include <covey.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME "council"
#define MEMBERS 12
#define TAG_EXIT 1
#define PATIENCE_US ((int64_t)60 * 1000000)
#define PAUSE_US 10000
#define KILL_EVERY_US 60000
#define KEPT 32 /* decisions that the leader leaves for those who are slow */

/* ---- a member ---- */

struct member {
    covey_t *vm;
    covey_session_t *session;
    int log;
    uint64_t term, number;
};

__attribute__((format(printf, 2, 3))) static void record(struct member *m, const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    int size = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (size < 0 || (size_t)size >= sizeof line || write(m->log, line, (size_t)size) != size)
        _exit(EXIT_FAILURE);
}

/* Whose daemon was killed ends in silence. */
static int complain(struct member *m, const char *what, int error)
{
    if (error == COVEY_EDAEMON)
        return -1;
    record(m, "e %" PRIx32 " %s: %s\n", covey_mytid(m->vm), what, covey_error_text());
    return -1;
}

static void record_view(struct member *m, const struct covey_view *view)
{
    uint32_t hash = 2166136261u;

    for (int i = 0; i < view->count; i++)
        hash = (hash ^ (uint32_t)view->members[i]) * 16777619u;
    record(m, "v %" PRIx32 " %" PRIu64 " %d %d %" PRIx32 "\n", covey_mytid(m->vm), view->number,
           (int)view->change, (int)view->count, hash);
}

static int look_at_views(struct member *m)
{
    struct covey_view view;
    int error;

    while ((error = covey_session_next(m->session, COVEY_POLL, &view)) == COVEY_OK)
        record_view(m, &view);
    return error == COVEY_ETIMEOUT ? 0 : complain(m, "next view", error);
}

static void record_leader(struct member *m, const struct covey_leader *leader)
{
    m->term = leader->term;
    record(m, "l %" PRIx32 " %" PRIu64 " %" PRIx32 "\n", covey_mytid(m->vm), leader->term,
           leader->tid);
    if (leader->tid == covey_mytid(m->vm) && m->number > KEPT)
        covey_forget(m->vm, NAME, m->number - KEPT);
}

static int look_at_leader(struct member *m)
{
    struct covey_leader leader;
    int error = covey_elect_leader(m->vm, NAME, m->term, COVEY_POLL, &leader);

    if (error == COVEY_OK)
        record_leader(m, &leader);
    return error == COVEY_OK || error == COVEY_ETIMEOUT ? 0 : complain(m, "leader", error);
}

/* Where the others are: the shared value says which number was decided. */
static int catch_up(struct member *m, struct covey_value *value)
{
    int error = covey_session_get(m->session, value);

    if (error != COVEY_OK)
        return complain(m, "get", error);
    value->value[value->bytes] = '\0';
    uint64_t decided = strtoull((const char *)value->value, NULL, 10);
    if (decided >= m->number)
        m->number = decided + 1;
    return 0;
}

static int say_decided(struct member *m)
{
    struct covey_value value;
    uint64_t decided = m->number;

    if (catch_up(m, &value) != 0)
        return -1;
    if (m->number > decided)
        return 0;
    value.bytes = (int32_t)snprintf((char *)value.value, sizeof value.value, "%" PRIu64, decided);
    int error = covey_session_put(m->session, &value);
    m->number = decided + 1;
    return error < 0 ? complain(m, "put", error) : 0;
}

static int decide(struct member *m)
{
    struct covey_decision d;
    char *text = (char *)d.value;

    d.bytes = (int32_t)snprintf(text, sizeof d.value, "%" PRIx32 "/%" PRIu64, covey_mytid(m->vm),
                                m->number);
    int error = covey_propose(m->vm, NAME, m->number, PATIENCE_US, &d);
    if (error == COVEY_ENOENT) {
        struct covey_value value;
        return catch_up(m, &value);
    }
    if (error != COVEY_OK)
        return complain(m, "propose", error);
    record(m, "d %" PRIx32 " %" PRIu64 " %" PRIx32 " %.*s\n", covey_mytid(m->vm), m->number,
           d.proposer, (int)d.bytes, text);
    return say_decided(m);
}

static int member(covey_t *vm, const char *path, uint64_t rounds)
{
    struct member m = {.vm = vm, .number = 1};
    struct covey_leader leader;
    struct covey_value value;
    struct covey_view view;
    int error;

    m.log = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if ((error = covey_session_join(vm, NAME, &m.session)) != COVEY_OK)
        return complain(&m, "join", error);
    covey_session_view(m.session, &view);
    record_view(&m, &view);
    if ((error = covey_elect_stand(vm, NAME, &leader)) != COVEY_OK)
        return complain(&m, "stand", error);
    record_leader(&m, &leader);
    if (catch_up(&m, &value) != 0)
        return -1;
    while (m.number <= rounds) {
        if (decide(&m) != 0 || look_at_views(&m) != 0 || look_at_leader(&m) != 0)
            return -1;
        usleep(PAUSE_US);
    }
    return 0;
}

/* ---- what they wrote ---- */

#define TOLD_MAX 65536

struct reading {
    struct {
        int change, count;
        uint32_t hash;
    } views[TOLD_MAX];
    uint32_t leaders[TOLD_MAX], proposers[TOLD_MAX];
    char values[TOLD_MAX][40];
    struct {
        uint32_t tid;
        uint64_t view, term;
    } tasks[4096];
    unsigned views_count, terms, decisions;
};

static size_t task_of(struct reading *r, uint32_t tid)
{
    size_t i = tid % 4096;

    while (r->tasks[i].tid != 0 && r->tasks[i].tid != tid)
        i = (i + 1) % 4096;
    r->tasks[i].tid = tid;
    return i;
}

static const char *read_view(struct reading *r, uint32_t tid, const char *rest)
{
    uint64_t number, *last = &r->tasks[task_of(r, tid)].view;
    uint32_t hash;
    int change, count;

    if (sscanf(rest, "%" SCNu64 " %d %d %" SCNx32, &number, &change, &count, &hash) != 4)
        return "not a view";
    bool known = r->views[number % TOLD_MAX].count != 0;
    if (known &&
        (r->views[number % TOLD_MAX].hash != hash || r->views[number % TOLD_MAX].count != count))
        return "two see different views of one number";
    if (*last != 0 && change != COVEY_VIEW_ROSTER && number != *last + 1)
        return "a view is missing";
    if (*last != 0 && number <= *last)
        return "views go back";
    r->views_count += !known;
    r->views[number % TOLD_MAX].hash = hash;
    r->views[number % TOLD_MAX].count = count;
    *last = number;
    return NULL;
}

static const char *read_leader(struct reading *r, uint32_t tid, const char *rest)
{
    uint64_t term, *last = &r->tasks[task_of(r, tid)].term;
    uint32_t leader;

    if (sscanf(rest, "%" SCNu64 " %" SCNx32, &term, &leader) != 2)
        return "not a leader";
    uint32_t *known = &r->leaders[term % TOLD_MAX];
    if (*known != 0 && *known != leader)
        return "two leaders in one term";
    if (term <= *last)
        return "terms go back";
    r->terms += *known == 0;
    *known = leader;
    *last = term;
    return NULL;
}

static const char *read_decision(struct reading *r, const char *rest)
{
    uint64_t number, of;
    uint32_t proposer, by;
    char value[40];

    if (sscanf(rest, "%" SCNu64 " %" SCNx32 " %39s", &number, &proposer, value) != 3 ||
        number >= TOLD_MAX)
        return "not a decision";
    if (sscanf(value, "%" SCNx32 "/%" SCNu64, &by, &of) != 2 || by != proposer || of != number)
        return "a value that its proposer did not propose";
    bool known = r->proposers[number] != 0;
    if (known && (r->proposers[number] != proposer || strcmp(r->values[number], value) != 0))
        return "two values were decided";
    r->decisions += !known;
    r->proposers[number] = proposer;
    memcpy(r->values[number], value, sizeof value);
    return NULL;
}

static const char *read_line(struct reading *r, const char *line)
{
    uint32_t tid;
    char what;
    int used = 0;

    if (sscanf(line, "%c %" SCNx32 " %n", &what, &tid, &used) != 2)
        return "not a line";
    switch (what) {
    case 'v':
        return read_view(r, tid, line + used);
    case 'l':
        return read_leader(r, tid, line + used);
    case 'd':
        return read_decision(r, line + used);
    default:
        return "an error";
    }
}

static int judge(const char *path, uint64_t rounds, unsigned kills)
{
    static struct reading r;
    FILE *file = fopen(path, "re");
    const char *wrong = NULL;
    char line[512] = "";

    while (wrong == NULL && fgets(line, sizeof line, file) != NULL)
        wrong = read_line(&r, line);
    fclose(file);
    printf("%u kills: %u views, %u terms, %u decisions\n", kills, r.views_count, r.terms,
           r.decisions);
    if (wrong != NULL)
        printf("%s: %s", wrong, line);
    bool enough = r.decisions >= rounds && r.views_count > 2 * MEMBERS && r.terms > 3;
    if (!enough)
        printf("hardly anything happened\n");
    return wrong == NULL && enough ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- the one that kills ---- */

struct overseer {
    covey_t *vm;
    const char *program, *rounds, *path;
    covey_tid_t members[MEMBERS]; /* 0: to be started */
    unsigned seed, kills;
};

/* A host may be gone in this moment: the next time, then. */
static int fill(struct overseer *o)
{
    const char *argv[] = {o->program, "member", o->path, o->rounds, NULL};
    const struct covey_spawn what = {.argv = argv, .tether = 1};

    for (int i = 0; i < MEMBERS; i++) {
        if (o->members[i] != 0)
            continue;
        covey_tid_t tid;
        if (covey_spawn(o->vm, &what, 1, &tid) != 1)
            return 0;
        o->members[i] = tid;
        if (covey_notify(o->vm, COVEY_NOTIFY_TASK_EXIT, TAG_EXIT, &tid, 1) != COVEY_OK)
            return -1;
    }
    return 0;
}

static void forget(struct overseer *o, covey_tid_t tid)
{
    for (int i = 0; i < MEMBERS; i++)
        if (o->members[i] == tid)
            o->members[i] = 0;
}

/* Hears of ends for so long. */
static void listen(struct overseer *o, int64_t wait_us)
{
    struct covey_notice notice;
    covey_msg_t *msg;

    while (covey_recv(o->vm, COVEY_ANY_TASK, TAG_EXIT, wait_us, &msg) == COVEY_OK) {
        if (covey_unpack_notice(msg, &notice) == COVEY_OK)
            forget(o, notice.tid);
        covey_msg_free(msg);
    }
}

/* Any of them, or the one that leads. */
static void kill_one(struct overseer *o)
{
    covey_tid_t tid = o->members[(unsigned)rand_r(&o->seed) % MEMBERS];
    struct covey_leader leader;

    if (rand_r(&o->seed) % 4 == 0 &&
        covey_elect_leader(o->vm, NAME, 0, COVEY_POLL, &leader) == COVEY_OK)
        tid = leader.tid;

    if (tid != 0 && covey_signal(o->vm, tid, SIGKILL) == COVEY_OK)
        o->kills++;
}

/* How far they are: the last number, for nothing is decided twice. */
static uint64_t decided(struct overseer *o, uint64_t number)
{
    struct covey_decision d;
    int error;

    do
        error = covey_learn(o->vm, NAME, number, COVEY_POLL, &d);
    while ((error == COVEY_OK || error == COVEY_ENOENT) && ++number != 0);
    return number;
}

static int drive(struct overseer *o)
{
    uint64_t rounds = strtoull(o->rounds, NULL, 10), number = 1, told = 0;
    time_t end = time(NULL) + 80 + (time_t)(rounds / 20);

    while (number <= rounds && time(NULL) < end) {
        if (fill(o) != 0)
            return printf("%s\n", covey_error_text()), EXIT_FAILURE;
        listen(o, KILL_EVERY_US);
        kill_one(o);
        number = decided(o, number);
        if (number / 10 > told)
            printf("round %" PRIu64 "\n", 10 * (told = number / 10));
    }
    if (number <= rounds)
        printf("no decision any more\n");
    for (int i = 0; i < MEMBERS; i++)
        if (o->members[i] != 0)
            covey_signal(o->vm, o->members[i], SIGKILL);
    return judge(o->path, rounds, o->kills);
}

int main(int argc, char **argv)
{
    covey_t *vm;
    int status = EXIT_FAILURE;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 3 || covey_join(&vm, NULL) != COVEY_OK)
        return status;
    if (strcmp(argv[1], "member") == 0 && argc == 4)
        status =
            member(vm, argv[2], strtoull(argv[3], NULL, 10)) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    else
        status = drive(&(struct overseer){
            .vm = vm, .program = argv[0], .rounds = argv[1], .path = argv[2], .seed = 1});
    covey_leave(&vm);
    return status;
}
