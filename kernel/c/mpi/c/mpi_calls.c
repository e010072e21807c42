/* MPI: the functions of the lists, each of which is one of the table. */

#include <atoll/mpi.h>
#include <stdlib.h>

const struct atoll_mpi *atoll_mpi_table(void)
{
    const struct atoll_mpi *table = atoll_services->mpi;
    if (table->bytes != sizeof *table)
        abort();
    return table;
}

#define SERVICE(name, parameters, ...)
#define SERVICE0(name)
#define CALL(name, parameters, ...)                                        \
    int PMPI_##name parameters                                             \
    {                                                                      \
        return atoll_mpi_table()->name(atoll_context, __VA_ARGS__);        \
    }                                                                      \
    ATOLL_BOTH(name);
#define CALL0(name)                                        \
    int PMPI_##name(void)                                  \
    {                                                      \
        return atoll_mpi_table()->name(atoll_context);     \
    }                                                      \
    ATOLL_BOTH(name);

#include <atoll/mpi_core.h>
#include <atoll/mpi_types.h>
#include <atoll/mpi_windows.h>
