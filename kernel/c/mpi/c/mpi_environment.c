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
    ATOLL_NEEDS(Get_address, address, MPI_COMM_NULL);
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
    ATOLL_NEEDS(Alloc_mem, baseptr, MPI_COMM_NULL);
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

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    ATOLL_NEEDS(Abi_get_version, abi_major, MPI_COMM_NULL);
    ATOLL_NEEDS(Abi_get_version, abi_minor, MPI_COMM_NULL);
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}
ATOLL_BOTH(Abi_get_version);

/* There is nothing to say: no hints of the ABI's, no names of hardware, no hints of communicators that change anything. */
int PMPI_Abi_get_info(MPI_Info *info)
{
    return PMPI_Info_create(info);
}
ATOLL_BOTH(Abi_get_info);

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    return PMPI_Info_create(hw_info);
}
ATOLL_BOTH(Get_hw_resource_info);

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    int keys;
    int error = PMPI_Comm_test_inter(comm, &keys);
    return error || info == MPI_INFO_NULL ? error : PMPI_Info_get_nkeys(info, &keys);
}
ATOLL_BOTH(Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    int error = PMPI_Comm_set_info(comm, MPI_INFO_NULL);
    return error ? error : PMPI_Info_create(info_used);
}
ATOLL_BOTH(Comm_get_info);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    (void)info;
    return PMPI_Comm_idup(comm, newcomm, request);
}
ATOLL_BOTH(Comm_idup_with_info);

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    (void)argc, (void)argv;
    return PMPI_Info_dup(MPI_INFO_ENV, info);
}
ATOLL_BOTH(Info_create_env);

/* Nobody has started this program from another one. */
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    ATOLL_NEEDS(Comm_get_parent, parent, MPI_COMM_NULL);
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
ATOLL_BOTH(Comm_get_parent);

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return PMPI_Status_set_elements_c(status, datatype, count);
}
ATOLL_BOTH(Status_set_elements);

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return PMPI_Status_set_elements_c(status, datatype, count);
}
ATOLL_BOTH(Status_set_elements_x);

/* Attributes of communicators by their old names. */
int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    return PMPI_Comm_set_attr(comm, keyval, attribute_val);
}
ATOLL_BOTH(Attr_put);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, attribute_val, flag);
}
ATOLL_BOTH(Attr_get);

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return PMPI_Comm_delete_attr(comm, keyval);
}
ATOLL_BOTH(Attr_delete);

int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
    return PMPI_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}
ATOLL_BOTH(Keyval_create);

int PMPI_Keyval_free(int *keyval)
{
    return PMPI_Comm_free_keyval(keyval);
}
ATOLL_BOTH(Keyval_free);

/* Statuses, as they have been made. */
#define FIELD(name, field)                                                                                              \
    int PMPI_Status_get_##name(const MPI_Status *status, int *value)                                                    \
    {                                                                                                                   \
        ATOLL_NEEDS(Status_get_##name, status, MPI_COMM_NULL);                                                          \
        ATOLL_NEEDS(Status_get_##name, value, MPI_COMM_NULL);                                                           \
        *value = status->MPI_##field;                                                                                   \
        return MPI_SUCCESS;                                                                                             \
    }                                                                                                                   \
    int PMPI_Status_set_##name(MPI_Status *status, int value)                                                           \
    {                                                                                                                   \
        ATOLL_NEEDS(Status_set_##name, status, MPI_COMM_NULL);                                                          \
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
