/* test: cores=1,2,5 */
/* Sends that are taken back: in all modes and of all lengths, before and after they have met their receives, beside others that are not. */
#include "../check.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const int LENGTHS[] = {0, 1, 200, 241, 10000, 300000};

enum { COUNT = sizeof LENGTHS / sizeof *LENGTHS, MODES = 4, MANY = 40 };

static int me, ranks;
static char *sent, *got;

static void begin(int mode, int persistent, int length, int to, int tag, MPI_Request *request)
{
    int (*const begun[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
    int (*const made[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    (persistent ? made : begun)[mode](sent, length, MPI_CHAR, to, tag, MPI_COMM_WORLD, request);
    if (persistent)
        MPI_Start(request);
}

static int is_taken_back(MPI_Request *request, int persistent)
{
    MPI_Status status;
    int flag;
    EQUAL(MPI_Cancel(request), MPI_SUCCESS);
    EQUAL(MPI_Wait(request, &status), MPI_SUCCESS);
    EQUAL(MPI_Test_cancelled(&status, &flag), MPI_SUCCESS);
    if (persistent)
        MPI_Request_free(request);
    else
        EQUAL(*request == MPI_REQUEST_NULL, 1);
    return flag;
}

/* One between two others of the same tag; those come, in their order. */
static void in_all_modes(int from, int to)
{
    for (int mode = 0; mode < MODES; mode++)
        for (int at = 0; at < COUNT; at++)
            for (int persistent = 0; persistent < 2; persistent++) {
                MPI_Request others[2], request;
                int numbers[2] = {1, 2}, found = 0;
                if (me == from) {
                    MPI_Isend(&numbers[0], 1, MPI_INT, to, 7, MPI_COMM_WORLD, &others[0]);
                    begin(mode, persistent, LENGTHS[at], to, 7, &request);
                    MPI_Isend(&numbers[1], 1, MPI_INT, to, 7, MPI_COMM_WORLD, &others[1]);
                    EQUAL(is_taken_back(&request, persistent), 1);
                }
                MPI_Barrier(MPI_COMM_WORLD);
                if (me == to)
                    for (int number = 1; number <= 2; number++) {
                        MPI_Recv(&found, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                        EQUAL(found, number);
                    }
                if (me == from)
                    MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
            }
    int found;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == to) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        EQUAL(found, 0);
    }
}

/* What has met its receive is received. */
static void too_late(int from, int to)
{
    for (int mode = 0; mode < MODES; mode++)
        for (int at = 0; at < COUNT; at++) {
            MPI_Request receive, request = MPI_REQUEST_NULL;
            MPI_Status status;
            int length;
            memset(got, 0, LENGTHS[at] + 1);
            if (me == to)
                MPI_Irecv(got, LENGTHS[at], MPI_CHAR, from, 8, MPI_COMM_WORLD, &receive);
            MPI_Barrier(MPI_COMM_WORLD);
            if (me == from) {
                begin(mode, 0, LENGTHS[at], to, 8, &request);
                EQUAL(is_taken_back(&request, 0), 0);
            }
            if (me == to) {
                MPI_Wait(&receive, &status);
                MPI_Get_count(&status, MPI_CHAR, &length);
                CHECK(length == LENGTHS[at] && memcmp(sent, got, length) == 0);
            }
        }
    /* So has what a matched probe has found. */
    MPI_Request request;
    MPI_Message message;
    if (me == from)
        MPI_Isend(sent, LENGTHS[4], MPI_CHAR, to, 9, MPI_COMM_WORLD, &request);
    if (me == to)
        MPI_Mprobe(from, 9, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == from)
        EQUAL(MPI_Cancel(&request), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == to)
        MPI_Mrecv(got, LENGTHS[4], MPI_CHAR, &message, MPI_STATUS_IGNORE);
    if (me == from) {
        MPI_Status status;
        int flag;
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        EQUAL(flag, 0);
    }
}

/* More than a rank keeps for another: some have not gone. Every third one stays. */
static void many(int from, int to)
{
    MPI_Request requests[MANY];
    MPI_Status status;
    for (int round = 0; round < 5; round++) {
        if (me == from)
            for (int i = 0; i < MANY; i++)
                begin(i % 2, 0, i % 5 == 0 ? 1000 : i, to, i, &requests[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < MANY; i++)
            if (me == from && i % 3 != 0)
                EQUAL(is_taken_back(&requests[i], 0), 1);
        if (me == from && from != to)
            MPI_Send(sent, 0, MPI_CHAR, to, MANY, MPI_COMM_WORLD);
        if (me == to && from != to)
            MPI_Recv(got, 0, MPI_CHAR, from, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MANY; i += 3) {
            if (me == to) {
                MPI_Recv(got, 1000, MPI_CHAR, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                EQUAL(status.MPI_TAG, i);
            }
            if (me == from)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int longest = LENGTHS[COUNT - 1], bytes = longest + 10 * MPI_BSEND_OVERHEAD;
    char *room = malloc(bytes);
    sent = malloc(longest + 1), got = malloc(longest + 1);
    for (int i = 0; i < longest; i++)
        sent[i] = i * 7 + 1;
    MPI_Buffer_attach(room, bytes);
    int pairs[][2] = {{0, 0}, {0, ranks - 1}, {ranks - 1, 0}};
    for (int pair = 0; pair < 3; pair++) {
        in_all_modes(pairs[pair][0], pairs[pair][1]);
        too_late(pairs[pair][0], pairs[pair][1]);
        many(pairs[pair][0], pairs[pair][1]);
    }
    /* Both take back what they have sent each other, at the same time. */
    MPI_Request request;
    begin(1, 0, LENGTHS[4], (me + 1) % ranks, 3, &request);
    EQUAL(is_taken_back(&request, 0), 1);
    MPI_Buffer_detach(&room, &bytes);
    free(room), free(sent), free(got);
    MPI_Finalize();
    return 0;
}
