/* test: cores=1,2,5,16 */
/* Messages of many lengths in all modes and forms; wildcards, probes, truncation, cancelling, buffers. */
#include "../check.h"
#include <mpi.h>
#include <string.h>

#define MOST 20000
static int me, size, right, left;
static unsigned char sent[MOST], found[MOST];
static const int lengths[] = {0, 1, 240, 241, 4096, 8193, MOST};
#define LENGTHS (int)(sizeof lengths / sizeof *lengths)

static void fill(unsigned char *bytes, int rank, int length)
{
    for (int i = 0; i < length; i++)
        bytes[i] = 11 * rank + 3 * i + length;
}

static void is_from_left(const MPI_Status *status, int length, int tag)
{
    static unsigned char wanted[MOST];
    int count;
    fill(wanted, left, length);
    CHECK(memcmp(found, wanted, length) == 0);
    if (status) {
        EQUAL(status->MPI_SOURCE, left);
        EQUAL(status->MPI_TAG, tag);
        MPI_Get_count(status, MPI_BYTE, &count);
        EQUAL(count, length);
    }
    memset(found, 0, sizeof found);
}

/* Each form of each mode, around a ring. */
static void modes(int length)
{
    MPI_Status status, statuses[2];
    MPI_Request requests[2];
    fill(sent, me, length);
    for (int mode = 0; mode < 4; mode++) {
        int tag = 100 * mode + length % 100;
        MPI_Irecv(found, MOST, MPI_BYTE, left, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (mode == 0)
            MPI_Isend(sent, length, MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[1]);
        else if (mode == 1)
            MPI_Issend(sent, length, MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[1]);
        else if (mode == 2)
            MPI_Irsend(sent, length, MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[1]);
        else
            MPI_Ibsend(sent, length, MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[1]);
        EQUAL(MPI_Waitall(2, requests, statuses), MPI_SUCCESS);
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        is_from_left(&statuses[0], length, tag);
    }
    MPI_Sendrecv(sent, length, MPI_BYTE, right, 7, found, MOST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    is_from_left(&status, length, 7);
    memcpy(found, sent, length);
    MPI_Sendrecv_replace(found, length, MPI_BYTE, right, 8, left, 8, MPI_COMM_WORLD, &status);
    is_from_left(&status, length, 8);
    /* The same requests, again and again. */
    MPI_Recv_init(found, MOST, MPI_BYTE, left, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(sent, length, MPI_BYTE, right, 9, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        is_from_left(&statuses[0], length, 9);
        CHECK(requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    /* Blocking ones: pairs, and nobody at the ends. */
    int up = me % 2 ? me - 1 : me + 1 < size ? me + 1 : MPI_PROC_NULL;
    if (me % 2 == 0)
        MPI_Ssend(sent, length, MPI_BYTE, up, 1, MPI_COMM_WORLD);
    MPI_Recv(found, MOST, MPI_BYTE, up, 1, MPI_COMM_WORLD, &status);
    EQUAL(status.MPI_SOURCE, up);
    if (me % 2)
        MPI_Send(sent, length, MPI_BYTE, up, 1, MPI_COMM_WORLD);
}

static void probes(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag, count;
    fill(sent, me, 5000);
    MPI_Isend(sent, 5000, MPI_BYTE, right, 33, MPI_COMM_WORLD, &request);
    MPI_Mprobe(left, 33, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, 5000);
    /* Nobody else gets it. */
    MPI_Iprobe(left, 33, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    EQUAL(flag, 0);
    MPI_Mrecv(found, MOST, MPI_BYTE, &message, &status);
    is_from_left(&status, 5000, 33);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(sent, 12, MPI_BYTE, right, 34, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    EQUAL(status.MPI_TAG, 34);
    MPI_Recv(found, MOST, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Imrecv(found, 1, MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
}

static void cancelled(void)
{
    MPI_Request request, all[3];
    MPI_Status status;
    int flag, index, count, indices[3];
    MPI_Irecv(found, 1, MPI_BYTE, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, &status);
    EQUAL(flag, 0);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    EQUAL(flag, 1);
    /* Of several requests, those that come. */
    all[0] = MPI_REQUEST_NULL;
    MPI_Irecv(found, 4, MPI_BYTE, left, 78, MPI_COMM_WORLD, &all[1]);
    MPI_Irecv(found + 4, 4, MPI_BYTE, left, 79, MPI_COMM_WORLD, &all[2]);
    MPI_Send(sent, 4, MPI_BYTE, right, 79, MPI_COMM_WORLD);
    MPI_Waitany(3, all, &index, &status);
    EQUAL(index, 2);
    EQUAL(status.MPI_TAG, 79);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(sent, 3, MPI_BYTE, right, 78, MPI_COMM_WORLD);
    MPI_Waitsome(3, all, &count, indices, &status);
    EQUAL(count, 1);
    EQUAL(indices[0], 1);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, 3);
    MPI_Testany(3, all, &index, &flag, &status);
    CHECK(index == MPI_UNDEFINED && flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
}

/* More messages than a receiver keeps, received the last ones first. */
static void many(void)
{
    MPI_Request requests[100];
    for (int i = 0; i < 100; i++)
        MPI_Isend(&lengths[i % LENGTHS], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 99; i >= 0; i--) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(value, lengths[i % LENGTHS]);
    }
    MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static char buffer[LENGTHS * (MOST + MPI_BSEND_OVERHEAD)];
    void *detached;
    int bytes, *limit, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (me + 1) % size, left = (me + size - 1) % size;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag);
    CHECK(flag && *limit >= 32767);
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < LENGTHS; i++)
        modes(lengths[i]);
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(detached == buffer && bytes == sizeof buffer);
    probes();
    cancelled();
    many();
    /* What is sent with the largest tag, and a datatype with gaps. */
    int numbers[9], spread[27];
    MPI_Datatype gaps;
    for (int i = 0; i < 27; i++)
        spread[i] = i < 9 ? numbers[i] = 100 * me + i : -1, spread[i] = -1;
    MPI_Type_vector(9, 1, 3, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Sendrecv(numbers, 9, MPI_INT, right, *limit, spread, 1, gaps, left, *limit, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 27; i++)
        EQUAL(spread[i], i % 3 ? -1 : 100 * left + i / 3);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return 0;
}
