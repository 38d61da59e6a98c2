/* links: proto/network/topology.c proto/network/network.c tests/unit/proto/schedule/random_tree.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/network/network.h"
#include "proto/network/topology.h"
#include "proto/wire/contention_config.h"
#include "tests/unit/proto/schedule/random_tree.h"
#include "tests/unit/runner.h"

static char error[TOPOLOGY_ERROR_BYTES];

static int parse(struct topology *t, const char *text)
{
    return topology_parse(t, text, strlen(text), "net", error);
}

static void refused(const char *text, const char *why)
{
    struct topology t;

    CU_ASSERT_EQUAL(parse(&t, text), -1);
    CU_ASSERT_STRING_EQUAL(error, why);
    CU_ASSERT_PTR_NULL(t.nodes);
    if (strcmp(error, why) != 0)
        printf("it said: %s\n", error);
}

static void a_file_is_read(void)
{
    struct topology t;

    CU_ASSERT_EQUAL(parse(&t, "# two\r\nhost  a\ts0 100M # fast\nswitch s0 s1\n"
                              "link s1 s0 2.5G\nhost b s1"),
                    0);
    CU_ASSERT_EQUAL(t.node_count, 4);
    CU_ASSERT_EQUAL(t.link_count, 3);
    CU_ASSERT_EQUAL(t.host_count, 2);
    CU_ASSERT_EQUAL(t.switch_count, 2);
    CU_ASSERT_EQUAL(t.links[0].a, topology_find(&t, "a"));
    CU_ASSERT_EQUAL(t.links[0].b, topology_find(&t, "s0"));
    CU_ASSERT_EQUAL(t.links[0].rate, 100000000);
    CU_ASSERT_EQUAL(t.links[1].a, topology_find(&t, "s1"));
    CU_ASSERT_EQUAL(t.links[1].rate, 2500000000);
    CU_ASSERT_EQUAL(t.links[2].rate, 0);
    CU_ASSERT_EQUAL(topology_find(&t, "c"), -1);
    topology_destroy(&t);
}

static void an_error_names_its_place(void)
{
    refused("", "net:1:1: there is no host in this file");
    refused("switch s\n\n", "net:2:1: there is no host in this file");
    refused("switch\n", "net:1:7: a word is missing here: switch NAME...");
    refused("switch s\nhost a\n", "net:2:7: a word is missing here: host NAME SWITCH [RATE]");
    refused("switch s\nhost a s 1G x\n",
            "net:2:13: nothing may follow here, got 'x': host NAME SWITCH [RATE]");
    refused("switch s\n host a s fast\n", "net:2:11: 'fast' is no rate: a number from 8K to 400G "
                                          "with K, M or G, such as 100M");
    refused("switch s s\n", "net:1:10: 's' is declared already, in line 1");
    refused("switch s\nhost s s\n", "net:2:6: 's' is declared already, in line 1");
    refused("switch s-+\n", "net:1:8: 's-+' cannot be a name: letters, digits, '.', '_', '-', "
                            "at most 63");
    refused("hosts a s\n", "net:1:1: 'hosts' is none of switch, segment, host, link, "
                           "contention");
    refused("host a s\n", "net:1:8: 's' is no switch of this file");
    refused("switch s\nhost a s\nhost b a\n", "net:3:8: 'a' is a host, not a switch");
    refused("switch s t\nhost a s\n", "net:1:1: no link leads from switch 't' to switch 's'");
    refused("switch s t\nlink s t\nlink t s\nhost a s\n",
            "net:3:8: the link from 't' to 's' closes a loop; switches form a tree");
    refused("switch s\nhost a s\nlink s s\n",
            "net:3:8: the link from 's' to 's' closes a loop; switches form a tree");
    refused("switch \x1b[0m\n", "net:1:8: '?[0m' cannot be a name: letters, digits, '.', '_', "
                                "'-', at most 63");
}

static void segments_and_contention_are_read(void)
{
    struct topology t;

    CU_ASSERT_EQUAL(parse(&t, "contention token s b\nsegment s 10M\nhost a s\nhost b s\nswitch x\n"
                              "link x s\ncontention off s\ncontention stagger s x\n"),
                    0);
    CU_ASSERT_EQUAL(t.switch_count, 2);
    int s = topology_find(&t, "s");
    CU_ASSERT_EQUAL(topology_segment(&t), s);
    CU_ASSERT_EQUAL(t.nodes[s].segment_rate, 10000000);
    CU_ASSERT_EQUAL(t.contention_count, 3);
    CU_ASSERT_EQUAL(t.contentions[0].mode, CONTENTION_TOKEN);
    CU_ASSERT_EQUAL(t.contentions[0].a, s);
    CU_ASSERT_EQUAL(t.contentions[0].b, topology_find(&t, "b"));
    CU_ASSERT_EQUAL(t.contentions[1].mode, CONTENTION_OFF);
    CU_ASSERT_EQUAL(t.contentions[1].b, -1);
    topology_destroy(&t);
    CU_ASSERT_EQUAL(parse(&t, "switch s\nhost a s\n"), 0);
    CU_ASSERT_EQUAL(topology_segment(&t), -1);
    topology_destroy(&t);
    refused("segment s\nhost a s\n", "net:1:10: a word is missing here: segment NAME RATE");
    refused("segment s 1M 1M\n", "net:1:14: nothing may follow here, got '1M': segment NAME RATE");
    refused("switch s\nhost a s\ncontention token s\n",
            "net:3:18: 's' is no segment; a link has two names, from where and to where");
    refused("switch s\nhost a s\ncontention topology s a\n",
            "net:3:12: 'topology' is none of off, stagger, token");
    refused("switch s\nhost a s\nhost b s\ncontention token a b\n",
            "net:4:20: no link leads from 'a' to 'b'");
    refused("switch s\nhost a s\ncontention token s c\n",
            "net:3:20: 'c' is neither a switch nor a host of this file");
}

static uint64_t rate(const char *text)
{
    return topology_rate_parse(text, strlen(text));
}

static void rates_are_exact(void)
{
    CU_ASSERT_EQUAL(rate("8000"), 8000);
    CU_ASSERT_EQUAL(rate("8K"), 8000);
    CU_ASSERT_EQUAL(rate("0.1G"), 100000000);
    CU_ASSERT_EQUAL(rate("2.5G"), 2500000000);
    CU_ASSERT_EQUAL(rate("400G"), 400000000000);
    static const char *const none[] = {"",
                                       "G",
                                       ".5G",
                                       "1.G",
                                       "7999",
                                       "401G",
                                       "-1G",
                                       "1g",
                                       "1T",
                                       "1GG",
                                       "1 G",
                                       "0x1M",
                                       "1e9",
                                       "1.5.5M",
                                       "99999999999999999999999G",
                                       "18446744073709559616"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CU_ASSERT_EQUAL(rate(none[i]), 0);
}

/* Writes lines of one form, more than the limit; what is left of the file is still refused. */
static void the_limits_hold(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct topology t;

    fprintf(out, "switch s\n");
    for (int i = 0; i <= TOPOLOGY_HOSTS_MAX; i++)
        fprintf(out, "host n%d s\n", i);
    fclose(out);
    refused(text, "net:4002:6: more than 4000 hosts");
    text[strlen(text) - strlen("host n4000 s\n")] = '\0';
    CU_ASSERT_EQUAL(parse(&t, text), 0);
    topology_destroy(&t);
    free(text);
    out = open_memstream(&text, &size);
    for (int i = 0; i < 10000; i++)
        fprintf(out, "link a b\n");
    fclose(out);
    refused(text, "net:8001:6: more than 8000 links");
    free(text);
}

