/* test: cores=1,2,5,16,48 */
/* test: cores=2,5 options=-DSINGLEBITFLAGS */
/* Locks: counters in an MPB under the register of each UE; bits beside each other under a lock that is held. */
#include "../check.h"
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), size = RCCE_num_ues(), count[8] = {0};
    RCCE_FLAG flag;
    t_vcharp counter = RCCE_malloc(sizeof count);
    CHECK(counter && RCCE_flag_alloc(&flag) == RCCE_SUCCESS);
    EQUAL(RCCE_put(counter, (t_vcharp)count, sizeof count, me), RCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int round = 0; round < 20; round++) {
        int ue = (me + round) % size;
        EQUAL(RCCE_acquire_lock(ue), RCCE_SUCCESS);
        RCCE_get((t_vcharp)count, counter, sizeof count, ue);
        count[3]++;
        RCCE_put(counter, (t_vcharp)count, sizeof count, ue);
        EQUAL(RCCE_flag_write(&flag, RCCE_FLAG_SET, ue), RCCE_SUCCESS);
        EQUAL(RCCE_release_lock(ue), RCCE_SUCCESS);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    int all = 0;
    for (int ue = 0; ue < size; ue++) {
        RCCE_get((t_vcharp)count, counter, sizeof count, ue);
        all += count[3];
    }
    EQUAL(all, 20 * size);
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(RCCE_try_lock(me), RCCE_SUCCESS);
    CHECK(RCCE_try_lock(me) != RCCE_SUCCESS);
    /* Another one may free a register. */
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(RCCE_release_lock((me + 1) % size), RCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    EQUAL(RCCE_try_lock(me), RCCE_SUCCESS);
    EQUAL(RCCE_release_lock(me), RCCE_SUCCESS);
    EQUAL(RCCE_acquire_lock(size), RCCE_ERROR_ID);
    EQUAL(RCCE_release_lock(-1), RCCE_ERROR_ID);
    RCCE_finalize();
    return 0;
}
