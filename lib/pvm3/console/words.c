/*
 * words.c - the words of a line.
 */
#include "lib/pvm3/console/console.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The end of the word that begins at `from`, whose quotes are taken out; NULL: one is not closed.
 */
static char *word_end(char *from)
{
    char quote = '\0', *to = from;
    for (; *from != '\0' && (quote != '\0' || strchr(" \t\n", *from) == NULL); from++) {
        if (*from == quote)
            quote = '\0';
        else if (quote == '\0' && (*from == '"' || *from == '\''))
            quote = *from;
        else
            *to++ = *from;
    }
    char *end = *from == '\0' ? from : from + 1;
    *to = '\0';
    return quote == '\0' ? end : NULL;
}

int words_split(char *text, char **words, int max)
{
    int count = 0;
    for (text += strspn(text, " \t\n"); *text != '\0'; text += strspn(text, " \t\n")) {
        if (count == max - 1)
            return -1;
        words[count++] = text;
        text = word_end(text);
        if (text == NULL)
            return -1;
    }
    words[count] = NULL;
    return count;
}

int words_tid(const char *word)
{
    char *end;
    const char *digits = *word == 't' ? word + 1 : word;
    errno = 0;
    unsigned long tid = strtoul(digits, &end, 16);
    bool is_one = *digits != '\0' && strchr("+- \t", *digits) == NULL && *end == '\0' &&
                  errno == 0 && tid <= UINT_MAX;
    return is_one ? (int)tid : -1;
}

bool words_number(const char *word, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (*word == '\0' || *end != '\0' || errno != 0 || value < INT_MIN || value > INT_MAX)
        return false;
    *number = (int)value;
    return true;
}