/* The nodes on the only way between two leaves, by searching the topology. */
static int search(const struct topology *t, int at, int from, int to, int *way)
{
    if (at == to)
        return 0;
    for (int i = 0; i < t->link_count; i++) {
        const struct topology_link *l = &t->links[i];
        int other = l->a == at ? l->b : l->b == at ? l->a : -1;
        if (other < 0 || other == from)
            continue;
        int rest = search(t, other, at, to, way + 1);
        if (rest >= 0) {
            way[0] = other;
            return rest + 1;
        }
    }
    return -1;
}

static void check_path(const struct topology *t, const struct network *n, int from, int to)
{
    int edges[128], way[128], at = n->leaf[from];
    int length = network_path(n, from, to, edges);

    CU_ASSERT_EQUAL(length, search(t, at, -1, n->leaf[to], way));
    CU_ASSERT(length <= n->path_max);
    for (int k = 0; k < length; k++) {
        int node = edges[k] / 2, parent = n->nodes[node].parent;
        CU_ASSERT_EQUAL(edges[k] % 2 ? parent : node, at);
        at = edges[k] % 2 ? node : parent;
        CU_ASSERT_EQUAL(at, way[k]);
    }
}

static void paths_are_those_of_the_topology(void)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct topology t;
        struct network n;
        tree_make(&t, seed, 24, TREE_EQUAL);
        CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, NULL, 0), 0);
        for (int from = 0; from < n.rank_count; from++)
            for (int to = 0; to < n.rank_count; to++)
                if (from != to)
                    check_path(&t, &n, from, to);
        network_destroy(&n);
        topology_destroy(&t);
    }
}

static void ranks_share_a_host(void)
{
    struct topology t;
    struct network n;
    int edges[16];

    CU_ASSERT_EQUAL_FATAL(parse(&t, "switch s\nhost a s 100M\nhost b s\nhost c s\n"), 0);
    int a = topology_find(&t, "a"), b = topology_find(&t, "b");
    CU_ASSERT_EQUAL_FATAL(network_create(&n, &t, (const int[]){a, b, a}, 3), 0);
    CU_ASSERT_EQUAL(n.rank_count, 3);
    CU_ASSERT_EQUAL(n.nodes[a].ranks, 2);
    CU_ASSERT_EQUAL(n.nodes[b].ranks, 1);
    CU_ASSERT_EQUAL(n.nodes[topology_find(&t, "c")].ranks, 0);
    CU_ASSERT_EQUAL(n.leaf[1], b);
    CU_ASSERT_EQUAL(n.nodes[n.leaf[0]].parent, a);
    CU_ASSERT_EQUAL(n.nodes[n.leaf[2]].rate, 100000000);
    CU_ASSERT_EQUAL(network_load(&n, a), 2);
    CU_ASSERT_EQUAL(network_path(&n, 0, 2, edges), 2); /* not over the host's own link */
    CU_ASSERT_EQUAL(network_path(&n, 0, 1, edges), 3);
    network_destroy(&n);
    CU_ASSERT_EQUAL(network_create(&n, &t, (const int[]){0}, NETWORK_RANKS_MAX + 1), -1);
    topology_destroy(&t);
}

static const struct test_case cases[] = {
    {"a file is read", a_file_is_read},
    {"an error names its place", an_error_names_its_place},
    {"segments and contention are read", segments_and_contention_are_read},
    {"rates are exact", rates_are_exact},
    {"the limits hold", the_limits_hold},
    {"paths are those of the topology", paths_are_those_of_the_topology},
    {"several ranks share a host's link", ranks_share_a_host},
};

int main(void)
{
    return covey_test_main("topology", cases, sizeof cases / sizeof cases[0]);
}
