/*
 * named.c - calls that take a name.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>
#include <string.h>

#include "lib/pvm3/fortran/text.h"

#define ARGUMENTS_MAX 32

NAMED_0(perror)
NAMED_0(mstat)
NAMED_0(archcode)
NAMED_2(putinfo)
NAMED_2(recvinfo)
NAMED_2(delinfo)

/* "*" is anywhere. */
void pvmfspawn_(const char *program, const int *flags, const char *where, const int *count,
                int *tids, int *started, size_t program_length, size_t where_length)
{
    char name[TEXT_MAX], place[TEXT_MAX];
    text_take(name, program, program_length);
    text_take(place, where, where_length);
    *started = pvm_spawn(name, NULL, *flags, strcmp(place, "*") == 0 ? NULL : place, *count, tids);
}

/* Of one host the result is its own. */
void pvmfaddhost_(const char *host, int *info, size_t length)
{
    char name[TEXT_MAX], *names[] = {text_take(name, host, length)};
    int result = 0, done = pvm_addhosts(names, 1, &result);
    *info = done < 0 ? done : result;
}

void pvmfdelhost_(const char *host, int *info, size_t length)
{
    char name[TEXT_MAX], *names[] = {text_take(name, host, length)};
    int result = 0, done = pvm_delhosts(names, 1, &result);
    *info = done < 0 ? done : result;
}

void pvmfstartpvmd_(const char *arguments, const int *block, int *info, size_t length)
{
    char line[TEXT_MAX], *list[ARGUMENTS_MAX], *rest = NULL;
    int count = 0;
    text_take(line, arguments, length);
    for (char *word = strtok_r(line, " ", &rest); word != NULL && count < ARGUMENTS_MAX;
         word = strtok_r(NULL, " ", &rest))
        list[count++] = word;
    *info = pvm_start_pvmd(count, list, *block);
}
