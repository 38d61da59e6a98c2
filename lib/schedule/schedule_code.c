/*
 * schedule_code.c - the templates of generated programs, as the files below template/ have them.
 *
 * The assembler embeds the files, for C has no means of it before C23; so a template stays a source
 * that is compiled, formatted and linted as any other. The Makefile knows on which files this
 * object depends, which the compiler cannot say.
 */
#include "lib/schedule/schedule_code.h"

#define EMBED(symbol, file)                                                                        \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" file "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n")

EMBED(schedule_code_covey, "lib/schedule/template/covey.c");
EMBED(schedule_code_mpi, "lib/schedule/template/mpi.c");
