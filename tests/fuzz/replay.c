/*
 * replay.c - runs a fuzzer's entry point over stored inputs, without libFuzzer.
 *
 * `make check` so makes sure, with any compiler, that no seed and no input that once crashed a
 * parser does so again. Arguments are files or folders of files; together they count as one test.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static unsigned replayed, unreadable;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    uint8_t *data = NULL;

    if (!file || fstat(fileno(file), &st) < 0 || !(data = malloc((size_t)st.st_size + 1)) ||
        fread(data, 1, (size_t)st.st_size, file) != (size_t)st.st_size) {
        perror(path);
        unreadable++;
    } else {
        printf("%s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
        replayed++;
    }
    free(data);
    if (file)
        fclose(file);
}

static void replay_folder(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);

    if (n < 0) {
        perror(path);
        unreadable++;
        return;
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay_file(name);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            replay_folder(argv[i]);
        else
            replay_file(argv[i]);
    }
    printf("%u inputs replayed\n", replayed);
    printf("%d passed, %u failed, 0 skipped\n", replayed > 0, unreadable);
    return replayed > 0 && unreadable == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
