/*
 * tree.h - the tree of split-sort-merge, for any number of tasks.
 *
 * Task 0 starts with all keys. A task that answers for ranks [r, r + span) halves that range,
 * hands the upper half's share of its keys to the first rank of the upper half, and goes on with
 * the lower half until it is alone. With 2^k tasks this is the broadcast tree of Schmidt &
 * Sunderam, Figure 4: neighbours differ in one bit of their ranks.
 */
#ifndef SORT_TREE_H
#define SORT_TREE_H

#include <stdint.h>

#define TREE_CHILDREN_MAX 31

struct tree_child {
    int rank;
    int64_t first; /* where the keys handed to it lie in the list of this task */
    int64_t count;
};

struct tree_node {
    int parent;    /* -1: the root */
    int64_t count; /* keys it receives, or has, before it hands on any */
    int64_t own;   /* keys it sorts itself: the first of its list */
    int child_count;
    struct tree_child children[TREE_CHILDREN_MAX]; /* in the order they are served: largest first */
};

/* The place of `rank` among `tasks` when `keys` keys are sorted. */
void tree_place(int64_t keys, int tasks, int rank, struct tree_node *node);

#endif
