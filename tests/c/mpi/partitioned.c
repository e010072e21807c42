/* test: cores=1,2,5 */
/* Partitioned messages: parts in any order, ends that divide differently, matching by the order of making, misuse. */
#include "../check.h"
#include <mpi.h>

enum { PARTS = 8, COUNT = 100, ALL = PARTS * COUNT };

static int me, size, next, before;
static double sent[ALL], received[ALL];

static void fill(int round)
{
    for (int at = 0; at < ALL; at++) {
        sent[at] = me * 1000 + at + round;
        received[at] = -1;
    }
}

static void compare(int round, int first, int end)
{
    for (int at = first; at < end; at++)
        EQUAL(received[at], before * 1000 + at + round);
}

static void parts(void)
{
    MPI_Request both[2];
    MPI_Status status;
    int flag, count, order[PARTS] = {3, 1, 0, 2, 7, 6, 5, 4};
    MPI_Psend_init(sent, PARTS, COUNT, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(received, PARTS / 2, 2 * COUNT, MPI_DOUBLE, before, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    for (int round = 0; round < 3; round++) {
        fill(round);
        MPI_Startall(2, both);
        MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE);
        EQUAL(flag, 0);
        if (round == 0) {
            /* Half of it has come before the other half is ready. */
            MPI_Pready_range(PARTS / 2, PARTS - 1, both[0]);
            for (int part = PARTS / 4; part < PARTS / 2; part++)
                for (flag = 0; !flag;)
                    MPI_Parrived(both[1], part, &flag);
            compare(round, ALL / 2, ALL);
            MPI_Parrived(both[1], 0, &flag);
            EQUAL(flag, 0);
            for (int part = PARTS / 2; part-- > 0;)
                MPI_Pready(part, both[0]);
            EQUAL(MPI_Pready(0, both[0]), MPI_ERR_ARG);
            EQUAL(MPI_Pready(PARTS, both[0]), MPI_ERR_ARG);
            EQUAL(MPI_Pready(-1, both[0]), MPI_ERR_ARG);
            EQUAL(MPI_Pready_list(-1, order, both[0]), MPI_ERR_ARG);
            EQUAL(MPI_Pready(0, both[1]), MPI_ERR_REQUEST);
            EQUAL(MPI_Cancel(&both[1]), MPI_ERR_REQUEST);
        } else {
            MPI_Pready_list(PARTS, order, both[0]);
        }
        MPI_Wait(&both[1], &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 5 && count == ALL);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        compare(round, 0, ALL);
    }
    EQUAL(MPI_Pready(0, both[0]), MPI_ERR_REQUEST);
    MPI_Parrived(both[1], 1, &flag);
    EQUAL(flag, 1);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    flag = 0;
    MPI_Parrived(both[1], 0, &flag);
    EQUAL(flag, 1);
}

static void matching(void)
{
    MPI_Request all[4];
    int from[2] = {me, me + 100}, to[2] = {-1, -1}, plain = me + 7, other = -1;
    for (int at = 0; at < 2; at++) {
        MPI_Psend_init(&from[at], 1, 1, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &all[at]);
        MPI_Precv_init(&to[at], 1, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &all[2 + at]);
    }
    for (int at = 3; at >= 0; at--) {
        MPI_Start(&all[at]);
        if (at < 2)
            MPI_Pready(0, all[at]);
    }
    /* A message with the same tag is another one. */
    MPI_Sendrecv(&plain, 1, MPI_INT, next, 1, &other, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    CHECK(to[0] == before && to[1] == before + 100 && other == before + 7);
    for (int at = 0; at < 4; at++)
        MPI_Request_free(&all[at]);
}

/* Elements with gaps, lengths that differ, and nobody. */
static void ends(void)
{
    MPI_Request both[2];
    MPI_Datatype pairs;
    int from[12], to[6] = {0}, expected[6] = {0, 2, 3, 5, 6, 8};
    for (int at = 0; at < 12; at++)
        from[at] = at;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int is_short = 0; is_short < 2; is_short++) {
        MPI_Psend_init(from, 3 - is_short, 1, pairs, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
        MPI_Precv_init(to, 1, 6, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
        for (int round = 0; round < 2; round++) {
            for (int at = 0; at < 6; at++)
                to[at] = -1;
            MPI_Startall(2, both);
            MPI_Pready_range(0, 2 - is_short, both[0]);
            EQUAL(MPI_Wait(&both[1], MPI_STATUS_IGNORE), is_short ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            MPI_Wait(&both[0], MPI_STATUS_IGNORE);
            for (int at = 0; at < 6; at++)
                EQUAL(to[at], is_short ? -1 : expected[at]);
        }
        MPI_Request_free(&both[0]);
        MPI_Request_free(&both[1]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&pairs);
    MPI_Psend_init(from, 3, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    EQUAL(MPI_Precv_init(to, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]), MPI_ERR_RANK);
    EQUAL(MPI_Precv_init(to, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]), MPI_ERR_TAG);
    MPI_Start(&both[0]);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&both[0]);
    EQUAL(MPI_Psend_init_c(from, 1 << 30, (MPI_Count)1 << 40, MPI_INT, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &both[0]),
          MPI_ERR_COUNT);
}

/* No bytes are a message, too, and some are more than none. */
static void nothing(void)
{
    MPI_Request both[2];
    MPI_Status status;
    int from[2] = {1, 2}, flag, count;
    for (int number = 0; number < 2; number++) {
        MPI_Psend_init(from, 2, number, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
        MPI_Precv_init(NULL, 0, 0, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
        for (int round = 0; round < 2; round++) {
            MPI_Startall(2, both);
            MPI_Pready(1, both[0]);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Test(&both[1], &flag, MPI_STATUS_IGNORE);
            EQUAL(flag, 0);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Pready_list(1, (int[]){0}, both[0]);
            EQUAL(MPI_Wait(&both[1], &status), number ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            MPI_Wait(&both[0], MPI_STATUS_IGNORE);
            MPI_Get_count(&status, MPI_INT, &count);
            EQUAL(count, 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Request_free(&both[0]);
        MPI_Request_free(&both[1]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    next = (me + 1) % size;
    before = (me + size - 1) % size;
    parts();
    matching();
    ends();
    nothing();
    MPI_Finalize();
    return 0;
}
