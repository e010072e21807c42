/* MPI: files. There are none: whoever wants one gets an error, by the handler of MPI_FILE_NULL. */

#include <atoll/mpi.h>

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    (void)filename, (void)amode, (void)info;
    ATOLL_NEEDS(File_open, fh, comm);
    *fh = MPI_FILE_NULL;
    return ATOLL(file_refuse, "File_open");
}
ATOLL_BOTH(File_open);

int PMPI_File_delete(const char *filename, MPI_Info info)
{
    (void)filename, (void)info;
    return ATOLL(file_refuse, "File_delete");
}
ATOLL_BOTH(File_delete);
