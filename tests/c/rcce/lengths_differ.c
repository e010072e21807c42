/* test: cores=2 says="a send: rank 0 sends 5 bytes to rank 1, which wants 6" */
/* Two ends that name different lengths get an error, and a line says what is wrong. */
#include "../check.h"
#include <RCCE.h>

int RCCE_APP(int argc, char **argv)
{
    char bytes[6];
    RCCE_init(&argc, &argv);
    if (RCCE_ue() == 0)
        EQUAL(RCCE_send(bytes, 5, 1), RCCE_ERROR_MESSAGE_LENGTH);
    else
        EQUAL(RCCE_recv(bytes, 6, 0), RCCE_ERROR_MESSAGE_LENGTH);
    RCCE_finalize();
    return 0;
}
