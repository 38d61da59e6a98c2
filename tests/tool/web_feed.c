/*
 * web_feed.c - a VM that is made up: a wave of load goes over its hosts, tasks come and go,
 * compute, send and wait for messages, a lock and a bag, the bag is worked through, and each look
 * brings a line of a log.
 */
#include "tests/tool/web_feed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS_A_SWITCH 20

static void make_hosts(const struct web_feed *feed, int number, struct web_look *look)
{
    look->host_count = feed->hosts;
    look->hosts = calloc((size_t)feed->hosts + 1, sizeof *look->hosts);
    look->stats = calloc((size_t)feed->hosts + 1, sizeof *look->stats);
    for (int i = 0; i < feed->hosts; i++) {
        double wave = 0.5 + 0.5 * sin(number / 20.0 + i / 7.0);
        struct covey_host *host = &look->hosts[i];
        *host = (struct covey_host){.index = i + 1, .state = COVEY_HOST_UP, .cores = 8};
        snprintf(host->name, sizeof host->name, "node%02d%s", i,
                 feed->program == NULL ? "" : feed->program);
        look->stats[i] = (struct covey_host_stat){.host = i + 1,
                                                  .known = 1,
                                                  .interval_s = 2,
                                                  .cores = 8,
                                                  .cpu_busy = wave * (i % 9 == 4 ? 0.3 : 1),
                                                  .memory_total_bytes = 32e9,
                                                  .memory_used_bytes = 4e9 + 16e9 * wave * wave,
                                                  .net_received_bytes_per_s = 9e7 * wave * wave,
                                                  .net_sent_bytes_per_s = 6e7 * wave,
                                                  .net_rate_bytes_per_s = 1.25e8,
                                                  .tasks = feed->tasks};
        if (number % 50 == 49 && i == number / 50 % feed->hosts) {
            host->state = COVEY_HOST_SUSPECT;
            look->stats[i].known = 0;
        }
    }
}

/* Of five tasks one waits for the lock, one for the bag, one for a message of the first task, one
 * does not use the library, and one does not wait. */
static struct covey_task_stat task_does(const struct web_feed *feed, int number, int i)
{
    double at_s = 100 + 2 * number;
    struct covey_task_stat does = {.at_s = at_s,
                                   .age_s = at_s,
                                   .elapsed_s = i % 5 == 3 ? -1 : at_s,
                                   .cpu_s = 0.1 * (i % 10) * at_s,
                                   .memory_bytes = 4e6 * (1 + i % 7),
                                   .idle_s = 0.1 * (i % 4) * at_s,
                                   .communication_s = 0.05 * (i % 6) * at_s,
                                   .sent = (10 + i % 90) * at_s,
                                   .sent_bytes = 1e4 * (1 + i % 8) * at_s,
                                   .received = (20 + i % 30) * at_s,
                                   .received_bytes = 2e4 * (1 + i % 9) * at_s};
    if (i % 5 > 2)
        return does;
    does.waits = i % 5 == 2 ? COVEY_WAITS_MESSAGE : COVEY_WAITS_NAME;
    does.waits_s = 0.5 + i % 1000;
    does.peer = 0x40001;
    does.tag = 11;
    snprintf(does.call, sizeof does.call, "%s", (const char *[]){"lock", "bag_get", "recv"}[i % 5]);
    if (feed->program != NULL)
        snprintf(does.name, sizeof does.name, "%s", feed->program);
    else
        snprintf(does.name, sizeof does.name, "%s", i % 5 == 0 ? "result" : "frames");
    return does;
}

static void make_tasks(const struct web_feed *feed, int number, struct web_look *look)
{
    int n = feed->hosts * feed->tasks;
    look->tasks = calloc((size_t)n + 1, sizeof *look->tasks);
    look->task_stats = calloc((size_t)n + 1, sizeof *look->task_stats);
    for (int i = 0; i < n; i++) {
        int host = i % feed->hosts, age = i / feed->hosts;
        /* the tasks at the begin of the list are new ones in each look */
        int life = feed->churn == 0 ? 0 : (number * feed->churn + n - 1 - i) / n;
        struct covey_task *task = &look->tasks[look->task_count];
        if (look->hosts[host].state != COVEY_HOST_UP)
            continue;
        look->task_stats[look->task_count++] = task_does(feed, number, i);
        *task = (struct covey_task){.tid = (host + 1) * 0x40000 + age + 1 + life * 0x400 % 0x3f000,
                                    .host = host + 1,
                                    .state = COVEY_TASK_RUNNING};
        snprintf(task->command, sizeof task->command, "%s --part %d",
                 feed->program == NULL ? "/home/user/bin/simulate" : feed->program, i);
    }
}

