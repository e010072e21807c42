/* Shared memory of RCCE and buffers of iRCCE's requests: wrong where `WRONG` is defined, and right otherwise. What is to be found
   is said at the lines: `found KIND: LETTER`, both places of a finding having one letter. */
#include "../check.h"
#include <RCCE.h>
#include <iRCCE.h>
#include <stdio.h>
#include <string.h>

static int me;

static int *shared(void)
{
    int *memory = (int *)RCCE_shmalloc(4 * RCCE_LINE_SIZE);
    if (me == 0)
        memset(memory, 0, 4 * RCCE_LINE_SIZE);
    RCCE_shflush();
    RCCE_barrier(&RCCE_COMM_WORLD);
    return memory;
}

/* The writer does not flush. */
static void not_written_back(void)
{
    int *memory = shared();
    if (me == 0)
        memory[0] = 42; /* stale: a */
#ifndef WRONG
    RCCE_shflush();
#endif
    RCCE_barrier(&RCCE_COMM_WORLD);
    if (me == 1) {
        RCCE_shflush();
        printf("%d\n", memory[0]); /* a */
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
}

/* The reader has the line from before. */
static void not_forgotten(void)
{
    int *memory = shared();
    if (me == 1 && memory[8] != 0)
        printf("too early\n");
    RCCE_barrier(&RCCE_COMM_WORLD);
    if (me == 0) {
        strcpy((char *)&memory[8], "new"); /* b */
        RCCE_shflush();
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
#ifndef WRONG
    RCCE_shflush();
#endif
    if (me == 1)
        printf("%s\n", (char *)&memory[8]); /* stale: b */
    RCCE_barrier(&RCCE_COMM_WORLD);
}

/* Two ranks in one line. */
static void one_line(void)
{
    int *memory = shared();
#ifdef WRONG
    int *own = memory + 16 + me;
#else
    int *own = memory + 16 + me * RCCE_LINE_SIZE / sizeof(int);
#endif
    *own = me; /* lost: c */
    RCCE_shflush();
    RCCE_barrier(&RCCE_COMM_WORLD);
}

/* What is received is looked at before it is there. */
static void too_early(void)
{
    iRCCE_SEND_REQUEST send;
    iRCCE_RECV_REQUEST receive;
    int number = 7, got = 0;
    if (me == 0) {
        iRCCE_isend((char *)&number, sizeof number, 1, &send); /* d */
#ifdef WRONG
        number = 8; /* buffer in use: d */
#endif
        iRCCE_isend_wait(&send);
    } else if (me == 1) {
        iRCCE_irecv((char *)&got, sizeof got, 0, &receive); /* e */
#ifdef WRONG
        printf("%d\n", got); /* buffer in use: e */
#endif
        iRCCE_irecv_wait(&receive);
        printf("%d\n", got);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
}

/* A request that was cancelled leaves its buffer alone. */
static void cancelled(void)
{
    iRCCE_RECV_REQUEST first, second;
    int number = 7, got[2] = {0, 0}, was_cancelled = 0;
    if (me == 1) {
        iRCCE_irecv((char *)&got[0], sizeof got[0], 0, &first);
        iRCCE_irecv((char *)&got[1], sizeof got[1], 0, &second);
        iRCCE_irecv_cancel(&second, &was_cancelled);
        CHECK(was_cancelled);
        got[1] = 5;
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
    if (me == 0)
        iRCCE_send((char *)&number, sizeof number, 1);
    else if (me == 1)
        iRCCE_irecv_wait(&first);
    RCCE_barrier(&RCCE_COMM_WORLD);
}

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    iRCCE_init();
    me = RCCE_ue();
    not_written_back();
    not_forgotten();
    one_line();
    too_early();
    cancelled();
    RCCE_finalize();
    return 0;
}
