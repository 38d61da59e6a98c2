/*
 * model_sort.c - split-sort-merge as sort of apps/ does it: the tree of section 2.3 of Schmidt &
 * Sunderam. A task halves its range of tasks and hands the upper half's keys on, then sorts what
 * is left for it while they leave, then merges what comes back, the smallest share first.
 *
 * The paper's T_comp is one sort of N / P keys. That leaves out the merges, of which the root makes
 * log2 P over as many as N keys: they do not get fewer with more tasks.
 */
#include <math.h>
#include <stdlib.h>

#include "proto/model/model_play.h"

#define KEY 8.0 /* bytes */
#define LEVELS_MAX 31

struct sorting {
    struct play *play;
    const struct model_machine *machine;
    const int *host_of;
    int *chains; /* by task: the last computation so far */
    bool known;
};

/* What a task answers for: ranks from `first` on. */
struct range {
    int first, span;
    double keys;
};

static void sorting_compute(struct sorting *s, int task, double seconds, int after)
{
    int made = play_compute(s->play, task, seconds);
    play_after(s->play, made, after);
    play_after(s->play, made, s->chains[task]);
    s->chains[task] = made;
}

static const struct model_host *host_of_task(const struct sorting *s, int task)
{
    return &s->machine->hosts[s->host_of[task]];
}

static void sort_own(struct sorting *s, int task, double keys, int arrived)
{
    double oper_s = host_of_task(s, task)->oper_s;
    s->known = s->known && oper_s > 0;
    sorting_compute(s, task, keys > 1 ? keys * log2(keys) * oper_s : 0, arrived);
}

/* Adds what a range of tasks does from the arrival of its keys on; its first task's last
 * computation then stands in its chain. */
static void add_range(struct sorting *s, struct range range, int arrived)
{
    struct range uppers[LEVELS_MAX];
    int sent[LEVELS_MAX], count = 0;
    while (range.span > 1) {
        struct range upper = {.span = range.span / 2};
        upper.first = range.first + range.span - upper.span;
        upper.keys = range.keys * upper.span / range.span;
        int out = play_send(s->play, range.first, upper.first, KEY * upper.keys);
        play_after(s->play, out, arrived);
        sent[count] = play_receive(s->play, out, MODEL_PACKING_INT64, KEY * upper.keys);
        uppers[count++] = upper;
        range.span -= upper.span;
        range.keys -= upper.keys;
    }
    sort_own(s, range.first, range.keys, arrived);
    while (count-- > 0) {
        const struct range *upper = &uppers[count];
        add_range(s, *upper, sent[count]);
        int back = play_send(s->play, upper->first, range.first, KEY * upper->keys);
        play_after(s->play, back, s->chains[upper->first]);
        back = play_receive(s->play, back, MODEL_PACKING_INT64, KEY * upper->keys);
        range.keys += upper->keys;
        sorting_compute(s, range.first, range.keys * host_of_task(s, range.first)->merge_s, back);
    }
}

int model_sort(const struct model_machine *machine, int64_t keys, int tasks,
               struct model_time *time)
{
    int result = -1;
    int *hosts = calloc((size_t)tasks, sizeof *hosts);
    int *chains = calloc((size_t)tasks, sizeof *chains);
    for (int i = 0; hosts != NULL && chains != NULL && i < tasks; i++) {
        hosts[i] = i % machine->host_count;
        chains[i] = PLAY_NONE;
    }
    struct sorting s = {.machine = machine, .host_of = hosts, .chains = chains, .known = true};
    if (hosts != NULL && chains != NULL)
        s.play = play_create(machine, hosts, tasks);
    if (s.play != NULL) {
        add_range(&s, (struct range){0, tasks, (double)keys}, PLAY_NONE);
        result = s.known ? play_run(s.play, time) : -1;
    }
    play_destroy(s.play);
    free(hosts);
    free(chains);
    return result;
}
