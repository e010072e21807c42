/* test: cores=3 */
/* Operations of all that go on after their making: persistent ones in an order of each rank's own, and reductions whose datatype the
 * program has freed by then. */
#include "../check.h"
#include <mpi.h>

static int me, ranks;

/* Two broadcasts, a barrier and a reduction, several times. */
static void own_orders(MPI_Comm comm)
{
    enum { OPERATIONS = 4, ROUNDS = 3 };
    int first, second, sum;
    MPI_Request all[OPERATIONS];
    MPI_Bcast_init(&first, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &all[0]);
    MPI_Bcast_init(&second, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &all[1]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &all[2]);
    MPI_Allreduce_init(&me, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &all[3]);
    for (int round = 0; round < ROUNDS; round++) {
        first = me ? -1 : 100 + round, second = me ? -1 : 200 + round, sum = -1;
        /* Others are begun between them, in the same order everywhere. */
        int begun = me ? -1 : 300 + round;
        MPI_Request request;
        MPI_Start(&all[me % OPERATIONS]);
        MPI_Ibcast(&begun, 1, MPI_INT, 0, comm, &request);
        for (int next = 1; next < OPERATIONS; next++)
            MPI_Start(&all[(me + next) % OPERATIONS]);
        MPI_Waitall(OPERATIONS, all, MPI_STATUSES_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(first, 100 + round);
        EQUAL(second, 200 + round);
        EQUAL(begun, 300 + round);
        EQUAL(sum, ranks * (ranks - 1) / 2);
    }
    for (int operation = 0; operation < OPERATIONS; operation++)
        MPI_Request_free(&all[operation]);
}

/* Adds ints as far apart as the datatype says. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint bound, extent;
    EQUAL(MPI_Type_get_extent(*type, &bound, &extent), MPI_SUCCESS);
    EQUAL(extent, 2 * sizeof(int));
    for (int at = 0; at < *count; at++)
        *(int *)((char *)inout + at * extent) += *(int *)((char *)in + at * extent);
}

static void freed_types(void)
{
    enum { VALUES = 4 };
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int is_persistent = 0; is_persistent < 2; is_persistent++) {
        int values[2 * VALUES] = {1, 0, 2, 0, 3, 0, 4, 0}, size;
        MPI_Datatype type, next;
        MPI_Request request;
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
        MPI_Type_commit(&type);
        if (is_persistent)
            MPI_Allreduce_init(MPI_IN_PLACE, values, VALUES, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        else
            MPI_Iallreduce(MPI_IN_PLACE, values, VALUES, type, op, MPI_COMM_WORLD, &request);
        MPI_Datatype old = type;
        MPI_Type_free(&type);
        if (is_persistent) {
            /* It is freed for the program. */
            MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
            EQUAL(MPI_Type_size(old, &size), MPI_ERR_TYPE);
            MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
            MPI_Start(&request);
        }
        /* It may have the handle of the other one. */
        MPI_Type_create_resized(MPI_INT, 0, sizeof(int), &next);
        MPI_Type_commit(&next);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (is_persistent)
            MPI_Request_free(&request);
        for (int at = 0; at < VALUES; at++)
            EQUAL(values[2 * at], (at + 1) * ranks);
        MPI_Type_free(&next);
    }
    MPI_Op_free(&op);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    own_orders(MPI_COMM_WORLD);
    own_orders(copy);
    freed_types();
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
