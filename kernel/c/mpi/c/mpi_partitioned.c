/* MPI: messages in parts. */

#include <atoll/mpi.h>

#define MAKES(name, receives, BUFFER, COUNT)                                                                            \
    int PMPI_##name(BUFFER *buf, int partitions, COUNT count, MPI_Datatype datatype, int rank, int tag, MPI_Comm comm,  \
                    MPI_Info info, MPI_Request *request)                                                                \
    {                                                                                                                   \
        (void)info;                                                                                                     \
        struct atoll_mpi_message message = {buf, count, datatype, rank, tag};                                           \
        return ATOLL(partitioned_init, #name, receives, partitions, &message, comm, request);                           \
    }                                                                                                                   \
    ATOLL_BOTH(name);

MAKES(Psend_init, 0, const void, int)
MAKES(Psend_init_c, 0, const void, MPI_Count)
MAKES(Precv_init, 1, void, int)
MAKES(Precv_init_c, 1, void, MPI_Count)
