/* links: lib/collective/collective_choice.c lib/msg/error.c */
/*
 * collective_choice_test.c - the table by which collective calls choose their algorithms: its text,
 * its wire form, and what is chosen.
 */
#include "lib/collective/collective.h"
#include "lib/collective/segment.h"
#include "tests/unit/runner.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum algorithm choose(struct choice_table *table, enum operation operation, int members,
                             uint64_t bytes)
{
    const struct covey_team team = {.size = members, .hosts = members, .choices = table};
    return team_choose(&team, operation, bytes);
}

static void the_first_row_that_fits_decides(void)
{
    struct choice_table table = {0};
    int line;
    CU_ASSERT_PTR_NULL(choice_parse(&table,
                                    "# rows\n\nbcast 4 1K linear\n"
                                    "  bcast\t4 * chain # large\nbcast * * binomial\n",
                                    &line));
    CU_ASSERT_EQUAL(table.count, 3);
    CU_ASSERT_EQUAL(choose(&table, OPERATION_BCAST, 4, 1024), BCAST_LINEAR);
    CU_ASSERT_EQUAL(choose(&table, OPERATION_BCAST, 4, 1025), BCAST_CHAIN);
    CU_ASSERT_EQUAL(choose(&table, OPERATION_BCAST, 5, 1), BCAST_BINOMIAL);
    CU_ASSERT_EQUAL(choose(&table, OPERATION_SCAN, 5, 1), algorithm_at(OPERATION_SCAN, 0));
}

static void rows_of_a_file_go_before_the_others(void)
{
    struct choice_table table = {0};
    int line;
    choice_default(&table);
    int before = table.count;
    CU_ASSERT(before > 10);
    CU_ASSERT_PTR_NULL(choice_parse(&table, "barrier * * tree", &line));
    CU_ASSERT_EQUAL(table.count, before + 1);
    CU_ASSERT_EQUAL(choose(&table, OPERATION_BARRIER, 9, 0), BARRIER_TREE);
}

static void what_does_not_suit_is_passed_over(void)
{
    struct choice_table table = {0};
    int line;
    choice_parse(&table, "bcast * * cast\nbcast * * hosts\nbcast * * chain\n", &line);
    struct covey_team team = {.size = 4, .hosts = 4, .choices = &table};
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_BCAST, 1), BCAST_CHAIN);
    team.hosts = 2;
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_BCAST, 1), BCAST_HOSTS);
    team.hosts = 1;
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_BCAST, 1), BCAST_CHAIN);
    team.casts = CASTS_BY_TABLE;
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_BCAST, 1), BCAST_CAST);
    CU_ASSERT_EQUAL(covey_team_force(&team, "bcast", "linear"), 0);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_BCAST, 1), BCAST_LINEAR);
    CU_ASSERT_EQUAL(covey_team_force(&team, "bcast", "hosts"), 1);
    CU_ASSERT_EQUAL(covey_team_force(&team, "bcast", NULL), 0);
    team.casts = CASTS_ALWAYS;
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_BARRIER, 0), BARRIER_CAST);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_SCAN, 0), SCAN_RECURSIVE_DOUBLING);
}

/* Leads copy what the members of their hosts give each other: of little only. */
static void hosts_of_several_tasks_go_by_their_leads(void)
{
    struct choice_table table;
    choice_default(&table);
    struct covey_team team = {.size = 8, .hosts = 2, .choices = &table};
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLGATHER, 1 << 20), ALLGATHER_HOSTS);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLTOALL, 1024), ALLTOALL_HOSTS);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLTOALL, 16384), ALLTOALL_HOSTS);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLTOALL, 16385), ALLTOALL_LINEAR);
    team.size = 128; /* 8192 blocks a host */
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLTOALL, 64), ALLTOALL_HOSTS);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLTOALL, 65), ALLTOALL_BRUCK);
    team.hosts = 128;
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLTOALL, 64), ALLTOALL_BRUCK);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLGATHER, 64), ALLGATHER_BRUCK);
}

