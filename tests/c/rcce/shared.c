/* test: cores=1,2,5,16,48 */
/* test: cores=2,5 options=-DNEVER_FLUSHES */
/* Shared memory: a block that all write in turn, and one of more than a MiB. */
#include "../check.h"
#include <RCCE.h>

#ifdef NEVER_FLUSHES
#define FLUSH()
#else
#define FLUSH() RCCE_shflush()
#endif

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), size = RCCE_num_ues();
    int *small = (int *)RCCE_shmalloc(100 * sizeof(int));
    double *large = (double *)RCCE_shmalloc(200000 * sizeof(double));
    CHECK(small && large && RCCE_shmalloc(0) == NULL && RCCE_shmalloc((size_t)1 << 30) == NULL);
    if (me == 0)
        for (int i = 0; i < 100; i++)
            small[i] = i;
    FLUSH();
    RCCE_barrier(&RCCE_COMM_WORLD);
    /* Each in turn; where there are many, as many as show it: all others wait meanwhile. */
    int turns = size < 8 ? size : 8, rounds = size < 8 ? 10 : 2;
    for (int turn = 0; turn < turns; turn++) {
        FLUSH();
        if (turn == me)
            for (int i = 0; i < 100; i++)
                small[i] += me + 1;
        FLUSH();
        RCCE_barrier(&RCCE_COMM_WORLD);
    }
    FLUSH();
    for (int i = 0; i < 100; i++)
        EQUAL(small[i], i + turns * (turns + 1) / 2);
    /* All at once, each in lines of its own. */
    int part = 200000 / size / 4 * 4;
    for (int i = 0; i < part; i += 13)
        large[me * part + i] = me + i * 0.5;
    FLUSH();
    RCCE_barrier(&RCCE_COMM_WORLD);
    FLUSH();
    int other = (me + 1) % size;
    for (int i = 0; i < part; i += 13)
        CHECK(large[other * part + i] == other + i * 0.5);
    RCCE_barrier(&RCCE_COMM_WORLD);
    /* Under a lock. */
    for (int round = 0; round < rounds; round++) {
        RCCE_acquire_lock(0);
        FLUSH();
        small[0]++;
        FLUSH();
        RCCE_release_lock(0);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    FLUSH();
    EQUAL(small[0], turns * (turns + 1) / 2 + rounds * size);
    EQUAL(RCCE_DCMflush(), RCCE_SUCCESS);
    RCCE_barrier(&RCCE_COMM_WORLD);
    /* What was freed is allocated again. */
    RCCE_shfree((t_vcharp)small);
    RCCE_shfree((t_vcharp)small);
    RCCE_shfree((t_vcharp)&me);
    CHECK((int *)RCCE_shmalloc(64) == small);
    EQUAL(RCCE_finalize(), RCCE_SUCCESS);
    return 0;
}
