/* test: cores=1,2,5,16 */
/* Each misuse has its class of errors, by each kind of handler. */
#include "../check.h"
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

static int heard, heard_of;

static void handler(MPI_Comm *comm, int *code, ...)
{
    heard_of = *comm == MPI_COMM_WORLD;
    heard = *code;
}

#define FAILS(call, class)                                                                                             \
    do {                                                                                                               \
        int code_of_call = call, class_of_call;                                                                        \
        MPI_Error_class(code_of_call, &class_of_call);                                                                 \
        EQUAL(class_of_call, class);                                                                                   \
    } while (0)

int main(int argc, char **argv)
{
    int me, size, number = 1, more[9] = {0}, flag, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Request request = MPI_REQUEST_NULL, persistent;
    MPI_Status status;
    MPI_Comm comm, dead;
    MPI_Group group, part;
    MPI_Errhandler own;
    MPI_Datatype raw;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    FAILS(MPI_Send(&number, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Send(&number, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(MPI_Send(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(MPI_Send(&number, 1, MPI_INT, 0, -1, MPI_COMM_WORLD), MPI_ERR_TAG);
    FAILS(MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Irecv(&number, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
    FAILS(MPI_Bsend(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    FAILS(MPI_Send(more, 1, raw, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Type_free(&raw);
    FAILS(MPI_Bcast(&number, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    FAILS(MPI_Reduce(&number, more, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(&number, more, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    FAILS(MPI_Allreduce(more, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    int each[16];
    for (int at = 0; at < size; at++)
        each[at] = 1;
    FAILS(MPI_Allgatherv(&number, 1, MPI_INT, more, NULL, each, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Allgatherv(&number, 1, MPI_INT, more, each, NULL, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
    FAILS(MPI_Alltoallv(more, NULL, each, MPI_INT, more, each, each, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Alltoallv(more, each, NULL, MPI_INT, more, each, each, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
    FAILS(MPI_Reduce_scatter(&number, more, NULL, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Reduce_scatter(each, each, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_scatter_block(each, each, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_scatter(NULL, more, each, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Alltoallv(NULL, each, each, MPI_INT, more, each, each, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(MPI_IN_PLACE, more, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    FAILS(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}), MPI_ERR_COMM);
    FAILS(MPI_Comm_remote_size(MPI_COMM_WORLD, &number), MPI_ERR_COMM);
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, -2, 0, &comm), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(MPI_COMM_WORLD, more, &number), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size + 1}, more, 0, &comm), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(6, 2, (int[]){4, 0}), MPI_ERR_DIMS);
    /* Numbers whose products, differences and ranges are more than there are. */
    FAILS(MPI_Dims_create(6, 3, (int[]){65536, 65536, 0}), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(6, 2, (int[]){-1, -6}), MPI_ERR_DIMS);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    FAILS(MPI_Group_range_incl(group, 1, (int[][3]){{0, INT_MAX, 1}}, &part), MPI_ERR_RANK);
    FAILS(MPI_Group_range_excl(group, 1, (int[][3]){{INT_MIN, INT_MAX, 1}}, &part), MPI_ERR_RANK);
    FAILS(MPI_Group_range_incl(group, 1, (int[][3]){{0, INT_MAX, -1}}, &part), MPI_ERR_ARG);
    MPI_Group_free(&group);
    FAILS(MPI_Error_class(INT_MIN, &number), MPI_ERR_ARG);
    FAILS(MPI_Error_string(INT_MIN, text, &length), MPI_ERR_ARG);
    FAILS(MPI_Add_error_string(INT_MIN, "x"), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_class(INT_MIN), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_code(INT_MIN), MPI_ERR_ARG);
    FAILS(MPI_Remove_error_string(INT_MIN), MPI_ERR_ARG);
    FAILS(MPI_Send_c(more, INT64_MAX, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Recv_c(more, INT64_MAX, MPI_INT, 0, 0, MPI_COMM_WORLD, &status), MPI_ERR_COUNT);
    FAILS(MPI_Bcast_c(more, INT64_MAX, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    if (size > 1)
        FAILS(MPI_Allgather_c(more, INT64_MAX / 4, MPI_INT, more + 1, INT64_MAX / 4, MPI_INT, MPI_COMM_WORLD),
              MPI_ERR_COUNT);
    FAILS(MPI_Group_size(MPI_GROUP_NULL, &number), MPI_ERR_GROUP);
    FAILS(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, 12345, more), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Error_string(100000, text, &length), MPI_ERR_ARG);
    FAILS(MPI_Init(&argc, &argv), MPI_ERR_OTHER);
    /* A request that is active does not start. */
    MPI_Recv_init(more, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &persistent);
    MPI_Start(&persistent);
    FAILS(MPI_Start(&persistent), MPI_ERR_REQUEST);
    MPI_Cancel(&persistent);
    MPI_Wait(&persistent, &status);
    MPI_Request_free(&persistent);
    /* A message that is too long, received at once, and by one request of several. */
    for (int long_one = 2; long_one <= 1000; long_one += 998) {
        int numbers[1000] = {0};
        MPI_Request two[2];
        MPI_Status both[2];
        MPI_Isend(numbers, long_one, MPI_INT, me, 1, MPI_COMM_WORLD, &two[0]);
        FAILS(MPI_Recv(more, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
        MPI_Wait(&two[0], MPI_STATUS_IGNORE);
        MPI_Irecv(more, 1, MPI_INT, me, 2, MPI_COMM_WORLD, &two[0]);
        MPI_Isend(numbers, long_one, MPI_INT, me, 2, MPI_COMM_WORLD, &two[1]);
        FAILS(MPI_Waitall(2, two, both), MPI_ERR_IN_STATUS);
        EQUAL(both[0].MPI_ERROR, MPI_ERR_TRUNCATE);
        EQUAL(both[1].MPI_ERROR, MPI_SUCCESS);
    }
    /* A communicator that was freed is none. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    dead = comm;
    MPI_Comm_free(&comm);
    FAILS(MPI_Comm_size(dead, &number), MPI_ERR_COMM);
    /* Handlers, classes and texts of the program's. */
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Errhandler_free(&own);
    FAILS(MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK(heard == MPI_ERR_RANK && heard_of);
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "too blue");
    MPI_Error_string(code, text, &length);
    CHECK(class > MPI_ERR_LASTCODE && length == 8 && strcmp(text, "too blue") == 0);
    MPI_Error_class(code, &number);
    EQUAL(number, class);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    EQUAL(heard, code);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    CHECK(strstr(text, "MPI_ERR_TRUNCATE"));
    MPI_Finalized(&flag);
    EQUAL(flag, 0);
    MPI_Finalize();
    MPI_Finalized(&flag);
    EQUAL(flag, 1);
    return 0;
}