/* Of allgather and reductions the table has the word also where barriers are always cast. */
static void casts_of_all_need_a_way(void)
{
    static const struct {
        const char *name;
        enum operation operation;
        enum algorithm cast, other;
    } cases[] = {
        {"allgather", OPERATION_ALLGATHER, ALLGATHER_CAST, ALLGATHER_RING},
        {"allreduce", OPERATION_ALLREDUCE, ALLREDUCE_CAST, ALLREDUCE_RING},
        {"reduce_scatter", OPERATION_REDUCE_SCATTER, REDUCE_SCATTER_CAST, REDUCE_SCATTER_RING}};
    struct choice_table table = {0};
    int line;
    CU_ASSERT_PTR_NULL(choice_parse(&table,
                                    "allgather * 1K cast\nallgather * * ring\n"
                                    "allreduce * 1K cast\nallreduce * * ring\n"
                                    "reduce_scatter * 1K cast\nreduce_scatter * * ring\n",
                                    &line));
    struct covey_team team = {.size = 4, .hosts = 4, .choices = &table};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const enum operation o = cases[i].operation;
        team.casts = CASTS_NEVER;
        CU_ASSERT_EQUAL(team_choose(&team, o, 8), cases[i].other);
        CU_ASSERT_EQUAL(covey_team_force(&team, cases[i].name, "cast"), 1);
        CU_ASSERT_EQUAL(team_choose(&team, o, 8), cases[i].cast);
        CU_ASSERT_EQUAL(covey_team_force(&team, cases[i].name, NULL), 0);
        for (team.casts = CASTS_BY_TABLE; team.casts <= CASTS_ALWAYS; team.casts++) {
            CU_ASSERT_EQUAL(team_choose(&team, o, 8), cases[i].cast);
            CU_ASSERT_EQUAL(team_choose_messages(&team, o, 1024), cases[i].cast);
            CU_ASSERT_EQUAL(team_choose(&team, o, 1025), cases[i].other);
        }
    }
}

/* Long arrays on one medium; the user's file has the word before that. */
static void one_medium_is_cast_on(void)
{
    struct choice_table table;
    unsetenv("COVEY_COLLECTIVES");
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    struct covey_team team = {.size = 4, .hosts = 4, .choices = &table, .casts = CASTS_BY_TABLE};
    for (int medium = 0; medium < 2; medium++) {
        CU_ASSERT_EQUAL(choice_load(&table, medium), COVEY_OK);
        CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLGATHER, 2048), ALLGATHER_BRUCK);
        CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLGATHER, 65536),
                        medium ? ALLGATHER_CAST : ALLGATHER_RING);
        CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLREDUCE, 16384),
                        medium ? ALLREDUCE_CAST : ALLREDUCE_RECURSIVE_DOUBLING);
        team.casts = CASTS_NEVER;
        CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLGATHER, 65536), ALLGATHER_RING);
        team.casts = CASTS_BY_TABLE;
    }
    struct team_segment segment = {.readable = true};
    team.hosts = 1;
    team.shared.segment = &segment;
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLGATHER, 8), ALLGATHER_SHARED);
    CU_ASSERT_EQUAL(team_choose(&team, OPERATION_ALLREDUCE, 8), ALLREDUCE_SHARED);
    unsetenv("XDG_CONFIG_HOME");
}

static void mistakes_are_refused_by_line(void)
{
    static const char *const texts[] = {"\nbcast * *\n",
                                        "\nbcast * * ring more\n",
                                        "\nbcast * * no-such\n",
                                        "\nbroadcast * * ring\n",
                                        "\nbcast x * binomial\n",
                                        "\nbcast 1 1T binomial\n",
                                        "\nbcast 1 1KK binomial\n",
                                        "\nbcast -1 1 binomial\n",
                                        "\nbcast 1 99999999999999999999 binomial\n",
                                        "\nbcast 1 17179869184G binomial\n",
                                        "\nscan * * ring\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct choice_table table = {.count = 0};
        int line = 0;
        CU_ASSERT_PTR_NOT_NULL(choice_parse(&table, texts[i], &line));
        CU_ASSERT_EQUAL(line, 2);
        CU_ASSERT_EQUAL(table.count, 0);
    }
}

static void a_table_has_so_many_rows(void)
{
    struct choice_table table = {0};
    static const char row[] = "scan 1 1 chain\n";
    static char text[(CHOICE_ROWS_MAX + 1) * sizeof row];
    int line;
    for (size_t i = 0; i < CHOICE_ROWS_MAX; i++)
        memcpy(text + i * (sizeof row - 1), row, sizeof row);
    CU_ASSERT_PTR_NULL(choice_parse(&table, text, &line));
    CU_ASSERT_EQUAL(table.count, CHOICE_ROWS_MAX);
    CU_ASSERT_PTR_NULL(choice_parse(&table, "scan 2 2 chain", &line)); /* the last one goes */
    CU_ASSERT_EQUAL(table.count, CHOICE_ROWS_MAX);
    CU_ASSERT_EQUAL(table.rows[0].bytes, 2);
    memcpy(text + CHOICE_ROWS_MAX * (sizeof row - 1), row, sizeof row);
    CU_ASSERT_PTR_NOT_NULL(choice_parse(&table, text, &line));
    CU_ASSERT_EQUAL(line, CHOICE_ROWS_MAX + 1);
}

