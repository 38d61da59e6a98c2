/*
 * embed.h - a file as bytes of the program, with a NUL behind them.
 *
 * The assembler does that, for C has no means of it before C23; so the file stays a source that is
 * formatted and checked as any other. The Makefile knows on which files such an object depends,
 * which the compiler cannot say. Declare it as `extern const char SYMBOL[];`.
 */
#ifndef COVEY_PROTO_EMBED_H
#define COVEY_PROTO_EMBED_H

#define EMBED(symbol, file)                                                                        \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" file "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n")

#endif
