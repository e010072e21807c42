/* test: cores=2 */
/* What a machine without processes and variables answers: errors and none; what waits all the same, or needs not wait. */
#include "../check.h"
#include <mpi.h>

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
    MPI_Query_thread(&level);
    CHECK(level == given && level == MPI_THREAD_SINGLE);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &given);
    EQUAL(given, MPI_THREAD_FUNNELED);
    EQUAL(MPI_T_cvar_get_num(&number) + number, 0);
    EQUAL(MPI_T_pvar_get_num(&number) + number, 0);
    EQUAL(MPI_T_category_get_num(&number) + number, 0);
    EQUAL(MPI_T_cvar_get_index("x", &number), MPI_T_ERR_INVALID_NAME);
    EQUAL(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    EQUAL(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_session_free(&session);
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    MPI_T_finalize();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EQUAL(MPI_Comm_spawn("a", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, codes), MPI_ERR_SPAWN);
    CHECK(comm == MPI_COMM_NULL && codes[1] == MPI_ERR_SPAWN);
    EQUAL(MPI_Lookup_name("a", MPI_INFO_NULL, port), MPI_ERR_NAME);
    EQUAL(MPI_Allgather(&number, 1, MPI_INT, &number, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    EQUAL(MPI_Add_error_code(99999, &number), MPI_ERR_ARG);
    /* A send that is cancelled too late is complete, whatever its receiver does. */
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Isend(big, sizeof big, MPI_CHAR, 1 - me, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    MPI_Sendrecv(&flag, 1, MPI_INT, 1 - me, 2, &got, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!got)
        MPI_Recv(big, sizeof big, MPI_CHAR, 1 - me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
