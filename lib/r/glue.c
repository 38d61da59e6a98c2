/*
 * glue.c - what lib/r/R/cluster.R calls by .Call(): the few calls of covey.h that a cluster of R
 * needs. R runs in one thread, and a process of it is one task.
 *
 * What fails is an error of R with covey's line. R leaves the function by a jump then, so nothing
 * of ours is held when that can happen. Waits are made in slices, between which Ctrl-C ends them.
 */
#include <covey.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define SLICE_US 100000
#define END_SLICES 50 /* that a worker has to end by itself */

static covey_t *vm;
static pid_t joined; /* the process that vm belongs to */

static int must(int result)
{
    if (result < 0)
        Rf_error("%s", covey_error_text());
    return result;
}

static covey_t *here(void)
{
    if (vm == NULL || joined != getpid())
        Rf_error("this process is no task of a virtual machine, or a child of one by fork()");
    return vm;
}

/* The strings of a character vector, and a NULL; R keeps them until .Call() is over. */
static const char **texts(SEXP vector)
{
    R_xlen_t n = Rf_xlength(vector);
    const char **list = (const char **)R_alloc((size_t)n + 1, sizeof *list);
    for (R_xlen_t i = 0; i < n; i++)
        list[i] = Rf_translateChar(STRING_ELT(vector, i));
    list[n] = NULL;
    return list;
}

SEXP covey_r_join(SEXP name)
{
    if (vm != NULL && joined == getpid())
        return R_NilValue;
    struct covey_options options = {.vm = Rf_isNull(name) ? NULL : CHAR(STRING_ELT(name, 0))};
    must(covey_join(&vm, &options));
    joined = getpid();
    return R_NilValue;
}

SEXP covey_r_leave(void)
{
    if (vm != NULL && joined == getpid())
        covey_leave(&vm);
    vm = NULL;
    return R_NilValue;
}

SEXP covey_r_parent(void)
{
    covey_tid_t tid = covey_parent(here());
    if (tid == COVEY_NO_PARENT)
        Rf_error("nobody spawned this process: makeCoveyCluster() starts workers");
    return Rf_ScalarInteger(tid);
}

SEXP covey_r_cores(void)
{
    struct covey_host *hosts;
    int n = must(covey_hosts(here(), &hosts)), cores = 0;
    for (int i = 0; i < n; i++)
        cores += hosts[i].cores > 0 ? hosts[i].cores : 1;
    covey_free(hosts);
    return Rf_ScalarInteger(cores);
}

SEXP covey_r_host(SEXP tid)
{
    char name[COVEY_TID_NAME_BYTES];
    covey_tid_name(here(), Rf_asInteger(tid), name, sizeof name);
    const char *on = strstr(name, " on ");
    return Rf_mkString(on == NULL ? name : on + 4);
}

/* All of them start, or none. Their ends are told by messages with the tag of what they send. */
SEXP covey_r_spawn(SEXP argv, SEXP env, SEXP hosts, SEXP count, SEXP tag, SEXP shown)
{
    struct covey_spawn what = {.argv = texts(argv), .env = texts(env), .tether = 1};
    what.output = Rf_asLogical(shown) ? COVEY_OUTPUT_INHERIT : COVEY_OUTPUT_DISCARD;
    if (!Rf_isNull(hosts)) {
        what.hosts = texts(hosts);
        what.where = COVEY_WHERE_HOSTS;
    }
    int n = must(covey_spawn_count(here(), &what, Rf_asInteger(count))), bad = 0;
    SEXP tids = PROTECT(Rf_allocVector(INTSXP, n));
    must(covey_spawn(vm, &what, Rf_asInteger(count), INTEGER(tids)));
    for (int i = 0; i < n; i++)
        bad = INTEGER(tids)[i] < 0 ? INTEGER(tids)[i] : bad;
    for (int i = 0; i < n && bad != 0; i++)
        if (INTEGER(tids)[i] > 0)
            covey_kill(vm, INTEGER(tids)[i]);
    if (bad != 0)
        Rf_error("a worker could not be started: %s: %s", what.argv[0], covey_strerror(bad));
    must(covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, Rf_asInteger(tag), INTEGER(tids), (size_t)n));
    UNPROTECT(1);
    return tids;
}

