/* test: cores=1,2,5,16,48 */
/* test: cores=2,5 faithful */
/* iRCCE: messages in all directions at once, wait lists, wildcards, probes, cancels. */
#include "../check.h"
#include <iRCCE.h>
#include <string.h>

#define LONG 9000
static char out[RCCE_MAXNP][LONG], in[RCCE_MAXNP][LONG];
static iRCCE_SEND_REQUEST sends[RCCE_MAXNP];
static iRCCE_RECV_REQUEST receives[RCCE_MAXNP];

static void fill(char *bytes, int from, int to)
{
    for (int i = 0; i < LONG; i++)
        bytes[i] = 3 * from + 5 * to + i;
}

static void check(int from, int length)
{
    char bytes[LONG];
    fill(bytes, from, RCCE_ue());
    CHECK(memcmp(in[from], bytes, length) == 0);
}

/* Everybody sends to everybody, and receives afterwards. */
static void exchange(int length, int any)
{
    int me = RCCE_ue(), size = RCCE_num_ues(), done, ended = 0;
    iRCCE_WAIT_LIST list;
    iRCCE_init_wait_list(&list);
    for (int ue = 0; ue < size; ue++)
        if (ue != me) {
            fill(out[ue], me, ue);
            int code = iRCCE_isend(out[ue], length, ue, &sends[ue]);
            CHECK(code == iRCCE_SUCCESS || code == iRCCE_PENDING || code == iRCCE_RESERVED);
            iRCCE_add_to_wait_list(&list, &sends[ue], NULL);
        }
    for (int ue = 0; ue < size; ue++)
        if (ue != me) {
            int code = iRCCE_irecv(in[ue], any ? iRCCE_ANY_LENGTH : length, ue, &receives[ue]);
            CHECK(code == iRCCE_SUCCESS || code == iRCCE_PENDING || code == iRCCE_RESERVED);
            iRCCE_add_to_wait_list(&list, NULL, &receives[ue]);
        }
    if (length % 2) {
        EQUAL(iRCCE_wait_all(&list), iRCCE_SUCCESS);
    } else if (any) {
        iRCCE_SEND_REQUEST *sent;
        iRCCE_RECV_REQUEST *received;
        while (iRCCE_wait_any(&list, &sent, &received) == iRCCE_SUCCESS) {
            CHECK((sent == NULL) != (received == NULL));
            ended++;
        }
        EQUAL(ended, 2 * (size - 1));
    } else {
        while (iRCCE_test_all(&list, &done) == iRCCE_PENDING)
            EQUAL(done, 0);
        EQUAL(done, 1);
    }
    for (int ue = 0; ue < size; ue++)
        if (ue != me) {
            check(ue, length);
            EQUAL(iRCCE_get_dest(&sends[ue]), ue);
            EQUAL(iRCCE_get_source(&receives[ue]), ue);
            EQUAL(iRCCE_get_size(NULL, &receives[ue]), length);
            EQUAL(iRCCE_isend_test(&sends[ue], &done), iRCCE_SUCCESS);
            EQUAL(done, 1);
        }
    RCCE_barrier(&RCCE_COMM_WORLD);
}

/* UE 0 receives from whoever sends; the others do it in several ways. */
static void from_anybody(void)
{
    int me = RCCE_ue(), size = RCCE_num_ues(), source, test;
    char bytes[LONG];
    if (me == 0) {
        for (int i = 1; i < size; i++) {
            if (i % 3 == 0) {
                EQUAL(iRCCE_probe(iRCCE_ANY_SOURCE, &source), iRCCE_SUCCESS);
                EQUAL(iRCCE_get_length(), 100 + source);
                EQUAL(iRCCE_iprobe(source, NULL, &test), iRCCE_SUCCESS);
                EQUAL(test, 1);
                EQUAL(RCCE_recv(in[source], 100 + source, source), RCCE_SUCCESS);
            } else if (i % 3 == 1) {
                iRCCE_RECV_REQUEST request;
                iRCCE_irecv(bytes, LONG, iRCCE_ANY_SOURCE, &request);
                EQUAL(iRCCE_irecv_wait(&request), iRCCE_SUCCESS);
                source = iRCCE_get_source(&request);
                EQUAL(iRCCE_get_size(NULL, &request), 100 + source);
                memcpy(in[source], bytes, LONG);
            } else {
                EQUAL(iRCCE_srecv(bytes, iRCCE_ANY_LENGTH, iRCCE_ANY_SOURCE), iRCCE_SUCCESS);
                source = iRCCE_get_source(NULL);
                EQUAL(iRCCE_get_length(), 100 + source);
                memcpy(in[source], bytes, LONG);
            }
            check(source, 100 + source);
        }
        EQUAL(iRCCE_iprobe(iRCCE_ANY_SOURCE, &source, &test), iRCCE_SUCCESS);
        EQUAL(test, 0);
        EQUAL(source, iRCCE_ANY_SOURCE);
    } else {
        fill(bytes, me, 0);
        if (me % 3 == 0)
            EQUAL(RCCE_send(bytes, 100 + me, 0), RCCE_SUCCESS);
        else if (me % 3 == 1)
            EQUAL(iRCCE_ssend(bytes, 100 + me, 0), iRCCE_SUCCESS);
        else
            EQUAL(iRCCE_isend(bytes, 100 + me, 0, NULL), iRCCE_SUCCESS);
    }
    RCCE_barrier(&RCCE_COMM_WORLD);
}

