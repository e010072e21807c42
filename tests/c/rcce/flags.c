/* test: cores=1,2,5,16,48 */
/* test: cores=1,5,48 options=-DGORY */
/* test: cores=1,2,5,16 options=-DGORY,-DSINGLEBITFLAGS */
/* test: cores=2,5 options=-DSINGLEBITFLAGS */
/* Flags: each UE tells its right neighbour, and all tell UE 0 by flags of one line. */
#include "../check.h"
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), size = RCCE_num_ues(), right = (me + 1) % size;
    static RCCE_FLAG flags[RCCE_MAXNP], many[100000];
    RCCE_FLAG_STATUS status;
    int test;
    for (int ue = 0; ue < size; ue++) {
        EQUAL(RCCE_flag_alloc(&flags[ue]), RCCE_SUCCESS);
        EQUAL(RCCE_flag_read(flags[ue], &status, me), RCCE_SUCCESS);
        EQUAL(status, RCCE_FLAG_UNSET);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int round = 0; round < 3; round++) {
        EQUAL(RCCE_flag_write(&flags[me], RCCE_FLAG_SET, 0), RCCE_SUCCESS);
        if (me == 0)
            for (int ue = 0; ue < size; ue++) {
                EQUAL(RCCE_wait_until(flags[ue], RCCE_FLAG_SET), RCCE_SUCCESS);
                EQUAL(RCCE_flag_write(&flags[ue], RCCE_FLAG_UNSET, 0), RCCE_SUCCESS);
            }
        RCCE_barrier(&RCCE_COMM_WORLD);
        EQUAL(RCCE_flag_read(flags[size - 1], &status, 0), RCCE_SUCCESS);
        EQUAL(status, RCCE_FLAG_UNSET);
        RCCE_barrier(&RCCE_COMM_WORLD);
    }
    EQUAL(RCCE_test_flag(flags[0], RCCE_FLAG_SET, &test), RCCE_SUCCESS);
    EQUAL(test, 0);
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(RCCE_flag_write(&flags[0], RCCE_FLAG_SET, right), RCCE_SUCCESS);
    do
        EQUAL(RCCE_test_flag(flags[0], RCCE_FLAG_SET, &test), RCCE_SUCCESS);
    while (!test);
    RCCE_barrier(&RCCE_COMM_WORLD);

    /* Misuse. */
    RCCE_FLAG none = {-1, NULL, NULL}, private = {0, (t_vcharp)&status, (t_vcharp)&status};
    EQUAL(RCCE_flag_alloc(NULL), RCCE_ERROR_FLAG_UNDEFINED);
    EQUAL(RCCE_flag_write(NULL, RCCE_FLAG_SET, me), RCCE_ERROR_FLAG_UNDEFINED);
    EQUAL(RCCE_flag_write(&none, RCCE_FLAG_SET, me), RCCE_ERROR_FLAG_UNDEFINED);
    EQUAL(RCCE_wait_until(private, RCCE_FLAG_SET), RCCE_ERROR_FLAG_NOT_IN_COMM_BUFFER);
    EQUAL(RCCE_flag_write(&flags[0], RCCE_FLAG_SET, size), RCCE_ERROR_ID);
    EQUAL(RCCE_flag_read(flags[0], &status, -1), RCCE_ERROR_ID);
    EQUAL(RCCE_flag_read(flags[0], NULL, me), RCCE_ERROR_VAL_UNDEFINED);
#ifdef GORY
    EQUAL(RCCE_flag_write(&flags[0], 2, me), RCCE_ERROR_FLAG_STATUS_UNDEFINED);
    EQUAL(RCCE_wait_until(flags[0], 2), RCCE_ERROR_FLAG_STATUS_UNDEFINED);
#endif
    RCCE_FLAG copy = flags[0];
    EQUAL(RCCE_flag_free(&flags[0]), RCCE_SUCCESS);
    EQUAL(RCCE_flag_free(&flags[0]), RCCE_ERROR_FLAG_UNDEFINED);
    EQUAL(RCCE_flag_write(&copy, RCCE_FLAG_SET, me), RCCE_ERROR_FLAG_UNDEFINED);
    EQUAL(RCCE_flag_free(&copy), RCCE_ERROR_FLAG_UNDEFINED);

    /* A flag is unset at first, whatever the one was that was there before; and so is what is in lines that had data. */
    EQUAL(RCCE_flag_alloc(&flags[0]), RCCE_SUCCESS);
    EQUAL(RCCE_flag_read(flags[0], &status, me), RCCE_SUCCESS);
    EQUAL(status, RCCE_FLAG_UNSET);
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int ue = 0; ue < size; ue++)
        EQUAL(RCCE_flag_free(&flags[ue]), RCCE_SUCCESS);
    static char ones[256];
    for (int i = 0; i < 256; i++)
        ones[i] = -1;
    t_vcharp block = RCCE_malloc(256);
    CHECK(block != NULL);
    EQUAL(RCCE_put(block, (t_vcharp)ones, 256, right), RCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    RCCE_free(block);
    for (int ue = 0; ue < size; ue++) {
        EQUAL(RCCE_flag_alloc(&flags[ue]), RCCE_SUCCESS);
        EQUAL(RCCE_flag_read(flags[ue], &status, me), RCCE_SUCCESS);
        EQUAL(status, RCCE_FLAG_UNSET);
    }

    /* As many as there is room for beside something else. */
#ifdef GORY
    CHECK(RCCE_malloc(6976) != NULL);
#else
    CHECK(RCCE_malloc(4992) != NULL);
#endif
    int count = 0, code;
    while ((code = RCCE_flag_alloc(&many[count])) == RCCE_SUCCESS)
        count++;
    EQUAL(code, RCCE_ERROR_FLAG_NOT_ALLOCATED);
#ifdef SINGLEBITFLAGS
    CHECK(count > 6000 && count < 11000);
#else
    CHECK(count > 180 && count < 400);
#endif
    EQUAL(RCCE_flag_write(&many[count - 1], RCCE_FLAG_SET, right), RCCE_SUCCESS);
    EQUAL(RCCE_wait_until(many[count - 1], RCCE_FLAG_SET), RCCE_SUCCESS);
    while (count-- > 0)
        EQUAL(RCCE_flag_free(&many[count]), RCCE_SUCCESS);
    EQUAL(RCCE_flag_alloc(&many[0]), RCCE_SUCCESS);
    RCCE_finalize();
    return 0;
}
