/* test: cores=2 says="nothing is allocated while requests are outstanding: complete all requests first" */
/* What would move the memory that messages are in is refused until all requests are complete. */
#include "../check.h"
#include <iRCCE.h>

int RCCE_APP(int argc, char **argv)
{
    char in = 0, out = 5;
    iRCCE_SEND_REQUEST send;
    iRCCE_RECV_REQUEST receive;
    RCCE_init(&argc, &argv);
    iRCCE_init();
    int other = 1 - RCCE_ue();
    EQUAL(iRCCE_irecv(&in, 1, other, &receive), iRCCE_PENDING);
    CHECK(RCCE_malloc(3000) == NULL);
    CHECK(RCCE_shmalloc(3000) == NULL);
    CHECK(RCCE_malloc(100) != NULL);
    RCCE_barrier(&RCCE_COMM_WORLD);
    iRCCE_isend(&out, 1, other, &send);
    EQUAL(iRCCE_irecv_wait(&receive), iRCCE_SUCCESS);
    EQUAL(iRCCE_isend_wait(&send), iRCCE_SUCCESS);
    EQUAL(in, 5);
    CHECK(RCCE_malloc(3000) != NULL);
    CHECK(RCCE_shmalloc(3000) != NULL);
    RCCE_finalize();
    CHECK(RCCE_init(&argc, &argv) != RCCE_SUCCESS);
    return 0;
}
