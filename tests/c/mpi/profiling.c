/* test: cores=1,2 says="counted 3 sends" */
/* A program's own functions come before ours, which have names of their own. */
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int main(int argc, char **argv)
{
    int me, found;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 3; i++) {
        MPI_Send(&i, 1, MPI_INT, me, i, MPI_COMM_WORLD);
        MPI_Recv(&found, 1, MPI_INT, me, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("counted %d sends\n", sends);
    MPI_Finalize();
    return 0;
}
