/*
 * named.c - calls that take a name.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>
#include <string.h>

#include "lib/pvm3/fortran/text.h"

#define ARGUMENTS_MAX 32

/* "*" is anywhere. */
void pvmfspawn_(const char *program, const int *flags, const char *where, const int *count,
                int *tids, int *started, size_t program_length, size_t where_length)
{
    char name[TEXT_MAX], place[TEXT_MAX];
    text_take(name, program, program_length);
    text_take(place, where, where_length);
    *started = pvm_spawn(name, NULL, *flags, strcmp(place, "*") == 0 ? NULL : place, *count, tids);
}

void pvmfperror_(const char *text, int *info, size_t length)
{
    char copy[TEXT_MAX];
    *info = pvm_perror(text_take(copy, text, length));
}

void pvmfmstat_(const char *host, int *status, size_t length)
{
    char name[TEXT_MAX];
    *status = pvm_mstat(text_take(name, host, length));
}

void pvmfarchcode_(const char *arch, int *code, size_t length)
{
    char name[TEXT_MAX];
    *code = pvm_archcode(text_take(name, arch, length));
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

void pvmfputinfo_(const char *name, const int *bufid, const int *flags, int *index, size_t length)
{
    char copy[TEXT_MAX];
    *index = pvm_putinfo(text_take(copy, name, length), *bufid, *flags);
}

void pvmfrecvinfo_(const char *name, const int *index, const int *flags, int *bufid, size_t length)
{
    char copy[TEXT_MAX];
    *bufid = pvm_recvinfo(text_take(copy, name, length), *index, *flags);
}

void pvmfdelinfo_(const char *name, const int *index, const int *flags, int *info, size_t length)
{
    char copy[TEXT_MAX];
    *info = pvm_delinfo(text_take(copy, name, length), *index, *flags);
}
