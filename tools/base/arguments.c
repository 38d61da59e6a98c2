/*
 * arguments.c - the loop over a command line that all commands share: what is refused is said in
 * the same words by each of them.
 */
#include "tools/base/arguments.h"

#include <stddef.h>

#include "tools/base/tool.h"

bool arguments_keep(const struct arguments_place *places, int key, const char *value)
{
    for (const struct arguments_place *p = places; p && p->key != 0; p++) {
        if (p->key != key)
            continue;
        if (p->flag)
            *p->flag = true;
        if (p->text)
            p->text[p->count ? (*p->count)++ : 0] = value;
        return true;
    }
    return false;
}

int arguments_read(const struct arguments *arguments, int argc, char **argv)
{
    struct args args;
    int status = TOOL_OK;
    args_init(&args, arguments->options, argc, argv);
    for (int key; status == TOOL_OK && (key = args_next(&args)) != ARGS_END;) {
        if (key == ARGS_BAD)
            return tool_usage(argv[0], "%s", args.error);
        if (arguments_keep(arguments->places, key, args.value))
            continue;
        status = arguments->take ? arguments->take(arguments->context, key, args.value)
                                 : tool_usage(argv[0], "%s: takes no argument", args.value);
    }
    return status;
}
