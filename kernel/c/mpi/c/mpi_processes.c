/* MPI: processes that a program starts or meets while it runs. There are none: errors say so. */

#include <atoll/mpi.h>

/* Whatever a program names: what it names is not there. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm *intercomm, int array_of_errcodes[])
{
    ATOLL_NEEDS(Comm_spawn, intercomm, comm);
    int rank, error = PMPI_Comm_rank(comm, &rank);
    if (error)
        return error;
    if (rank == root && array_of_errcodes != MPI_ERRCODES_IGNORE)
        for (int at = 0; at < maxprocs; at++)
            array_of_errcodes[at] = MPI_ERR_SPAWN;
    *intercomm = MPI_COMM_NULL;
    return ATOLL(refuse, "Comm_spawn", MPI_ERR_SPAWN, comm);
}
ATOLL_BOTH(Comm_spawn);

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
                             MPI_Comm *intercomm, int array_of_errcodes[])
{
    ATOLL_NEEDS(Comm_spawn_multiple, intercomm, comm);
    int rank, error = PMPI_Comm_rank(comm, &rank);
    if (error)
        return error;
    if (rank == root && array_of_errcodes != MPI_ERRCODES_IGNORE)
        for (int at = 0, code = 0; at < count; at++)
            for (int process = 0; process < array_of_maxprocs[at]; process++)
                array_of_errcodes[code++] = MPI_ERR_SPAWN;
    *intercomm = MPI_COMM_NULL;
    return ATOLL(refuse, "Comm_spawn_multiple", MPI_ERR_SPAWN, comm);
}
ATOLL_BOTH(Comm_spawn_multiple);

#define REFUSES(name, parameters, error, comm)                                                                          \
    int PMPI_##name parameters                                                                                          \
    {                                                                                                                   \
        return ATOLL(refuse, #name, error, comm);                                                                       \
    }                                                                                                                   \
    ATOLL_BOTH(name);

REFUSES(Open_port, (MPI_Info info, char *port_name), MPI_ERR_UNSUPPORTED_OPERATION, MPI_COMM_SELF)
REFUSES(Close_port, (const char *port_name), MPI_ERR_PORT, MPI_COMM_SELF)
REFUSES(Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm), MPI_ERR_PORT,
        comm)
REFUSES(Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm), MPI_ERR_PORT,
        comm)
REFUSES(Comm_join, (int fd, MPI_Comm *intercomm), MPI_ERR_UNSUPPORTED_OPERATION, MPI_COMM_SELF)
REFUSES(Publish_name, (const char *service_name, MPI_Info info, const char *port_name), MPI_ERR_SERVICE, MPI_COMM_SELF)
REFUSES(Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name), MPI_ERR_SERVICE,
        MPI_COMM_SELF)
REFUSES(Lookup_name, (const char *service_name, MPI_Info info, char *port_name), MPI_ERR_NAME, MPI_COMM_SELF)