/* Each task sends to the next one, and the first one to all; more from look to look. */
static void make_peers(const struct web_feed *feed, int number, struct web_look *look)
{
    int n = look->task_count;
    look->has_peers = true;
    look->peers = calloc(2 * (size_t)n + 1, sizeof *look->peers);
    for (int i = 0; i < n && n > 1; i++) {
        uint64_t sent = (uint64_t)number * (uint64_t)(1 + i % 7);
        look->peers[look->peer_count++] = (struct covey_task_peer){
            look->tasks[i].tid, look->tasks[(i + 1) % n].tid, sent, sent * (8u << i % 12)};
        if (i > 1 && feed->program == NULL)
            look->peers[look->peer_count++] = (struct covey_task_peer){
                look->tasks[0].tid, look->tasks[i].tid, (uint64_t)number, (uint64_t)number * 100};
    }
}

static void make_bags(const struct web_feed *feed, int number, struct web_look *look)
{
    const char *name = feed->program == NULL ? "frames" : feed->program;
    look->bags = calloc(1, sizeof *look->bags);
    look->bag_count = 1;
    *look->bags = (struct covey_bag_info){.holder = 1,
                                          .tasks = 40,
                                          .closed = 1,
                                          .put = 60000,
                                          .done = (uint64_t)(number * 31 % 60000),
                                          .leased = 40};
    look->bags->ready = look->bags->put - look->bags->done - look->bags->leased;
    snprintf(look->bags->name, sizeof look->bags->name, "%s", name);
    look->held = calloc(1, sizeof *look->held);
    look->held_count = 1;
    *look->held =
        (struct covey_held){.kind = COVEY_HELD_LOCK, .holder = 0x40001, .waiting = number % 5};
    snprintf(look->held->name, sizeof look->held->name, "%s",
             feed->program == NULL ? "result" : feed->program);
}

static void make_network(const struct web_feed *feed, struct web_look *look)
{
    int switches = feed->hosts / HOSTS_A_SWITCH + 1;
    size_t nodes = (size_t)feed->hosts + (size_t)switches;
    look->has_topology = true;
    look->nodes = calloc(nodes, sizeof *look->nodes);
    look->links = calloc(nodes, sizeof *look->links);
    for (int i = 0; i < switches; i++) {
        struct covey_topology_node *node = &look->nodes[look->node_count++];
        node->is_switch = 1;
        snprintf(node->name, sizeof node->name, "s%d", i);
        if (i > 0)
            look->links[look->link_count++] = (struct covey_topology_link){i, 0, 10000000000u};
    }
    for (int i = 0; i < feed->hosts; i++) {
        struct covey_topology_node *node = &look->nodes[look->node_count];
        memcpy(node->name, look->hosts[i].name, sizeof node->name);
        look->links[look->link_count++] =
            (struct covey_topology_link){look->node_count++, i / HOSTS_A_SWITCH, 1000000000};
    }
}

struct web_look *web_feed_look(const struct web_feed *feed, int number)
{
    struct web_look *look = calloc(1, sizeof *look);
    make_hosts(feed, number, look);
    make_tasks(feed, number, look);
    make_peers(feed, number, look);
    make_bags(feed, number, look);
    make_network(feed, look);
    look->lines = calloc(1, sizeof *look->lines);
    look->line_count = 1;
    snprintf(look->lines->host, sizeof look->lines->host, "%s", look->hosts[0].name);
    snprintf(look->lines->text, sizeof look->lines->text, "look %d: %s", number,
             feed->program == NULL ? "all is well" : feed->program);
    return look;
}

void web_feed_free(struct web_look *look)
{
    free(look->hosts);
    free(look->stats);
    free(look->tasks);
    free(look->task_stats);
    free(look->peers);
    free(look->bags);
    free(look->held);
    free(look->nodes);
    free(look->links);
    free(look->lines);
    free(look);
}
