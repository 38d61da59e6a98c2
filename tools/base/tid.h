/* A tid as people read and type it: "t40001", hexadecimal, as in PVM. */
#ifndef COVEY_TOOLS_TID_H
#define COVEY_TOOLS_TID_H

#include "covey.h"

#define TID_TEXT_BYTES 12

/* Writes "t40001" into text[TID_TEXT_BYTES] and returns text. */
const char *tid_format(covey_tid_t tid, char *text);

/* Reads "t40001" (hexadecimal), "0x40001" or "262145"; 0 if text is none of them. */
covey_tid_t tid_parse(const char *text);

#endif
