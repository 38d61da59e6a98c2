/* links: tools/vm/batch.c tools/vm/hostspec.c tools/base/args.c lib/root/vm_default.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "covey.h"
#include "tests/unit/runner.h"
#include "tools/vm/batch.h"

static const char *const variables[] = {
    "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_STEP_ID", "SLURM_STEP_NODELIST",
    "SLURM_PROCID", "SLURMD_NODENAME",    "PBS_JOBID",     "PBS_NODEFILE",
    "LSB_JOBID",    "LSB_JOBINDEX",       "JOB_ID",        "LSB_DJOB_HOSTFILE",
    "PE_HOSTFILE",  "SGE_TASK_ID",        "COVEY_VM",      NULL};

/* An environment of these alone, as NAME, VALUE, ..., NULL. */
static void set_job(const char *const *pairs)
{
    for (const char *const *name = variables; *name; name++)
        unsetenv(*name);
    for (; *pairs; pairs += 2)
        setenv(pairs[0], pairs[1], 1);
}
#define JOB(...) set_job((const char *const[]){__VA_ARGS__, NULL})

/* A file of the engine's, which is there until the next one. */
static const char *write_list(const char *text)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/covey-batch-test.%d", (int)getpid());
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static void expect_hosts(const struct batch *batch, const char *const *hosts)
{
    int count = 0;
    for (; hosts[count]; count++) {
        CU_ASSERT_FATAL(count < batch->count);
        CU_ASSERT_STRING_EQUAL(batch->hosts[count], hosts[count]);
    }
    CU_ASSERT_EQUAL(batch->count, count);
}
#define EXPECT_HOSTS(batch, ...) expect_hosts(batch, (const char *const[]){__VA_ARGS__, NULL})

static void test_no_job(void)
{
    struct batch batch;
    char name[64];
    JOB("JOB_ID", "12"); /* anybody's variable */
    CU_ASSERT_EQUAL(batch_find(&batch, true), 0);
    CU_ASSERT_PTR_NULL(batch.engine);
    CU_ASSERT_EQUAL(batch.count, 0);
    CU_ASSERT_EQUAL(batch_rank(), -1);
    CU_ASSERT_STRING_EQUAL(covey_vm_default(name, sizeof name), "default");
    batch_free(&batch);
}

/* Hosts stand there once for each processor, and in Grid Engine's file with more words. */
static void test_lists(void)
{
    struct batch batch;
    const char *path =
        write_list("alpha 2 all.q@alpha UNDEFINED\nbeta.example.org 4 q\r\n\nalpha 1 q\n");
    JOB("JOB_ID", "12", "PE_HOSTFILE", path);
    CU_ASSERT_EQUAL(batch_find(&batch, false), 0);
    CU_ASSERT_STRING_EQUAL(batch.engine, "Grid Engine");
    EXPECT_HOSTS(&batch, "alpha", "beta.example.org");
    CU_ASSERT_PTR_NULL(batch.self);
    batch_free(&batch);
    JOB("LSB_JOBID", "7", "LSB_DJOB_HOSTFILE", write_list("a\na\nb"));
    CU_ASSERT_EQUAL(batch_find(&batch, false), 0);
    CU_ASSERT_STRING_EQUAL(batch.engine, "LSF");
    EXPECT_HOSTS(&batch, "a", "b");
    batch_free(&batch);
    JOB("PBS_JOBID", "7.server", "PBS_NODEFILE", write_list("b\na\nb\na\n"));
    CU_ASSERT_EQUAL(batch_find(&batch, true), 0);
    CU_ASSERT_STRING_EQUAL(batch.engine, "PBS");
    EXPECT_HOSTS(&batch, "b", "a");
    batch_free(&batch);
    unlink(path);
}

/* This machine's name, with a domain or without. */
static void test_self(void)
{
    struct batch batch;
    char own[65] = "", text[200];
    gethostname(own, sizeof own - 1);
    own[strcspn(own, ".")] = '\0';
    snprintf(text, sizeof text, "other\n%s.cluster.example\nnext\n", own);
    const char *path = write_list(text);
    JOB("PBS_JOBID", "7", "PBS_NODEFILE", path);
    CU_ASSERT_EQUAL(batch_find(&batch, false), 0);
    CU_ASSERT_EQUAL(batch.count, 3);
    CU_ASSERT_PTR_EQUAL(batch.self, batch.hosts[1]);
    batch_free(&batch);
    unlink(path);
}

static void test_bad_lists(void)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"", "PBS: there is a job, but no list of its hosts"},
        {"alpha\n-oProxyCommand=x\n", "the job's list of hosts: -oProxyCommand=x: not a host name"},
        {"a;b\n", "the job's list of hosts: a;b: not a host name"}};
    struct batch batch;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        JOB("PBS_JOBID", "7", "PBS_NODEFILE", write_list(bad[i].text));
        CU_ASSERT_EQUAL(batch_find(&batch, false), -1);
        CU_ASSERT_STRING_EQUAL(batch.error, bad[i].error);
        batch_free(&batch);
    }
    unlink(write_list(""));
    JOB("PBS_JOBID", "7", "PBS_NODEFILE", "/nowhere/list");
    CU_ASSERT_EQUAL(batch_find(&batch, false), -1);
    CU_ASSERT_STRING_EQUAL(batch.error, "/nowhere/list: No such file or directory");
    batch_free(&batch);
}

static void test_rank(void)
{
    char name[64];
    JOB("SLURM_JOB_ID", "31", "SLURM_PROCID", "0"); /* the script of sbatch */
    CU_ASSERT_EQUAL(batch_rank(), -1);
    JOB("SLURM_JOB_ID", "31", "SLURM_PROCID", "0", "SLURM_STEP_ID", "4294967290",
        "SLURM_STEP_NODELIST", "n1"); /* the shell of salloc on a node */
    CU_ASSERT_EQUAL(batch_rank(), -1);
    JOB("SLURM_JOB_ID", "31", "SLURM_PROCID", "3", "SLURM_STEP_ID", "2", "SLURM_STEP_NODELIST",
        "n[1-4]");
    CU_ASSERT_EQUAL(batch_rank(), 3);
    batch_step_name(name, sizeof name);
    CU_ASSERT_STRING_EQUAL(name, "job-31.2");
}

/* Each is one that coveyd takes. */
static void test_names_of_vms(void)
{
    static const struct {
        const char *pairs[7], *name;
    } jobs[] = {
        {{"SLURM_JOB_ID", "31"}, "job-31"},
        {{"SLURM_JOB_ID", "31", "COVEY_VM", "mine"}, "mine"},
        {{"PBS_JOBID", "12[3].server.example"}, "job-12-3-.server.example"},
        {{"LSB_JOBID", "9", "LSB_JOBINDEX", "4"}, "job-9.4"},
        {{"JOB_ID", "5", "PE_HOSTFILE", "/x", "SGE_TASK_ID", "2"}, "job-5.2"},
        {{"PBS_JOBID", "a very long number of a job, with blanks and more and more and more"},
         "job-a-very-long-number-of-a-job--with-blanks"}};
    char name[64];
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        set_job(jobs[i].pairs);
        CU_ASSERT_STRING_EQUAL(covey_vm_default(name, sizeof name), jobs[i].name);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"outside of a job there are no hosts", test_no_job},
        {"the lists of engines", test_lists},
        {"this machine is found in a list", test_self},
        {"a bad list is named", test_bad_lists},
        {"the place in a step", test_rank},
        {"a job's VM has its name", test_names_of_vms},
    };
    return covey_test_main("tool_batch", cases, sizeof cases / sizeof cases[0]);
}
