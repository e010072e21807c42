/* test: cores=1,2,5,16,48 */
/* iRCCE: transfers of any length, whole-line flags, atomic counters, multicasts. */
#include "../check.h"
#include <iRCCE_lib.h>
#include <string.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    iRCCE_init();
    int me = RCCE_ue(), size = RCCE_num_ues(), right = (me + 1) % size, left = (me + size - 1) % size;
    unsigned char bytes[300], found[300];
    t_vcharp buffer = iRCCE_malloc(320);
    CHECK(buffer);
    EQUAL(RC_MY_COREID, RC_COREID[me]);
    EQUAL(RC_COREID[right], right);
    for (int length = 0; length < 300; length += 37)
        for (int offset = 0; offset < 20; offset += 7) {
            for (int i = 0; i < length; i++)
                bytes[i] = me + i + length;
            RCCE_barrier(&RCCE_COMM_WORLD);
            EQUAL(iRCCE_put(buffer + offset, bytes, length, right), RCCE_SUCCESS);
            RCCE_barrier(&RCCE_COMM_WORLD);
            EQUAL(iRCCE_get(found, buffer + offset, length, me), RCCE_SUCCESS);
            for (int i = 0; i < length; i++)
                EQUAL(found[i], (unsigned char)(left + i + length));
        }
    CHECK(iRCCE_memcpy_put((void *)(buffer + 3), "something", 10) == buffer + 3);
    CHECK(iRCCE_memcpy_get(found, (void *)(buffer + 3), 10) == found && strcmp((char *)found, "something") == 0);
    CHECK(strcmp(iRCCE_memcpy(bytes, found, 10), "something") == 0);
    EQUAL(iRCCE_put(buffer + 300, bytes, 21, me), RCCE_ERROR_TARGET);

    RCCE_FLAG flag;
    RCCE_FLAG_STATUS value;
    int test;
    EQUAL(iRCCE_flag_alloc(&flag), RCCE_SUCCESS);
    EQUAL(iRCCE_get_max_tagged_len(), 28);
    RCCE_barrier(&RCCE_COMM_WORLD);
    snprintf((char *)bytes, 28, "from %d", me);
    EQUAL(iRCCE_flag_write_tagged(&flag, 1000 + me, right, bytes, 28), RCCE_SUCCESS);
    EQUAL(iRCCE_wait_tagged(flag, 1000 + left, found, 28), RCCE_SUCCESS);
    snprintf((char *)bytes, 28, "from %d", left);
    CHECK(strcmp((char *)bytes, (char *)found) == 0);
    EQUAL(iRCCE_test_tagged(flag, 1000 + left, &test, found, 28), RCCE_SUCCESS);
    EQUAL(test, 1);
    EQUAL(iRCCE_test_tagged(flag, -5, &test, NULL, 0), RCCE_SUCCESS);
    EQUAL(test, 0);
    EQUAL(iRCCE_flag_read_tagged(flag, &value, right, found, 28), RCCE_SUCCESS);
    EQUAL(value, 1000 + me);
    EQUAL(iRCCE_flag_write_tagged(&flag, 1, right, bytes, 29), RCCE_ERROR_MESSAGE_LENGTH);
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(iRCCE_flag_write(&flag, -7, right), RCCE_SUCCESS);
    EQUAL(iRCCE_wait_until(flag, -7), RCCE_SUCCESS);
    EQUAL(iRCCE_flag_read(flag, &value, me), RCCE_SUCCESS);
    EQUAL(value, -7);
    RCCE_FLAG word;
    RCCE_flag_alloc(&word);
    EQUAL(iRCCE_flag_write_tagged(&word, 1, me, bytes, 4), RCCE_ERROR_MESSAGE_LENGTH);

    iRCCE_AIR *counters[20];
    int before = 0, sum;
    for (int i = 0; i < 20; i++)
        EQUAL(iRCCE_atomic_alloc(&counters[i]), iRCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        int old = -1;
        EQUAL(iRCCE_atomic_inc(counters[i], &old), iRCCE_SUCCESS);
        CHECK(old >= 0 && old < 2 * size);
        before += old;
        EQUAL(iRCCE_atomic_inc(counters[i], NULL), iRCCE_SUCCESS);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        EQUAL(iRCCE_atomic_read(counters[i], &sum), iRCCE_SUCCESS);
        EQUAL(sum, 2 * size);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    if (me == 0)
        EQUAL(iRCCE_atomic_write(counters[3], 77), iRCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    iRCCE_atomic_read(counters[3], &sum);
    EQUAL(sum, 77);
    EQUAL(iRCCE_atomic_inc(NULL, &sum), iRCCE_ERROR);

    for (int root = 0; root < size; root += 3) {
        memset(bytes, me == root ? root + 1 : 0, 200);
        EQUAL(me == root ? iRCCE_msend((char *)bytes, 200) : iRCCE_mrecv((char *)bytes, 200, root), RCCE_SUCCESS);
        EQUAL(bytes[199], root + 1);
        memset(bytes, me == root ? root + 2 : 0, 200);
        EQUAL(iRCCE_mcast((char *)bytes, 100, root), RCCE_SUCCESS);
        EQUAL(iRCCE_bcast((char *)bytes + 100, 100, root, RCCE_COMM_WORLD), RCCE_SUCCESS);
        CHECK(bytes[0] == root + 2 && bytes[199] == root + 2);
    }
    EQUAL(iRCCE_barrier(NULL), RCCE_SUCCESS);
    EQUAL(iRCCE_barrier(&RCCE_COMM_WORLD), RCCE_SUCCESS);
    RCCE_finalize();
    return 0;
}
