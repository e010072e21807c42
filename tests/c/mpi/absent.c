/* test: cores=2 */
/* What a machine without processes and variables answers: errors and none; what waits all the same, or needs not wait. */
#include "../check.h"
#include <mpi.h>

static int heard;

static void handler(MPI_File *file, int *code, ...)
{
    heard = *file == MPI_FILE_NULL ? *code : -1;
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Status status;
    int me, number, level, given, codes[2], got = -1, flag;
    static char big[1 << 20];
    char port[MPI_MAX_PORT_NAME];
    EQUAL(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Query_thread(&level);
    CHECK(level == given && level == MPI_THREAD_SINGLE);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &given);
    EQUAL(given, MPI_THREAD_FUNNELED);
    EQUAL(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
    EQUAL(number, 0);
    EQUAL(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
    EQUAL(number, 0);
    EQUAL(MPI_T_category_get_num(&number), MPI_SUCCESS);
    EQUAL(number, 0);
    EQUAL(MPI_T_cvar_get_index("x", &number), MPI_T_ERR_INVALID_NAME);
    EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_stop(session, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
    EQUAL(MPI_T_pvar_reset(MPI_T_PVAR_SESSION_NULL, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    MPI_T_pvar_session_free(&session);
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    MPI_T_finalize();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EQUAL(MPI_Comm_spawn("a", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, codes), MPI_ERR_SPAWN);
    CHECK(comm == MPI_COMM_NULL && (me != 0 || codes[1] == MPI_ERR_SPAWN));
    /* What only the root says is nothing elsewhere. */
    if (me == 0) {
        char *commands[2] = {"a", "b"};
        int most[2] = {0, 2};
        MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
        codes[1] = 0;
        EQUAL(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, most, infos, 0, MPI_COMM_WORLD, &comm, codes),
              MPI_ERR_SPAWN);
        EQUAL(codes[1], MPI_ERR_SPAWN);
    } else {
        EQUAL(MPI_Comm_spawn_multiple(2, NULL, NULL, NULL, NULL, 0, MPI_COMM_WORLD, &comm, NULL), MPI_ERR_SPAWN);
    }
    /* Files return errors, unless their handler says something else. */
    MPI_File file;
    MPI_Errhandler errhandler;
    EQUAL(MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(file == MPI_FILE_NULL);
    MPI_File_get_errhandler(MPI_FILE_NULL, &errhandler);
    CHECK(errhandler == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(handler, &errhandler);
    EQUAL(MPI_File_set_errhandler(MPI_FILE_NULL, errhandler), MPI_SUCCESS);
    MPI_Errhandler_free(&errhandler);
    MPI_File_delete("x", MPI_INFO_NULL);
    EQUAL(heard, MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
    EQUAL(heard, MPI_ERR_IO);
    EQUAL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    EQUAL(MPI_Lookup_name("a", MPI_INFO_NULL, port), MPI_ERR_NAME);
    EQUAL(MPI_Allgather(&number, 1, MPI_INT, &number, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Add_error_code(99999, &number), MPI_ERR_ARG);
    /* MPI_IN_PLACE on a side where it stands for nothing. */
    if (me == 1) {
        EQUAL(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        EQUAL(MPI_Scatter(NULL, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        EQUAL(MPI_Reduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    }
    EQUAL(MPI_Allgather(&number, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    EQUAL(MPI_Alltoall(&number, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    EQUAL(MPI_Allreduce(&number, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    EQUAL(MPI_Gather(&number, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    /* The same address need not be the same place. */
    int values[4] = {me, -1, 7, 7}, one = 1;
    MPI_Aint addresses[2];
    MPI_Datatype second, from, to;
    MPI_Type_create_hindexed(1, &one, (MPI_Aint[]){sizeof(int)}, MPI_INT, &second);
    MPI_Type_commit(&second);
    EQUAL(MPI_Allgather(values, 1, MPI_INT, values, 1, second, MPI_COMM_SELF), MPI_SUCCESS);
    EQUAL(values[1], me);
    MPI_Get_address(&values[0], &addresses[0]);
    MPI_Get_address(&values[2], &addresses[1]);
    MPI_Type_create_hindexed(1, &one, &addresses[0], MPI_INT, &from);
    MPI_Type_create_hindexed(1, &one, &addresses[1], MPI_INT, &to);
    MPI_Type_commit(&from);
    MPI_Type_commit(&to);
    EQUAL(MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK(values[2] == me && values[3] == 7);
    MPI_Type_free(&second);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    /* A send that is cancelled too late is complete, whatever its receiver does. */
    MPI_Isend(big, sizeof big, MPI_CHAR, 1 - me, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    MPI_Sendrecv(&flag, 1, MPI_INT, 1 - me, 2, &got, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!got)
        MPI_Recv(big, sizeof big, MPI_CHAR, 1 - me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* A synchronous send that is cancelled is withdrawn, or waits for its receive. */
    int is_gone = 0;
    MPI_Issend(&me, 1, MPI_INT, 1 - me, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&requests[0]);
    MPI_Test(&requests[0], &flag, &status);
    if (flag)
        MPI_Test_cancelled(&status, &is_gone);
    EQUAL(flag, is_gone);
    MPI_Sendrecv(&is_gone, 1, MPI_INT, 1 - me, 2, &got, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!got)
        MPI_Recv(&got, 1, MPI_INT, 1 - me, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* To disconnect is to wait. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&got, 1, MPI_INT, 1 - me, 3, comm, &requests[0]);
    MPI_Isend(&me, 1, MPI_INT, 1 - me, 3, comm, &requests[1]);
    MPI_Comm_disconnect(&comm);
    EQUAL(got, 1 - me);
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    EQUAL(flag, 1);
    MPI_Finalize();
    return 0;
}
