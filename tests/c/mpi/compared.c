/* test: cores=3,8 checked */
/* test: cores=3 options=-DFATAL checked fails="MPI_Allreduce: MPI_ERR_NOT_SAME: arguments differ between ranks: rank 2 calls blocking allreduce of 4 bytes of MPI_INT by Maximum, rank 0 blocking allreduce of 4 bytes of MPI_INT by Sum; all have to name the same" */
/* Where arguments are compared, ranks that call an operation of all differently fail together, whatever operation it is, in whatever form and
 * communicator. */
#include "../check.h"
#include <mpi.h>

static int me, size, odd;

static void all_differ(MPI_Comm comm)
{
    int own[24] = {0}, all[24], counts[8], places[8];
    MPI_Op op = odd ? MPI_MAX : MPI_SUM;
    MPI_Datatype type = odd ? MPI_FLOAT : MPI_INT;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 8; i++)
        counts[i] = 1 + odd, places[i] = i;
#define DIFFERS(call) EQUAL(call, MPI_ERR_NOT_SAME)
    DIFFERS(MPI_Bcast(own, 1, MPI_INT, odd, comm));
    DIFFERS(MPI_Bcast(own, 1 + odd, MPI_INT, 0, comm));
    DIFFERS(MPI_Ibcast(own, 1 + odd, MPI_INT, 0, comm, &request));
    DIFFERS(MPI_Gather(own, 1, MPI_INT, all, 1, MPI_INT, odd, comm));
    DIFFERS(MPI_Scatter(own, 1, MPI_INT, all, 1, MPI_INT, odd, comm));
    DIFFERS(MPI_Allgather(own, 1, MPI_INT, all, 1 + odd, MPI_INT, comm));
    DIFFERS(MPI_Allgatherv(own, 1, MPI_INT, all, counts, places, MPI_INT, comm));
    DIFFERS(MPI_Alltoall(own, 1, MPI_INT, all, 1 + odd, MPI_INT, comm));
    DIFFERS(MPI_Reduce(own, all, 1, MPI_INT, op, 0, comm));
    DIFFERS(MPI_Allreduce(own, all, 1, type, MPI_SUM, comm));
    DIFFERS(MPI_Allreduce(own, all, 1 + odd, MPI_INT, MPI_SUM, comm));
    DIFFERS(MPI_Iallreduce(own, all, 1, MPI_INT, op, comm, &request));
    DIFFERS(MPI_Reduce_scatter(own, all, counts, MPI_INT, MPI_SUM, comm));
    DIFFERS(MPI_Scan(own, all, 1, MPI_INT, op, comm));
    DIFFERS(odd ? MPI_Barrier(comm) : MPI_Bcast(own, 1, MPI_INT, 0, comm));
    DIFFERS(odd ? MPI_Barrier(comm) : MPI_Ibarrier(comm, &request));
    EQUAL(request == MPI_REQUEST_NULL, 1);
    /* What a rank finds itself is its own error, and keeps nobody waiting. */
    EQUAL(MPI_Bcast(own, odd ? -1 : 1, MPI_INT, 0, comm), odd ? MPI_ERR_COUNT : MPI_ERR_NOT_SAME);
    EQUAL(MPI_Bcast(own, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
}

static void none_differs(MPI_Comm comm)
{
    int own = 1, all[8], sum, counts[8], places[8];
    MPI_Request request;
    for (int i = 0; i < 8; i++)
        counts[i] = 1, places[i] = i;
    EQUAL(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EQUAL(sum, size);
    /* Each rank sends as much as it wants to. */
    counts[0] = 0;
    EQUAL(MPI_Gatherv(&own, me > 0, MPI_INT, all, counts, places, MPI_INT, 0, comm), MPI_SUCCESS);
    EQUAL(MPI_Ibarrier(comm, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(MPI_Barrier(comm), MPI_SUCCESS);
}

/* Calls of two groups are not compared: of a root's group only the root names a length, and all of them are right. */
static void between_groups(void)
{
    int rank, mine, is_left, value;
    MPI_Comm local, inter;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_left = rank < size / 2 + 1;
    MPI_Comm_split(MPI_COMM_WORLD, is_left, rank, &local);
    MPI_Comm_rank(local, &mine);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, is_left ? size / 2 + 1 : 0, 5, &inter);
    value = is_left ? 7 : -1;
    EQUAL(MPI_Bcast(&value, is_left && mine ? 0 : 1, MPI_INT, !is_left ? 0 : mine ? MPI_PROC_NULL : MPI_ROOT, inter), MPI_SUCCESS);
    EQUAL(value, 7);
    MPI_Comm_free(&inter), MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &size);
    odd = me == 2;
#ifdef FATAL
    int own = 1, all;
    MPI_Allreduce(&own, &all, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    all_differ(MPI_COMM_WORLD), none_differs(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me == 1 ? -1 : me, &turned);
    MPI_Comm_rank(turned, &me);
    all_differ(turned), none_differs(turned);
    MPI_Comm_free(&turned);
    between_groups();
    MPI_Finalize();
    return 0;
}
