/* test: cores=2 fails="MPI_File_sync is not provided by Atoll" */
/* What is not provided links, and ends the program by name. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_File_sync(MPI_FILE_NULL);
    MPI_Finalize();
    return 0;
}
