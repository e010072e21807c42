/* MPI: the tool interface, which has no variables, categories, events and sources: tools ask, and find none. */

#include <atoll/mpi.h>
#include <stdlib.h>

/* Whatever a program names: what it names is not there. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* How often a tool has begun, and not ended. */
static int begun;

#define CHECK_BEGUN                                                                                                     \
    if (begun == 0)                                                                                                     \
    return MPI_T_ERR_NOT_INITIALIZED

/* Errors of tools are returned, whatever handlers there are. */
#define NEEDS(place)                                                                                                    \
    if ((place) == NULL)                                                                                                \
    return MPI_T_ERR_INVALID

int PMPI_T_init_thread(int required, int *provided)
{
    NEEDS(provided);
    begun++;
    *provided = required < MPI_THREAD_FUNNELED ? required : MPI_THREAD_FUNNELED;
    return MPI_SUCCESS;
}
ATOLL_BOTH(T_init_thread);

int PMPI_T_finalize(void)
{
    CHECK_BEGUN;
    begun--;
    return MPI_SUCCESS;
}
ATOLL_BOTH(T_finalize);

/* How many there are, or how often that has changed. */
#define NUMBER(name, number)                                                                                            \
    int PMPI_T_##name(int *number)                                                                                      \
    {                                                                                                                   \
        CHECK_BEGUN;                                                                                                    \
        NEEDS(number);                                                                                                  \
        *number = 0;                                                                                                    \
        return MPI_SUCCESS;                                                                                             \
    }                                                                                                                   \
    ATOLL_BOTH(T_##name);

NUMBER(category_changed, update_number)
NUMBER(category_get_num, num_cat)
NUMBER(cvar_get_num, num_cvar)
NUMBER(event_get_num, num_events)
NUMBER(pvar_get_num, num_pvar)
NUMBER(source_get_num, num_sources)

/* A session of a tool is a block of memory, so that each is another one. */
int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    CHECK_BEGUN;
    NEEDS(session);
    *session = malloc(1);
    return *session ? MPI_SUCCESS : MPI_T_ERR_OUT_OF_SESSIONS;
}
ATOLL_BOTH(T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    CHECK_BEGUN;
    NEEDS(session);
    if (*session == MPI_T_PVAR_SESSION_NULL)
        return MPI_T_ERR_INVALID_SESSION;
    free(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}
ATOLL_BOTH(T_pvar_session_free);

/* What names something that is not there. */
#define ANSWER(name, parameters, error)                                                                                 \
    int PMPI_T_##name parameters                                                                                        \
    {                                                                                                                   \
        CHECK_BEGUN;                                                                                                    \
        return error;                                                                                                   \
    }                                                                                                                   \
    ATOLL_BOTH(T_##name);

ANSWER(category_get_categories, (int cat_index, int len, int indices[]), MPI_T_ERR_INVALID_INDEX)
ANSWER(category_get_cvars, (int cat_index, int len, int indices[]), MPI_T_ERR_INVALID_INDEX)
ANSWER(category_get_events, (int cat_index, int len, int indices[]), MPI_T_ERR_INVALID_INDEX)
ANSWER(category_get_info, (int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars, int
       *num_pvars, int *num_categories), MPI_T_ERR_INVALID_INDEX)
ANSWER(category_get_num_events, (int cat_index, int *num_events), MPI_T_ERR_INVALID_INDEX)
ANSWER(category_get_pvars, (int cat_index, int len, int indices[]), MPI_T_ERR_INVALID_INDEX)
ANSWER(cvar_get_info, (int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype, MPI_T_enum
       *enumtype, char *desc, int *desc_len, int *bind, int *scope), MPI_T_ERR_INVALID_INDEX)
ANSWER(cvar_handle_alloc, (int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count),
       MPI_T_ERR_INVALID_INDEX)
ANSWER(event_get_info, (int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[],
       MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc, int
       *desc_len, int *bind), MPI_T_ERR_INVALID_INDEX)
ANSWER(event_handle_alloc, (int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration
       *event_registration), MPI_T_ERR_INVALID_INDEX)
ANSWER(pvar_get_info, (int pvar_index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype
       *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous, int
       *atomic), MPI_T_ERR_INVALID_INDEX)
ANSWER(source_get_info, (int source_index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order
       *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info), MPI_T_ERR_INVALID_INDEX)
ANSWER(source_get_timestamp, (int source_index, MPI_Count *timestamp), MPI_T_ERR_INVALID_INDEX)
ANSWER(pvar_handle_alloc, (MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
       int *count), MPI_T_ERR_INVALID_INDEX)
ANSWER(category_get_index, (const char *name, int *cat_index), MPI_T_ERR_INVALID_NAME)
ANSWER(cvar_get_index, (const char *name, int *cvar_index), MPI_T_ERR_INVALID_NAME)
ANSWER(event_get_index, (const char *name, int *event_index), MPI_T_ERR_INVALID_NAME)
ANSWER(pvar_get_index, (const char *name, int var_class, int *pvar_index), MPI_T_ERR_INVALID_NAME)
ANSWER(cvar_handle_free, (MPI_T_cvar_handle *handle), MPI_T_ERR_INVALID_HANDLE)
ANSWER(cvar_read, (MPI_T_cvar_handle handle, void *buf), MPI_T_ERR_INVALID_HANDLE)
ANSWER(cvar_write, (MPI_T_cvar_handle handle, const void *buf), MPI_T_ERR_INVALID_HANDLE)
ANSWER(enum_get_info, (MPI_T_enum enumtype, int *num, char *name, int *name_len), MPI_T_ERR_INVALID_HANDLE)
ANSWER(enum_get_item, (MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len),
       MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_callback_get_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info
       *info_used), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_callback_set_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info
       info), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_copy, (MPI_T_event_instance event_instance, void *buffer), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_get_source, (MPI_T_event_instance event_instance, int *source_index), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_get_timestamp, (MPI_T_event_instance event_instance, MPI_Count *event_timestamp),
       MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_handle_free, (MPI_T_event_registration event_registration, void *user_data, MPI_T_event_free_cb_function
       free_cb_function), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_handle_get_info, (MPI_T_event_registration event_registration, MPI_Info *info_used),
       MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_handle_set_info, (MPI_T_event_registration event_registration, MPI_Info info), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_read, (MPI_T_event_instance event_instance, int element_index, void *buffer), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_register_callback, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info
       info, void *user_data, MPI_T_event_cb_function event_cb_function), MPI_T_ERR_INVALID_HANDLE)
ANSWER(event_set_dropped_handler, (MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function
       dropped_cb_function), MPI_T_ERR_INVALID_HANDLE)
ANSWER(pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle *handle), MPI_T_ERR_INVALID_HANDLE)
ANSWER(pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf), MPI_T_ERR_INVALID_HANDLE)
ANSWER(pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf), MPI_T_ERR_INVALID_HANDLE)
ANSWER(pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf), MPI_T_ERR_INVALID_HANDLE)

/* All handles of a session are none. */
#define DOES(name)                                                                                                      \
    int PMPI_T_##name(MPI_T_pvar_session session, MPI_T_pvar_handle handle)                                             \
    {                                                                                                                   \
        CHECK_BEGUN;                                                                                                    \
        if (session == MPI_T_PVAR_SESSION_NULL)                                                                         \
            return MPI_T_ERR_INVALID_SESSION;                                                                           \
        return handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;                               \
    }                                                                                                                   \
    ATOLL_BOTH(T_##name);

DOES(pvar_reset)
DOES(pvar_start)
DOES(pvar_stop)