int RCCE_APP(int argc, char **argv)
{
    CHECK(iRCCE_init() != iRCCE_SUCCESS);
    RCCE_init(&argc, &argv);
    EQUAL(iRCCE_init(), iRCCE_SUCCESS);
    int me = RCCE_ue(), size = RCCE_num_ues(), test;
    exchange(1, 0);
    exchange(100, 0);
    /* In more chunks than one: among many UEs these would be most of what is simulated, and tell no more. */
    if (size <= 16) {
        exchange(LONG, 0);
        exchange(LONG, 1);
    } else {
        exchange(300, 1);
    }
    exchange(301, 1);
    from_anybody();
    if (size > 1) {
        int right = (me + 1) % size, left = (me + size - 1) % size;
        /* Several to one UE come in order; those that have not begun can be cancelled. */
        iRCCE_SEND_REQUEST queue[3];
        for (int i = 0; i < 3; i++) {
            out[i][0] = 10 * me + i;
            iRCCE_isend(out[i], 1, right, &queue[i]);
        }
        EQUAL(iRCCE_isend_cancel(&queue[1], &test), iRCCE_SUCCESS);
        EQUAL(test, 1);
        CHECK(iRCCE_isend_cancel(&queue[0], &test) != iRCCE_SUCCESS && test == 0);
        iRCCE_RECV_REQUEST two[2], never;
        iRCCE_irecv(&in[0][0], 1, left, &two[0]);
        iRCCE_irecv(&in[0][1], 1, left, &two[1]);
        while (iRCCE_irecv_test(&two[1], &test) != iRCCE_SUCCESS)
            EQUAL(test, 0);
        EQUAL(iRCCE_irecv_wait(NULL), iRCCE_SUCCESS);
        EQUAL(iRCCE_isend_wait(NULL), iRCCE_SUCCESS);
        EQUAL(in[0][0], (char)(10 * left));
        EQUAL(in[0][1], (char)(10 * left + 2));
        EQUAL(iRCCE_irecv(in[0], 4, left, &never), iRCCE_PENDING);
        EQUAL(iRCCE_irecv_cancel(&never, &test), iRCCE_SUCCESS);
        EQUAL(iRCCE_irecv_cancel(&never, &test), iRCCE_NOT_ENQUEUED);
        EQUAL(iRCCE_isend_push(), iRCCE_SUCCESS);
        EQUAL(iRCCE_irecv_push(), iRCCE_SUCCESS);
        RCCE_barrier(&RCCE_COMM_WORLD);
        /* Blocking messages meanwhile; and an operation of all, which goes on with what all have begun alike. */
        iRCCE_SEND_REQUEST send;
        iRCCE_RECV_REQUEST receive;
        fill(out[0], me, right);
        iRCCE_issend(out[0], LONG, right, &send);
        iRCCE_isrecv(in[left], LONG, left, &receive);
        int one = 1, sum;
        EQUAL(RCCE_allreduce((char *)&one, (char *)&sum, 1, RCCE_INT, RCCE_SUM, RCCE_COMM_WORLD), RCCE_SUCCESS);
        EQUAL(sum, size);
        EQUAL(iRCCE_issend_wait(&send), iRCCE_SUCCESS);
        EQUAL(iRCCE_isrecv_wait(&receive), iRCCE_SUCCESS);
        check(left, LONG);
        iRCCE_issend(out[0], LONG, right, &send);
        RCCE_recv(in[left], LONG, left);
        EQUAL(iRCCE_issend_wait(&send), iRCCE_SUCCESS);
        check(left, LONG);
        /* Nothing is a message for the synchronous ones. */
        EQUAL(iRCCE_isend(out[0], 0, right, &send), iRCCE_SUCCESS);
        EQUAL(iRCCE_irecv(in[0], 0, left, &receive), iRCCE_SUCCESS);
        EQUAL(iRCCE_isrecv(in[0], 0, left, &receive) <= 0, 1);
        EQUAL(iRCCE_ssend(out[0], 0, right), iRCCE_SUCCESS);
        EQUAL(iRCCE_isrecv_wait(&receive), iRCCE_SUCCESS);
        RCCE_barrier(&RCCE_COMM_WORLD);
        iRCCE_isend(out[0], 8, right, &send);
        while (iRCCE_srecv_test(in[left], 8, left, &test) == iRCCE_PENDING)
            EQUAL(test, 0);
        EQUAL(iRCCE_isend_wait(&send), iRCCE_SUCCESS);
        check(left, 8);
        /* What is longer than the buffer is refused. */
        iRCCE_isend(out[0], 8, right, &send);
        iRCCE_irecv(in[left], 7, left, &receive);
        EQUAL(iRCCE_irecv_wait(&receive), RCCE_ERROR_MESSAGE_LENGTH);
        EQUAL(iRCCE_isend_wait(&send), iRCCE_SUCCESS);
    }
    iRCCE_SEND_REQUEST wrong;
    EQUAL(iRCCE_isend(out[0], 4, size, &wrong), RCCE_ERROR_ID);
    EQUAL(iRCCE_isend(out[0], 4, iRCCE_ANY_SOURCE, &wrong), RCCE_ERROR_ID);
    EQUAL(iRCCE_isend(out[0], 4, me, &wrong), RCCE_ERROR_ID);
    EQUAL(iRCCE_isend(NULL, 4, 0, &wrong), RCCE_ERROR_SOURCE);
    EQUAL(iRCCE_iprobe(size, NULL, NULL), RCCE_ERROR_ID);
    RCCE_barrier(&RCCE_COMM_WORLD);
    RCCE_finalize();
    return 0;
}
