/*
 * Splits a line into words, as the console and hosts files need it: blanks separate, '...' and
 * "..." keep blanks, a backslash keeps the next character (in "..." only before " and \), a # at
 * the start of a word ends the line. No expansion of any kind.
 */
#ifndef COVEY_TOOLS_WORDS_H
#define COVEY_TOOLS_WORDS_H

struct words {
    char **list; /* count words and a NULL */
    int count;
    int *columns; /* of the words' first characters in the line, from 1 */
    char *text;   /* what the words lie in */
};

/* Splits line; returns 0, or -1 with *why set (a quote is not closed, memory is exhausted). */
int words_split(struct words *words, const char *line, const char **why);

/* The same; a failure's column is set, too. */
int words_split_at(struct words *words, const char *line, const char **why, int *column);

/* Frees what words_split() made; a zeroed struct is fine. */
void words_free(struct words *words);

#endif
