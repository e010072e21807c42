/*
 * What calls of RCCE take on rank 0, each between two looks at the clock: the first of its kind, and those that follow. Where a call
 * waits for the other rank, that has come before. With GORY defined calls of the gory interface, else the others. Rank 0 prints
 * samples as programs of Atoll do.
 *
 * usage: calls ALGORITHM
 */
#include "RCCE.h"
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 9, MOST = 16, BYTES = 64 };

/* Seconds after which the other rank has come. */
static const double LATE = 3e-5;

static struct {
    const char *name;
    double ns[TURNS];
} all[MOST];
static int count, me;

static void be_late(void)
{
    for (double end = RCCE_wtime() + LATE; RCCE_wtime() < end;)
        ;
}

/* What rank 0 calls, and what rank 1 does for it. */
#define TIMED(what, call, others)                                                                                      \
    do {                                                                                                               \
        RCCE_barrier(&RCCE_COMM_WORLD);                                                                                \
        for (int turn = 0; turn < TURNS; turn++) {                                                                     \
            if (me != 0) {                                                                                             \
                others;                                                                                                \
                continue;                                                                                              \
            }                                                                                                          \
            be_late();                                                                                                 \
            double begin = RCCE_wtime();                                                                               \
            call;                                                                                                      \
            all[count].ns[turn] = (RCCE_wtime() - begin) * 1e9;                                                        \
        }                                                                                                              \
        all[count++].name = what;                                                                                      \
    } while (0)

int RCCE_APP(int argc, char **argv)
{
    static char bytes[BYTES];
    RCCE_init(&argc, &argv);
    me = RCCE_ue();
    if (argc != 2)
        exit(1);
    TIMED("now_ns", , );
#ifdef GORY
    RCCE_FLAG flag;
    RCCE_FLAG_STATUS value;
    t_vcharp block = RCCE_malloc(BYTES);
    RCCE_flag_alloc(&flag);
    TIMED("put", RCCE_put(block, (t_vcharp)bytes, BYTES, 1), );
    TIMED("get", RCCE_get((t_vcharp)bytes, block, BYTES, 1), );
    TIMED("flag_write", RCCE_flag_write(&flag, RCCE_FLAG_SET, 0), );
    TIMED("flag_read", RCCE_flag_read(flag, &value, 0), );
    TIMED("flag_wait", RCCE_wait_until(flag, RCCE_FLAG_SET), );
#else
    static double one = 1, sum;
    TIMED("barrier", RCCE_barrier(&RCCE_COMM_WORLD), RCCE_barrier(&RCCE_COMM_WORLD));
    TIMED("send", RCCE_send(bytes, BYTES, 1), RCCE_recv(bytes, BYTES, 0));
    TIMED("receive", RCCE_recv(bytes, BYTES, 1), RCCE_send(bytes, BYTES, 0));
    TIMED("broadcast", RCCE_bcast(bytes, BYTES, 0, RCCE_COMM_WORLD), RCCE_bcast(bytes, BYTES, 0, RCCE_COMM_WORLD));
    TIMED("reduce", RCCE_allreduce((char *)&one, (char *)&sum, 1, RCCE_DOUBLE, RCCE_SUM, RCCE_COMM_WORLD),
          RCCE_allreduce((char *)&one, (char *)&sum, 1, RCCE_DOUBLE, RCCE_SUM, RCCE_COMM_WORLD));
    /* With its release. */
    TIMED("acquire", (RCCE_acquire_lock(0), RCCE_release_lock(0)), );
#endif
    for (int at = 0; me == 0 && at < count; at++) {
        printf("@samples algorithm=%s ranks=2 param=0 bytes=0 metric=%s.first unit=ns %.0f\n", argv[1], all[at].name,
               all[at].ns[0]);
        printf("@samples algorithm=%s ranks=2 param=0 bytes=0 metric=%s.each unit=ns", argv[1], all[at].name);
        for (int turn = 2; turn < TURNS; turn++)
            printf(" %.0f", all[at].ns[turn]);
        printf("\n");
    }
    RCCE_finalize();
    return 0;
}
