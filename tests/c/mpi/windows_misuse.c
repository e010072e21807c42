/* test: cores=1,2,5 */
/* Windows: what is wrong has the class of error that the standard names, and does no harm. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

static int calls, last_code;

static void note(MPI_Win *window, int *code, ...)
{
    (void)window;
    calls++, last_code = *code;
}

static int copies, deletions;

static int deleted(MPI_Win window, int key, void *value, void *extra)
{
    (void)window, (void)key, (void)value, (void)extra;
    return ++deletions, MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int me, ranks, memory[4] = {0}, one = 1, flag, key, length, *found;
    MPI_Win window, dynamic;
    MPI_Info info, freed;
    MPI_Aint *size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EQUAL(MPI_Win_create(memory, -1, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_SIZE);
    EQUAL(MPI_Win_create(memory, 16, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_ERR_DISP);
    EQUAL(MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_NULL, &window), MPI_ERR_COMM);
    /* The arguments of one rank are wrong, and all fail. */
    EQUAL(MPI_Win_create(memory, me == ranks - 1 ? -1 : 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
          me == ranks - 1 ? MPI_ERR_SIZE : MPI_ERR_OTHER);
    /* No window is made with an info that was freed, which is the communicator's to tell. */
    MPI_Info_create(&info);
    freed = info;
    MPI_Info_free(&info);
    window = MPI_WIN_NULL;
    EQUAL(MPI_Win_create(memory, 16, 4, freed, MPI_COMM_WORLD, &window), MPI_ERR_INFO);
    EQUAL(MPI_Win_allocate(16, 4, freed, MPI_COMM_WORLD, &found, &window), MPI_ERR_INFO);
    EQUAL(MPI_Win_allocate_shared(16, 4, freed, MPI_COMM_WORLD, &found, &window), MPI_ERR_INFO);
    EQUAL(MPI_Win_create_dynamic(freed, MPI_COMM_WORLD, &window), MPI_ERR_INFO);
    EQUAL(window == MPI_WIN_NULL, 1);
    EQUAL(MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_SUCCESS);
    EQUAL(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), MPI_SUCCESS);

    /* Without an epoch. */
    EQUAL(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_unlock(0, window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_flush(0, window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_flush_all(window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_test(window, &flag), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_lock(7, 0, 0, window), MPI_ERR_LOCKTYPE);
    EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window), MPI_ERR_RANK);
    EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, window), MPI_ERR_ASSERT);
    EQUAL(MPI_Win_fence(MPI_MODE_NOCHECK, window), MPI_ERR_ASSERT);
    EQUAL(MPI_Win_start(MPI_GROUP_NULL, 0, window), MPI_ERR_GROUP);
    EQUAL(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);

    /* Within one. */
    EQUAL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window), MPI_SUCCESS);
    EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Win_fence(0, window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Put(&one, 1, MPI_INT, me, 4, 1, MPI_INT, window), MPI_ERR_RMA_RANGE);
    EQUAL(MPI_Put(&one, 1, MPI_INT, me, -1, 1, MPI_INT, window), MPI_ERR_DISP);
    EQUAL(MPI_Put(&one, 1, MPI_INT, ranks, 0, 1, MPI_INT, window), MPI_ERR_RANK);
    EQUAL(MPI_Put(&one, -1, MPI_INT, me, 0, 1, MPI_INT, window), MPI_ERR_COUNT);
    EQUAL(MPI_Put(&one, 1, MPI_DATATYPE_NULL, me, 0, 1, MPI_INT, window), MPI_ERR_TYPE);
    EQUAL(MPI_Put(NULL, 1, MPI_INT, me, 0, 1, MPI_INT, window), MPI_ERR_BUFFER);
    EQUAL(MPI_Put(memory, 2, MPI_INT, me, 0, 1, MPI_INT, window), MPI_ERR_TRUNCATE);
    EQUAL(MPI_Accumulate(&one, 1, MPI_INT, me, 0, 1, MPI_INT, MPI_MAXLOC, window), MPI_ERR_OP);
    EQUAL(MPI_Accumulate(&one, 1, MPI_INT, me, 0, 1, MPI_INT, MPI_OP_NULL, window), MPI_ERR_OP);
    EQUAL(MPI_Accumulate(&one, 1, MPI_INT, me, 0, 1, MPI_FLOAT, MPI_SUM, window), MPI_ERR_TYPE);
    EQUAL(MPI_Compare_and_swap(&one, &one, &one, MPI_DOUBLE, me, 0, window), MPI_ERR_TYPE);
    EQUAL(MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window), MPI_SUCCESS);
    EQUAL(MPI_Win_free(&window), MPI_ERR_RMA_SYNC);
    EQUAL(MPI_Put(&one, 1, MPI_INT, me, 3, 1, MPI_INT, window), MPI_SUCCESS);
    EQUAL(MPI_Win_unlock(me, window), MPI_SUCCESS);
    CHECK(memory[3] == 1 && memory[0] == 0);

    /* Flavours. */
    EQUAL(MPI_Win_attach(window, memory, 4), MPI_ERR_RMA_FLAVOR);
    EQUAL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic), MPI_SUCCESS);
    EQUAL(MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN), MPI_SUCCESS);
    EQUAL(MPI_Win_attach(dynamic, memory, 8), MPI_SUCCESS);
    EQUAL(MPI_Win_attach(dynamic, memory + 1, 8), MPI_ERR_RMA_ATTACH);
    MPI_Aint outside;
    MPI_Get_address(memory + 2, &outside);
    EQUAL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, dynamic), MPI_SUCCESS);
    EQUAL(MPI_Put(&one, 1, MPI_INT, me, outside, 1, MPI_INT, dynamic), MPI_SUCCESS);
    EQUAL(MPI_Win_unlock(me, dynamic), MPI_ERR_RMA_RANGE);
    EQUAL(memory[2], 0);
    EQUAL(MPI_Win_detach(dynamic, memory), MPI_SUCCESS);
    EQUAL(MPI_Win_detach(dynamic, memory), MPI_ERR_ARG);
    EQUAL(MPI_Win_free(&dynamic), MPI_SUCCESS);

    /* All free it, or nobody does. */
    if (me == 0)
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    EQUAL(MPI_Win_free(&window), me == 0 ? MPI_ERR_RMA_SYNC : MPI_ERR_OTHER);
    if (me == 0)
        MPI_Win_unlock(me, window);
    /* What is attached, names, and the window's own handler. */
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &flag); CHECK(flag && *size == 16);
    MPI_Win_get_attr(window, MPI_WIN_BASE, &found, &flag); CHECK(flag && found == memory);
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &found, &flag); CHECK(flag && *found == 4);
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &found, &flag); CHECK(flag && *found == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &found, &flag); CHECK(flag && *found == MPI_WIN_UNIFIED);
    EQUAL(MPI_Win_get_attr(window, 12345, &found, &flag), MPI_ERR_KEYVAL);
    EQUAL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, deleted, &key, &copies), MPI_SUCCESS);
    MPI_Win_set_attr(window, key, &one), MPI_Win_get_attr(window, key, &found, &flag);
    CHECK(flag && found == &one);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win_set_name(window, "part"), MPI_Win_get_name(window, name, &length);
    CHECK(!strcmp(name, "part") && length == 4);
    MPI_Errhandler handler;
    EQUAL(MPI_Win_create_errhandler(note, &handler), MPI_SUCCESS);
    EQUAL(MPI_Win_set_errhandler(window, handler), MPI_SUCCESS);
    EQUAL(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
    CHECK(calls == 1 && last_code == MPI_ERR_RMA_SYNC);
    MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
    CHECK(calls == 2 && last_code == MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    EQUAL(MPI_Win_free(&window), MPI_SUCCESS);
    EQUAL(deletions, 1);
    MPI_Finalize();
    return 0;
}
