/*
 * topology.c - topologies for programs: read from a file, walked, printed.
 */
#include "lib/schedule/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/msg/error.h"
#include "proto/wire/contention_config.h"

/* ---- Reading ----------------------------------------------------------------------------- */

int covey_topology_parse(const char *text, size_t bytes, const char *name,
                         covey_topology_t **topology)
{
    char why[TOPOLOGY_ERROR_BYTES];
    struct covey_topology *made = calloc(1, sizeof *made);

    if (made == NULL)
        return error_code(COVEY_ENOMEM);
    if (topology_parse(&made->tree, text, bytes, name, why) < 0) {
        free(made);
        return error_set(COVEY_EINVAL, "%s", why);
    }
    *topology = made;
    return COVEY_OK;
}

int covey_topology_load(const char *path, covey_topology_t **topology)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    FILE *in = standard ? stdin : fopen(path, "re");
    size_t capacity = TOPOLOGY_BYTES_MAX + 1; /* a byte more than a topology may have */

    if (in == NULL)
        return error_set(COVEY_ESYS, "%s: %s", path, strerror(errno));
    char *text = malloc(capacity);
    size_t bytes = text != NULL ? fread(text, 1, capacity, in) : 0;
    int error = text == NULL ? error_code(COVEY_ENOMEM)
                : ferror(in) ? error_set(COVEY_ESYS, "%s: %s", name, strerror(errno))
                             : COVEY_OK;
    if (!standard)
        fclose(in);
    if (error == COVEY_OK)
        error = covey_topology_parse(text, bytes, name, topology);
    free(text);
    return error;
}

void covey_topology_free(covey_topology_t **topology)
{
    if (*topology == NULL)
        return;
    topology_destroy(&(*topology)->tree);
    free(*topology);
    *topology = NULL;
}

/* ---- Walking ----------------------------------------------------------------------------- */

int covey_topology_nodes(const covey_topology_t *topology, struct covey_topology_node **list)
{
    int count = topology->tree.node_count;
    struct covey_topology_node *nodes = calloc((size_t)count, sizeof *nodes);

    if (nodes == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < count; i++) {
        memcpy(nodes[i].name, topology->tree.nodes[i].name, sizeof nodes[i].name);
        nodes[i].is_switch = topology->tree.nodes[i].is_switch;
    }
    *list = nodes;
    return count;
}

int covey_topology_links(const covey_topology_t *topology, struct covey_topology_link **list)
{
    int count = topology->tree.link_count;
    struct covey_topology_link *links = calloc((size_t)count + 1, sizeof *links);

    if (links == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < count; i++) {
        const struct topology_link *link = &topology->tree.links[i];
        links[i].a = link->a;
        links[i].b = link->b;
        links[i].rate_bps = link->rate ? link->rate : TOPOLOGY_RATE_DEFAULT;
    }
    *list = links;
    return count;
}

/* ---- Printing ---------------------------------------------------------------------------- */

int topology_print_text(void (*print)(const void *object, FILE *out), const void *object,
                        char **text)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);

    if (out == NULL)
        return error_code(COVEY_ENOMEM);
    print(object, out);
    bool lost = ferror(out) != 0;
    if (fclose(out) != 0 || lost) {
        free(made);
        return error_code(COVEY_ENOMEM);
    }
    *text = made;
    return COVEY_OK;
}

/* A rate as a file may give it, with a blank before it; nothing for one that the file left out. */
static void print_rate(FILE *out, uint64_t rate)
{
    static const struct {
        uint64_t unit;
        const char *letter;
    } units[] = {{1000000000, "G"}, {1000000, "M"}, {1000, "K"}, {1, ""}};
    size_t i = 0;

    if (rate == 0)
        return;
    while (rate % units[i].unit != 0)
        i++;
    fprintf(out, " %" PRIu64 "%s", rate / units[i].unit, units[i].letter);
}

static void print_file(const void *object, FILE *out)
{
    const struct topology *t = &((const struct covey_topology *)object)->tree;

    for (int i = 0; i < t->node_count; i++) {
        if (t->nodes[i].is_switch) {
            fprintf(out, "%s %s", t->nodes[i].segment_rate > 0 ? "segment" : "switch",
                    t->nodes[i].name);
            print_rate(out, t->nodes[i].segment_rate);
            fputc('\n', out);
        }
    }
    for (int i = 0; i < t->link_count; i++) {
        const struct topology_node *a = &t->nodes[t->links[i].a], *b = &t->nodes[t->links[i].b];
        fprintf(out, "%s %s %s", a->is_switch ? "link" : "host", a->name, b->name);
        print_rate(out, t->links[i].rate);
        fputc('\n', out);
    }
    for (int i = 0; i < t->contention_count; i++) {
        const struct topology_contention *c = &t->contentions[i];
        fprintf(out, "contention %s %s", contention_mode_name(c->mode), t->nodes[c->a].name);
        if (c->b >= 0)
            fprintf(out, " %s", t->nodes[c->b].name);
        fputc('\n', out);
    }
}

