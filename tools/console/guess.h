/* What was meant by a word that is not known: the nearest one that is. */
#ifndef COVEY_TOOLS_GUESS_H
#define COVEY_TOOLS_GUESS_H

/* The name of the command that is nearest to the word, so near that it may have been meant; NULL:
 * none is. */
const char *guess_command(const char *word);

#endif
