/* test: cores=2 fails="MPI_Ssend: MPI_ERR_TAG: the tag is out of range: tag -5" */
/* An error that nobody handles ends the rank, and says where and why. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int number = 0;
    MPI_Init(&argc, &argv);
    MPI_Ssend(&number, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
