/* MPI: what has no errors, and is the same wherever a program runs. */

#include <atoll/mpi.h>
#include <stdlib.h>

double PMPI_Wtime(void)
{
    return atoll_services->now_ns(atoll_context) / 1e9;
}
ATOLL_BOTH(Wtime);

double PMPI_Wtick(void)
{
    return 1e-9;
}
ATOLL_BOTH(Wtick);

int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
ATOLL_BOTH(Pcontrol);

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}
ATOLL_BOTH(Get_address);

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return base + disp;
}
ATOLL_BOTH(Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return addr1 - addr2;
}
ATOLL_BOTH(Aint_diff);

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    (void)info;
    void *block = size < 0 ? NULL : malloc(size > 0 ? size : 1);
    *(void **)baseptr = block;
    if (block == NULL) {
        PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}
ATOLL_BOTH(Alloc_mem);

int PMPI_Free_mem(void *base)
{
    free(base);
    return MPI_SUCCESS;
}
ATOLL_BOTH(Free_mem);

/* Statuses, as they have been made. */
#define FIELD(name, field)                                                                                              \
    int PMPI_Status_get_##name(const MPI_Status *status, int *value)                                                    \
    {                                                                                                                   \
        *value = status->MPI_##field;                                                                                   \
        return MPI_SUCCESS;                                                                                             \
    }                                                                                                                   \
    int PMPI_Status_set_##name(MPI_Status *status, int value)                                                           \
    {                                                                                                                   \
        status->MPI_##field = value;                                                                                    \
        return MPI_SUCCESS;                                                                                             \
    }                                                                                                                   \
    ATOLL_BOTH(Status_get_##name);                                                                                      \
    ATOLL_BOTH(Status_set_##name);

FIELD(source, SOURCE)
FIELD(tag, TAG)
FIELD(error, ERROR)

/* Handles as numbers. */
#define NUMBER(name, type)                                                                                              \
    int PMPI_##name##_toint(type handle)                                                                                \
    {                                                                                                                   \
        return (intptr_t)handle;                                                                                        \
    }                                                                                                                   \
    type PMPI_##name##_fromint(int handle)                                                                              \
    {                                                                                                                   \
        return (type)(intptr_t)handle;                                                                                  \
    }                                                                                                                   \
    extern __typeof__(PMPI_##name##_c2f) PMPI_##name##_c2f __attribute__((alias("PMPI_" #name "_toint")));              \
    extern __typeof__(PMPI_##name##_f2c) PMPI_##name##_f2c __attribute__((alias("PMPI_" #name "_fromint")));            \
    extern __typeof__(PMPI_##name##_c2f) MPI_##name##_c2f __attribute__((weak, alias("PMPI_" #name "_toint")));         \
    extern __typeof__(PMPI_##name##_f2c) MPI_##name##_f2c __attribute__((weak, alias("PMPI_" #name "_fromint")));       \
    ATOLL_BOTH(name##_toint);                                                                                           \
    ATOLL_BOTH(name##_fromint);

NUMBER(Comm, MPI_Comm)
NUMBER(Errhandler, MPI_Errhandler)
NUMBER(File, MPI_File)
NUMBER(Group, MPI_Group)
NUMBER(Info, MPI_Info)
NUMBER(Message, MPI_Message)
NUMBER(Op, MPI_Op)
NUMBER(Request, MPI_Request)
NUMBER(Session, MPI_Session)
NUMBER(Win, MPI_Win)
NUMBER(Type, MPI_Datatype)
