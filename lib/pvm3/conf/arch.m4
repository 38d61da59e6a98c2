dnl @ARCH@.m4 - how a function in C is called from Fortran, for sources that go through m4:
dnl
dnl   FUNCTION(name)          the name as the linker has it: with an underscore
dnl   ARGS(`a, b, ...')       the list of arguments, behind which stand the lengths of strings
dnl   STRING_ARG(s)           an argument of it that is a string
dnl   STRING_ARG_DECL(s)      the declaration of such a one, in the style before ANSI C
dnl   STRING_PTR(s)           in the body, where the string is
dnl   STRING_LEN(s)           and how long
dnl
dnl Lengths are collected in LENGTHS while the arguments of ARGS are expanded. C has a len of its own.
undefine(`len')dnl
define(`LENGTHS', `')dnl
define(`FUNCTION', `$1_')dnl
define(`STRING_ARG', `$1_ptr`'define(`LENGTHS', defn(`LENGTHS')`, $1_len')')dnl
define(`ARGS', `($1`'LENGTHS)define(`LENGTHS', `')')dnl
define(`STRING_ARG_DECL', `char *$1_ptr; long $1_len')dnl
define(`STRING_PTR', `$1_ptr')dnl
define(`STRING_LEN', `$1_len')dnl
