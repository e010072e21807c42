/* test: cores=1,2,5,16,48 */
/* test: cores=2,5,48 faithful */
/* Messages of many lengths around a ring, errors and their texts, time. */
#include "../check.h"
#include <RCCE.h>
#include <string.h>

static char message[20000], found[20000];
static const int lengths[] = {0, 1, 28, 29, 32, 3068, 3069, 8032, 8029, 20000};

static void fill(int ue, int length)
{
    for (int i = 0; i < length; i++)
        message[i] = 11 * ue + i + length;
}

int RCCE_APP(int argc, char **argv)
{
    EQUAL(RCCE_send(message, 1, 0), RCCE_ERROR_COMM_UNDEFINED);
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), size = RCCE_num_ues(), right = (me + 1) % size, left = (me + size - 1) % size, test;
    double begin = RCCE_wtime();
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths && size > 1; i++) {
        int length = lengths[i];
        fill(me, length);
        if (me % 2) {
            EQUAL(RCCE_send(message, length, right), RCCE_SUCCESS);
            EQUAL(RCCE_recv(found, length, left), RCCE_SUCCESS);
        } else if (i % 2 || me == size - 1) {
            EQUAL(RCCE_recv(found, length, left), RCCE_SUCCESS);
            EQUAL(RCCE_send(message, length, right), RCCE_SUCCESS);
        } else {
            do
                EQUAL(RCCE_recv_test(found, length, left, &test), RCCE_SUCCESS);
            while (!test);
            EQUAL(RCCE_send(message, length, right), RCCE_SUCCESS);
        }
        fill(left, length);
        CHECK(memcmp(found, message, length) == 0);
    }
    CHECK(RCCE_wtime() > begin || size == 1);
    RCCE_barrier(&RCCE_COMM_WORLD);
    if (size > 1) {
        EQUAL(RCCE_recv_test(found, 4, left, &test), RCCE_SUCCESS);
        EQUAL(test, 0);
    }
    EQUAL(RCCE_send(message, 4, size), RCCE_ERROR_ID);
    EQUAL(RCCE_send(message, 0, -1), RCCE_ERROR_ID);
    EQUAL(RCCE_recv(message, 4, -1), RCCE_ERROR_ID);
    EQUAL(RCCE_recv_test(message, 4, size, &test), RCCE_ERROR_ID);
    EQUAL(RCCE_recv_test(message, 4, 0, NULL), RCCE_ERROR_VAL_UNDEFINED);
    EQUAL(RCCE_send(NULL, 4, right), RCCE_ERROR_SOURCE);
    EQUAL(RCCE_recv(NULL, 4, left), RCCE_ERROR_TARGET);

    /* Every error has a text of its own, which fits. */
    char text[RCCE_MAX_ERROR_STRING], last[RCCE_MAX_ERROR_STRING] = "";
    int length;
    EQUAL(RCCE_error_string(RCCE_SUCCESS, text, &length), RCCE_SUCCESS);
    for (int code = RCCE_ERROR_BASE + 1; code <= RCCE_ERROR_CORE_NOT_IN_HOSTFILE; code++) {
        EQUAL(RCCE_error_string(code, text, &length), RCCE_SUCCESS);
        CHECK(length > 0 && length < RCCE_MAX_ERROR_STRING && (int)strlen(text) == length && strcmp(text, last));
        strcpy(last, text);
    }
    EQUAL(RCCE_error_string(RCCE_ERROR_BASE, text, &length), RCCE_ERROR_INVALID_ERROR_CODE);
    EQUAL(RCCE_error_string(5, text, &length), RCCE_ERROR_INVALID_ERROR_CODE);
    EQUAL(length, 0);
    EQUAL(RCCE_debug_set(RCCE_DEBUG_COMM), RCCE_SUCCESS);
    EQUAL(RCCE_debug_set(5), RCCE_ERROR_DEBUG_FLAG);
    EQUAL(RCCE_debug_unset(RCCE_DEBUG_ALL), RCCE_SUCCESS);
    EQUAL(RCCE_debug_unset(0), RCCE_ERROR_DEBUG_FLAG);
    EQUAL(RCCE_finalize(), RCCE_SUCCESS);
    return 0;
}
