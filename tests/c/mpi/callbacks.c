/* test: cores=1,3 */
/* Functions of the program's that copy and delete what is attached, and fail: the call that needs them fails by their code, of which the handler
 * of its object hears, and nothing is lost of what is still there. */
#include "../check.h"
#include <mpi.h>

static int me, size, code, fails, deletions, heard, heard_times;

static void of_window(MPI_Win *window, int *found, ...)
{
    (void)window;
    heard = *found, heard_times++;
}

static void of_comm(MPI_Comm *comm, int *found, ...)
{
    (void)comm;
    heard = *found, heard_times++;
}

static int copy(MPI_Datatype type, int key, void *extra, void *value, void *copied, int *flag)
{
    (void)type, (void)key;
    *(void **)copied = value;
    *flag = 1;
    return extra && fails ? code : MPI_SUCCESS;
}

static int result(void)
{
    if (fails)
        return code;
    deletions++;
    return MPI_SUCCESS;
}

static int of_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    return result();
}

static int of_win(MPI_Win window, int key, void *value, void *extra)
{
    (void)window, (void)key, (void)value, (void)extra;
    return result();
}

static int of_self(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return result();
}

static void is_heard(int returned, int fault)
{
    EQUAL(returned, fault);
    EQUAL(heard, fault);
    EQUAL(heard_times, 1);
    heard = heard_times = 0;
}

static void types(void)
{
    int keys[2], one, other, flag, bytes;
    void *found;
    MPI_Datatype type, twin;
    MPI_Type_contiguous(3, MPI_INT, &type);
    /* The first one is copied, and the second one is not. */
    MPI_Type_create_keyval(copy, of_type, &keys[0], NULL);
    MPI_Type_create_keyval(copy, MPI_TYPE_NULL_DELETE_FN, &keys[1], &one);
    MPI_Type_set_attr(type, keys[0], &one), MPI_Type_set_attr(type, keys[1], &one);
    fails = 1;
    twin = type;
    is_heard(MPI_Type_dup(type, &twin), code);
    CHECK(twin == MPI_DATATYPE_NULL);
    is_heard(MPI_Type_set_attr(type, keys[0], &other), code);
    is_heard(MPI_Type_delete_attr(type, keys[0]), code);
    MPI_Type_get_attr(type, keys[0], &found, &flag);
    CHECK(flag && found == &one);
    twin = type;
    is_heard(MPI_Type_free(&twin), code);
    CHECK(twin == type);
    EQUAL(MPI_Type_size(type, &bytes), MPI_SUCCESS);
    EQUAL(bytes, 12);
    EQUAL(deletions, 0);
    fails = 0;
    EQUAL(MPI_Type_set_attr(type, keys[0], &other), MPI_SUCCESS);
    EQUAL(MPI_Type_free(&type), MPI_SUCCESS);
    EQUAL(deletions, 2);
    MPI_Type_free_keyval(&keys[0]), MPI_Type_free_keyval(&keys[1]);
}

static void windows(void)
{
    int key, one, other, flag, memory[4] = {0}, found_code;
    void *found;
    MPI_Win window, kept;
    MPI_Errhandler handler;
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create_errhandler(of_window, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, of_win, &key, NULL);
    MPI_Win_set_attr(window, key, &one);
    deletions = 0;
    fails = 1;
    is_heard(MPI_Win_set_attr(window, key, &other), code);
    is_heard(MPI_Win_delete_attr(window, key), code);
    MPI_Win_get_attr(window, key, &found, &flag);
    CHECK(flag && found == &one);
    /* Where one rank cannot let it go, it stays at all. */
    fails = me == 0;
    kept = window;
    found_code = MPI_Win_free(&window);
    is_heard(found_code, me == 0 ? code : MPI_ERR_OTHER);
    CHECK(window == kept);
    EQUAL(deletions, me != 0);
    EQUAL(MPI_Win_fence(0, window), MPI_SUCCESS);
    MPI_Put(&size, 1, MPI_INT, (me + 1) % size, 0, 1, MPI_INT, window);
    EQUAL(MPI_Win_fence(MPI_MODE_NOSUCCEED, window), MPI_SUCCESS);
    EQUAL(memory[0], size);
    fails = 0;
    EQUAL(MPI_Win_free(&window), MPI_SUCCESS);
    EQUAL(deletions, 1);
    MPI_Win_free_keyval(&key);
}

int main(int argc, char **argv)
{
    int key, class, one, flag;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Add_error_class(&class), MPI_Add_error_code(class, &code);
    MPI_Comm_create_errhandler(of_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    types();
    windows();
    /* The end comes for all ranks, also if one is not content with it. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, of_self, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &one);
    fails = me == 0;
    deletions = 0;
    if (me == 0)
        is_heard(MPI_Finalize(), code);
    else
        EQUAL(MPI_Finalize(), MPI_SUCCESS);
    EQUAL(deletions, me != 0);
    MPI_Finalized(&flag);
    EQUAL(flag, 1);
    return 0;
}
