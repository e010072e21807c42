/* test: cores=2 options=-DSHARED says="core 0 has not freed 1000 bytes of shared memory, allocated in main (tests/c/rcce/leaks.c:23)" */
/* test: cores=2 options=-DBUFFERS says="core 0 has not freed 64 bytes of the MPBs, allocated in lines (tests/c/rcce/leaks.c:14)" */
/* test: cores=2 options=-DFLAGS,-DGORY says="core 0 has not freed 1 flag, allocated in main (tests/c/rcce/leaks.c:28)" */

#include <RCCE.h>
#include <stdlib.h>

/* What a program never frees is told with the place that has allocated it, and what it frees is not. */

RCCE_FLAG flag[3];

static t_vcharp lines(int count)
{
    return RCCE_malloc(count * RCCE_LINE_SIZE);
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
    for (int which = 0; which < 3; which++)
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
