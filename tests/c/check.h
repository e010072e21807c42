/* Checks of the test programs in C. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Two integers that have to be equal. */
#define EQUAL(found, expected)                                                                                         \
    do {                                                                                                               \
        long long is = (found), wanted = (expected);                                                                   \
        if (is != wanted) {                                                                                            \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #found, is, wanted);                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
