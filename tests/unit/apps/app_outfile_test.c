/* links: apps/outfile.c */
#include "apps/outfile.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/runner.h"

static int entries(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2; /* without . and .. */
}

static void read_back(const char *path, char *text, int capacity)
{
    FILE *stream = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_PTR_NOT_NULL(fgets(text, capacity, stream));
    fclose(stream);
}

struct place {
    char folder[32];
    char path[64];
};

static struct place place_make(void)
{
    struct place place = {.folder = "/tmp/outfile-test-XXXXXX"};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place.folder));
    snprintf(place.path, sizeof place.path, "%s/result", place.folder);
    return place;
}

static void write_once(const char *path, const char *text)
{
    struct outfile file;
    CU_ASSERT_EQUAL_FATAL(outfile_open(&file, path), 0);
    fputs(text, file.stream);
    CU_ASSERT_EQUAL(outfile_commit(&file), 0);
}

static void test_commit_replaces_an_older_file(void)
{
    struct place place = place_make();
    char text[16] = "";
    write_once(place.path, "old");
    write_once(place.path, "new");
    read_back(place.path, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "new");
    CU_ASSERT_EQUAL(entries(place.folder), 1);
    unlink(place.path);
    rmdir(place.folder);
}

static void test_discard_leaves_nothing(void)
{
    struct place place = place_make();
    struct outfile file;
    CU_ASSERT_EQUAL_FATAL(outfile_open(&file, place.path), 0);
    fputs("half", file.stream);
    outfile_discard(&file);
    CU_ASSERT_EQUAL(entries(place.folder), 0);
    outfile_discard(&file); /* again is fine */
    rmdir(place.folder);
}

static void test_devices_are_written_directly(void)
{
    struct outfile file;
    CU_ASSERT_EQUAL_FATAL(outfile_open(&file, "/dev/null"), 0);
    CU_ASSERT_PTR_NULL(file.temporary);
    CU_ASSERT_EQUAL(outfile_commit(&file), 0);
}

static void test_a_missing_folder_is_refused(void)
{
    struct outfile file;
    CU_ASSERT_EQUAL(outfile_open(&file, "/nowhere/at/all"), -1);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"commit replaces an older file", test_commit_replaces_an_older_file},
        {"discard leaves nothing", test_discard_leaves_nothing},
        {"devices are written directly", test_devices_are_written_directly},
        {"a missing folder is refused", test_a_missing_folder_is_refused},
    };
    return covey_test_main("app_outfile", cases, sizeof cases / sizeof cases[0]);
}
