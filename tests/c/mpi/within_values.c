/* test: cores=1,2 */
/* A message that ends within a value is of another type than its receive is for, by which it is received all the same: its status says how long
 * it is, and the error is MPI_ERR_TYPE. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

static int from;

/* Of three bytes with this tag. */
static void is_told(const MPI_Status *status, int tag)
{
    int count;
    EQUAL(status->MPI_SOURCE, from);
    EQUAL(status->MPI_TAG, tag);
    MPI_Get_count(status, MPI_INT, &count);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Get_elements(status, MPI_INT, &count);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Get_count(status, MPI_CHAR, &count);
    EQUAL(count, 3);
}

int main(int argc, char **argv)
{
    int me, size, to, numbers[8], count, blocks[] = {1, 2, 1}, places[] = {1, 2, 4};
    char bytes[] = "abc";
    float value = 1.5f;
    struct {
        float value;
        int index;
    } pair = {0, 9};
    MPI_Datatype spread;
    MPI_Message message;
    MPI_Request send, receive;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (me + 1) % size, from = (me + size - 1) % size;
    MPI_Type_indexed(3, blocks, places, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    for (int tag = 0; tag < 8; tag++) {
        if (tag < 7)
            MPI_Isend(bytes, 3, MPI_CHAR, to, tag, MPI_COMM_WORLD, &send);
        memset(numbers, 0, sizeof numbers);
        switch (tag) {
        case 0:
            EQUAL(MPI_Recv(numbers, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
            break;
        case 1:
            MPI_Irecv(numbers, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &receive);
            EQUAL(MPI_Wait(&receive, &status), MPI_ERR_TYPE);
            break;
        case 2:
            EQUAL(MPI_Probe(from, tag, MPI_COMM_WORLD, &status), MPI_SUCCESS);
            is_told(&status, tag);
            EQUAL(MPI_Recv(numbers, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
            break;
        case 3:
            EQUAL(MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status), MPI_SUCCESS);
            is_told(&status, tag);
            EQUAL(MPI_Mrecv(numbers, 2, MPI_INT, &message, &status), MPI_ERR_TYPE);
            break;
        case 4:
            MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status);
            MPI_Imrecv(numbers, 2, MPI_INT, &message, &receive);
            EQUAL(MPI_Wait(&receive, &status), MPI_ERR_TYPE);
            break;
        case 5:
            /* Not as it lies in memory. */
            EQUAL(MPI_Recv(numbers, 1, spread, from, tag, MPI_COMM_WORLD, &status), MPI_ERR_TYPE);
            EQUAL(memcmp(numbers + 1, bytes, 3), 0);
            break;
        case 6:
            MPI_Recv_init(numbers, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &receive);
            MPI_Start(&receive);
            EQUAL(MPI_Waitall(1, &receive, &status), MPI_ERR_IN_STATUS);
            EQUAL(status.MPI_ERROR, MPI_ERR_TYPE);
            MPI_Request_free(&receive);
            break;
        default:
            EQUAL(MPI_Sendrecv(bytes, 3, MPI_CHAR, to, tag, numbers, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status),
                  MPI_ERR_TYPE);
        }
        is_told(&status, tag);
        if (tag != 5)
            EQUAL(memcmp(numbers, bytes, 3), 0);
        if (tag < 7)
            MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    /* Whole values that are not all of an element. */
    MPI_Isend(&value, 1, MPI_FLOAT, to, 8, MPI_COMM_WORLD, &send);
    EQUAL(MPI_Recv(&pair, 1, MPI_FLOAT_INT, from, 8, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK(pair.value == value && pair.index == 9);
    MPI_Get_count(&status, MPI_FLOAT_INT, &count);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Get_elements(&status, MPI_FLOAT_INT, &count);
    EQUAL(count, 1);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Isend(numbers, 3, MPI_INT, to, 9, MPI_COMM_WORLD, &send);
    EQUAL(MPI_Recv(numbers, 1, spread, from, 9, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Type_free(&spread);
    MPI_Finalize();
    return 0;
}
