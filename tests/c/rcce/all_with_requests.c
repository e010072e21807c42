/* test: cores=2 says="requests are outstanding in an operation of all, which may wait for ever: complete all requests before" */
/* Operations of all with requests that are outstanding: a line says what is wrong with that. */
#include "../check.h"
#include <iRCCE.h>

int RCCE_APP(int argc, char **argv)
{
    char in = 0, out = 5;
    int one = 1, sum, done;
    iRCCE_SEND_REQUEST send;
    iRCCE_RECV_REQUEST receive;
    RCCE_init(&argc, &argv);
    iRCCE_init();
    int other = 1 - RCCE_ue();
    EQUAL(iRCCE_irecv(&in, 1, other, &receive), iRCCE_PENDING);
    EQUAL(RCCE_allreduce((char *)&one, (char *)&sum, 1, RCCE_INT, RCCE_SUM, RCCE_COMM_WORLD), RCCE_SUCCESS);
    EQUAL(sum, 2);
    iRCCE_isend(&out, 1, other, &send);
    EQUAL(iRCCE_irecv_wait(&receive), iRCCE_SUCCESS);
    EQUAL(iRCCE_isend_wait(&send), iRCCE_SUCCESS);
    EQUAL(in, 5);
    /* What is refused is over, with its error. */
    EQUAL(iRCCE_isend(&out, 1, 2, &send), RCCE_ERROR_ID);
    EQUAL(iRCCE_isend_test(&send, &done), RCCE_ERROR_ID);
    EQUAL(iRCCE_isend_wait(&send), RCCE_ERROR_ID);
    EQUAL(iRCCE_irecv(NULL, 1, other, &receive), RCCE_ERROR_TARGET);
    EQUAL(iRCCE_irecv_wait(&receive), RCCE_ERROR_TARGET);
    if (sizeof(size_t) > 4) {
        size_t most = (size_t)-1 / 2;
        EQUAL(RCCE_send(&out, most, other), RCCE_ERROR_MESSAGE_LENGTH);
        EQUAL(RCCE_recv(&in, most, other), RCCE_ERROR_MESSAGE_LENGTH);
        EQUAL(RCCE_bcast(&in, most, 0, RCCE_COMM_WORLD), RCCE_ERROR_MESSAGE_LENGTH);
        EQUAL(iRCCE_isend(&out, most, other, &send), RCCE_ERROR_MESSAGE_LENGTH);
    }
    RCCE_finalize();
    return 0;
}
