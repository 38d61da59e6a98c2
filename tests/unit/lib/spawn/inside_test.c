/* links: lib/spawn/inside.c */
#include "lib/spawn/inside.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner.h"

/* What the words are, with blanks between; "" when there are none. */
static const char *words_of(const char *const *env)
{
    static char text[256];
    const char *const argv[] = {"worker", "-n", "2", NULL};
    const struct covey_spawn what = {.argv = argv, .env = env};
    const char **words = NULL;
    text[0] = '\0';
    CU_ASSERT_EQUAL(inside_words(&what, &words), COVEY_OK);
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        strcat(text, i == 0 ? "" : " ");
        strcat(text, words[i]);
    }
    free(words);
    return text;
}

static void without_an_image_nothing_changes(void)
{
    unsetenv("COVEY_IN");
    CU_ASSERT_STRING_EQUAL(words_of(NULL), "");
    CU_ASSERT_STRING_EQUAL(words_of((const char *const[]){"A=1", NULL}), "");
    setenv("COVEY_IN", "", 1);
    CU_ASSERT_STRING_EQUAL(words_of(NULL), "");
}

static void the_image_is_that_of_the_spawner_or_the_given_one(void)
{
    setenv("COVEY_IN", "own", 1);
    CU_ASSERT_STRING_EQUAL(words_of(NULL), "covey-in -- own worker -n 2");
    CU_ASSERT_STRING_EQUAL(words_of((const char *const[]){"COVEY_IN=other", NULL}),
                           "covey-in --env COVEY_IN -- other worker -n 2");
    CU_ASSERT_STRING_EQUAL(words_of((const char *const[]){"COVEY_IN=", NULL}), "");
    /* of two the last one counts, as for the environment */
    CU_ASSERT_STRING_EQUAL(words_of((const char *const[]){"COVEY_IN=a", "COVEY_IN=b", NULL}),
                           "covey-in --env COVEY_IN --env COVEY_IN -- b worker -n 2");
}

static void names_of_variables_go_in_and_no_value(void)
{
    setenv("COVEY_IN", "own", 1);
    CU_ASSERT_STRING_EQUAL(words_of((const char *const[]){"A=1=2", "LONGER=secret", NULL}),
                           "covey-in --env A --env LONGER -- own worker -n 2");
}

static void what_is_wrapped_already_stays(void)
{
    const char *const argv[] = {"covey-in", "--", "own", "worker", NULL};
    const struct covey_spawn what = {.argv = argv};
    const char **words;
    setenv("COVEY_IN", "own", 1);
    CU_ASSERT_EQUAL(inside_words(&what, &words), COVEY_OK);
    CU_ASSERT_PTR_NULL(words);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"without an image nothing changes", without_an_image_nothing_changes},
        {"the image is that of the spawner, or the given one",
         the_image_is_that_of_the_spawner_or_the_given_one},
        {"names of variables go in, and no value", names_of_variables_go_in_and_no_value},
        {"what is wrapped already stays", what_is_wrapped_already_stays},
    };
    return covey_test_main("inside", cases, sizeof cases / sizeof cases[0]);
}
