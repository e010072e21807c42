/* test: cores=2 options=-DSHARED says="core 0 has not freed 1000 bytes of shared memory, allocated in main (tests/c/rcce/leaks.c:28)" */
/* test: cores=2 options=-DBUFFERS says="core 0 has not freed 96 bytes of the MPBs, allocated in lines (tests/c/rcce/leaks.c:17)" */
/* test: cores=2 options=-DFLAGS,-DGORY says="core 0 has not freed 2 flags, allocated in main (tests/c/rcce/leaks.c:33)" */

#include <RCCE.h>
#include <stdlib.h>

/* What a program never frees is told with the place that has allocated it, and what it frees is not. */

RCCE_FLAG flag[3];

/* The compiler does not know these: so the loop is not unrolled, and `lines` is still there when it has called. */
static volatile int flags = 3, calls;

__attribute__((noinline)) static t_vcharp lines(int count)
{
    t_vcharp start = RCCE_malloc(count * RCCE_LINE_SIZE);
    calls++;
    return start;
}

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    t_vcharp block = RCCE_shmalloc(64);
    t_vcharp two[2] = {lines(2), lines(1)};
#ifdef SHARED
    RCCE_shmalloc(1000);
#endif
    RCCE_shfree(block);
    for (int which = 0; which < flags; which++)
        /* The last one is freed. */
        RCCE_flag_alloc(&flag[which]);
    RCCE_flag_free(&flag[2]);
#ifndef FLAGS
    RCCE_flag_free(&flag[0]);
    RCCE_flag_free(&flag[1]);
#endif
#ifndef BUFFERS
    RCCE_free(two[0]);
    RCCE_free(two[1]);
#endif
    (void)two;
    RCCE_finalize();
    return 0;
}
