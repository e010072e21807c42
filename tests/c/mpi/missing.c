/* test: cores=1,4 */
/* What a function is to give has a place, and what it is to take is there: a null pointer has its class of errors everywhere. */
#include "../check.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int heard;

static void hears(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    MPI_Error_class(*code, &heard);
}

static void hears_of_window(MPI_Win *win, int *code, ...)
{
    (void)win;
    MPI_Error_class(*code, &heard);
}

#define MISSES(call)                                                                                                   \
    do {                                                                                                               \
        int class_of_call, code_of_call = call;                                                                        \
        MPI_Error_class(code_of_call, &class_of_call);                                                                 \
        EQUAL(class_of_call, MPI_ERR_ARG);                                                                             \
    } while (0)

static void communicators(void)
{
    int number, ranks[1] = {0};
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Group group, self;
    MPI_Comm comm, grid;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MISSES(MPI_Comm_size(MPI_COMM_WORLD, NULL));
    MISSES(MPI_Comm_rank(MPI_COMM_WORLD, NULL));
    MISSES(MPI_Comm_group(MPI_COMM_WORLD, NULL));
    MISSES(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, NULL));
    MISSES(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    MISSES(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
    MISSES(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL));
    MISSES(MPI_Comm_create(MPI_COMM_WORLD, group, NULL));
    MISSES(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, NULL));
    MISSES(MPI_Comm_free(NULL));
    MISSES(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &number));
    MISSES(MPI_Comm_get_name(MPI_COMM_WORLD, text, NULL));
    MISSES(MPI_Comm_get_info(MPI_COMM_WORLD, NULL));
    MISSES(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &number));
    MISSES(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &comm, NULL));
    MISSES(MPI_Comm_get_parent(NULL));
    MISSES(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 0, 0, NULL));
    MISSES(MPI_Group_size(group, NULL));
    MISSES(MPI_Group_rank(group, NULL));
    MISSES(MPI_Group_union(group, self, NULL));
    MISSES(MPI_Group_incl(group, 1, ranks, NULL));
    MISSES(MPI_Group_incl(group, 1, NULL, &self));
    MISSES(MPI_Group_free(NULL));
    MISSES(MPI_Group_translate_ranks(group, 1, NULL, self, ranks));
    MISSES(MPI_Group_translate_ranks(group, 1, ranks, self, NULL));
    EQUAL(MPI_Group_translate_ranks(group, 0, NULL, self, NULL), MPI_SUCCESS);
    MISSES(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, ranks, 0, &comm));
    MISSES(MPI_Cart_create(MPI_COMM_WORLD, 1, ranks, ranks, 0, NULL));
    comm = MPI_COMM_SELF;
    MISSES(MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, ranks, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MISSES(MPI_Dims_create(4, 2, NULL));
    MISSES(MPI_Topo_test(MPI_COMM_WORLD, NULL));
    comm = MPI_COMM_SELF;
    MISSES(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                          &comm));
    CHECK(comm == MPI_COMM_NULL);
    comm = MPI_COMM_SELF;
    MISSES(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, ranks, NULL, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, ranks, 0, &grid);
    comm = MPI_COMM_SELF;
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    MISSES(MPI_Cart_sub(grid, NULL, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_free(&grid);
    MISSES(MPI_Comm_spawn("other", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, NULL, MPI_ERRCODES_IGNORE));
    MISSES(MPI_Comm_spawn_multiple(0, NULL, MPI_ARGVS_NULL, NULL, NULL, 0, MPI_COMM_WORLD, NULL, MPI_ERRCODES_IGNORE));
    MISSES(MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_RDONLY, MPI_INFO_NULL, NULL));
    MISSES(MPI_Info_create(NULL));
    MISSES(MPI_Get_processor_name(text, NULL));
    MISSES(MPI_Get_library_version(NULL, &number));
    MISSES(MPI_Get_version(&number, NULL));
    MISSES(MPI_Initialized(NULL));
    MISSES(MPI_Error_string(MPI_ERR_ARG, NULL, &number));
    MISSES(MPI_Get_address(text, NULL));
    MISSES(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL));
}

/* Where a text needs a place: if there is room for any of it. */
static void texts(void)
{
    int len = 8, flag;
    MPI_Info info;
    MPI_Session session;
    MPI_Datatype type;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MISSES(MPI_Info_get_string(info, "key", &len, NULL, &flag));
    len = 0;
    EQUAL(MPI_Info_get_string(info, "key", &len, NULL, &flag), MPI_SUCCESS);
    EQUAL(len, sizeof "value");
    MPI_Info_free(&info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    len = 8;
    MISSES(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &len, NULL));
    len = 0;
    EQUAL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &len, NULL), MPI_SUCCESS);
    EQUAL(len, sizeof "mpi://WORLD");
    MPI_Session_finalize(&session);
    /* A name has the bytes that it was given, also where these are no UTF-8. */
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_set_name(type, "\xe9t\xe9");
    MPI_Type_get_name(type, name, &len);
    EQUAL(len, 3);
    CHECK(strcmp(name, "\xe9t\xe9") == 0);
    MPI_Type_free(&type);
}

/* Errors of tools are returned, whatever handlers there are. */
static void tools(void)
{
    int provided;
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    EQUAL(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID);
    EQUAL(MPI_T_finalize(), MPI_SUCCESS);
}