static void the_wire_form_reads_back(void)
{
    struct choice_table table, read;
    uint64_t words[2 * CHOICE_ROWS_MAX];
    choice_default(&table);
    memset(&read, 0, sizeof read);
    choice_encode(&table, words);
    CU_ASSERT(choice_decode(&read, words, 2 * (size_t)table.count));
    CU_ASSERT_EQUAL(read.count, table.count);
    for (int i = 0; i < table.count; i++) {
        CU_ASSERT_EQUAL(read.rows[i].operation, table.rows[i].operation);
        CU_ASSERT_EQUAL(read.rows[i].algorithm, table.rows[i].algorithm);
        CU_ASSERT_EQUAL(read.rows[i].members, table.rows[i].members);
        CU_ASSERT_EQUAL(read.rows[i].bytes, table.rows[i].bytes);
    }
}

static void hostile_words_are_refused(void)
{
    struct choice_table read;
    const uint64_t odd[] = {0}, none[] = {0, 0}, other[] = {(uint64_t)BCAST_CHAIN << 32, 1},
                   far[] = {(uint64_t)255 << 32, 1}, high[] = {(uint64_t)1 << 63, 1},
                   past[] = {(uint64_t)OPERATIONS << 40, 1};
    CU_ASSERT(!choice_decode(&read, odd, 1));
    CU_ASSERT(!choice_decode(&read, none, 2));
    CU_ASSERT(!choice_decode(&read, other, 2)); /* of another operation */
    CU_ASSERT(!choice_decode(&read, far, 2));
    CU_ASSERT(!choice_decode(&read, high, 2));
    CU_ASSERT(!choice_decode(&read, past, 2)); /* of none: no algorithm either */
    CU_ASSERT(!choice_decode(&read, none, 2 * CHOICE_ROWS_MAX + 2));
}

static void the_file_is_named_in_errors(void)
{
    struct choice_table table;
    char path[] = "/tmp/covey-choice-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fputs("barrier * * tree\nbcast * * what\n", file);
    fclose(file);
    setenv("COVEY_COLLECTIVES", path, 1);
    CU_ASSERT_EQUAL(choice_load(&table, false), COVEY_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(covey_error_text(), ":2: the operation has no such algorithm"));
    file = fopen(path, "w");
    fputs("barrier * * tree\n", file);
    fclose(file);
    CU_ASSERT_EQUAL(choice_load(&table, false), COVEY_OK);
    CU_ASSERT_EQUAL(choose(&table, OPERATION_BARRIER, 3, 0), BARRIER_TREE);
    unlink(path);
    CU_ASSERT_EQUAL(choice_load(&table, false), COVEY_ESYS);
    CU_ASSERT_PTR_NOT_NULL(strstr(covey_error_text(), path));
    unsetenv("COVEY_COLLECTIVES");
}

static void every_name_is_found_again(void)
{
#define OPERATION_NAME(id, name) name,
    static const char *const operations[] = {COLLECTIVE_OPERATIONS(OPERATION_NAME)};
    for (int o = 0; o < OPERATIONS; o++) {
        const char *operation = operations[o];
        CU_ASSERT_EQUAL(operation_parse(operation), (enum operation)o);
        CU_ASSERT_PTR_NOT_NULL(covey_algorithm(operation, 0));
        for (int i = 0; covey_algorithm(operation, i) != NULL; i++)
            CU_ASSERT_EQUAL(algorithm_parse((enum operation)o, covey_algorithm(operation, i)),
                            algorithm_at((enum operation)o, i));
    }
    CU_ASSERT_PTR_NULL(covey_algorithm("no-such", 0));
    CU_ASSERT_PTR_NULL(covey_algorithm("bcast", -1));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"the first row that fits decides", the_first_row_that_fits_decides},
        {"rows of a file go before the others", rows_of_a_file_go_before_the_others},
        {"what does not suit is passed over", what_does_not_suit_is_passed_over},
        {"hosts of several tasks go by their leads", hosts_of_several_tasks_go_by_their_leads},
        {"casts of all need a way", casts_of_all_need_a_way},
        {"one medium is cast on", one_medium_is_cast_on},
        {"mistakes are refused by line", mistakes_are_refused_by_line},
        {"a table has so many rows", a_table_has_so_many_rows},
        {"the wire form reads back", the_wire_form_reads_back},
        {"hostile words are refused", hostile_words_are_refused},
        {"the file is named in errors", the_file_is_named_in_errors},
        {"every name is found again", every_name_is_found_again},
    };
    return covey_test_main("collective_choice", cases, sizeof cases / sizeof cases[0]);
}
