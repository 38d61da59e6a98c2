/*
 * tree.c - where a task stands in the tree of split-sort-merge: its parent, its children, and the
 * keys that it answers for. All of it follows from the ranks alone, so tasks ask nobody.
 */
#include "apps/sort/tree.h"

/* Ranks [first, first + span) with their keys. */
struct range {
    int first;
    int span;
    int64_t keys;
};

/* The upper half; *range keeps the lower one, which is the larger if they differ. Keys go in
 * proportion to the ranks, without an overflow for any count that fits memory. */
static struct range split(struct range *range)
{
    int upper_span = range->span / 2;
    int64_t share = range->keys / range->span;
    int64_t rest = range->keys % range->span;
    struct range upper = {.first = range->first + range->span - upper_span,
                          .span = upper_span,
                          .keys = share * upper_span + rest * upper_span / range->span};
    range->span -= upper_span;
    range->keys -= upper.keys;
    return upper;
}

void tree_place(int64_t keys, int tasks, int rank, struct tree_node *node)
{
    struct range range = {0, tasks, keys};
    *node = (struct tree_node){.parent = -1};
    while (range.first != rank) { /* from the root to the range that starts at `rank` */
        struct range upper = split(&range);
        if (rank < upper.first)
            continue;
        node->parent = range.first;
        range = upper;
    }
    node->count = range.keys;
    while (range.span > 1) {
        struct range upper = split(&range);
        node->children[node->child_count++] =
            (struct tree_child){.rank = upper.first, .first = range.keys, .count = upper.keys};
    }
    node->own = range.keys;
}
