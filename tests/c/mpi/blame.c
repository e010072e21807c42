/* test: cores=1 */
/* test: cores=1 options=-DFATAL fails="MPI_Win_allocate: MPI_ERR_SIZE" */
/* Errors are those of the communicator that is named, or that a request or a message is of, also when it was freed; of no other one. */
#include "../check.h"
#include <mpi.h>

static MPI_Comm comm;
static int heard;

static void other_handler(MPI_Comm *of, int *code, ...)
{
    (void)of, (void)code;
    heard++;
}

static void arguments(void)
{
    int values[4] = {1, 2, 3, 4}, position = 12, found, lengths[1] = {1}, wraps[1] = {0};
    char packed[16];
    MPI_Comm made;
    EQUAL(MPI_Pack(values, 3, MPI_INT, packed, sizeof packed, &position, comm), MPI_ERR_TRUNCATE);
    EQUAL(MPI_Unpack(packed, sizeof packed, &position, values, 3, MPI_INT, comm), MPI_ERR_TRUNCATE);
    EQUAL(MPI_Pack_size(-1, MPI_INT, comm, &found), MPI_ERR_COUNT);
    EQUAL(MPI_Cart_map(comm, -1, lengths, wraps, &found), MPI_ERR_ARG);
    EQUAL(MPI_Graph_map(comm, -1, lengths, lengths, &found), MPI_ERR_ARG);
    EQUAL(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    EQUAL(MPI_Comm_create(comm, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    EQUAL(MPI_Comm_create_group(comm, MPI_GROUP_NULL, 0, &made), MPI_ERR_GROUP);
}

static void windows(void)
{
    int values[4];
    void *memory;
    MPI_Win window;
    EQUAL(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, comm, &memory, &window), MPI_ERR_SIZE);
    EQUAL(MPI_Win_create(values, -4, 1, MPI_INFO_NULL, comm, &window), MPI_ERR_SIZE);
    EQUAL(MPI_Win_create(values, 4, 0, MPI_INFO_NULL, comm, &window), MPI_ERR_DISP);
}

static void requests(void)
{
    int number, flag;
    MPI_Request request, send;
    MPI_Message message;
    MPI_Recv_init(&number, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Start(&request);
    EQUAL(MPI_Start(&request), MPI_ERR_REQUEST);
    MPI_Cancel(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
    MPI_Irecv(&number, 1, MPI_INT, 0, 0, comm, &request);
    EQUAL(MPI_Start(&request), MPI_ERR_REQUEST);
    EQUAL(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    MPI_Cancel(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    EQUAL(MPI_Cancel(&request), MPI_ERR_REQUEST);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    number = 7;
    MPI_Isend(&number, 1, MPI_INT, 0, 0, comm, &send);
    MPI_Improbe(0, 0, comm, &flag, &message, MPI_STATUS_IGNORE);
    EQUAL(flag, 1);
    EQUAL(MPI_Mrecv(&number, -1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    number = 0;
    EQUAL(MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EQUAL(number, 7);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* A receive that ends when its communicator was freed, whose handle another one may have by then. */
static void freed(void)
{
    int values[4] = {0};
    MPI_Comm of, other = MPI_COMM_NULL;
    MPI_Request both[2];
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(other_handler, &handler);
    for (int is_reused = 0; is_reused < 2; is_reused++) {
        MPI_Comm_dup(MPI_COMM_SELF, &of);
        MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
        MPI_Irecv(values, 1, MPI_INT, 0, 0, of, &both[0]);
        MPI_Isend(values, 4, MPI_INT, 0, 0, of, &both[1]);
        MPI_Comm_free(&of);
        if (is_reused) {
            MPI_Comm_dup(MPI_COMM_SELF, &other);
            MPI_Comm_set_errhandler(other, handler);
        }
        EQUAL(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
        EQUAL(heard, 0);
    }
    MPI_Comm_free(&other);
    MPI_Errhandler_free(&handler);
}

/* Statuses of messages that are too long say which these are. */
static void too_long(void)
{
    int values[4] = {0};
    MPI_Request both[2];
    MPI_Status statuses[2], status = {.MPI_ERROR = -1};
    MPI_Irecv(values, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &both[0]);
    MPI_Isend(values, 4, MPI_INT, 0, 5, comm, &both[1]);
    EQUAL(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
    EQUAL(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    EQUAL(statuses[0].MPI_SOURCE, 0);
    EQUAL(statuses[0].MPI_TAG, 5);
    MPI_Isend(values, 4, MPI_INT, 0, 6, comm, &both[1]);
    EQUAL(MPI_Recv(values, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status), MPI_ERR_TRUNCATE);
    EQUAL(status.MPI_TAG, 6);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    EQUAL(MPI_Sendrecv(values, 4, MPI_INT, 0, 7, values, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &status), MPI_ERR_TRUNCATE);
    EQUAL(status.MPI_TAG, 7);
}

/* The empty status has no error. */
static void empty_statuses(void)
{
    int flag, index;
    MPI_Request none = MPI_REQUEST_NULL, idle;
    MPI_Status status;
    MPI_Send_init(NULL, 0, MPI_INT, 0, 0, comm, &idle);
    for (int is_idle = 0; is_idle < 2; is_idle++) {
        MPI_Request request = is_idle ? idle : none;
        status.MPI_ERROR = -1;
        MPI_Wait(&request, &status);
        EQUAL(status.MPI_ERROR, MPI_SUCCESS);
        status.MPI_ERROR = -1;
        MPI_Test(&request, &flag, &status);
        EQUAL(status.MPI_ERROR, MPI_SUCCESS);
        status.MPI_ERROR = -1;
        MPI_Waitany(1, &request, &index, &status);
        EQUAL(status.MPI_ERROR, MPI_SUCCESS);
        status.MPI_ERROR = -1;
        MPI_Waitall(1, &request, &status);
        EQUAL(status.MPI_ERROR, MPI_SUCCESS);
        status.MPI_ERROR = -1;
        MPI_Testall(1, &request, &flag, &status);
        EQUAL(status.MPI_ERROR, MPI_SUCCESS);
    }
    MPI_Request_free(&idle);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
#ifndef FATAL
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#endif
    windows();
    arguments();
    requests();
    freed();
    too_long();
    empty_statuses();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
