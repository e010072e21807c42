/* test: cores=2 fails="MPI_File_open is not provided by Atoll" */
/* What is not provided links, and ends the program by name. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Finalize();
    return 0;
}
