/*
 * options.c - reads the options of a domain library and has all members agree on them.
 */
#include "lib/domain/base/options.h"

#include "lib/domain/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED_BYTES 256

static int same(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* Appends what fits, with a blank before it. */
static void allow(char *allowed, const char *name)
{
    size_t used = strlen(allowed);
    snprintf(allowed + used, ALLOWED_BYTES - used, " %s", name);
}

static int refuse_key(const char *word, size_t length, const struct domain_option *options, int n)
{
    char allowed[ALLOWED_BYTES] = "";
    for (int i = 0; i < n; i++)
        allow(allowed, options[i].key);
    return domain_fail(COVEY_EINVAL, "there is no option '%.*s': allowed are%s", (int)length, word,
                       allowed);
}

static int refuse_value(const char *word, size_t length, const struct domain_option *option)
{
    char allowed[ALLOWED_BYTES] = "";
    for (int i = 0; option->names[i] != NULL; i++)
        allow(allowed, option->names[i]);
    return domain_fail(COVEY_EINVAL, "%s has no '%.*s': allowed are%s", option->key, (int)length,
                       word, allowed);
}

static int set_text(struct domain_option *option, const char *word, size_t length)
{
    if (length == 0 || length >= sizeof option->text)
        return domain_fail(COVEY_EINVAL, "the value of %s has %zu characters: allowed are 1 to %zu",
                           option->key, length, sizeof option->text - 1);
    memcpy(option->text, word, length);
    option->text[length] = '\0';
    return 0;
}

static int set_value(struct domain_option *option, const char *word, size_t length)
{
    if (option->names == NULL)
        return set_text(option, word, length);
    for (int i = 0; option->names[i] != NULL; i++) {
        if (same(word, length, option->names[i])) {
            option->value = i;
            return 0;
        }
    }
    return refuse_value(word, length, option);
}

static int read_one(const char *word, size_t length, struct domain_option *options, int n)
{
    const char *equals = memchr(word, '=', length);
    size_t key_length = equals == NULL ? 0 : (size_t)(equals - word);
    if (equals == NULL)
        return set_value(&options[0], word, length);
    for (int i = 0; i < n; i++) {
        if (same(word, key_length, options[i].key))
            return set_value(&options[i], equals + 1, length - key_length - 1);
    }
    return refuse_key(word, key_length, options, n);
}

static int read_all(const char *text, struct domain_option *options, int n)
{
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        int error = read_one(text, length, options, n);
        if (error < 0)
            return error;
        text += length;
        if (*text == ',')
            text++;
    }
    return 0;
}

int domain_options_read(const char *text, const char *variable, struct domain_option *options,
                        int n)
{
    for (int i = 0; i < n; i++) {
        options[i].value = DOMAIN_CHOSEN;
        options[i].text[0] = '\0';
    }
    int error = read_all(text, options, n);
    return error < 0 ? error : read_all(getenv(variable), options, n);
}

/* The cause stands at the member that gave the wrong text: what it says is sent to the others. */
static int agree_on_error(covey_team_t *team, int error)
{
    int32_t mine[2] = {error < 0 ? 0 : 1, covey_team_rank(team)}, first[2];
    char words[ALLOWED_BYTES] = "";
    int failed = covey_allreduce(team, COVEY_OP_MINLOC, COVEY_INT32, mine, first, 2);
    if (failed < 0)
        return domain_fail_of(failed, "options");
    if (first[0] == 1)
        return 0;
    snprintf(words, sizeof words, "%s", covey_domain_error_text());
    failed = covey_bcast(team, first[1], COVEY_BYTES, words, sizeof words);
    if (failed < 0)
        return domain_fail_of(failed, "options");
    return domain_fail(COVEY_EINVAL, "%s", words);
}

int domain_options_agree(covey_team_t *team, const char *text, const char *variable,
                         struct domain_option *options, int n)
{
    int error = agree_on_error(team, domain_options_read(text, variable, options, n));
    for (int i = 0; error == 0 && i < n; i++) {
        error = covey_bcast(team, 0, COVEY_INT32, &options[i].value, 1);
        if (error == 0)
            error = covey_bcast(team, 0, COVEY_BYTES, options[i].text, sizeof options[i].text);
        if (error < 0)
            return domain_fail_of(error, "options");
    }
    return error;
}