/* Names need no quoting beyond quotes: they are letters, digits, '.', '_' and '-'. */
static void print_dot(const void *object, FILE *out)
{
    const struct topology *t = &((const struct covey_topology *)object)->tree;

    fprintf(out, "graph topology {\n    node [shape=ellipse];\n");
    for (int i = 0; i < t->node_count; i++) {
        if (t->nodes[i].is_switch)
            fprintf(out, "    \"%s\" [shape=box];\n", t->nodes[i].name);
    }
    for (int i = 0; i < t->link_count; i++) {
        const struct topology_link *link = &t->links[i];
        fprintf(out, "    \"%s\" -- \"%s\"", t->nodes[link->b].name, t->nodes[link->a].name);
        if (link->rate > 0) {
            fprintf(out, " [label=\"");
            print_rate(out, link->rate);
            fprintf(out, "\"]");
        }
        fprintf(out, ";\n");
    }
    fprintf(out, "}\n");
}

/* The links of hosts, or those between switches. */
static void print_json_links(const struct topology *t, FILE *out, bool hosts)
{
    const char *comma = "", *a = hosts ? "name" : "a", *b = hosts ? "switch" : "b";

    for (int i = 0; i < t->link_count; i++) {
        const struct topology_link *link = &t->links[i];
        if (t->nodes[link->a].is_switch == hosts)
            continue;
        fprintf(out, "%s\n  {\"%s\": \"%s\", \"%s\": \"%s\", \"rate\": %" PRIu64 "}", comma, a,
                t->nodes[link->a].name, b, t->nodes[link->b].name,
                link->rate ? link->rate : TOPOLOGY_RATE_DEFAULT);
        comma = ",";
    }
}

static void print_json(const void *object, FILE *out)
{
    const struct topology *t = &((const struct covey_topology *)object)->tree;

    const char *comma = "";

    fprintf(out, "{\"switches\": [");
    for (int i = 0; i < t->node_count; i++) {
        if (t->nodes[i].is_switch) {
            fprintf(out, "%s\"%s\"", comma, t->nodes[i].name);
            comma = ", ";
        }
    }
    comma = "],\n \"segments\": ["; /* printed only if there are any */
    for (int i = 0; i < t->node_count; i++) {
        if (t->nodes[i].segment_rate == 0)
            continue;
        fprintf(out, "%s{\"name\": \"%s\", \"rate\": %" PRIu64 "}", comma, t->nodes[i].name,
                t->nodes[i].segment_rate);
        comma = ", ";
    }
    fprintf(out, "],\n \"hosts\": [");
    print_json_links(t, out, true);
    fprintf(out, "],\n \"links\": [");
    print_json_links(t, out, false);
    fprintf(out, "]}\n");
}

/* The link of t that leads to `node` from elsewhere than `from`, after link `at`; or -1. */
static int next_link(const struct topology *t, int node, int from, int at)
{
    for (int i = at + 1; i < t->link_count; i++) {
        const struct topology_link *link = &t->links[i];
        int other = link->a == node ? link->b : link->b == node ? link->a : -1;
        if (other >= 0 && other != from)
            return i;
    }
    return -1;
}

static const char *const branches[4] = {"|-- ", "`-- ", "|   ", "    "};

/* A way from the top to a node; `last` says of each node on it that no sibling follows. */
struct way {
    const struct topology *tree;
    FILE *out;
    int depth;
    bool last[TOPOLOGY_SWITCHES_MAX + 2];
};

static void print_subtree(struct way *way, int node, int from, uint64_t rate)
{
    const struct topology *t = way->tree;

    for (int i = 1; i <= way->depth; i++)
        fputs(branches[(i < way->depth) * 2 + way->last[i]], way->out);
    fputs(t->nodes[node].name, way->out);
    print_rate(way->out, rate);
    if (t->nodes[node].segment_rate > 0) {
        fputs(" (segment", way->out);
        print_rate(way->out, t->nodes[node].segment_rate);
        fputc(')', way->out);
    }
    fputc('\n', way->out);
    if (!t->nodes[node].is_switch)
        return;
    way->depth++;
    for (int at = next_link(t, node, from, -1), next; at >= 0; at = next) {
        next = next_link(t, node, from, at);
        way->last[way->depth] = next < 0;
        int other = t->links[at].a == node ? t->links[at].b : t->links[at].a;
        print_subtree(way, other, node, t->links[at].rate);
    }
    way->depth--;
}

static void print_tree(const void *object, FILE *out)
{
    const struct topology *t = &((const struct covey_topology *)object)->tree;
    struct way way = {.tree = t, .out = out};
    int top = 0;

    while (!t->nodes[top].is_switch)
        top++;
    print_subtree(&way, top, -1, 0);
    fprintf(out, "# switches=%d hosts=%d\n", t->switch_count, t->host_count);
}

int covey_topology_print(const covey_topology_t *topology, int form, char **text)
{
    static void (*const forms[])(const void *, FILE *) = {
        [COVEY_TOPOLOGY_TREE] = print_tree,
        [COVEY_TOPOLOGY_DOT] = print_dot,
        [COVEY_TOPOLOGY_JSON] = print_json,
        [COVEY_TOPOLOGY_FILE] = print_file,
    };

    if (form < COVEY_TOPOLOGY_TREE || form > COVEY_TOPOLOGY_FILE)
        return error_set(COVEY_EINVAL, "there is no form %d of a topology", form);
    return topology_print_text(forms[form], topology, text);
}
