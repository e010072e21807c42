/*
 * What the functions of MPI ask the Rust side for: one entry for each function of the lists, which says what it does, and
 * returns its error. The same table as `families/mpi/table.rs` fills, entry by entry.
 */
#ifndef ATOLL_MPI_TABLE_H
#define ATOLL_MPI_TABLE_H

#include <atoll/services.h>
#include <mpi.h>

/* How a message goes, and how it, or an operation of all, is done. */
enum { ATOLL_STANDARD, ATOLL_BUFFERED, ATOLL_SYNCHRONOUS, ATOLL_READY, ATOLL_RECEIVE };
enum { ATOLL_BLOCKING, ATOLL_NONBLOCKING, ATOLL_PERSISTENT };

struct atoll_mpi_message {
    const void *address;
    MPI_Count count;
    MPI_Datatype type;
    int32_t rank;
    int32_t tag;
};

/* Operations of all. Those with counts for each rank are the same ones. */
enum {
    ATOLL_BARRIER,
    ATOLL_BROADCAST,
    ATOLL_GATHER,
    ATOLL_SCATTER,
    ATOLL_ALLGATHER,
    ATOLL_ALLTOALL,
    ATOLL_REDUCE,
    ATOLL_ALLREDUCE,
    ATOLL_REDUCE_SCATTER,
    ATOLL_SCAN,
    ATOLL_EXSCAN,
    ATOLL_NEIGHBOUR_ALLGATHER,
    ATOLL_NEIGHBOUR_ALLTOALL,
};

struct atoll_mpi_side {
    const void *address;
    MPI_Count count;
    MPI_Datatype type;
    /* For each rank, or null pointers: counts, displacements in extents, or in bytes if there are types. */
    const void *counts;
    const void *places;
    const MPI_Datatype *types;
};

struct atoll_mpi_collective {
    const char *name;
    int32_t kind;
    int32_t form;
    /* Whether counts are MPI_Count, and displacements MPI_Aint. */
    int32_t wide_counts;
    int32_t wide_places;
    struct atoll_mpi_side send;
    struct atoll_mpi_side receive;
    MPI_Op op;
    int32_t root;
    MPI_Comm comm;
};

#define ATOLL_ALL(...) __VA_ARGS__
#define SERVICE(name, parameters, ...) int (*name)(void *context, ATOLL_ALL parameters);
#define CALL SERVICE
#define CALL0(name) int (*name)(void *context);
#define SERVICE0 CALL0

struct atoll_mpi {
    uint32_t bytes;
#include <atoll/mpi_core.h>
#include <atoll/mpi_types.h>
#include <atoll/mpi_windows.h>
};

#undef SERVICE
#undef CALL
#undef CALL0
#undef SERVICE0

/* The table, once it has been seen that both sides have the same one. */
const struct atoll_mpi *atoll_mpi_table(void);

#define ATOLL(name, ...) (atoll_mpi_table()->name(atoll_context __VA_OPT__(, ) __VA_ARGS__))

/* Refuses a place that is not there, where the Rust side does not see it; `comm` is MPI_COMM_NULL where a call has none. */
#define ATOLL_NEEDS(name, place, comm)                                                                                  \
    if ((place) == NULL)                                                                                                \
    return ATOLL(no_place, #name, comm)

/* A function of a list, by the name of the profiling interface, and a weak one by its own. */
#define ATOLL_BOTH(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)))

#endif