/* Sends a raw vector. */
SEXP covey_r_send(SEXP tid, SEXP tag, SEXP bytes)
{
    must(covey_send_array(here(), Rf_asInteger(tid), Rf_asInteger(tag), COVEY_BYTES, RAW(bytes),
                          (size_t)Rf_xlength(bytes)));
    return R_NilValue;
}

/* Of a worker that ended; does not return. */
static void say_end(const struct covey_notice *notice)
{
    static const char *const ends[] = {"ended", "exited with status", "was killed by signal",
                                       "ended with its host"};
    char name[COVEY_TID_NAME_BYTES];
    covey_tid_name(vm, notice->tid, name, sizeof name);
    bool known = notice->exit_kind == 1 || notice->exit_kind == 2;
    const char *how =
        ends[notice->exit_kind >= 1 && notice->exit_kind <= 3 ? notice->exit_kind : 0];
    if (known)
        Rf_error("the worker %s %s %d", name, how, notice->value);
    Rf_error("the worker %s %s", name, how);
}

/* A list of the tid and the raw vector of the next message of a worker, of any when tid is NULL. */
SEXP covey_r_recv(SEXP tid, SEXP tag)
{
    covey_msg_t *msg = NULL;
    covey_tid_t from = Rf_isNull(tid) ? COVEY_ANY_TASK : Rf_asInteger(tid);
    int error, type = 0;
    while ((error = covey_recv(here(), from, Rf_asInteger(tag), SLICE_US, &msg)) == COVEY_ETIMEOUT)
        R_CheckUserInterrupt();
    must(error);
    struct covey_info info;
    struct covey_notice notice = {0};
    const void *bytes = NULL;
    size_t count = 0;
    covey_msg_info(msg, &info);
    bool is_data = covey_peek(msg, &type, &count) == COVEY_OK && type == COVEY_BYTES;
    error = is_data ? covey_unpack_view(msg, COVEY_BYTES, &bytes, &count)
                    : covey_unpack_notice(msg, &notice);
    if (error < 0 || !is_data)
        covey_msg_free(msg);
    must(error);
    if (!is_data)
        say_end(&notice);
    SEXP got = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(got, 0, Rf_ScalarInteger(info.source));
    SET_VECTOR_ELT(got, 1, Rf_allocVector(RAWSXP, (R_xlen_t)count));
    memcpy(RAW(VECTOR_ELT(got, 1)), bytes, count);
    covey_msg_free(msg);
    UNPROTECT(1);
    return got;
}

/* Waits for the end of a worker, and then ends it. What it still says counts for nothing. */
SEXP covey_r_end(SEXP tid, SEXP tag)
{
    covey_msg_t *msg = NULL;
    int error = COVEY_ETIMEOUT;
    for (int i = 0; (error == COVEY_OK || error == COVEY_ETIMEOUT) && i < END_SLICES; i++) {
        error = covey_recv(here(), Rf_asInteger(tid), Rf_asInteger(tag), SLICE_US, &msg);
        if (error == COVEY_OK)
            covey_msg_free(msg);
    }
    if (error == COVEY_ETIMEOUT)
        covey_kill(vm, Rf_asInteger(tid));
    return R_NilValue;
}

static const R_CallMethodDef calls[] = {
    {"covey_r_join", (DL_FUNC)covey_r_join, 1},     {"covey_r_leave", (DL_FUNC)covey_r_leave, 0},
    {"covey_r_parent", (DL_FUNC)covey_r_parent, 0}, {"covey_r_cores", (DL_FUNC)covey_r_cores, 0},
    {"covey_r_host", (DL_FUNC)covey_r_host, 1},     {"covey_r_spawn", (DL_FUNC)covey_r_spawn, 6},
    {"covey_r_send", (DL_FUNC)covey_r_send, 3},     {"covey_r_recv", (DL_FUNC)covey_r_recv, 2},
    {"covey_r_end", (DL_FUNC)covey_r_end, 2},       {NULL, NULL, 0}};

void R_init_covey(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
}
