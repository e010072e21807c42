/* test: cores=2,5,16,48 options=-DGORY */
/* test: cores=2,5 options=-DGORY,-DSINGLEBITFLAGS */
/* Messages through buffers and flags of the program. */
#include "../check.h"
#include <RCCE.h>
#include <string.h>

static char message[10000], found[10000];

int RCCE_APP(int argc, char **argv)
{
    RCCE_init(&argc, &argv);
    int me = RCCE_ue(), size = RCCE_num_ues(), right = (me + 1) % size, left = (me + size - 1) % size, test;
    RCCE_FLAG ready, sent;
    t_vcharp buffer = RCCE_malloc(1024);
    CHECK(buffer && !RCCE_flag_alloc(&ready) && !RCCE_flag_alloc(&sent));
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (int length = 0; length <= 10000; length = 3 * length + 1) {
        for (int i = 0; i < length; i++)
            message[i] = me + i;
        for (int turn = 0; turn < 2; turn++) {
            /* With an odd number of UEs the last and the first are both even. */
            int sends = me == size - 1 && size % 2 ? turn == 1 : me % 2 == turn;
            int receives = left == size - 1 && size % 2 ? turn == 1 : left % 2 == turn;
            if (sends && receives && me % 2) {
                EQUAL(RCCE_send(message, buffer, 1024, &ready, &sent, length, right), RCCE_SUCCESS);
                sends = 0;
            }
            if (receives && turn == 0) {
                EQUAL(RCCE_recv(found, buffer, 1024, &ready, &sent, length, left), RCCE_SUCCESS);
            } else if (receives) {
                do
                    EQUAL(RCCE_recv_test(found, buffer, 1024, &ready, &sent, length, left, &test), RCCE_SUCCESS);
                while (!test);
            }
            if (sends)
                EQUAL(RCCE_send(message, buffer, 1024, &ready, &sent, length, right), RCCE_SUCCESS);
            RCCE_barrier(&RCCE_COMM_WORLD);
        }
        for (int i = 0; i < length; i++)
            EQUAL(found[i], (char)(left + i));
    }
    EQUAL(RCCE_send(message, buffer, 1000, &ready, &sent, 5, right), RCCE_ERROR_MESSAGE_LENGTH);
    EQUAL(RCCE_send(message, (t_vcharp)message, 1024, &ready, &sent, 5, right), RCCE_ERROR_TARGET);
    EQUAL(RCCE_recv(found, (t_vcharp)found, 1024, &ready, &sent, 5, left), RCCE_ERROR_SOURCE);
    EQUAL(RCCE_send(message, buffer, 1024, NULL, &sent, 5, right), RCCE_ERROR_FLAG_UNDEFINED);
    EQUAL(RCCE_recv(found, buffer, 1024, &ready, &sent, 5, size), RCCE_ERROR_ID);
    RCCE_finalize();
    return 0;
}