static void messages(int me)
{
    int number = 0, flag, index;
    MPI_Request request = MPI_REQUEST_NULL, *none = NULL;
    MISSES(MPI_Isend(&number, 1, MPI_INT, me, 0, MPI_COMM_WORLD, NULL));
    MISSES(MPI_Irecv(&number, 1, MPI_INT, me, 0, MPI_COMM_WORLD, NULL));
    MISSES(MPI_Send_init(&number, 1, MPI_INT, me, 0, MPI_COMM_WORLD, NULL));
    MISSES(MPI_Isendrecv(&number, 1, MPI_INT, me, 0, &flag, 1, MPI_INT, me, 0, MPI_COMM_WORLD, NULL));
    MISSES(MPI_Ibarrier(MPI_COMM_WORLD, NULL));
    MISSES(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, NULL));
    MISSES(MPI_Psend_init(&number, 1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_INFO_NULL, NULL));
    MISSES(MPI_Wait(NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Test(&request, NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
    MISSES(MPI_Waitall(1, none, MPI_STATUSES_IGNORE));
    EQUAL(MPI_Waitall(0, none, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MISSES(MPI_Testall(1, &request, NULL, MPI_STATUSES_IGNORE));
    MISSES(MPI_Waitany(1, &request, NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Testany(1, &request, &index, NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Waitsome(1, &request, NULL, &index, MPI_STATUSES_IGNORE));
    MISSES(MPI_Request_get_status(request, NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Request_free(NULL));
    MISSES(MPI_Cancel(NULL));
    MISSES(MPI_Start(NULL));
    MISSES(MPI_Startall(1, NULL));
    MISSES(MPI_Iprobe(me, 0, MPI_COMM_WORLD, NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Mprobe(me, 0, MPI_COMM_WORLD, NULL, MPI_STATUS_IGNORE));
    MISSES(MPI_Get_count(NULL, MPI_INT, &number));
    MISSES(MPI_Test_cancelled(NULL, &flag));
    MISSES(MPI_Status_set_cancelled(NULL, 1));
    MISSES(MPI_Buffer_detach(&none, NULL));
}

static void datatypes(void)
{
    int number, lens[1] = {1};
    MPI_Aint places[1] = {0};
    MPI_Datatype type;
    MPI_Status status;
    MISSES(MPI_Type_size(MPI_INT, NULL));
    MISSES(MPI_Type_get_extent(MPI_INT, NULL, places));
    MISSES(MPI_Type_contiguous(2, MPI_INT, NULL));
    MISSES(MPI_Type_create_hindexed(1, NULL, places, MPI_INT, &type));
    MISSES(MPI_Type_create_hindexed(1, lens, places, MPI_INT, NULL));
    /* Its elements are not aligned. */
    MISSES(MPI_Type_create_hindexed(1, lens, (MPI_Aint *)((char *)places + 1), MPI_INT, &type));
    MISSES(MPI_Type_commit(NULL));
    MISSES(MPI_Type_free(NULL));
    MISSES(MPI_Type_get_envelope(MPI_INT, &number, &number, &number, NULL));
    MISSES(MPI_Get_elements(NULL, MPI_INT, &number));
    MISSES(MPI_Get_elements(&status, MPI_INT, NULL));
    MISSES(MPI_Pack(lens, 1, MPI_INT, &number, sizeof number, NULL, MPI_COMM_WORLD));
    MISSES(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, NULL));
    MISSES(MPI_Op_commutative(MPI_SUM, NULL));
    MISSES(MPI_Op_free(NULL));
    MISSES(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL));
}

/* The handler of the window or of the communicator hears of it, if there is one in the call. */
static void handlers(void)
{
    int memory[4], *base;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Request request;
    MPI_Errhandler of_comm, of_window;
    MPI_Comm_create_errhandler(hears, &of_comm);
    /* Whose errors are fatal leaves this one to MPI_COMM_SELF and MPI_COMM_WORLD. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MISSES(MPI_Comm_size(comm, NULL));
    MISSES(MPI_Irecv(memory, 1, MPI_INT, 0, 0, comm, NULL));
    MISSES(MPI_Isendrecv(memory, 1, MPI_INT, 0, 0, memory + 1, 1, MPI_INT, 0, 0, comm, NULL));
    MISSES(MPI_Ibarrier(comm, NULL));
    MISSES(MPI_Iprobe(0, 0, comm, NULL, MPI_STATUS_IGNORE));
    MPI_Comm_free(&comm);
    MPI_Win_create_errhandler(hears_of_window, &of_window);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, of_comm);
    MISSES(MPI_Comm_size(comm, NULL));
    EQUAL(heard, MPI_ERR_ARG);
    heard = 0;
    MISSES(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, NULL));
    EQUAL(heard, MPI_ERR_ARG);
    heard = 0;
    MPI_Win_allocate(sizeof memory, sizeof *base, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_set_errhandler(win, of_window);
    MISSES(MPI_Win_get_group(win, NULL));
    EQUAL(heard, MPI_ERR_ARG);
    MPI_Win_lock_all(0, win);
    MISSES(MPI_Rput(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win, NULL));
    EQUAL(MPI_Rput(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MISSES(MPI_Win_test(win, NULL));
    MISSES(MPI_Win_free(NULL));
    heard = 0;
    MISSES(MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, NULL, &win));
    EQUAL(heard, MPI_ERR_ARG);
    heard = 0;
    MISSES(MPI_Iprobe(0, 0, comm, NULL, MPI_STATUS_IGNORE));
    EQUAL(heard, MPI_ERR_ARG);
    heard = 0;
    MISSES(MPI_Irecv(memory, 1, MPI_INT, 0, 0, comm, NULL));
    EQUAL(heard, MPI_ERR_ARG);
    EQUAL(MPI_Win_free(&win), MPI_SUCCESS);
    MPI_Errhandler_free(&of_comm);
    MPI_Errhandler_free(&of_window);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    communicators();
    texts();
    tools();
    messages(me);
    datatypes();
    handlers();
    MPI_Finalize();
    return 0;
}
