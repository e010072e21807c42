/* test: cores=1,5 */
/* Sessions, before MPI_Init, beside it and after MPI_Finalize: sets, groups, communicators of groups, error handlers. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

static int heard;

static void handler(MPI_Session *session, int *code, ...)
{
    (void)session;
    heard = *code;
}

int main(void)
{
    MPI_Session session, second;
    MPI_Group all, low, high, own;
    MPI_Comm comm, copy, inter, alone;
    MPI_Errhandler errhandler;
    MPI_Info info;
    int flag, number, me, size, length = 0;
    char name[MPI_MAX_PSET_NAME_LEN], text[MPI_MAX_PROCESSOR_NAME];
    /* To begin a session is local: nobody else does here. */
    MPI_Get_processor_name(text, &number);
    if (strcmp(text, "core 0") == 0) {
        EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
        MPI_Group_from_session_pset(session, "mpi://SELF", &own);
        EQUAL(MPI_Comm_create_from_group(own, "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone), MPI_SUCCESS);
        MPI_Comm_rank(alone, &me);
        EQUAL(me, 0);
        MPI_Group_free(&own);
        MPI_Comm_free(&alone);
        MPI_Session_finalize(&session);
    }
    MPI_Session_create_errhandler(handler, &errhandler);
    MPI_Session_init(MPI_INFO_NULL, errhandler, &session);
    MPI_Errhandler_free(&errhandler);
    MPI_Initialized(&flag);
    EQUAL(flag, 0);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number);
    EQUAL(number, 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, NULL);
    EQUAL(length, 11);
    length = 6;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, name);
    CHECK(length == 11 && strcmp(name, "mpi:/") == 0);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name);
    EQUAL(heard, MPI_ERR_ARG);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    EQUAL(heard, MPI_ERR_OTHER);
    EQUAL(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN), MPI_SUCCESS);
    own = MPI_GROUP_EMPTY;
    EQUAL(MPI_Group_from_session_pset(session, "mpi://MOON", &own), MPI_ERR_ARG);
    CHECK(own == MPI_GROUP_NULL);
    EQUAL(MPI_Group_from_session_pset(session, NULL, &own), MPI_ERR_ARG);
    EQUAL(MPI_Session_set_errhandler(session, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    MPI_Group_from_session_pset(session, "MPI://World", &all);
    MPI_Group_rank(all, &me);
    MPI_Group_size(all, &size);
    MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
    MPI_Info_get(info, "mpi_size", sizeof text - 1, text, &flag);
    CHECK(flag && atoi(text) == size);
    MPI_Info_free(&info);
    EQUAL(MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    EQUAL(MPI_Send(&me, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    MPI_Allreduce(&me, &number, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(number, size * (size - 1) / 2);
    MPI_Group_from_session_pset(session, "mpi://SELF", &own);
    MPI_Comm_create_from_group(own, "own", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &alone);
    MPI_Comm_size(alone, &number);
    EQUAL(number, 1);
    MPI_Comm_free(&alone);
    EQUAL(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone), MPI_SUCCESS);
    CHECK(alone == MPI_COMM_NULL);
    alone = MPI_COMM_WORLD;
    EQUAL(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, all, 0, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone),
          MPI_SUCCESS);
    CHECK(alone == MPI_COMM_NULL);
    /* Errors are those of the handler that the communicator was to have. */
    EQUAL(MPI_Comm_create_from_group(MPI_GROUP_NULL, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone), MPI_ERR_GROUP);
    EQUAL(MPI_Comm_create_from_group(all, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone), MPI_ERR_ARG);
    EQUAL(MPI_Intercomm_create_from_groups(all, 0, all, 0, "same", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone),
          MPI_ERR_GROUP);
    /* What belongs to no communicator needs no world. */
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    MPI_Request request;
    MPI_Status status;
    EQUAL(MPI_Imrecv(&number, 1, MPI_INT, &message, &request), MPI_SUCCESS);
    MPI_Wait(&request, &status);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(MPI_Buffer_iflush(&request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (size > 1) {
        int range[1][3] = {{0, size / 2 - 1, 1}}, is_low = me < size / 2, one = 1;
        /* Only the local leader knows the other one. */
        int is_leader = me == 0 || me == size / 2;
        MPI_Group_range_incl(all, 1, range, &low);
        MPI_Group_range_excl(all, 1, range, &high);
        MPI_Intercomm_create_from_groups(is_low ? low : high, 0, is_low ? high : low, is_leader ? 0 : -5, "both", MPI_INFO_NULL,
                                         MPI_ERRORS_RETURN, &inter);
        MPI_Allreduce(&one, &number, 1, MPI_INT, MPI_SUM, inter);
        EQUAL(number, is_low ? size - size / 2 : size / 2);
        MPI_Comm_free(&inter);
        /* Only the members take part. */
        if (is_low) {
            MPI_Comm_create_from_group(low, "low", MPI_INFO_NULL, MPI_ERRORS_RETURN, &copy);
            MPI_Comm_size(copy, &number);
            EQUAL(number, size / 2);
            MPI_Comm_free(&copy);
        }
    }
    /* A second session, and the world, which ends earlier. */
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    /* What sessions have under way goes on when the world ends. */
    int next = (me + 1) % size, before = (me + size - 1) % size, got = -1, sum = -1, part = -1;
    MPI_Request all_three[3], send;
    MPI_Irecv(&got, 1, MPI_INT, before, 1, comm, &all_three[0]);
    MPI_Precv_init(&part, 1, 1, MPI_INT, before, 2, comm, MPI_INFO_NULL, &all_three[1]);
    MPI_Psend_init(&me, 1, 1, MPI_INT, next, 2, comm, MPI_INFO_NULL, &send);
    MPI_Start(&all_three[1]);
    MPI_Start(&send);
    if (me != 0)
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm, &all_three[2]);
    MPI_Init(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (me == 0)
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm, &all_three[2]);
    MPI_Send(&me, 1, MPI_INT, next, 1, comm);
    MPI_Pready(0, send);
    EQUAL(MPI_Waitall(3, all_three, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(got == before && part == before && sum == size * (size - 1) / 2);
    MPI_Request_free(&all_three[1]);
    MPI_Request_free(&send);
    MPI_Comm_dup(comm, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Session_finalize(&second);
    CHECK(second == MPI_SESSION_NULL);
    MPI_Group_free(&all);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
