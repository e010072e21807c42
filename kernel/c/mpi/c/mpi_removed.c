/* MPI: functions that version 3.0 has removed, by those that came instead. */

#include <atoll/mpi.h>

int PMPI_Address(void *location, MPI_Aint *address)
{
    return PMPI_Get_address(location, address);
}
ATOLL_BOTH(Address);

int PMPI_Errhandler_create(MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler(handler_fn, errhandler);
}
ATOLL_BOTH(Errhandler_create);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_get_errhandler(comm, errhandler);
}
ATOLL_BOTH(Errhandler_get);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return PMPI_Comm_set_errhandler(comm, errhandler);
}
ATOLL_BOTH(Errhandler_set);

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lower;
    return PMPI_Type_get_extent(datatype, &lower, extent);
}
ATOLL_BOTH(Type_extent);

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return PMPI_Type_get_extent(datatype, displacement, &extent);
}
ATOLL_BOTH(Type_lb);

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    int error = PMPI_Type_get_extent(datatype, displacement, &extent);
    if (!error)
        *displacement += extent;
    return error;
}
ATOLL_BOTH(Type_ub);

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
ATOLL_BOTH(Type_hvector);

int PMPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}
ATOLL_BOTH(Type_hindexed);

int PMPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype)
{
    return PMPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}
ATOLL_BOTH(Type_struct);
