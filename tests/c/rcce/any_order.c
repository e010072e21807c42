/* test: cores=2,5 */
/* iRCCE: requests for anybody's message get the messages of one UE in the order in which both were begun. */
#include "../check.h"
#include <iRCCE.h>

enum { MESSAGES = 4, ROUNDS = 30 };

static char out[MESSAGES][8], in[RCCE_MAXNP * MESSAGES][8];

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    iRCCE_init();
    int me = RCCE_ue(), senders = RCCE_num_ues() - 1;
    iRCCE_SEND_REQUEST sends[MESSAGES];
    iRCCE_RECV_REQUEST receives[RCCE_MAXNP * MESSAGES];
    for (int round = 0; round < ROUNDS; round++) {
        if (me == 0) {
            int next[RCCE_MAXNP] = {0};
            for (int at = 0; at < MESSAGES * senders; at++)
                iRCCE_irecv(in[at], iRCCE_ANY_LENGTH, iRCCE_ANY_SOURCE, &receives[at]);
            for (int at = 0; at < MESSAGES * senders; at++)
                iRCCE_irecv_wait(&receives[at]);
            for (int at = 0; at < MESSAGES * senders; at++) {
                int *number = &next[iRCCE_get_source(&receives[at])];
                EQUAL(in[at][0], *number);
                EQUAL(iRCCE_get_size(NULL, &receives[at]), 1 + *number);
                ++*number;
            }
        } else {
            /* They come at another moment each time. */
            for (int late = 0; late < 40 * round; late++)
                RCCE_wtime();
            for (int number = 0; number < MESSAGES; number++) {
                out[number][0] = number;
                iRCCE_isend(out[number], 1 + number, 0, &sends[number]);
            }
            for (int number = 0; number < MESSAGES; number++)
                iRCCE_isend_wait(&sends[number]);
        }
        RCCE_barrier(&RCCE_COMM_WORLD);
    }
    RCCE_finalize();
    return 0;
}
