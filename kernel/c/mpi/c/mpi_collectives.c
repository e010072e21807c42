/* MPI: operations of all, in all forms. */

#include <atoll/mpi.h>

/* Parameters that several have, and what is said of them. BY_RANK is the count of a
   side whose counts are in an array: it is negative, so that a null array is refused as MPI_ERR_COUNT. */
#define BY_RANK (-1)
#define PAIR                                                                                                            \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype
#define ALIKE                                                                                                           \
    .send = {sendbuf, sendcount, sendtype, NULL, NULL, NULL}, .receive = {recvbuf, recvcount, recvtype, NULL, NULL, NULL}
#define FROM_EACH                                                                                                       \
    const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],               \
        const PLACE displs[], MPI_Datatype recvtype
#define ONE_TO_MANY                                                                                                     \
    .send = {sendbuf, sendcount, sendtype, NULL, NULL, NULL}, .receive = {recvbuf, BY_RANK, recvtype, recvcounts, displs, NULL}
#define TO_EACH                                                                                                         \
    const void *sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype sendtype, void *recvbuf,         \
        const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype
#define MANY_TO_MANY                                                                                                    \
    .send = {sendbuf, BY_RANK, sendtype, sendcounts, sdispls, NULL},                                                    \
    .receive = {recvbuf, BY_RANK, recvtype, recvcounts, rdispls, NULL}
#define TYPES(DISPLACEMENT)                                                                                             \
    const void *sendbuf, const COUNT sendcounts[], const DISPLACEMENT sdispls[], const MPI_Datatype sendtypes[],        \
        void *recvbuf, const COUNT recvcounts[], const DISPLACEMENT rdispls[], const MPI_Datatype recvtypes[]
#define BY_BYTES                                                                                                        \
    .send = {sendbuf, BY_RANK, NULL, sendcounts, sdispls, sendtypes},                                                   \
    .receive = {recvbuf, BY_RANK, NULL, recvcounts, rdispls, recvtypes}
#define OPERANDS const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op
#define REDUCED                                                                                                         \
    .send = {sendbuf, count, datatype, NULL, NULL, NULL}, .receive = {recvbuf, count, datatype, NULL, NULL, NULL}, .op = op

#define DEFINE(function, kind_of, form_of, parameters, request, ...)                                                    \
    int PMPI_##function parameters                                                                                      \
    {                                                                                                                   \
        const struct atoll_mpi_collective call = {.wide_counts = sizeof(COUNT) > 4, .wide_places = WIDE_PLACES,         \
                                                  __VA_ARGS__, .name = #function, .kind = kind_of,                      \
                                                  .form = form_of, .comm = comm};                                       \
        return ATOLL(collective, &call, request);                                                                       \
    }                                                                                                                   \
    ATOLL_BOTH(function);

#define ALL_FORMS(blocking, nonblocking, persistent, kind, parameters, ...)                                             \
    DEFINE(blocking, kind, ATOLL_BLOCKING, (ATOLL_ALL parameters, MPI_Comm comm), NULL, __VA_ARGS__)                    \
    DEFINE(nonblocking, kind, ATOLL_NONBLOCKING, (ATOLL_ALL parameters, MPI_Comm comm, MPI_Request * request), request, \
           __VA_ARGS__)                                                                                                 \
    DEFINE(persistent, kind, ATOLL_PERSISTENT,                                                                          \
           (ATOLL_ALL parameters, MPI_Comm comm, ATOLL_UNUSED MPI_Info info, MPI_Request * request), request,           \
           __VA_ARGS__)
#define ATOLL_UNUSED __attribute__((unused))

/* What is said twice of an operation is said rightly the second time. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define COUNT int
#define PLACE int
#define WIDE_PLACES 0
#define FORMS(Name, name, kind, parameters, ...) ALL_FORMS(Name, I##name, Name##_init, kind, parameters, __VA_ARGS__)
#include <atoll/mpi_collectives.h>
#undef COUNT
#undef PLACE
#undef WIDE_PLACES
#undef FORMS

#define COUNT MPI_Count
#define PLACE MPI_Aint
/* MPI_Aint has as many bytes as a pointer. */
#define WIDE_PLACES (sizeof(MPI_Aint) > 4)
#define FORMS(Name, name, kind, parameters, ...)                                                                        \
    ALL_FORMS(Name##_c, I##name##_c, Name##_init_c, kind, parameters, __VA_ARGS__)
#include <atoll/mpi_collectives.h>

int PMPI_Barrier(MPI_Comm comm)
{
    const struct atoll_mpi_collective call = {
        .name = "Barrier", .kind = ATOLL_BARRIER, .form = ATOLL_BLOCKING, .op = MPI_OP_NULL, .comm = comm};
    return ATOLL(collective, &call, NULL);
}
ATOLL_BOTH(Barrier);

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    const struct atoll_mpi_collective call = {
        .name = "Ibarrier", .kind = ATOLL_BARRIER, .form = ATOLL_NONBLOCKING, .op = MPI_OP_NULL, .comm = comm};
    return ATOLL(collective, &call, request);
}
ATOLL_BOTH(Ibarrier);

int PMPI_Barrier_init(MPI_Comm comm, ATOLL_UNUSED MPI_Info info, MPI_Request *request)
{
    const struct atoll_mpi_collective call = {
        .name = "Barrier_init", .kind = ATOLL_BARRIER, .form = ATOLL_PERSISTENT, .op = MPI_OP_NULL, .comm = comm};
    return ATOLL(collective, &call, request);
}
ATOLL_BOTH(Barrier_init);
